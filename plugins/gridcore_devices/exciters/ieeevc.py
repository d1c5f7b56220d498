"""IEEEVC: load compensation of an excitation system."""

from __future__ import annotations

from typing import Any

import numpy as np

from gridcore.contract import Algebraic, Device, Param, PerUnit

from ..machines.park import to_rotor
from ..power import TINY


class IEEEVC(Device):
    """Load compensation. IEEE Std 421.5-2005, section 4, figure 4-1; PSS/E's IEEEVC.

    The exciter senses ``|V + (RC + j XC) I|`` in place of the terminal voltage ``|V|``, on the machine's base, by its
    own transducer. The IEEE standard's signs: positive values add the drop over an impedance to the voltage sensed.
    """

    attaches = "exciter"
    naming = "COMP_{exciter}"
    dyr = ("RC", "XC")
    RC = Param(PerUnit("ohm"), 0.0, doc="resistance compensated")
    XC = Param(PerUnit("ohm"), 0.0, doc="reactance compensated")
    Vc = Algebraic("pu", drives="exciter.Vc", doc="compensated voltage above the terminal voltage",
                   equals=lambda s, machine, bus: compensated(s, machine, bus) - bus.Vm)

    def start(s: Any, machine: Any, bus: Any) -> Any:
        return {"Vc": compensated(s, machine, bus) - bus.Vm}


def compensated(s: Any, machine: Any, bus: Any) -> Any:
    """``|V + (RC + j XC) I|``."""
    Vd, Vq = to_rotor(bus.Vr, bus.Vi, machine.delta)
    d = Vd + s.RC * machine.Id - s.XC * machine.Iq
    q = Vq + s.RC * machine.Iq + s.XC * machine.Id
    return np.sqrt(d * d + q * q + TINY)
