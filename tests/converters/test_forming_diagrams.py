"""REGFMA1 and REGFMB1 against their block diagrams, which scipy integrates by themselves.

The diagrams are those of PNNL-32278 (2023) and NREL/TP-5D00-90260 (2024); each converter is behind a reactance at an
infinite bus whose voltage and angle step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from integrated_diagrams import Columns, Steps, agree, integrated
from scipy.optimize import brentq

import gridcore as gc

OMEGA, X, Z = 120 * np.pi, 0.15, 0.01 + 0.15j  # the line, and the impedance of the converter
P0, Q0 = 0.6, 0.1


@dataclass
class Study:
    """A model, what differs from its defaults, steps of the source, of references, and events that the run has."""

    model: str
    values: dict[str, float] = field(default_factory=dict)
    steps: Steps = field(default_factory=list)
    reached: set[str] = field(default_factory=set)

    def data(self) -> dict[str, float]:
        """All parameters."""
        params = gc.registry.devices[self.model].declares.params
        return {**{name: param.default for name, param in params.items()}, "kiv": 5.86, **self.values}

    def run(self, t_end: float):
        """By IDA."""
        case = gc.Case("one")
        for bus in (1, 2):
            case.add("Bus", id=bus)
        case.add("InfiniteBus", id="INF", bus=1, control="slack")
        case.add("Line", bus1=1, bus2=2, x=X)
        case.add(self.model, id="GEN", bus=2, control="PQ", P0=P0, Q0=Q0, Rs=Z.real, Xdp=Z.imag,
                 **{"kiv": 5.86, **self.values})
        address = {"U": "INF.E", "angle": "INF.angle", "Pref": "GEN.Pref"}
        for k, (name, t, by) in enumerate(self.steps):
            case.add("ParameterStep", id=f"S{k}", parameter=address[name], t=t, by=by)
        return gc.simulate(gc.build(case), t_end, 0.005, method="ida", rtol=1e-10, atol=1e-12)


def network(E: complex, U: complex, IMAX: float) -> tuple[complex, complex]:
    """Voltage and current at the terminals, the current cut to IMAX, its angle kept."""
    def both(part: float) -> tuple[complex, complex]:
        y = part / Z
        V = (U + 1j * X * y * E) / (1 + 1j * X * y)
        return V, (E - V) * y

    V, i = both(1.0)
    if not IMAX or abs(i) <= IMAX:
        return V, i
    return both(brentq(lambda part: abs(both(part)[1]) - IMAX, 1e-6, 1.0, xtol=1e-14, rtol=1e-14))


def operating_point() -> tuple[complex, complex]:
    """Terminal voltage and internal voltage at t0, the source at 1."""
    V: complex = 1.0 + 0j
    for _ in range(60):
        V = 1.0 + 1j * X * np.conj((P0 + 1j * Q0) / V)
    return V, V + Z * np.conj((P0 + 1j * Q0) / V)


def followed(signals: Callable[..., Any], rates: Callable[..., Any], x0: Any, low: Any, high: Any, steps: Steps,
             t_end: float) -> tuple[np.ndarray, np.ndarray, dict[tuple[str, str], Any]]:
    """Times, states, and the columns of a converter that its signals give."""
    t, x, given = integrated(rates, x0, low, high, {"U": 1.0, "angle": 0.0, "Pref": P0}, steps, t_end)
    s = [signals(at, **u) for at, u in zip(x, given, strict=True)]
    return t, x, {("GEN", name): np.array([row[name] for row in s]) for name in ("P", "Q", "E", "I")}


def droop(d: dict[str, float], steps: Steps, t_end: float) -> Columns:
    """REGFM_A1: three measurements, droops, two limits each of P and Q, control of the voltage."""
    V0, E0 = operating_point()
    Vref = (abs(V0) if d["VFlag"] else abs(E0)) + (d["mq"] * Q0 if d["QVFlag"] else 0.0)
    Qref = 0.0 if d["QVFlag"] else Q0

    def signals(x, U, angle, Pref):
        Pf, Qf, Vf, delta, over, under, lower, raised, xE = x
        omega = 1 + d["mp"] * (Pref - Pf) + min(d["kppmax"] * (d["PMAX"] - Pf) + over, 0.0) + max(
            d["kppmax"] * (d["PMIN"] - Pf) + under, 0.0)
        Vcmd = Vref + d["mq"] * (Qref - Qf) + min(d["kpqmax"] * (d["QMAX"] - Qf) + lower, 0.0) + max(
            d["kpqmax"] * (d["QMIN"] - Qf) + raised, 0.0)
        E = np.clip(d["kpv"] * (Vcmd - Vf) + xE if d["VFlag"] else Vcmd, d["EMIN"], d["EMAX"])
        V, i = network(E * np.exp(1j * delta), U * np.exp(1j * angle), d["IMAX"])
        S = V * np.conj(i)
        return {"P": S.real, "Q": S.imag, "V": abs(V), "omega": omega, "E": E, "Vcmd": Vcmd, "I": abs(i)}

    def rates(x, **u):
        s = signals(x, **u)
        Pf, Qf, Vf = x[:3]
        return [(s["P"] - Pf) / d["TPf"], (s["Q"] - Qf) / d["TQf"], (s["V"] - Vf) / d["TVf"],
                OMEGA * (s["omega"] - 1), d["kipmax"] * (d["PMAX"] - Pf), d["kipmax"] * (d["PMIN"] - Pf),
                d["kiqmax"] * (d["QMAX"] - Qf), d["kiqmax"] * (d["QMIN"] - Qf),
                d["kiv"] * (s["Vcmd"] - Vf) if d["VFlag"] else 0.0]

    low, high = np.full(9, -np.inf), np.full(9, np.inf)
    high[[4, 6]], low[[5, 7]], low[8], high[8] = 0.0, 0.0, d["EMIN"], d["EMAX"]
    x0 = [P0, Q0, abs(V0), np.angle(E0), 0, 0, 0, 0, abs(E0)]
    t, x, columns = followed(signals, rates, x0, low, high, steps, t_end)
    return t, {**columns, ("GEN", "delta"): x[:, 3], ("GEN", "Vf"): x[:, 2]}


DIP: Steps = [("U", 0.1, -0.1), ("angle", 0.5, -0.2), ("U", 1.5, 0.1), ("angle", 2.0, 0.6)]
DROOPS = {
    "droops": Study("REGFMA1", {"kpv": 0.2, "QVFlag": 0.0}, DIP, {"lower_x_off_max", "over_at_max", "under_x_at_min"}),
    "internal voltage": Study("REGFMA1", {"VFlag": 0.0}, DIP, {"over_x_off_max", "over_at_max", "under_at_min"}),
    "limits of power": Study("REGFMA1", {"PMAX": 0.7, "PMIN": 0.5, "QMAX": 0.2, "QMIN": -0.1}, [
        ("U", 0.1, -0.1), ("Pref", 0.5, 0.4), ("Pref", 1.5, -0.8), ("U", 2.5, 0.2)], {
            "over_x_off_max", "over_x_at_max", "under_x_off_min", "lower_x_at_max", "raised_at_min"}),
    "current": Study("REGFMA1", {"IMAX": 1.2}, [("U", 0.1, -0.5), ("U", 0.3, 0.5)], {"I_at_IMAX", "I_off_IMAX"})}


@pytest.mark.parametrize("name", DROOPS)
def test_a_converter_with_droop_is_its_diagram(name):
    study = DROOPS[name]
    found = study.run(4.0)
    agree(found, *droop(study.data(), study.steps, 4.0), part=1e-6)
    assert study.reached <= {event.item for event in found.events}


def virtual_machine(d: dict[str, float], steps: Steps, t_end: float) -> Columns:
    """REGFM_B1: measurements, PLL, droop and swing, control of the voltage; without its limits in the long run."""
    V0, E0 = operating_point()
    I0 = np.conj((P0 + 1j * Q0) / V0) * np.exp(-1j * np.angle(V0))
    Qref = 0.0 if d["QVFlag"] else Q0
    Vref = abs(V0) + d["mq"] * (-I0.imag if d["VdrpFlag"] else Q0 - Qref)

    def signals(x, U, angle, Pref):
        _, Qf, Vf, _, Iq, xPLL, dPLL, _, _, slip, dIT, xE = x
        Vcmd = Vref - d["mq"] * (Iq if d["VdrpFlag"] else Qf - Qref)
        E = xE + d["kpv"] * (Vcmd - Vf)
        V, i = network(E * np.exp(1j * (dIT + dPLL)), U * np.exp(1j * angle), d["IMAX"])
        turned = np.exp(-1j * dPLL)
        wPLL = np.clip(d["kpPLL"] * (V * turned).imag + xPLL, d["wPLLMIN"], d["wPLLMAX"])
        S = V * np.conj(i)
        return {"P": S.real, "Q": S.imag, "V": abs(V), "vq": (V * turned).imag, "i": i * turned, "wPLL": wPLL, "E": E,
                "Vcmd": Vcmd, "acts": wPLL if d["wFlag"] else slip, "I": abs(i)}

    def rates(x, Pref, **u):
        Pf, Qf, Vf, Id, Iq, _, _, slow, steady, slip, *_ = x
        s = signals(x, Pref=Pref, **u)
        droop = d["FFlag"] * (slow if d["Tp"] else s["acts"]) / d["mp"]
        return [(s["P"] - Pf) / d["TPf"], (s["Q"] - Qf) / d["TQf"], (s["V"] - Vf) / d["TVf"],
                (s["i"].real - Id) / d["TIf"], (-s["i"].imag - Iq) / d["TIf"], d["kiPLL"] * s["vq"], OMEGA * s["wPLL"],
                (s["acts"] - slow) / d["Tp"] if d["Tp"] else 0.0, d["wD"] * (slip - steady),
                (Pref - droop - Pf - d["D1"] * slip - d["D2"] * (slip - steady)) / (2 * d["H"]),
                OMEGA * (slip - s["wPLL"]), d["kiv"] * (s["Vcmd"] - Vf)]

    low, high = np.full(12, -np.inf), np.full(12, np.inf)
    low[5], high[5], low[9], high[9] = d["wPLLMIN"], d["wPLLMAX"], d["DwMIN"], d["DwMAX"]
    x0 = [P0, Q0, abs(V0), I0.real, -I0.imag, 0, np.angle(V0), 0, 0, 0, np.angle(E0 / V0), abs(E0)]
    t, x, columns = followed(signals, rates, x0, low, high, steps, t_end)
    return t, {**columns, ("GEN", "dIT"): x[:, 10], ("GEN", "dPLL"): x[:, 6],
               ("GEN", "Id"): x[:, 3], ("GEN", "Iq"): x[:, 4]}


WIDE = {"ISS": 6.0}  # limits in the long run are far away
MACHINES = {
    "droop by its speed": Study("REGFMB1", {**WIDE, "kpv": 0.1, "D1": 3.0, "QVFlag": 0.0}, DIP),
    "droop by the PLL": Study("REGFMB1", {**WIDE, "wFlag": 1.0, "Tp": 0.02, "VdrpFlag": 1.0}, DIP),
    "without droop": Study("REGFMB1", {**WIDE, "FFlag": 0.0, "D2": 200.0, "DwMAX": 2e-3, "DwMIN": -2e-3,
                                       "wPLLMAX": 0.01, "wPLLMIN": -0.01}, DIP,
                           {"slip_at_DwMIN", "slip_off_DwMIN", "slip_at_DwMAX", "wPLL_at_wPLLMAX"}),
    "current": Study("REGFMB1", {**WIDE, "IMAX": 1.2, "kiv": 2.0}, [("U", 0.1, -0.5), ("U", 0.3, 0.5)],
                     {"I_at_IMAX", "I_off_IMAX"})}


@pytest.mark.parametrize("name", MACHINES)
def test_a_virtual_synchronous_machine_is_its_diagram(name):
    study = MACHINES[name]
    found = study.run(4.0)
    agree(found, *virtual_machine(study.data(), study.steps, 4.0), part=1e-6)
    assert study.reached <= {event.item for event in found.events}
