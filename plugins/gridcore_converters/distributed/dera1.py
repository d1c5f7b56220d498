"""DERA1: distributed energy resources, aggregated."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from gridcore.contract import Mode, Param, PerUnit, Quantity, Setpoint, Source, State, guard, quantity
from gridcore_blocks import Lag, Limit, RateLimitedLag
from gridcore_devices.power import injected_power

from ..frames import beside_voltage
from ..priority import LeftSquared, left_of
from ..selected import SelectedPI
from .tripping import PartialTrip

UNLIMITED = 1e9  # 1/s


class DERA1(Source):
    """Aggregated distributed energy resources, WECC's DER_A.

    EPRI, "The new aggregated distributed energy resources (der_a) model for transmission planning studies: 2019
    update", 3002015320; PowerWorld's documentation of DER_A::

        Iq = [Q / Vf (1 / (1 + s Tiq)) + Kqv db(Vref - Vf), -Iqmax <= . <= Iqmax] Mult / (1 + s Tg)
        Ip = [Pord / Vf, Ipmin <= . <= Ipmax] Mult / (1 + s Tg), which rises by rrpwr at most
        Pord: the order, its rate between dPmin and dPmax, behind 1 / (1 + s Tpord)
        order: Kpg + Kig / s of Pref - Pf + Dup or Ddn times db(1 - f), or Pref without FreqFlag
        Mult = (part connected) / (1 + s Tv)

    Q is Qref, or with PfFlag Qref times Pf, which is Pord behind 1 / (1 + s Tp). The current without priority has what
    the other leaves of Imax. By frequency all of it trips, unless Vf is below Vpr; which part is connected at low and
    high voltage is said by :class:`~gridcore_converters.distributed.tripping.PartialTrip`. ``Vref0 = 0`` stands for the
    voltage at t0. The frequency is that of the voltage's angle, behind a washout Ta of its own and 1 / (1 + s Trf).
    """

    source = False
    dyr = ("PfFlag", "FreqFlag", "PqFlag", "GenFlag", "VtripFlag", "FtripFlag", "Trv", "Trf", "dbd1", "dbd2", "Kqv",
           "Vref0", "Tp", "Tiq", "Ddn", "Dup", "fdbd1", "fdbd2", "femax", "femin", "Pmax", "Pmin", "dPmax", "dPmin",
           "Tpord", "Kpg", "Kig", "Imax", "vl0", "vl1", "vh0", "vh1", "tvl0", "tvl1", "tvh0", "tvh1", "Vrfrac",
           "fl Hz", "fh Hz", "tfl", "tfh", "Tg", "rrpwr", "Tv", "Vpr", "Iqh1", "Iql1")
    plausible: ClassVar = {"fl": (0.0, 1.0), "fh": (1.0, np.inf)}
    PfFlag = Param("", 1.0, ge=0, le=1, doc="1: constant power factor, 0: constant reactive power")
    FreqFlag = Param("", 0.0, ge=0, le=1, doc="1: the frequency is controlled")
    PqFlag = Param("", 0.0, ge=0, le=1, doc="priority: 0 reactive, 1 active current")
    GenFlag = Param("", 1.0, ge=0, le=1, doc="1: generator, 0: storage, whose active current may be below zero")
    VtripFlag = Param("", 1.0, ge=0, le=1, doc="1: trips by voltage")
    FtripFlag = Param("", 1.0, ge=0, le=1, doc="1: trips by frequency")
    Trv = Param("s", 0.02, gt=0, doc="time constant of the voltage's measurement")
    Trf = Param("s", 0.02, ge=0, doc="time constant of the frequency's measurement")
    dbd1 = Param(PerUnit("kV"), -0.05, le=0, doc="lower end of the voltage's dead band")
    dbd2 = Param(PerUnit("kV"), 0.05, ge=0, doc="upper end of the voltage's dead band")
    Kqv = Param("pu", 5.0, ge=0, doc="gain of the voltage's control")
    Vref0 = Param(PerUnit("kV"), 0.0, ge=0, doc="reference of the voltage; 0: that at t0")
    Tp = Param("s", 0.02, ge=0, doc="time constant of the power's measurement")
    Tiq = Param("s", 0.02, ge=0, doc="time constant of the reactive current")
    Ddn = Param("pu", 20.0, ge=0, doc="droop: power over frequency above the dead band")
    Dup = Param("pu", 0.0, ge=0, doc="droop: power over frequency below the dead band")
    fdbd1 = Param(PerUnit("Hz"), -0.0006, le=0, doc="lower end of the frequency's dead band")
    fdbd2 = Param(PerUnit("Hz"), 0.0006, ge=0, doc="upper end of the frequency's dead band")
    femax = Param("pu", 99.0, ge=0, doc="largest lack of power")
    femin = Param("pu", -99.0, le=0, doc="least lack of power")
    Pmax = Param(PerUnit("MW", "MVA"), 1.1, doc="largest power")
    Pmin = Param(PerUnit("MW", "MVA"), 0.0, doc="least power")
    dPmax = Param("1/s", 0.5, gt=0, doc="largest rate of the power")
    dPmin = Param("1/s", -0.5, lt=0, doc="least rate of the power")
    Tpord = Param("s", 0.02, gt=0, doc="time constant of the power's order")
    Kpg = Param("pu", 0.1, ge=0, doc="gain of the power's control")
    Kig = Param("1/s", 10.0, ge=0, doc="integral gain of the power's control")
    Imax = Param(PerUnit("kA"), 1.2, gt=0, doc="largest current")
    vl0 = Param(PerUnit("kV"), 0.44, ge=0, doc="low voltage at which nothing is left")
    vl1 = Param(PerUnit("kV"), 0.49, ge=0, doc="low voltage at which tripping begins")
    vh0 = Param(PerUnit("kV"), 1.2, doc="high voltage at which nothing is left")
    vh1 = Param(PerUnit("kV"), 1.15, doc="high voltage at which tripping begins")
    tvl0 = Param("s", 0.16, ge=0, doc="time below vl0 after which all is lost")
    tvl1 = Param("s", 0.16, ge=0, doc="time below vl1 after which a part is lost")
    tvh0 = Param("s", 0.16, ge=0, doc="time above vh0 after which all is lost")
    tvh1 = Param("s", 0.16, ge=0, doc="time above vh1 after which a part is lost")
    Vrfrac = Param("", 0.7, ge=0, le=1, doc="part that comes back when the voltage does")
    fl = Param(PerUnit("Hz"), 0.94, ge=0, doc="low frequency at which all trips")
    fh = Param(PerUnit("Hz"), 1.03, doc="high frequency at which all trips")
    tfl = Param("s", 0.16, ge=0, doc="time below fl")
    tfh = Param("s", 0.16, ge=0, doc="time above fh")
    Tg = Param("s", 0.02, gt=0, doc="time constant of the currents")
    rrpwr = Param("1/s", 2.0, gt=0, doc="largest rate at which the active current recovers")
    Tv = Param("s", 0.02, ge=0, doc="time constant of the part connected")
    Vpr = Param(PerUnit("kV"), 0.8, ge=0, doc="voltage below which frequency does not trip")
    Iqh1 = Param(PerUnit("kA"), 1.0, ge=0, doc="largest reactive current of the voltage's control")
    Iql1 = Param(PerUnit("kA"), -1.0, le=0, doc="least reactive current of the voltage's control")
    Ta = Param("s", 0.02, gt=0, doc="time constant of the washout of the voltage's angle")
    Pref = Setpoint("pu", doc="reference of the active power")
    Qref = Setpoint("pu", doc="reference of the reactive power; with PfFlag over the active power")
    V0t = Setpoint("pu", init=1.0, equals=lambda s, bus: bus.Vm, doc="voltage at t0")
    stopped = Mode(0, doc="1 once all of it has tripped by frequency")
    blind = Mode(0, doc="1 while the voltage is too low for a trip by frequency")
    storing = Mode(0, doc="1 while the active current is below zero")
    Vf = Lag(lambda s, bus: bus.Vm, T="Trv", init=1.0, doc="voltage measured")
    V = Limit("Vf", limits=(0.01, None), doc="voltage measured, as it is divided by")
    theta = State("rad", rate=lambda s, bus: s.turn, doc="angle that follows the bus's")
    slip = Lag(lambda s: s.turn / s.omega_b, T="Trf", doc="frequency deviation measured")
    low = PartialTrip("l", doc="part connected at low voltage")
    high = PartialTrip("h", doc="part connected at high voltage")
    Mult = Lag(lambda s: s.low * s.high * (1.0 - s.stopped), T="Tv", init=1.0, doc="part connected")
    within = Limit(lambda s: np.where(s.Vref0 > 0, s.Vref0, s.V0t) - s.Vf, limits=("dbd1", "dbd2"), settles=True,
                   doc="lack of voltage within the dead band")
    Iqv = Limit(lambda s: s.Kqv * (s.within_in - s.within), limits=("Iql1", "Iqh1"), settles=True,
                doc="reactive current of the voltage's control")
    Iqpf = Lag(lambda s: s.Qref * np.where(s.PfFlag > 0.5, s.Pf, 1.0) / s.V, T="Tiq",
               doc="reactive current of the reference")
    fwithin = Limit(lambda s: np.where(s.FreqFlag > 0.5, -s.slip, 0.0), limits=("fdbd1", "fdbd2"), settles=True,
                    doc="lack of frequency within the dead band")
    lack = Limit(lambda s: np.where(s.FreqFlag > 0.5, s.Pref - s.Pf + s.droop, 0.0), names=("femin", "femax"), limits=(
        lambda s: np.where(s.FreqFlag > 0.5, s.femin, -UNLIMITED),
        lambda s: np.where(s.FreqFlag > 0.5, s.femax, UNLIMITED)), doc="lack of power")
    order = SelectedPI("lack", KP="Kpg", KI="Kig", flag="FreqFlag", otherwise="Pref", limits=("Pmin", "Pmax"),
                       doc="power asked for")
    Pord = RateLimitedLag("order", T="Tpord", rates=("dPmin", "dPmax"), limits=("Pmin", "Pmax"),
                          doc="order of the power")
    Pf = Lag("Pord", T="Tp", doc="power measured")
    Ip1 = Limit(lambda s: s.Pord / s.V, limits=(lambda s: np.where(s.GenFlag > 0.5, 0.0, -s.Imax), "Imax"),
                names=("Ipmin", "Imax"), doc="active current asked for")
    Iq1 = Limit(lambda s: s.Iqpf + s.Iqv, limits=(lambda s: -s.Imax, "Imax"), names=("Imin", "Imax"),
                doc="reactive current asked for")
    left = LeftSquared("Imax", current=lambda s: np.where(s.PqFlag > 0.5, s.Ip1, s.Iq1))
    rest = Quantity("pu", left_of, "what the current with priority leaves")
    Ip2 = Limit("Ip1", limits=(lambda s: -s.Ipmax, "Ipmax"), names=("Ipmin", "Ipmax"), doc="active current, limited")
    Iq2 = Limit("Iq1", limits=(lambda s: -s.Iqmax, "Iqmax"), names=("Iqmin", "Iqmax"), doc="reactive current, limited")
    Ip = RateLimitedLag(lambda s: s.Ip2 * s.Mult, T="Tg", doc="active current", rates=(
        lambda s: np.where(s.storing == 1, -s.rrpwr, -UNLIMITED),
        lambda s: np.where(s.storing == 1, UNLIMITED, s.rrpwr)))
    Iq = Lag(lambda s: s.Iq2 * s.Mult, T="Tg", doc="reactive current")

    @quantity("pu", "power that the frequency asks for")
    def droop(s: Any) -> Any:
        return np.where(s.fwithin_limit == 1, s.Dup, s.Ddn) * (s.fwithin_in - s.fwithin)

    @quantity("rad/s", "speed of the angle that follows the bus's")
    def turn(s: Any, bus: Any) -> Any:
        return (bus.Vi * np.cos(s.theta) - bus.Vr * np.sin(s.theta)) / (bus.Vm * s.Ta)

    @quantity("pu", "limit of the active current")
    def Ipmax(s: Any) -> Any:
        return np.where(s.PqFlag > 0.5, UNLIMITED, s.rest)

    @quantity("pu", "limit of the reactive current")
    def Iqmax(s: Any) -> Any:
        return np.where(s.PqFlag > 0.5, s.rest, UNLIMITED)

    @guard("up", when={"stopped": 0, "blind": 0}, then={"stopped": 1}, delay="tfl")
    def trips_low(s: Any) -> Any:
        """The frequency is too low."""
        return np.where(s.FtripFlag > 0.5, s.fl - 1.0 - s.slip, -1.0)

    @guard("up", when={"stopped": 0, "blind": 0}, then={"stopped": 1}, delay="tfh")
    def trips_high(s: Any) -> Any:
        """The frequency is too high."""
        return np.where(s.FtripFlag > 0.5, 1.0 + s.slip - s.fh, -1.0)

    @guard("down", when={"blind": 0}, then={"blind": 1}, settles=True)
    def blinds(s: Any) -> Any:
        """The voltage falls below Vpr."""
        return np.where(s.FtripFlag > 0.5, s.Vf - s.Vpr, 1.0)

    @guard("up", when={"blind": 1}, then={"blind": 0}, settles=True)
    def sees(s: Any) -> Any:
        """The voltage rises above Vpr."""
        return s.Vf - s.Vpr

    @guard("down", when={"storing": 0}, then={"storing": 1}, settles=True)
    def stores(s: Any) -> Any:
        """The active current falls below zero."""
        return s.Ip

    @guard("up", when={"storing": 1}, then={"storing": 0}, settles=True)
    def delivers(s: Any) -> Any:
        """The active current rises above zero."""
        return s.Ip

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        orders = (("vl0", "vl1", "vh1", "vh0"), ("fl", "fh"), ("Pmin", "Pmax"))
        wrong = [names for names in orders if any(not values[a] < values[b] for a, b in pairwise(names))]
        if wrong:
            return f"{', '.join(wrong[0])} must be in this order"
        if values["FreqFlag"] == 1 and not (values["Kig"] and values["femin"] < 0 < values["femax"]):
            return "FreqFlag = 1 needs a gain Kig, and femin below zero, femax above"
        return None

    def currents(s: Any, bus: Any) -> Any:
        return beside_voltage(bus, s.Ip, s.Iq)

    P, Q = injected_power(currents)

    def start(s: Any, bus: Any, power: Any) -> Any:
        V, P, Q = bus.Vm, power.P, power.Q
        return {"theta": bus.Va, "Vf": V, "low_worst": V, "high_worst": V, "Ip": P / V, "Iq": Q / V, "Iqpf": Q / V,
                "order_x": P, "Pord": P, "Pf": P, "Pref": P, "V0t": V,
                "Qref": np.where(s.PfFlag > 0.5, Q / np.where(P != 0, P, 1.0), Q)}
