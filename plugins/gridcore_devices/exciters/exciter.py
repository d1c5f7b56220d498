"""What every excitation system of the industry has: a machine, a reference, a stabilizing signal."""

from __future__ import annotations

from gridcore.contract import Device, Input, Param, Setpoint
from gridcore_blocks import Lag


class Exciter(Device):
    """Base of the excitation systems of IEEE Std 421.5 and of the PSS/E model library.

    Per unit is that of the machine's field: 1 pu of field voltage gives rated voltage on the air-gap line.
    ``sensed`` is the terminal voltage behind the transducer ``1 / (1 + s TR)``; load compensation is a device of its
    own, which drives ``Vc``; limiters of over- and under-excitation are not modelled, their inputs are left out.
    """

    attaches = "machine"
    naming = "EXC_{machine}"
    Vs = Input("pu", 0.0, doc="stabilizing signal")
    Vc = Input("pu", 0.0, doc="what load compensation adds to the terminal voltage")
    Vref = Setpoint("pu", init=1.0, doc="voltage reference")


class SensingExciter(Exciter):
    """An exciter with a voltage transducer."""

    TR = Param("s", 0.0, ge=0, doc="time constant of the voltage transducer")
    sensed = Lag(lambda s, bus: bus.Vm + s.Vc, T="TR", init=1.0, doc="measured terminal voltage")
