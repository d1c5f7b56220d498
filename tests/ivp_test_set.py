"""Problems of the Test Set for IVP Solvers, release 2.4, as devices: F. Mazzia, C. Magherini, University of Bari, 2008.

W. M. Lioen, J. J. B. de Swart, Test Set for Initial Value Problem Solvers, CWI, report MAS-R9832, 1998. Equations, data
and reference solutions are those of its chapters; states begin at the parameters that are called as they are, with a 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gridcore.contract import Algebraic, Device, Param, State, quantity


def _starting(scale: float, scales: dict[str, float] | None = None, **values: float) -> dict[str, Any]:
    """States with their initial values, for the body of a class; some have a scale of their own."""
    sizes = scales or {}
    return {**{f"{name}_0": Param("", value) for name, value in values.items()},
            **{name: State("", start_at=f"{name}_0", scale=sizes.get(name, scale)) for name in values}}


class Akzo(Device):
    """Chemical Akzo Nobel: six concentrations in a reactor, one of them in equilibrium; index 1."""

    k1, k2, k3, k4, K = Param("", 18.7), Param("", 0.58), Param("", 0.09), Param("", 0.42), Param("", 34.4)
    klA, Ks, pCO2, H = Param("", 3.3), Param("", 115.83), Param("", 0.9), Param("", 737.0)
    vars().update(_starting(1e-3, y1=0.444, y2=0.00123, y3=0.0, y4=0.007, y5=0.0))
    y6 = Algebraic("")

    def rates(s: Any) -> Any:
        root = np.sqrt(s.y2)
        r1, r2, r3 = s.k1 * s.y1**4 * root, s.k2 * s.y3 * s.y4, s.k2 / s.K * s.y1 * s.y5
        r4, r5 = s.k3 * s.y1 * s.y4**2, s.k4 * s.y6**2 * root
        return (-2 * r1 + r2 - r3 - r4, -0.5 * r1 - r4 - 0.5 * r5 + s.klA * (s.pCO2 / s.H - s.y2), r1 - r2 + r3,
                -r2 + r3 - 2 * r4, r2 - r3 + r5)

    def residuals(s: Any) -> Any:
        return s.Ks * s.y1 * s.y4 - s.y6


class Hires(Device):
    """HIRES: eight reactants of the high irradiance response of plants. E. Schäfer, J. Math. Biology 2, 1975."""

    vars().update(_starting(1e-3, y1=1.0, y2=0.0, y3=0.0, y4=0.0, y5=0.0, y6=0.0, y7=0.0, y8=0.0057))

    def rates(s: Any) -> Any:
        bound = 280 * s.y6 * s.y8 - 1.81 * s.y7
        return (-1.71 * s.y1 + 0.43 * s.y2 + 8.32 * s.y3 + 0.0007, 1.71 * s.y1 - 8.75 * s.y2,
                -10.03 * s.y3 + 0.43 * s.y4 + 0.035 * s.y5, 8.32 * s.y2 + 1.71 * s.y3 - 1.12 * s.y4,
                -1.745 * s.y5 + 0.43 * s.y6 + 0.43 * s.y7,
                -280 * s.y6 * s.y8 + 0.69 * s.y4 + 1.71 * s.y5 - 0.43 * s.y6 + 0.69 * s.y7, bound, -bound)


class Pollution(Device):
    """Pollution: 25 reactions of 20 substances in the air. J. G. Verwer, SIAM J. Sci. Comput. 15, 1994."""

    vars().update(_starting(
        1e-3, {"y3": 1e-9, "y5": 1e-7, "y6": 1e-7, "y10": 1e-8, "y11": 1e-8, "y14": 1e-5, "y16": 1e-18, "y19": 1e-6,
         "y20": 1e-5},
        **{f"y{k}": {2: 0.2, 4: 0.04, 7: 0.1, 8: 0.3, 9: 0.01, 17: 0.007}.get(k, 0.0) for k in range(1, 21)}))

    def rates(s: Any) -> Any:
        r1, r2, r3, r4, r5 = 0.35 * s.y1, 26.6 * s.y2 * s.y4, 12300 * s.y5 * s.y2, 0.00086 * s.y7, 0.00082 * s.y7
        r6, r7, r8 = 15000 * s.y7 * s.y6, 0.00013 * s.y9, 24000 * s.y9 * s.y6
        r9, r10, r11, r12 = 16500 * s.y11 * s.y2, 9000 * s.y11 * s.y1, 0.022 * s.y13, 12000 * s.y10 * s.y2
        r13, r14, r15, r16 = 1.88 * s.y14, 16300 * s.y1 * s.y6, 4.8e6 * s.y3, 0.00035 * s.y4
        r17, r18, r19, r20 = 0.0175 * s.y4, 1e8 * s.y16, 4.44e11 * s.y16, 1240 * s.y17 * s.y6
        r21, r22, r23 = 2.1 * s.y19, 5.78 * s.y19, 0.0474 * s.y1 * s.y4
        r24, r25 = 1780 * s.y19 * s.y1, 3.12 * s.y20
        return (-r1 - r10 - r14 - r23 - r24 + r2 + r3 + r9 + r11 + r12 + r22 + r25, -r2 - r3 - r9 - r12 + r1 + r21,
                -r15 + r1 + r17 + r19 + r22, -r2 - r16 - r17 - r23 + r15, -r3 + 2 * r4 + r6 + r7 + r13 + r20,
                -r6 - r8 - r14 - r20 + r3 + 2 * r18, -r4 - r5 - r6 + r13, r4 + r5 + r6 + r7, -r7 - r8, -r12 + r7 + r9,
                -r9 - r10 + r8 + r11, r9, -r11 + r10, -r13 + r12, r14, -r18 - r19 + r16, -r20, r20,
                -r21 - r22 - r24 + r23 + r25, -r25 + r24)


class Amplifier(Device):
    """Transistor amplifier: eight node voltages, two transistors, five capacitances; index 1.

    Its mass matrix is not diagonal: capacitances C1, C3 and C5 are between two nodes. Their voltages are the states
    here, u1 = y1 - y2, u3 = y4 - y5 and u5 = y7 - y8. Of the two equations of each one is that of the state; their sum,
    which has no derivative, is that of the algebraic variable y2, y5 or y8.
    """

    Ub, UF, alpha, beta = Param("V", 6.0), Param("V", 0.026), Param("", 0.99), Param("A", 1e-6)
    R0, R = Param("ohm", 1000.0), Param("ohm", 9000.0)
    C = Param("F", 1e-6)
    vars().update(_starting(1.0, u1=-3.0, y3=3.0, u3=3.0, y6=3.0, u5=6.0))
    y2, y5, y8 = Algebraic("V"), Algebraic("V"), Algebraic("V")

    def start(s: Any) -> Any:
        return {"u1": s.u1_0, "y3": s.y3_0, "u3": s.u3_0, "y6": s.y6_0, "u5": s.u5_0, "y2": s.y3_0, "y5": s.y6_0}

    @quantity("V", "input node")
    def y1(s: Any) -> Any:
        return s.u1 + s.y2

    @quantity("V", "collector of the first transistor")
    def y4(s: Any) -> Any:
        return s.u3 + s.y5

    @quantity("V", "collector of the second transistor")
    def y7(s: Any) -> Any:
        return s.u5 + s.y8

    def _through(s: Any) -> Any:
        """Currents of the transistors, and from the nodes 1, 4 and 7 into their capacitances."""
        first, second = (s.beta * (np.exp(u / s.UF) - 1) for u in (s.y2 - s.y3, s.y5 - s.y6))
        return (first, second, (0.1 * np.sin(200 * np.pi * s.time) - s.y1) / s.R0,
                (s.Ub - s.y4) / s.R - s.alpha * first, (s.Ub - s.y7) / s.R - s.alpha * second)

    def rates(s: Any) -> Any:
        first, second, i1, i3, i5 = Amplifier._through(s)
        return (i1 / s.C, (first - s.y3 / s.R) / (2 * s.C), i3 / (3 * s.C), (second - s.y6 / s.R) / (4 * s.C),
                i5 / (5 * s.C))

    def residuals(s: Any) -> Any:
        first, second, i1, i3, i5 = Amplifier._through(s)
        return (i1 + (s.Ub - 2 * s.y2) / s.R - (1 - s.alpha) * first, i3 + (s.Ub - 2 * s.y5) / s.R
                - (1 - s.alpha) * second, i5 - s.y8 / s.R)


@dataclass(frozen=True)
class Problem:
    """A device that is alone, when it is looked at, and what y1, y2, ... are then."""

    device: type[Device]
    t_end: float
    reference: tuple[float, ...]

    def digits(self, run: Any) -> float:
        """Significant correct digits at the end of a run, of the worst variable."""
        found = np.array([run["it", f"y{k + 1}"][-1] for k in range(len(self.reference))])
        return float(-np.log10(np.max(np.abs(found / self.reference - 1))))


PROBLEMS = {
    "Akzo": Problem(Akzo, 180.0, (
        0.1150794920661702, 0.1203831471567715e-2, 0.1611562887407974, 0.3656156421249283e-3, 0.1708010885264404e-1,
        0.4873531310307455e-2)),
    "Hires": Problem(Hires, 321.8122, (
        0.7371312573325668e-3, 0.1442485726316185e-3, 0.5888729740967575e-4, 0.1175651343283149e-2,
        0.2386356198831331e-2, 0.6238968252742796e-2, 0.2849998395185769e-2, 0.2850001604814231e-2)),
    "Pollution": Problem(Pollution, 60.0, (
        0.5646255480022769e-1, 0.1342484130422339, 0.4139734331099427e-8, 0.5523140207484359e-2,
        0.2018977262302196e-6, 0.1464541863493966e-6, 0.7784249118997964e-1, 0.3245075353396018,
        0.7494013383880406e-2, 0.1622293157301561e-7, 0.1135863833257075e-7, 0.2230505975721359e-2,
        0.2087162882798630e-3, 0.1396921016840158e-4, 0.8964884856898295e-2, 0.4352846369330103e-17,
        0.6899219696263405e-2, 0.1007803037365946e-3, 0.1772146513969984e-5, 0.5682943292316392e-4)),
    "Amplifier": Problem(Amplifier, 0.2, (
        -0.5562145012262709e-2, 0.3006522471903042e1, 0.2849958788608128e1, 0.2926422536206241e1,
        0.2704617865010554e1, 0.2761837778393145e1, 0.4770927631616772e1, 0.1236995868091548e1)),
}
