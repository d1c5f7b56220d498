"""A line with line-commutated converters against its diagram, which scipy integrates by itself.

Kundur (1994), chapter 10. The AC buses are stiff: the voltage of the inverter dips, not so far that commutation fails,
then that of the rectifier, so that the inverter holds the current, and it so far that the order falls.
"""

from __future__ import annotations

import numpy as np
from integrated_diagrams import Columns, Steps, agree, integrated

import gridcore as gc

RECTIFIER = {"P0": 2.0, "Vd0": 1.0, "alpha0": 0.2618, "Rc": 0.03, "r": 0.01, "l": 0.004, "kp": 0.05, "ki": 3.0,
             "amin": 0.0873, "amax": 2.6, "Td": 0.02, "V1": 0.3, "I1": 0.3, "V2": 0.8, "I2": 1.1}
INVERTER = {"gamma0": 0.3142, "gmax": 1.2, "gcrit": 0.12, "grec": 0.15, "bmax": 1.4, "Rc": 0.03, "margin": 0.1,
            "kp": 0.05, "ki": 3.0, "Tb": 0.02}
STEPS: Steps = [("U2", 0.1, -0.05), ("U2", 0.6, 0.05), ("U1", 1.2, -0.15), ("U1", 2.2, -0.2), ("U1", 3.0, 0.35)]
T_END = 4.0


def run():
    """By IDA."""
    case = gc.Case("line", base_mva=100)
    for k in (1, 2):
        case.add("Bus", id=k)
        case.add("InfiniteBus", id=f"INF{k}", bus=k, control="slack")
    case.add("LCCLine", id="LCC", bus=1, **RECTIFIER)
    case.add("LCCInverter", id="INV", bus=2, line="LCC", **INVERTER)
    for k, (name, t, by) in enumerate(STEPS):
        case.add("ParameterStep", id=f"S{k}", parameter=f"INF{name[1]}.E", t=t, by=by)
    return gc.simulate(gc.build(case), T_END, 0.002, method="ida", rtol=1e-10, atol=1e-12)


def diagram() -> Columns:
    """Current, measured voltage, two integrals, and the angle of advance behind its lag."""
    R, INV = RECTIFIER, INVERTER
    I0 = R["P0"] / R["Vd0"]
    V0 = R["Vd0"] - R["r"] * I0
    no_load = (R["Vd0"] + R["Rc"] * I0) / np.cos(R["alpha0"]), (V0 + INV["Rc"] * I0) / np.cos(INV["gamma0"])

    def signals(x: np.ndarray, U1: float, U2: float) -> dict[str, float]:
        i, Vm, by_rectifier, by_inverter, cosb = x
        order = min(I0, float(np.interp(Vm, [R["V1"], R["V2"]], [R["I1"] * I0, R["I2"] * I0])))
        cosa = np.clip(by_rectifier + R["kp"] * (order - i), np.cos(R["amax"]), np.cos(R["amin"]))
        Vdo = no_load[0] * U1, no_load[1] * U2
        Vd, Vd2 = Vdo[0] * cosa - R["Rc"] * i, Vdo[1] * cosb + INV["Rc"] * i
        more = i - (order - INV["margin"] * I0)
        cosg = np.clip(by_inverter + INV["kp"] * more, np.cos(INV["gmax"]), np.cos(INV["gamma0"]))
        return {"order": order, "cosa": cosa, "Vd": Vd, "Vd2": Vd2, "more": more,
                "asked": np.clip(cosg - 2 * INV["Rc"] * i / Vdo[1], np.cos(INV["bmax"]), 1.0),
                "P": Vd * i, "Q": i * np.sqrt(Vdo[0] ** 2 - Vd**2), "P2": Vd2 * i,
                "Q2": i * np.sqrt(Vdo[1] ** 2 - Vd2**2)}

    def rates(x: np.ndarray, **u: float) -> list[float]:
        s, i = signals(x, **u), x[0]
        return [(s["Vd"] - s["Vd2"] - R["r"] * i) / R["l"], (s["Vd"] - x[1]) / R["Td"], R["ki"] * (s["order"] - i),
                INV["ki"] * s["more"], (s["asked"] - x[4]) / INV["Tb"]]

    low = np.array([0.0, -np.inf, np.cos(R["amax"]), np.cos(INV["gmax"]), -np.inf])
    high = np.array([np.inf, np.inf, np.cos(R["amin"]), np.cos(INV["gamma0"]), np.inf])
    cosg = np.cos(INV["gamma0"])
    x0 = [I0, R["Vd0"], np.cos(R["alpha0"]), cosg, cosg - 2 * INV["Rc"] * I0 / no_load[1]]
    t, x, given = integrated(rates, x0, low, high, {"U1": 1.0, "U2": 1.0}, STEPS, T_END, max_step=2e-3)
    s = [signals(at, **u) for at, u in zip(x, given, strict=True)]
    column = {name: np.array([row[name] for row in s]) for name in s[0]}
    return t, {("LCC", "i"): x[:, 0], ("LCC", "cosa"): column["cosa"], ("LCC", "order"): column["order"],
               ("INV", "cosb"): x[:, 4], ("LCC", "P"): column["P"], ("LCC", "Q"): column["Q"],
               ("INV", "P"): column["P2"], ("INV", "Q"): column["Q2"]}


def test_a_line_is_its_diagram():
    found = run()
    agree(found, *diagram(), part=1e-6)
    assert {"wanted_x_off_wanted_max", "cosa_x_at_cosa_max", "curve_below_2", "order_to_second", "cosa_x_off_cosa_max",
            "order_to_first"} <= {event.item for event in found.events}
