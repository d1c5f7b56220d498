"""What every excitation system of the industry has: a machine, a reference, signals added to it."""

from __future__ import annotations

from typing import Any

import numpy as np

from gridcore.contract import Device, Input, Param, Setpoint, quantity
from gridcore_blocks import Lag

OFF = 99.0  # pu: an input of a gate is as far away as this where no limiter drives it


class Exciter(Device):
    """Base of the excitation systems of IEEE Std 421.5 and of the PSS/E model library.

    Per unit is that of the machine's field: 1 pu of field voltage gives rated voltage on the air-gap line.
    ``sensed`` is the terminal voltage behind the transducer ``1 / (1 + s TR)``. Load compensation is a device of its
    own, which drives ``Vc``, and so are limiters of over- and under-excitation, which drive the inputs ``VOEL``
    and ``VUEL``: see :class:`Limited`, :class:`Gated`, :class:`GatedBelow` and :class:`GatedAbove`.
    """

    attaches = "machine"
    naming = "EXC_{machine}"
    Vs = Input("pu", 0.0, doc="stabilizing signal")
    Vc = Input("pu", 0.0, doc="what load compensation adds to the terminal voltage")
    Vref = Setpoint("pu", init=1.0, doc="voltage reference")

    @quantity("pu", "reference and the signals added to it")
    def wanted(s: Any) -> Any:
        return s.Vref + s.Vs

    @quantity("pu", "rate feedback, which some limiters read")
    def feedback(s: Any) -> Any:
        return 0.0 * s.Vref


class SensingExciter(Exciter):
    """An exciter with a voltage transducer."""

    TR = Param("s", 0.0, ge=0, doc="time constant of the voltage transducer")
    sensed = Lag(lambda s, bus: bus.Vm + s.Vc, T="TR", init=1.0, doc="measured terminal voltage")


class Limited(Exciter):
    """An exciter whose limiters add to the reference: PSS/E's ``VOTHSG + VUEL + VOEL``.

    The signals are added with a plus sign, as IEEE Std 421.5-2016 has it: VOEL acts below zero, VUEL above.
    """

    VOEL = Input("pu", 0.0, doc="signal of the over-excitation limiter, below zero where it acts")
    VUEL = Input("pu", 0.0, doc="signal of the under-excitation limiter, above zero where it acts")

    @quantity("pu", "reference and the signals added to it")
    def wanted(s: Any) -> Any:
        return s.Vref + s.Vs + s.VOEL + s.VUEL


class Gated(Exciter):
    """An exciter whose limiters may take over at gates, as a code of its record says.

    VOEL takes over where it is lower, VUEL where it is higher. An input that nothing drives does neither, and adds
    nothing: it is as far away as ``OFF``.
    """

    VOEL = Input("pu", OFF, doc="signal of the over-excitation limiter")
    VUEL = Input("pu", -OFF, doc="signal of the under-excitation limiter")


class GatedBelow(Exciter):
    """An exciter at whose gate the limiter of under-excitation may take over; that of over-excitation adds."""

    VOEL = Input("pu", 0.0, doc="signal of the over-excitation limiter, below zero where it acts")
    VUEL = Input("pu", -OFF, doc="signal of the under-excitation limiter")

    @quantity("pu", "reference and the signals added to it")
    def wanted(s: Any) -> Any:
        return s.Vref + s.Vs + s.VOEL


class GatedAbove(Exciter):
    """An exciter at whose gate the limiter of over-excitation may take over; that of under-excitation adds."""

    VOEL = Input("pu", OFF, doc="signal of the over-excitation limiter")
    VUEL = Input("pu", 0.0, doc="signal of the under-excitation limiter, above zero where it acts")

    @quantity("pu", "reference and the signals added to it")
    def wanted(s: Any) -> Any:
        return s.Vref + s.Vs + s.VUEL


def added(signal: Any, here: Any = True) -> Any:
    """A limiter's signal where it adds to the reference, zero where it goes elsewhere or is not there."""
    return np.where(np.logical_and(here, np.abs(signal) < OFF), signal, 0.0)
