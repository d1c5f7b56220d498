"""Studies of converters on kundur: every model, through its limits, what it holds in a dip, and the recovery."""

from __future__ import annotations

from typing import Any

from conventional_studies import of
from industry_studies import MORE, study, system
from scenes import record
from studies import Study

import gridcore as gc


def converter(case: gc.Case, machine: str, **models: dict[str, Any]) -> None:
    """A converter and its controls in place of a machine and its; the first model is the converter's."""
    place = {name: case[machine].fields[name] for name in ("bus", "control", "P0", "V0", "Sn")
             if name in case[machine].fields}
    for id in (f"PSS_EXC_{machine}", f"EXC_{machine}", f"GOV_{machine}", machine):
        if id in case:
            case.remove(id)
    below = machine
    for model, values in models.items():
        item = record(model, **({"id": machine, **place} if below == machine and model.startswith("REG") else
                                {record(model).device.attaches[0]: below}), **values)
        case.add(item)
        below = item.fields.get("id") or item.device.naming.format(**item.fields)


@study
def solar_plants_in_a_fault() -> Study:
    """Power logic, dips that hold, reactive support, priority of either current, plant controls behind dead bands."""
    case = system("kundur", gc.BusFault(id="fault", bus=8, t=0.0513, clear=0.1523, x=0.02),
                  gc.BranchTrip(id="trip", branch="LINE8-9_2", t=0.1523))
    converter(case, "GEN2", REGCA1={"Lvplsw": 1.0, "Rrpwr": 5.0, "Lvpnt1": 0.9, "Iqrmax": 8.0, "Iqrmin": -8.0},
              REECB1={"QFlag": 1.0, "VFlag": 1.0, "Kqp": 0.2, "Kqi": 2.0, "Kvp": 1.0, "Kvi": 20.0, "Imax": 1.1,
                      "Vdip": 0.6, "Kqv": 2.0, "dbd1": -0.02, "dbd2": 0.02, "Tpord": 0.05},
              REPCA1={"RefFlag": 1.0, "Fflag": 1.0, "Kc": 0.02, "dbd1": -0.002, "dbd2": 0.002, "fdbd1": -2e-4,
                      "fdbd2": 2e-4, "Ddn": 20.0, "Dup": 10.0, "Vfrz": 0.7, "Tft": 0.02, "Qmax": 0.4})
    return Study(case, 0.4, 0.02, [*(name for name in MORE if not name.startswith(("GEN2.S", "GEN2.H"))), *of(
        "GEN2: Tg Rrpwr Brkpt Zerox Lvpl1 Lvpnt1 Lvpnt0 Tfltr Iqrmax",
        "REEC_GEN2: Vdip Trv dbd1 Kqv Kqp Kqi Kvp Kvi Imax Tpord",
        "REPC_REEC_GEN2: Tfltr Kp Ki Tft Tfv Vfrz Kc emax dbd1 dbd2 Qmax Kpg Kig Tp Ddn Dup Tg fdbd1")],
        [("GEN2", "P"), ("GEN2", "Q"), ("BUS8", "Vm")], [])
