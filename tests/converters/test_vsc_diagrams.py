"""A VSC line against its diagram, which scipy integrates by itself: controls, current limits, cable and capacitors.

Cole & Belmans (2011); Beerten, Cole & Belmans (2012, 2014). The AC buses are stiff; the voltage of one dips.
"""

from __future__ import annotations

import numpy as np
import pytest
from integrated_diagrams import Columns, Steps, agree, integrated
from scipy.optimize import brentq

import gridcore as gc

COMMON = {"Tc": 0.003, "Tv": 0.01, "Td": 0.002, "la": 0.011, "lb": 0.0034, "lc": 0.0049, "Pmin": -1.0, "Pmax": 1.0}
RECTIFIER = {**COMMON, "P0": -0.8, "Q0": 0.1, "kd": 8.0, "kdi": 0.0, "kv": 0.0, "kvi": 0.0, "Imax": 1.1}
INVERTER = {**COMMON, "P0": 0.75, "Q0": -0.1, "kd": 10.0, "kdi": 100.0, "kv": 2.0, "kvi": 20.0, "Imax": 1.1}
R, L, C = 0.02, 0.004, (0.1, 0.08)
T_END = 1.5
STEPS: dict[str, tuple[Steps, set[str]]] = {
    "inverter": ([("U2", 0.1, -0.5), ("U2", 0.3, 0.5)], {"VSC2.reactive_at_Iqmax", "VSC2.active_at_Imax",
                 "VSC2.left_at_Imax", "VSC2.more_x_at_more_max", "VSC2.lack_at_lack_max", "VSC2.active_off_Imax"}),
    "rectifier": ([("U1", 0.1, -0.4), ("U1", 0.4, 0.4)], {"VSC1.reactive_at_Iqmax", "VSC1.active_at_Imin",
                  "VSC1.more_at_more_min", "VSC1.active_off_Imin"})}


def run(steps: Steps):
    """By IDA."""
    case = gc.Case("line", base_mva=100)
    for k, data in ((1, RECTIFIER), (2, INVERTER)):
        case.add("Bus", id=k)
        case.add("InfiniteBus", id=f"INF{k}", bus=k, control="slack")
        case.add("DCBus", id=k)
        case.add("VSC", bus=k, dc=k, control="PQ", Sn=100.0, **data)
    case.add("DCCable", dc1=1, dc2=2, r=R, l=L)
    case.add("DCSlack", dc=1, c=C[0])
    case.add("DCCapacitor", dc=2, c=C[1])
    for k, (name, t, by) in enumerate(steps):
        case.add("ParameterStep", id=f"S{k}", parameter=f"INF{name[1]}.E", t=t, by=by)
    return gc.simulate(gc.build(case), T_END, 0.0005, method="ida", rtol=1e-10, atol=1e-12)


def loss(d: dict[str, float], current: float) -> float:
    """Of a converter."""
    return d["la"] + d["lb"] * current + d["lc"] * current**2


def diagram(steps: Steps) -> Columns:
    """Six states of each converter, two voltages and the current of the cable."""
    both = (RECTIFIER, INVERTER)
    P2 = INVERTER["P0"] + loss(INVERTER, np.hypot(INVERTER["P0"], INVERTER["Q0"]))
    V2 = brentq(lambda V: (1 - V) / R * V - P2, 0.9, 1.0, xtol=1e-15)
    P1, V0 = RECTIFIER["P0"] + loss(RECTIFIER, np.hypot(RECTIFIER["P0"], RECTIFIER["Q0"])), (1.0, V2)
    spare = -P1 - (1 - V2) / R

    def asked(d: dict[str, float], x: np.ndarray, start: float) -> tuple[float, float]:
        Vd, Vm, by_dc, by_ac = x[:4]
        more = np.clip(by_dc + d["kd"] * (Vd - start), d["Pmin"] - d["P0"], d["Pmax"] - d["P0"])
        active = np.clip((d["P0"] + more) / max(Vm, 0.05), -d["Imax"], d["Imax"])
        most = np.sqrt(max(d["Imax"] ** 2 - active**2, (0.01 * d["Imax"]) ** 2))
        lack = np.clip(by_ac + d["kv"] * (1 - Vm), -2 * d["Imax"], 2 * d["Imax"])
        return active, np.clip(d["Q0"] / max(Vm, 0.05) + lack, -most, most)

    def rates(x: np.ndarray, U1: float, U2: float) -> list[float]:
        out, drawn, (v1, v2, i) = [], [], x[12:]
        for d, own, U, v, start in zip(both, (x[:6], x[6:12]), (U1, U2), (v1, v2), V0, strict=True):
            Vd, Vm, _, _, Id, Iq = own
            active, reactive = asked(d, own, start)
            out += [(v - Vd) / d["Td"], (U - Vm) / d["Tv"], d["kdi"] * (Vd - start), d["kvi"] * (1 - Vm),
                    (active - Id) / d["Tc"], (reactive - Iq) / d["Tc"]]
            drawn.append((U * Id + loss(d, np.hypot(Id, Iq))) / v)
        return [*out, (-i - drawn[0] - spare) / C[0], (i - drawn[1]) / C[1], (v1 - v2 - R * i) / L]

    low, high, x0 = np.full(15, -np.inf), np.full(15, np.inf), []
    for k, (d, start) in enumerate(zip(both, V0, strict=True)):
        low[6 * k + 2], high[6 * k + 2] = d["Pmin"] - d["P0"], d["Pmax"] - d["P0"]
        low[6 * k + 3], high[6 * k + 3] = -2 * d["Imax"], 2 * d["Imax"]
        x0 += [start, 1.0, 0.0, 0.0, d["P0"], d["Q0"]]
    t, x, _ = integrated(rates, [*x0, 1.0, V2, (1 - V2) / R], low, high, {"U1": 1.0, "U2": 1.0}, steps, T_END,
                         max_step=1e-3)
    columns = {(f"VSC{k + 1}", name): x[:, 6 * k + n] for k in (0, 1) for n, name in ((0, "Vd"), (4, "Id"), (5, "Iq"))}
    columns = {key: column for key, column in columns.items() if np.ptp(column)}
    return t, {**columns, ("DCBUS1", "V"): x[:, 12], ("DCBUS2", "V"): x[:, 13], ("CABLE1-2", "i"): x[:, 14]}


@pytest.mark.parametrize("name", STEPS)
def test_a_line_is_its_diagram(name):
    steps, reached = STEPS[name]
    found = run(steps)
    agree(found, *diagram(steps), part=1e-7)
    assert reached <= {f"{event.device}.{event.item}" for event in found.events}
