"""The voltage-source converter between an AC and a DC bus."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from gridcore.contract import Param, PerUnit, Port, Quantity, Setpoint, Source, quantity
from gridcore_blocks import Lag, Limit
from gridcore_devices.power import TINY

from ..frames import beside_voltage
from ..gates import Smaller
from ..priority import LeftSquared, left_of
from ..wecc.blocks import HeldPI
from .bus import DCBus

LOWEST = 0.05  # pu: of the measured voltage, as it is divided by; below it the current falls with the voltage


class VSC(Source):
    """Averaged voltage-source converter: controls power or voltage on the DC side, Q or voltage on the AC side.

    Cole & Belmans, Electric Power Systems Research 81 (2011) 967, with the current loops as lags; droop after Beerten,
    Cole & Belmans, IEEE Trans. Power Syst. 29 (2014) 34, losses after the same, 27 (2012) 821::

        Pord = Pref + (kd + kdi / s) (Vd - Vdref),       Pmin <= Pord <= Pmax
        Iq*  = Qref / V + (kv + kvi / s) (Vref - V),     Iq*^2 <= Imax^2 - Id*^2
        Id*  = Pord / V,                                 -Imax <= Id* <= Imax
        Id = Id* / (1 + s Tc),   Iq = Iq* / (1 + s Tc),   V and Vd measured with Tv and Td
        Vdc idc = P + la + lb |I| + lc |I|^2,   P = |V| Id

    P is injected into the AC bus, idc drawn from the DC bus. With kd alone it is droop control, with kdi control of the
    DC voltage, with neither control of the power; with neither kv nor kvi control of the reactive power. Vdref and Vref
    are the voltages at t0. The current is that of a phase-locked loop without delay; below 0.05 pu, where the loop
    has nothing to follow, it falls with the voltage.
    """

    attaches: ClassVar[Any] = ("bus", Port("dc", node=DCBus))
    naming = "VSC{bus}"
    source = False
    kd = Param("pu", 0.0, ge=0, doc="droop: power over DC voltage")
    kdi = Param("1/s", 0.0, ge=0, doc="integral gain of the control of the DC voltage")
    kv = Param("pu", 0.0, ge=0, doc="reactive current over AC voltage")
    kvi = Param("1/s", 0.0, ge=0, doc="integral gain of the control of the AC voltage")
    Imax = Param(PerUnit("kA"), 1.1, gt=0, doc="largest current; the active one has priority")
    Pmax = Param(PerUnit("MW", "MVA"), 1.0, doc="largest order of power, inverting")
    Pmin = Param(PerUnit("MW", "MVA"), -1.0, doc="least order of power, rectifying")
    Tc = Param("s", 0.002, gt=0, doc="time constant of the current loops")
    Tv = Param("s", 0.01, ge=0, doc="time constant of the measurement of the AC voltage")
    Td = Param("s", 0.001, ge=0, doc="time constant of the measurement of the DC voltage")
    la = Param("pu", 0.0, ge=0, doc="losses without current")
    lb = Param("pu", 0.0, ge=0, doc="losses over current")
    lc = Param("pu", 0.0, ge=0, doc="losses over the square of the current")
    rest = Param("pu", 0.0, doc="integrators at t0")
    Pref = Setpoint("pu", doc="reference of the power")
    Qref = Setpoint("pu", doc="reference of the reactive power")
    Vdref = Setpoint("pu", init=1.0, equals=lambda s: s.Vd, doc="reference of the DC voltage")
    Vref = Setpoint("pu", init=1.0, equals=lambda s: s.Vm, doc="reference of the AC voltage")
    Vd = Lag(lambda s, dc: dc.V, T="Td", init=1.0, doc="DC voltage, measured")
    Vm = Lag(lambda s, bus: bus.Vm, T="Tv", init=1.0, doc="AC voltage, measured")
    V = Limit("Vm", limits=(LOWEST, None), doc="AC voltage, as it is divided by")
    more = HeldPI(lambda s: s.Vd - s.Vdref, KP="kd", KI="kdi", hold=0.0, start_at="rest",
                  limits=(lambda s: s.Pmin - s.Pref, lambda s: s.Pmax - s.Pref), doc="power for the DC voltage")
    active = Limit(lambda s: (s.Pref + s.more) / s.V, limits=(lambda s: -s.Imax, "Imax"), names=("Imin", "Imax"),
                   doc="active current asked for")
    left = LeftSquared("Imax", current=lambda s: s.active)
    most = Quantity("pu", left_of, "what the active current leaves")
    lack = HeldPI(lambda s: s.Vref - s.Vm, KP="kv", KI="kvi", hold=0.0, start_at="rest",
                  limits=(lambda s: -2.0 * s.Imax, lambda s: 2.0 * s.Imax), doc="reactive current for the AC voltage")
    reactive = Limit(lambda s: s.Qref / s.V + s.lack, limits=(lambda s: -s.most, "most"), names=("Iqmin", "Iqmax"),
                     doc="reactive current asked for, positive to inject")
    Id = Lag("active", T="Tc", doc="active current")
    Iq = Lag("reactive", T="Tc", doc="reactive current, positive to inject")
    locked = Smaller(1.0, lambda s, bus: bus.Vm / LOWEST, unit="", doc="part of the current that the voltage leads")
    I = Quantity("pu", lambda s: s.locked * np.sqrt(s.Id * s.Id + s.Iq * s.Iq + TINY), "current")  # noqa: E741
    loss = Quantity("pu", lambda s: s.status * (s.la + s.lb * s.I + s.lc * s.I * s.I), "losses")

    @quantity("pu", "active power injected into the AC bus")
    def P(s: Any, bus: Any) -> Any:
        return s.status * bus.Vm * s.locked * s.Id

    @quantity("pu", "reactive power injected into the AC bus")
    def Q(s: Any, bus: Any) -> Any:
        return s.status * bus.Vm * s.locked * s.Iq

    @quantity("pu", "power drawn from the DC bus")
    def Pdc(s: Any) -> Any:
        return s.P + s.loss

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        return None if values["Pmin"] < values["Pmax"] else "Pmin must be below Pmax"

    def flows(s: Any, bus: Any, dc: Any) -> Any:
        return beside_voltage(bus, s.locked * s.Id, s.locked * s.Iq), (-s.Pdc / dc.V,)

    def start(s: Any, bus: Any, dc: Any, power: Any) -> Any:
        return {"Vd": dc.V, "Vdref": dc.V, "Vm": bus.Vm, "Vref": bus.Vm, "Pref": power.P, "Qref": power.Q,
                "Id": power.P / bus.Vm, "Iq": power.Q / bus.Vm}
