"""REGCB1 and a turbine of type 3 against their block diagrams, which scipy integrates by themselves.

The diagrams are those of EPRI 3002027129 (2023), as Dynawo's REGCb, WTGTa, WTGAa, WTGPa and WTGQa and GridPACK have
them: torques and pitch angles are absolute there, counted from t0 here.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from integrated_diagrams import Columns, Steps, agree, integrated
from test_wecc import plant, run

# Two masses, a torque control on a rating of its own, a pitch at t0 that the pitch control has to keep.
TURBINE = {"WTDTA1": {"H": 4.0, "DAMP": 1.0, "Htfrac": 0.8, "Freq1": 1.6, "Dshaft": 1.5},
           "WTARA1": {"Ka": 0.007, "Theta0": 5.0},
           "WTPTA1": {"Kiw": 25.0, "Kpw": 150.0, "Kic": 30.0, "Kpc": 3.0, "Kcc": 0.1, "Tp": 0.3, "TetaMax": 27.0,
                      "TetaMin": 0.0, "RTetaMax": 10.0, "RTetaMin": -10.0},
           "WTTQA1": {"Tflag": 0.0, "Kpp": 3.0, "Kip": 0.6, "Tp": 0.05, "Twref": 2.0, "Temax": 1.2, "Temin": 0.0,
                      "p1": 0.2, "spd1": 0.58, "p2": 0.4, "spd2": 0.72, "p3": 0.6, "spd3": 0.86, "p4": 0.8, "spd4": 1.0,
                      "TRATE": 80.0}}
P0, SN, TG, TRV, TPORD, VDIP = 0.5, 100.0, 0.02, 0.02, 0.03, 0.9


def turbine(d: dict[str, dict[str, float]], steps: Steps, t_end: float) -> Columns:
    """Torque control, power order and converter; drive train; pitch control and aerodynamics."""
    train, aero, pitch, torque = (d[model] for model in ("WTDTA1", "WTARA1", "WTPTA1", "WTTQA1"))
    Ht = train["Htfrac"] * train["H"]
    Hg = train["H"] - Ht
    stiffness = (2 * np.pi * train["Freq1"]) ** 2 * 2 * Ht * Hg / train["H"]
    part = SN / torque["TRATE"]
    powers, speeds = ([torque[f"{name}{k}"] for k in range(1, 5)] for name in ("p", "spd"))
    w0 = np.interp(part * P0, powers, speeds)
    bottom, top = pitch["TetaMin"], pitch["TetaMax"]

    def signals(x: np.ndarray, V: float, Pref: float) -> dict[str, float]:
        Ip, _, Pord, Pf, wref, Te, wt, wg, twist, by_speed, by_power, theta = x
        error = (part * Pref - Pf) / wg if torque["Tflag"] else wg - wref
        Tref = np.clip(Te + torque["Kpp"] * error, torque["Temin"], torque["Temax"])
        excess = Pord - Pref
        fast = wt - wref + pitch["Kcc"] * excess
        wanted = (np.clip(by_speed + pitch["Kpw"] * fast, bottom, top)
                  + np.clip(by_power + pitch["Kpc"] * excess, bottom, top))
        return {"P": Ip * V, "error": error, "Tref": Tref, "excess": excess, "fast": fast, "wanted": wanted,
                "Pm": P0 - aero["Ka"] * theta * (theta - aero["Theta0"]),
                "shaft": stiffness * twist + train["Dshaft"] * (wt - wg)}

    def rates(x: np.ndarray, V: float, Pref: float) -> list[float]:
        Ip, Vf, Pord, Pf, wref, _, wt, wg, *_, theta = x
        s, free = signals(x, V, Pref), V >= VDIP
        return [(Pord / Vf - Ip) / TG, (V - Vf) / TRV, free * (s["Tref"] * wg / part - Pord) / TPORD,
                (part * s["P"] - Pf) / torque["Tp"], (np.interp(Pf, powers, speeds) - wref) / torque["Twref"],
                free * torque["Kip"] * s["error"], (s["Pm"] / wt - s["shaft"]) / (2 * Ht),
                (s["shaft"] - s["P"] / wg - train["DAMP"] * (wg - w0)) / (2 * Hg), wt - wg,
                pitch["Kiw"] * s["fast"], pitch["Kic"] * s["excess"],
                np.clip((s["wanted"] - theta) / pitch["Tp"], pitch["RTetaMin"], pitch["RTetaMax"])]

    x0 = [P0, 1.0, P0, part * P0, w0, part * P0 / w0, w0, w0, P0 / w0 / stiffness, aero["Theta0"], 0.0, aero["Theta0"]]
    low, high = np.full(12, -np.inf), np.full(12, np.inf)
    low[5], high[5] = torque["Temin"], torque["Temax"]
    low[9:], high[9:] = bottom, top
    t, x, given = integrated(rates, x0, low, high, {"V": 1.0, "Pref": P0}, steps, t_end)
    s = [signals(at, **u) for at, u in zip(x, given, strict=True)]
    column = {name: np.array([row[name] for row in s]) for name in s[0]}
    return t, {("GEN", "P"): column["P"], ("TRAIN", "wt"): x[:, 6], ("TRAIN", "wg"): x[:, 7],
               ("TRAIN", "shaft"): column["shaft"], ("WTTQA1", "slow"): x[:, 4],
               ("WTTQA1", "change"): column["Tref"] - part * P0 / w0, ("WTPTA1", "dpitch"): x[:, 11] - aero["Theta0"],
               ("AERO", "dPm"): column["Pm"] - P0}


DISTURBED: Steps = [("V", 0.2, -0.15), ("V", 0.4, 0.15), ("Pref", 1.0, -0.2), ("Pref", 3.0, 0.3)]
STUDIES: dict[str, tuple[dict[str, dict[str, float]], set[str]]] = {
    "speed": ({}, {"optimum_below_3", "control_at_lowest", "compensation_x_at_TetaMin", "dpitch_speed_at_RTetaMin"}),
    "power": ({"WTTQA1": {"Tflag": 1.0, "Kpp": 0.3, "Kip": 1.0}}, {"optimum_below_2"}),
    "limits": ({"WTTQA1": {"Temax": 0.73, "Temin": 0.7, "Kpp": 6.0},
                "WTPTA1": {"RTetaMax": 2.0, "RTetaMin": -3.0, "TetaMax": 6.0}}, {
                    "change_at_change_min", "change_off_change_min", "control_at_highest", "dpitch_at_highest",
                    "compensation_x_at_TetaMax", "dpitch_speed_at_RTetaMax"})}


@pytest.mark.parametrize("name", STUDIES)
def test_a_turbine_of_type_3_is_its_diagram(name):
    """A dip holds the torque control, and the reference of the power falls and rises."""
    changes, reached = STUDIES[name]
    data = {model: {**values, **changes.get(model, {})} for model, values in TURBINE.items()}
    address = {"V": "INF.E", "Pref": "REEC.Pref"}
    case = plant(control="REECA1", P0=P0, Q0=0.0, REGCA1={"Tg": TG, "Rrpwr": 999.0},
                 REECA1={"Vdip": VDIP, "Trv": TRV, "Tpord": TPORD, "Imax": 2.0},
                 steps=[(address[name], t, by) for name, t, by in DISTURBED], **data)
    found = run(case, 5.0)
    agree(found, *turbine(data, DISTURBED, 5.0), part=1e-5)
    assert reached <= {event.item for event in found.events}


@dataclass
class Converter:
    """Data of a REGCB1 behind a reactance `x`, its operating point, and what events its run has."""

    x: float = 0.1
    P0: float = 0.6
    Q0: float = 0.1
    steps: Steps = field(default_factory=lambda: [
        ("Ipcmd", 0.1, -0.3), ("Ipcmd", 0.4, 0.5), ("Iqcmd", 0.7, -0.5), ("Iqcmd", 1.0, 1.0), ("E", 1.4, -0.4),
        ("E", 1.6, 0.4)])
    values: dict[str, float] = field(default_factory=dict)
    reached: set[str] = field(default_factory=set)


DATA = {"RateFlag": 0.0, "PQFlag": 0.0, "Tg": 0.02, "Tfltr": 0.03, "Iqrmax": 5.0, "Iqrmin": -4.0, "Rrpwr": 3.0,
        "Te": 0.01, "Imax": 0.9, "Rs": 0.01, "Xdp": 0.2}
CONVERTERS = {
    "current, reactive first": Converter(reached={"x_speed_at_x_speed_max", "Iq_speed_at_Iq_speed_max", "ip_at_ipmax"}),
    "power, active first": Converter(Q0=-0.1, values={"RateFlag": 1.0, "PQFlag": 1.0}, reached={
        "x_speed_at_x_speed_max", "Iq_speed_at_Iq_speed_min", "iq_at_iq_min"}),
    "storage that takes power": Converter(P0=-0.5, values={"RateFlag": 1.0}, reached={"x_speed_at_x_speed_min"}),
    "no voltage": Converter(x=0.0, values={"RateFlag": 1.0}, reached={"x_speed_at_x_speed_max"}, steps=[
        ("E", 0.1, -0.995), ("E", 0.3, 0.995)])}


def converter(c: Converter, d: dict[str, float], t_end: float) -> Columns:
    """Limits of currents, lags with limited rates, and a voltage behind the impedance."""
    z, S0 = d["Rs"] + 1j * d["Xdp"], c.P0 + 1j * c.Q0
    V0: complex = 1.0 + 0j
    for _ in range(50):
        V0 = 1.0 + 1j * c.x * np.conj(S0 / V0)
    I0 = S0.conjugate() / abs(V0)
    up, down = (np.inf, -d["Rrpwr"]) if c.P0 < 0 else (d["Rrpwr"], -np.inf)

    def voltage(Ed: float, Eq: float, E: float) -> float:
        """The larger V of ``|V - j x ((Ed + j Eq) - V) / z| = E``."""
        a, b = 1 + 1j * c.x / z, 1j * c.x / z * (Ed + 1j * Eq)
        middle = (a * np.conj(b)).real
        return (middle + np.sqrt(middle**2 - abs(a) ** 2 * (abs(b) ** 2 - E**2))) / abs(a) ** 2

    def signals(x: np.ndarray, E: float, Ipcmd: float, Iqcmd: float) -> dict[str, float]:
        Ed, Eq = x[3:]
        V = voltage(Ed, Eq, E)
        S = V * np.conj((Ed + 1j * Eq - V) / z)
        return {"V": V, "P": S.real, "Q": S.imag}

    def rates(x: np.ndarray, E: float, Ipcmd: float, Iqcmd: float) -> list[float]:
        Vf, active, Iq, Ed, Eq = x
        V = signals(x, E, Ipcmd, Iqcmd)["V"]
        if d["PQFlag"]:
            ip = np.clip(Ipcmd, -d["Imax"], d["Imax"])
            left = np.sqrt(d["Imax"] ** 2 - ip**2)
            iq = np.clip(Iqcmd, -left, left)
        else:
            iq = np.clip(Iqcmd, -d["Imax"], d["Imax"])
            left = np.sqrt(d["Imax"] ** 2 - iq**2)
            ip = np.clip(Ipcmd, -left, left)
        factor = max(Vf, 0.01) if d["RateFlag"] else 1.0
        wanted = V + z * (active / factor - 1j * Iq)
        return [(V - Vf) / d["Tfltr"], np.clip((ip * factor - active) / d["Tg"], down, up),
                np.clip((iq - Iq) / d["Tg"], d["Iqrmin"] if c.Q0 < 0 else -np.inf, d["Iqrmax"] if c.Q0 > 0 else np.inf),
                (wanted.real - Ed) / d["Te"], (wanted.imag - Eq) / d["Te"]]

    E0 = abs(V0) + z * I0
    x0 = [abs(V0), I0.real * (abs(V0) if d["RateFlag"] else 1.0), -I0.imag, E0.real, E0.imag]
    inputs = {"E": 1.0, "Ipcmd": I0.real, "Iqcmd": -I0.imag}
    t, x, given = integrated(rates, x0, -np.inf, np.inf, inputs, c.steps, t_end)
    s = [signals(at, **u) for at, u in zip(x, given, strict=True)]
    return t, {**{("GEN", name): np.array([row[name] for row in s]) for name in "PQ"},
               **{("GEN", name): x[:, k] for k, name in enumerate(("Vf", "x", "Iq", "Ed", "Eq"))
                  if np.ptp(x[:, k]) > 5e-3}}


@pytest.mark.parametrize("name", CONVERTERS)
def test_a_converter_behind_an_impedance_is_its_diagram(name):
    c = CONVERTERS[name]
    data = {**DATA, **c.values}
    address = {"E": "INF.E", "Ipcmd": "GEN.Ipcmd", "Iqcmd": "GEN.Iqcmd"}
    found = run(plant("REGCB1", x=c.x, P0=c.P0, Q0=c.Q0, REGCB1=data,
                      steps=[(address[name], t, by) for name, t, by in c.steps]), 2.0)
    agree(found, *converter(c, data, 2.0), part=1e-7)
    assert c.reached <= {event.item for event in found.events}
