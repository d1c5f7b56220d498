"""REECC1: electrical control of a battery."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from gridcore.contract import Param, State, quantity

from .blocks import Window
from .tables import LimitsByVoltage, record


class REECC1(LimitsByVoltage):
    """Electrical control REEC_C, as PSS/E's REECC1.

    WECC Battery Storage Dynamic Modeling Guideline (2016), REEC_C; EPRI 3002027129 (2023).
    :class:`~gridcore_converters.wecc.electrical.ElectricalControl` with tables of limits, and the active current
    between -Ipmax and Ipmax. The state of charge is ``SOC = SOCini - P / (s T)``; above SOCmax nothing is taken, below
    SOCmin nothing is given. The record is that of InterPSS.
    """

    dyr = (None, "PfFlag", "VFlag", "QFlag", "PQFlag", "Vdip", "Vup", "Trv", "dbd1", "dbd2", "Kqv", "Iqh1", "Iql1",
           "Vref0", "Tp", "Qmax", "Qmin", "Vmax", "Vmin", "Kqp", "Kqi", "Kvp", "Kvi", "Tiq", "dPmax", "dPmin", "Pmax",
           "Pmin", "Imax", "Tpord", *record(4), "T", "SOCini", "SOCmax", "SOCmin")
    plausible: ClassVar = {"T": (1.0, np.inf)}  # hours, or more than any run for one that never is empty
    T = Param("s", 999.0, gt=0, doc="time that the battery gives its rated power for")
    SOCini = Param("", 0.5, ge=0, le=1, doc="state of charge at t0")
    SOCmax = Param("", 1.0, doc="state of charge above which nothing is taken")
    SOCmin = Param("", 0.0, doc="state of charge below which nothing is given")
    SOC = State("", start_at="SOCini", rate=lambda s, converter: -converter.P / s.T, doc="state of charge")
    charge = Window("SOC", low="SOCmin", high="SOCmax", doc="state of charge")

    @quantity("pu", "upper limit of the active current")
    def Ipmax(s: Any) -> Any:
        return np.where(s.charge_side == -1, 0.0, s.Iptop)

    @quantity("pu", "lower limit of the active current")
    def Ipmin(s: Any) -> Any:
        return np.where(s.charge_side == 1, 0.0, -s.Iptop)

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        """Refuse limits out of order."""
        return super().check(values) if values["SOCmin"] < values["SOCmax"] else "SOCmin must be below SOCmax"
