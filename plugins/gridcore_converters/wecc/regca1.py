"""REGCA1: the converter as a current source with voltage-dependent limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gridcore.contract import Input, Param, PerUnit, Setpoint, Source, quantity
from gridcore_blocks import HighGate, Lag, Limit, RateLimitedLag
from gridcore_devices.power import injected_power

from ..frames import beside_voltage
from .blocks import NEVER, Table


class REGCA1(Source):
    """Renewable energy generator/converter, WECC's REGC_A, as PSS/E's REGCA1.

    WECC, Wind Plant Dynamic Modeling Guidelines (2014); EPRI 3002027129 (2023); Pourbeik et al., IEEE Trans. Energy
    Convers. 32 (2017) 1090::

        Ip = Ipcmd / (1 + s Tg), its rate at most Rrpwr, Ip <= LVPL (non-windup)
        Iq = Iqcmd / (1 + s Tg), its rate at most Iqrmax where Q > 0 at t0, at least Iqrmin where Q < 0
        active = Ip gain(V), gain from 0 at Lvpnt0 to 1 at Lvpnt1
        reactive = Iq - Khv (V - Volim), the latter where V > Volim; Iolim <= reactive
        I = (active - j reactive) V / |V|
        LVPL, where Lvplsw = 1: of V / (1 + s Tfltr), from 0 at Zerox to Lvpl1 at Brkpt, no limit above

    Currents are counted positive when they inject power; the sign of PSS/E's Iqcmd is the other. The current is that of
    a phase-locked loop that follows the voltage without delay. Accel is of PSS/E's network solution.
    """

    source = False
    dyr = ("Lvplsw", "Tg", "Rrpwr", "Brkpt", "Zerox", "Lvpl1", "Volim", "Lvpnt1", "Lvpnt0", "Iolim", "Tfltr", "Khv",
           "Iqrmax", "Iqrmin", None)
    Lvplsw = Param("", 0.0, ge=0, le=1, doc="1: low-voltage power logic limits the active current")
    Tg = Param("s", 0.02, gt=0, doc="time constant of the converter")
    Rrpwr = Param("pu/s", 10.0, gt=0, doc="fastest rise of the active current")
    Brkpt = Param(PerUnit("kV"), 0.9, doc="voltage above which the power logic has no limit")
    Zerox = Param(PerUnit("kV"), 0.4, doc="voltage at which the limit of the power logic is zero")
    Lvpl1 = Param("pu", 1.22, ge=0, doc="limit of the power logic at Brkpt")
    Volim = Param(PerUnit("kV"), 1.2, gt=0, doc="voltage above which reactive current is taken away")
    Lvpnt1 = Param(PerUnit("kV"), 0.8, doc="voltage above which all active current passes")
    Lvpnt0 = Param(PerUnit("kV"), 0.4, doc="voltage below which no active current passes")
    Iolim = Param(PerUnit("kA"), -1.3, lt=0, doc="lower limit of the reactive current")
    Tfltr = Param("s", 0.02, ge=0, doc="time constant of the power logic's voltage")
    Khv = Param("pu", 0.0, ge=0, doc="reactive current taken away per voltage above Volim")
    Iqrmax = Param("pu/s", 999.0, gt=0, doc="fastest rise of the reactive current")
    Iqrmin = Param("pu/s", -999.0, lt=0, doc="fastest fall of the reactive current")
    Ipcmd = Input("pu", doc="active current command")
    Iqcmd = Input("pu", doc="reactive current command, positive to inject")
    Qstart = Setpoint("pu", equals=lambda s: s.Q, doc="reactive power injected at t0, on the rating")
    Vlp = Lag(lambda s, bus: bus.Vm, T="Tfltr", init=1.0, doc="voltage of the power logic")
    # above Brkpt there is no limit, and the current is free at once
    logic = Table("Vlp", points=(("Zerox", 0.0), ("Brkpt", "Lvpl1")), beyond={"Ip_limit": 0},
                  doc="limit of the power logic below Brkpt")

    @quantity("pu", "upper limit of the active current")
    def LVPL(s: Any) -> Any:
        return np.where(np.logical_and(s.Lvplsw == 1, s.logic_piece < 2), s.logic, NEVER)

    Ip = RateLimitedLag("Ipcmd", T="Tg", rates=(None, "Rrpwr"), limits=(None, "LVPL"), init=0.5,
                        doc="active current before the voltage's gain")
    Iq = RateLimitedLag("Iqcmd", T="Tg", doc="reactive current before that of high voltage", rates=(
        lambda s: np.where(s.Qstart < 0, s.Iqrmin, -NEVER), lambda s: np.where(s.Qstart > 0, s.Iqrmax, NEVER)))
    gain = Table(lambda s, bus: bus.Vm, points=(("Lvpnt0", 0.0), ("Lvpnt1", 1.0)),
                 doc="part of the active current that the voltage lets pass")
    over = HighGate(lambda s, bus: bus.Vm - s.Volim, 0.0, doc="voltage above Volim")
    reactive = Limit(lambda s: s.Iq - s.Khv * s.over, limits=("Iolim", None), doc="reactive current injected")

    @quantity("pu", "active current injected")
    def active(s: Any) -> Any:
        return s.Ip * s.gain

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        """Refuse characteristics that do not rise."""
        for low, high in (("Lvpnt0", "Lvpnt1"), ("Zerox", "Brkpt")):
            if not values[low] < values[high]:
                return f"{low} must be below {high}"
        return None

    def currents(s: Any, bus: Any) -> Any:
        return beside_voltage(bus, s.active, s.reactive)

    P, Q = injected_power(currents)

    def start(s: Any, bus: Any, power: Any) -> Any:
        Ip, Iq = power.P / bus.Vm, power.Q / bus.Vm
        return {"Ip": Ip, "Ipcmd": Ip, "Iq": Iq, "Iqcmd": Iq, "Qstart": power.Q, "Vlp": bus.Vm}
