"""What is between the plants of REGCA1, REECB1, REPCA1 and PSS/E's trajectories: its integration at steps of 5 ms.

The diagram of both studies, behind the impedance that the opened line leaves, is integrated exactly, and as PSS/E
does: ``x += h (3 f - f of the step before) / 2`` (Adams and Bashforth), begun by Euler's rule after the jump.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gridcore as gc

from .psse import FOLDER, STEP, STUDIES

P0, TIMES, PARTS, T_END = 0.4, 0.02, 64, 4.0  # s; all lags but that of the plant's command have 20 ms
KP, KI, TFV = 25.0, 15.0, 0.05  # REPCA1 of the second study


class Plant:
    """The diagram: measured voltages, integral and command of the plant control, a current command, two currents."""

    def __init__(self, run: Any, regulates: bool):
        V = {bus: run[f"BUS{bus}", "Vm"][0] * np.exp(1j * run[f"BUS{bus}", "Va"][0]) for bus in (101, 102, 103)}
        line, source = 1 / (0.01 + 0.12j), 1 / 1e-4j  # ThreeBusRenewable.raw
        load = {bus: (0.3 - 0.1j) / abs(V[bus]) ** 2 for bus in (101, 102)}
        given = (2 * line + load[102] + source) * V[102] - line * (V[101] + V[103])
        Z = np.linalg.inv([[line + load[101], -line, 0], [-line, 2 * line + load[102] + source, -line],
                           [0, -line, line]])
        self.Z, self.behind = Z[2, 2], abs(Z[2, 1] * given)
        self.V0, self.Q0, self.gains = abs(V[103]), run["GEN103", "Q"][0], (KP, KI) if regulates else (0.0, 0.0)
        self.x0 = np.array([self.V0, self.V0, 0.0, self.Q0, self.Q0 / self.V0, self.Q0 / self.V0, P0 / self.V0])

    def voltage(self, x: np.ndarray) -> float:
        """The terminal voltage, beside which the currents stand: ``|V - Z (Ip - j Iq)|`` is that behind Z."""
        across = self.Z * (x[6] - 1j * x[5])
        return across.real + np.sqrt(self.behind**2 - across.imag**2)

    def rates(self, x: np.ndarray) -> np.ndarray:
        Vf, measured, integral, command, quotient, Iq, Ip = x
        V, (KP, KI) = self.voltage(x), self.gains
        error = self.V0 - measured
        return np.array([(V - Vf) / TIMES, (V - measured) / TIMES, KI * error,
                         (self.Q0 + KP * error + integral - command) / TFV, (command / Vf - quotient) / TIMES,
                         (quotient - Iq) / TIMES, (P0 / Vf - Ip) / TIMES])

    def columns(self, exact: bool) -> dict[str, np.ndarray]:
        """Q and V at the ends of PSS/E's steps."""
        x, before, found = self.x0, None, [self.x0]
        h = STEP / PARTS
        for _ in np.arange(0.0, T_END - STEP / 2, STEP):
            if exact:
                for _ in range(PARTS):
                    first = self.rates(x)
                    x = x + h / 2 * (first + self.rates(x + h * first))
            else:
                rate = self.rates(x)
                x = x + STEP / 2 * (3 * rate - (rate if before is None else before))
                before = rate
            found.append(x)
        V = np.array([self.voltage(x) for x in found])
        return {"Q": V * [x[5] for x in found], "Vm": V}


@pytest.mark.parametrize(("name", "variable", "exactly", "as_psse"), [
    ("RENA", "Q", 5e-6, 8e-7), ("RENA, plant control of the voltage", "Vm", 2.5e-4, 4e-5)])
def test_integrated_as_psse_does_the_diagram_is_nearer_to_its_trajectory(name, variable, exactly, as_psse):
    """And exactly integrated it is that of the run."""
    study = STUDIES[name]
    if study.lacks:
        pytest.skip(study.lacks)
    run = gc.simulate(gc.build(study.case()), 1.0 + T_END, STEP, method="ida", rtol=1e-10, atol=1e-12)
    plant = Plant(run, regulates=name != "RENA")
    exact, psse = (plant.columns(exact)[variable] for exact in (True, False))
    column = next(k for k, (_, shown, *_) in enumerate(study.columns, 1) if shown == variable)
    device = study.columns[column - 1][0]
    table = np.genfromtxt(FOLDER / study.csv, delimiter=",")
    table = table[np.isfinite(table).all(axis=1)]
    t = np.round(table[:, 0] / STEP) * STEP
    after = (t > 1.0 + study.margin - STEP / 2) & (t <= 1.0 + T_END)
    at = np.round((t[after] - 1.0) / STEP).astype(int)
    assert np.abs(run.at(t[after])[device, variable] - exact[at]).max() < 1e-7
    off = {label: np.abs(found[at] - table[after, column]).max() for label, found in (("exact", exact), ("psse", psse))}
    print(f"{name}: {variable} {off['exact']:.1e} off exactly, {off['psse']:.1e} as PSS/E integrates")
    assert off["exact"] > exactly
    assert off["psse"] < as_psse
