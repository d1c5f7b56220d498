"""A system as PowerSystems.jl stores it, and one of ANDES as a workbook."""

from __future__ import annotations

import io
from typing import Any

from .power_flows import ANDES


def _component(name: str, type: str, /, **fields: Any) -> dict[str, Any]:
    return {**fields, "name": name, "internal": {"uuid": {"value": name}}, "__metadata__": {"type": type}}


def _at(name: str) -> dict[str, str]:
    return {"value": name}


POWER_SYSTEMS = {"frequency": 60.0, "units_settings": {"base_value": 100.0}, "data": {"components": [
    _component("one", "ACBus", number=1, bustype="REF", magnitude=1.02, angle=0.0, base_voltage=138.0),
    _component("two", "ACBus", number=2, bustype="PV", magnitude=1.01, angle=-0.1, base_voltage=138.0),
    _component("between", "Arc", **{"from": _at("one"), "to": _at("two")}),
    _component("line", "Line", arc=_at("between"), r=0.01, x=0.1, b={"from": 0.1, "to": 0.12}, available=True),
    _component("step", "TapTransformer", arc=_at("between"), base_power=200.0, r=0.0, x=0.2, tap=1.02,
               primary_shunt={"real": 0.0, "imag": -0.01}),
    _component("load", "StandardLoad", bus=_at("two"), base_power=100.0, constant_active_power=0.2,
               impedance_active_power=0.5, impedance_reactive_power=0.2),
    _component("more", "ExponentialLoad", bus=_at("two"), active_power=0.1, reactive_power=0.0,
               **{"\N{GREEK SMALL LETTER ALPHA}": 1.0, "\N{GREEK SMALL LETTER BETA}": 2.0}),
    _component("bank", "FixedAdmittance", bus=_at("two"), Y={"real": 0.0, "imag": 0.1}),
    _component("source", "Source", bus=_at("one"), R_th=0.0, X_th=0.01, active_power=0.2),
    _component("unit", "ThermalStandard", bus=_at("two"), dynamic_injector=_at("machine"), base_power=120.0,
               active_power=0.5, reactive_power=0.1, reactive_power_limits={"min": -1.0, "max": 1.0}, status=True),
    _component("machine", "DynamicGenerator", base_power=120.0, shaft=_component("s", "SingleMass", H=4.0, D=1.0),
               machine=_component("m", "OneDOneQMachine", R=0.0, Td0_p=5.9, Tq0_p=0.6, Xd=1.3, Xq=1.25, Xd_p=0.18,
                                  Xq_p=0.25),
               avr=_component("a", "SEXS", Ta_Tb=0.1, Tb=10.0, K=100.0, Te=0.1, V_lim={"min": -1.0, "max": 5.0}),
               prime_mover=_component("p", "TGFixed", P_ref=1.0), pss=_component("n", "PSSFixed", V_pss=0.0))]}}


def andes_workbook() -> bytes:
    """The tables of the JSON file, a sheet each."""
    import openpyxl

    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, table in ANDES.items():
        sheet = book.create_sheet(name)
        columns = list(dict.fromkeys(key for row in table for key in row))
        sheet.append(columns)
        for row in table:
            sheet.append([row.get(key) for key in columns])
    book.save(out := io.BytesIO())
    return out.getvalue()
