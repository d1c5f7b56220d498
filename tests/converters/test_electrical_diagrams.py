"""REECA1, REECB1, REECC1 and REECD1 on REGCA1 against their block diagrams, which scipy integrates by themselves.

The diagrams are those of EPRI 3002027129 (2023); the plant is behind a reactance at an infinite bus whose voltage dips,
and its references step.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from integrated_diagrams import Columns, Steps, agree, integrated
from test_wecc import plant, run

P0, Q0, X, TG = 0.6, 0.1, 0.1, 0.02
DATA = {"PfFlag": 0.0, "VFlag": 1.0, "QFlag": 0.0, "PQFlag": 0.0, "Vdip": 0.85, "Vup": 1.2, "Trv": 0.02, "dbd1": -0.03,
        "dbd2": 0.02, "Kqv": 2.0, "Iqh1": 0.6, "Iql1": -0.6, "Tp": 0.05, "Qmax": 0.25, "Qmin": -0.25, "Vmax": 1.06,
        "Vmin": 0.96, "Kqp": 0.1, "Kqi": 2.0, "Kvp": 0.5, "Kvi": 20.0, "Tiq": 0.02, "dPmax": 1.0, "dPmin": -2.0,
        "Pmax": 0.9, "Pmin": 0.2, "Imax": 1.1, "Tpord": 0.05}
TABLES = {"Vq1": 0.5, "Iq1": 0.5, "Vq2": 0.9, "Iq2": 1.0, "Vp1": 0.5, "Ip1": 0.4, "Vp2": 0.95, "Ip2": 0.75}
STEPS: Steps = [("U", 0.1, -0.08), ("Pref", 0.5, 0.5), ("Qext", 1.0, 0.3), ("U", 1.5, -0.25), ("U", 1.7, 0.25),
                ("Pref", 2.0, -0.8), ("Qext", 2.5, -0.8), ("U", 3.0, 0.18)]
T_END = 4.0


@dataclass
class Study:
    """A model, what differs, events that the run has, and by which part of a range its columns may differ."""

    model: str
    values: dict[str, float] = field(default_factory=dict)
    reached: set[str] = field(default_factory=set)
    part: float = 1e-6


def diagram(model: str, d: dict[str, float]) -> Columns:
    """Measurements, reactive control, power order, limits of currents, and the converter's two lags."""
    V0: complex = 1.0 + 0j
    for _ in range(60):
        V0 = 1.0 + 1j * X * np.conj((P0 + 1j * Q0) / V0)
    v0 = abs(V0)
    tables = [([d[f"V{kind}{k}"] for k in (1, 2)], [d[f"I{kind}{k}"] for k in (1, 2)]) for kind in "qp"
              if "Vq1" in d]

    def signals(x: np.ndarray, U: float, Pref: float, Qext: float) -> dict[str, float]:
        Vf, Pf, outer, inner, quotient, Pord, Ip, Iq, charge, Vcomp = x
        V = np.sqrt(U**2 - (X * Ip) ** 2) + X * Iq
        seen = Vf if model == "REECD1" else V
        dip = seen < d["Vdip"] or seen > d["Vup"]
        asked = Q0 / P0 * Pf if d["PfFlag"] else Qext
        Qset = np.clip(asked, d["Qmin"], d["Qmax"]) if d["QFlag"] and d["VFlag"] else asked
        Vset = np.clip(outer + d["Kqp"] * (Qset - V * Iq), d["Vmin"], d["Vmax"]) if d["VFlag"] else np.clip(
            Qset, d["Vmin"], d["Vmax"])
        above, controlled = v0 - Vf, Vcomp if "Kc" in d else Vf
        beyond = above - d["dbd2"] if above > d["dbd2"] else above - d["dbd1"] if above < d["dbd1"] else 0.0
        injected = np.clip(d["Kqv"] * beyond, d["Iql1"], d["Iqh1"])
        if model == "REECA1" and not dip:
            injected = 0.0
        most = [min(d["Imax"], np.interp(Vf, *table)) for table in tables] or [d["Imax"]] * 2

        def reactive(top: float) -> float:
            base = np.clip(inner + d["Kvp"] * (Vset - controlled), -top, top) if d["QFlag"] else quotient
            return float(np.clip(base + injected, -top, top))

        def active(top: float) -> float:
            least = -top if "SOCmin" in d else -d.get("Ke", 0.0) * top
            return float(np.clip(Pord / Vf, least, 0.0 if charge < d.get("SOCmin", -1.0) else top))

        if d["PQFlag"]:
            Ipcmd = active(most[1])
            Iqcmd = reactive(min(most[0], np.sqrt(d["Imax"] ** 2 - Ipcmd**2)))
        else:
            Iqcmd = reactive(most[0])
            Ipcmd = active(min(most[1], np.sqrt(d["Imax"] ** 2 - Iqcmd**2)))
        if Vf < d.get("Vblkl", 0.0):
            Ipcmd, Iqcmd = 0.0, 0.0
        return {"V": V, "P": V * Ip, "Q": V * Iq, "Ipcmd": Ipcmd, "Iqcmd": Iqcmd, "free": not dip, "Qset": Qset,
                "Vset": Vset}

    def rates(x: np.ndarray, U: float, Pref: float, Qext: float) -> list[float]:
        Vf, Pf, _, _, quotient, Pord, Ip, Iq, _, Vcomp = x
        s = signals(x, U, Pref, Qext)
        free = s["free"]
        return [(s["V"] - Vf) / d["Trv"], (s["P"] - Pf) / d["Tp"],
                free * d["Kqi"] * (s["Qset"] - s["Q"]) * d["VFlag"] * d["QFlag"],
                free * d["Kvi"] * (s["Vset"] - (Vcomp if "Kc" in d else Vf)) * d["QFlag"],
                free * (s["Qset"] / Vf - quotient) / d["Tiq"],
                free * np.clip((Pref - Pord) / d["Tpord"], d["dPmin"], d["dPmax"]), (s["Ipcmd"] - Ip) / TG,
                (s["Iqcmd"] - Iq) / TG, -s["P"] / d.get("T", np.inf),
                (s["V"] + d.get("Kc", 0.0) * s["Q"] - Vcomp) / d.get("Tr1", 1.0)]

    low, high, controlled = np.full(10, -np.inf), np.full(10, np.inf), v0 + d.get("Kc", 0.0) * Q0
    for state, least, largest in ((2, d["Vmin"], d["Vmax"]), (3, -d["Imax"], d["Imax"]), (5, d["Pmin"], d["Pmax"])):
        low[state], high[state] = least, largest
    x0 = [v0, P0, controlled, Q0 / v0, Q0 / v0, P0, P0 / v0, Q0 / v0, d.get("SOCini", 0.0), controlled]
    Qext = controlled if d["QFlag"] and not d["VFlag"] else Q0
    t, x, given = integrated(rates, x0, low, high, {"U": 1.0, "Pref": P0, "Qext": Qext}, STEPS, T_END, max_step=5e-3)
    s = [signals(at, **u) for at, u in zip(x, given, strict=True)]
    return t, {("REEC", "Vf"): x[:, 0], ("REEC", "Pord"): x[:, 5], **{
        (device, name): np.array([row[name] for row in s])
        for device, names in (("GEN", ("P", "Q")), ("REEC", ("Ipcmd", "Iqcmd"))) for name in names}}


LIMITS = {"Pord_speed_at_dPmax", "Pord_at_Pmax", "Pord_speed_at_dPmin", "current_at_Ipmax", "dip_below"}
STUDIES = {
    "reactive power": Study("REECB1", {}, {*LIMITS, "band_beyond_below"}),
    "cascade": Study("REECB1", {"QFlag": 1.0}, {*LIMITS, "Qset_at_Qset_max", "Qset_at_Qset_min", "outer_x_at_outer_min",
                                                "outer_x_at_outer_max"}),
    # where one current leaves nothing of the other: of its last hundredth a cubic makes a finite slope, docs/models.md
    "power factor": Study("REECB1", {"PfFlag": 1.0, "PQFlag": 1.0}, {*LIMITS, "total_at_total_max", "support_at_Iqh1"},
                          part=2e-5),
    "voltage": Study("REECA1", {"QFlag": 1.0, "VFlag": 0.0}, {*LIMITS, "direct_at_direct_max", "inner_x_at_inner_max",
                                                             "inner_x_at_inner_min"}, part=2e-5),
    "battery": Study("REECC1", {"PQFlag": 1.0, "Pmin": -0.9, "T": 10.0, "SOCini": 0.5, "SOCmin": 0.4, **TABLES},
                     {"dip_below", "Pord_at_Pmax", "charge_below", "VDL1_below_2"}),
    "droop and blocking": Study("REECD1", {"QFlag": 1.0, "Kc": 0.05, "Tr1": 0.02, "Ke": 0.5, "Vblkl": 0.75},
                                {*LIMITS, "outside_below", "outside_from_below", "outer_x_at_outer_min"}),
    "tables": Study("REECA1", {**TABLES, "PQFlag": 1.0}, {*LIMITS, "VDL1_below_2", "VDL2_below_2", "Iqtop_to_first"})}


@pytest.mark.parametrize("name", STUDIES)
def test_an_electrical_control_is_its_diagram(name):
    study = STUDIES[name]
    data = {**DATA, **study.values}
    address = {"U": "INF.E", "Pref": "REEC.Pref", "Qext": "REEC.Qext"}
    found = run(plant(control=study.model, x=X, P0=P0, Q0=Q0, steps=[(address[name], t, by) for name, t, by in STEPS],
                      REGCA1={"Tg": TG, "Rrpwr": 999.0, "Lvpnt1": 0.4, "Lvpnt0": 0.2}, **{study.model: data}), T_END)
    agree(found, *diagram(study.model, data), study.part)
    assert study.reached <= {event.item for event in found.events}
