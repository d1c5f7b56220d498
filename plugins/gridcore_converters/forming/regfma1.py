"""REGFMA1: a grid-forming converter with droop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gridcore.contract import Param, PerUnit, Setpoint, State, quantity
from gridcore_blocks import PI, Lag

from ..selected import SelectedPI
from .behind_impedance import BehindImpedance, internal_voltage


class REGFMA1(BehindImpedance):
    """Droop-controlled grid-forming converter, WECC's REGFM_A1.

    Du, Liu, Tuffner, Schneider & others, "Model specification of droop-controlled, grid-forming inverters (REGFM_A1)",
    PNNL-32278 (2021, revised September 2023)::

        ω    = 1 + mp (Pref - Pf) + PI(PMAX - Pf) + PI(PMIN - Pf),   dδ/dt = ωb (ω - 1)
        Vcmd = Vref + mq (Qref - Qf) + PI(QMAX - Qf) + PI(QMIN - Qf)
        E    = kpv + kiv / s of Vcmd - Vf, or Vcmd without VFlag;  EMIN <= E <= EMAX

    The PI of an upper limit gives no more than zero, that of a lower limit no less. Pf, Qf, Vf are measured with lags.
    The record in PSS/E has no impedance: it is ZSORCE. With QVFlag Qref is zero, without it the reactive power at t0.
    """

    dyr_also = ("REGFM_A1",)  # WECC's, PSLF's and PowerWorld's
    dyr = ("VFlag", "QVFlag", "TPf", "TQf", "TVf", "IMAX", "EMAX", "EMIN", "PMAX", "PMIN", "QMAX", "QMIN", "mp", "mq",
           "kppmax", "kipmax", "kpqmax", "kiqmax", "kpv", "kiv")
    dyr_fewer = "19 values are those of a record before PSS/E 36, without QVFlag: write 1 after VFlag, or 0 for Qref"
    VFlag = Param("", 1.0, ge=0, le=1, doc="1: the terminal voltage is controlled, 0: the internal one")
    QVFlag = Param("", 1.0, ge=0, le=1, doc="what a plant controller changes: 0 Qref, 1 Vref")
    TPf = Param("s", 0.01, ge=0, doc="time constant of the active power's measurement")
    TQf = Param("s", 0.01, ge=0, doc="time constant of the reactive power's measurement")
    TVf = Param("s", 0.01, ge=0, doc="time constant of the voltage's measurement")
    EMAX = Param(PerUnit("kV"), 1.15, doc="upper limit of the internal voltage")
    EMIN = Param(PerUnit("kV"), 0.0, ge=0, doc="lower limit of the internal voltage")
    PMAX = Param(PerUnit("MW", "MVA"), 0.9, doc="largest active power")
    PMIN = Param(PerUnit("MW", "MVA"), 0.0, doc="least active power")
    QMAX = Param(PerUnit("MVAr", "MVA"), 0.44, doc="largest reactive power")
    QMIN = Param(PerUnit("MVAr", "MVA"), -0.44, doc="least reactive power")
    mp = Param("pu", 0.01, ge=0, doc="droop of the frequency")
    mq = Param("pu", 0.05, ge=0, doc="droop of the voltage")
    kppmax = Param("pu", 0.01, ge=0, doc="gain at the limits of active power")
    kipmax = Param("1/s", 0.1, ge=0, doc="integral gain at the limits of active power")
    kpqmax = Param("pu", 3.0, ge=0, doc="gain at the limits of reactive power")
    kiqmax = Param("1/s", 20.0, ge=0, doc="integral gain at the limits of reactive power")
    kpv = Param("pu", 0.0, ge=0, doc="gain of the voltage's control")
    kiv = Param("1/s", gt=0, doc="integral gain of the voltage's control")
    Pref = Setpoint("pu", doc="reference of the active power")
    Vref = Setpoint("pu", init=1.0, doc="reference of the voltage")
    Qref = Setpoint("pu", equals=lambda s, bus: np.where(s.QVFlag > 0.5, 0.0, s.Q),
                    doc="reference of the reactive power")
    Pf = Lag(lambda s, bus: s.P, T="TPf", doc="active power measured")
    Qf = Lag(lambda s, bus: s.Q, T="TQf", doc="reactive power measured")
    Vf = Lag(lambda s, bus: bus.Vm, T="TVf", init=1.0, doc="voltage measured")
    over = PI(lambda s: s.PMAX - s.Pf, KP="kppmax", KI="kipmax", limits=(None, 0.0), at_limit=1,
              doc="frequency for the upper limit of active power")
    under = PI(lambda s: s.PMIN - s.Pf, KP="kppmax", KI="kipmax", limits=(0.0, None), at_limit=-1,
               doc="frequency for the lower limit of active power")
    lower = PI(lambda s: s.QMAX - s.Qf, KP="kpqmax", KI="kiqmax", limits=(None, 0.0), at_limit=1,
               doc="voltage for the upper limit of reactive power")
    raised = PI(lambda s: s.QMIN - s.Qf, KP="kpqmax", KI="kiqmax", limits=(0.0, None), at_limit=-1,
                doc="voltage for the lower limit of reactive power")
    E = SelectedPI(lambda s: s.Vcmd - s.Vf, KP="kpv", KI="kiv", flag="VFlag", otherwise="Vcmd", limits=("EMIN", "EMAX"),
                   init=1.0, doc="internal voltage")
    delta = State("rad", rate=lambda s: s.omega_b * (s.omega - 1.0), doc="angle of the internal voltage")

    @quantity("pu", "frequency of the internal voltage")
    def omega(s: Any) -> Any:
        return 1.0 + s.mp * (s.Pref - s.Pf) + s.over + s.under

    @quantity("pu", "voltage that is asked for")
    def Vcmd(s: Any) -> Any:
        return s.Vref + s.mq * (s.Qref - s.Qf) + s.lower + s.raised

    @quantity("rad", "angle of the internal voltage")
    def angle(s: Any) -> Any:
        return s.delta

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        return cls.ordered(values, "E", "P", "Q")

    def start(s: Any, bus: Any, power: Any) -> Any:
        E = internal_voltage(s, bus, power)
        Qref = np.where(s.QVFlag > 0.5, 0.0, power.Q)
        return {"delta": np.angle(E), "E_x": np.abs(E), "Pf": power.P, "Qf": power.Q, "Vf": bus.Vm, "Pref": power.P,
                "Qref": Qref, "Vref": np.where(s.VFlag > 0.5, bus.Vm, np.abs(E)) + s.mq * (power.Q - Qref)}
