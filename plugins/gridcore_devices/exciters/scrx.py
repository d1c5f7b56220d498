"""SCRX: bus-fed or solid-fed static exciter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gridcore.contract import Algebraic, Mode, Param, guard, quantity
from gridcore_blocks import Lag, LeadLag

from .ac import check_order
from .exciter import Limited


class SCRX(Limited):
    """Static exciter fed from the terminals or from a source of its own. PSS/E model library, SCRX::

        lead = (Vref + Vs - V) (1 + s TA) / (1 + s TB),  TA = (TA/TB) TB
        E    = lead K / (1 + s TE), EMIN <= E <= EMAX (non-windup)
        Efd  = E V where CSWITCH = 0, E where it is 1

    With ``RCRFD > 0`` the rectifier cannot carry negative field current: while XADIFD is negative the field is closed
    over a resistor of ``RCRFD`` times its own, ``Efd = -RCRFD XADIFD``.
    """

    TATB = Param("", ge=0, doc="ratio TA/TB of lead and lag time constants; 0: a plain lag")
    TB = Param("s", ge=0, doc="lag time constant; 0: no lead-lag")
    K = Param("pu", gt=0, doc="gain")
    TE = Param("s", ge=0, doc="time constant of the exciter")
    EMIN = Param("pu", doc="lower limit of the exciter output")
    EMAX = Param("pu", doc="upper limit of the exciter output")
    CSWITCH = Param("", 0.0, ge=0, le=1, doc="0 fed from the terminals, 1 from a constant source")
    RCRFD = Param("", 0.0, ge=0, doc="resistance that takes negative field current, over that of the field; 0: none")
    blocked = Mode(0, doc="1 while the field current is negative and the rectifier cannot carry it")
    lead = LeadLag(lambda s, bus: s.wanted - s.Vc - bus.Vm, T1="TA", T2="TB",
                   doc="behind the lead-lag")
    E = Lag("lead", K="K", T="TE", limits=("EMIN", "EMAX"), init=1.0, doc="exciter output")
    Efd = Algebraic("pu", init=1.0, drives="machine.Efd", doc="field voltage",
                    equals=lambda s, machine, bus: np.where(s.blocked == 1, -s.RCRFD * machine.XadIfd,
                                                            s.E * supply(s, bus)))

    dyr = ("TATB", "TB", "K", "TE", "EMIN", "EMAX", "CSWITCH", "RCRFD")

    @quantity("s", "lead time constant")
    def TA(s: Any) -> Any:
        return s.TATB * s.TB

    @guard("down", when={"blocked": 0}, then={"blocked": 1}, cancel=False)
    def current_turns_negative(s: Any, machine: Any) -> Any:
        """The field current turns negative."""
        return np.where(s.RCRFD > 0, machine.XadIfd, 1.0)

    @guard("up", when={"blocked": 1}, then={"blocked": 0}, cancel=False)
    def current_turns_positive(s: Any, machine: Any) -> Any:
        """The field current turns positive."""
        return machine.XadIfd

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        return check_order(values, ("EMIN", "EMAX"))

    def start(s: Any, bus: Any) -> Any:
        E = s.Efd / supply(s, bus)
        return {"E": E, "lead_x": E / s.K, "Vref": bus.Vm + E / s.K}


def supply(s: Any, bus: Any) -> Any:
    """Voltage of the exciter's source."""
    return np.where(s.CSWITCH > 0.5, 1.0, bus.Vm)
