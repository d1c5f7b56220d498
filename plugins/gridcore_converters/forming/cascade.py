"""Inner loops of a grid-forming converter: a voltage loop around a current loop."""

from __future__ import annotations

from typing import Any

import numpy as np

from gridcore.contract import Input, Param, PerUnit, State, quantity

from ..frames import component
from .current_loop import CurrentLoop, at_rest


class VoltageCascade(CurrentLoop):
    """Voltage and current loop, virtual impedance and active damping in the frame that an outer loop turns.

    D'Arco, Suul & Fosso, Electric Power Systems Research 122 (2015); ω is the speed of the outer loop::

        v*   = E - (rv + j ω lv) io                                                 virtual impedance
        icv* = kpv (v* - vo) + kiv ξ + j cf ω vo + kffi io,   dξ/dt = v* - vo          voltage loop

    around the loop of :class:`~gridcore_converters.forming.current_loop.CurrentLoop`::

        vcv  = kpc (icv* - icv) + kic γ + j lf ω icv + kffv vo - vAD,   dγ/dt = icv* - icv   current loop
        vAD  = kad (vo - φ),   dφ/dt = wad (vo - φ)                                      active damping

    An outer loop that hangs on it drives its angle against the network's frame, its speed, and the voltage E.
    """

    kpv = Param("pu", gt=0, doc="gain of the voltage loop")
    kiv = Param("1/s", gt=0, doc="integral gain of the voltage loop")
    kffi = Param("pu", 0.0, doc="feed-forward of the current into the grid")
    rv = Param(PerUnit("ohm"), 0.0, ge=0, doc="virtual resistance")
    lv = Param(PerUnit("ohm"), 0.0, ge=0, doc="virtual inductance")
    angle = Input("rad", doc="angle of the control's frame against the network's")
    omega = Input(PerUnit("Hz"), 1.0, doc="speed of the control's frame")
    E = Input("pu", doc="voltage behind the virtual impedance")
    xid = State("pu", rate=lambda s: s.evd, doc="integral of the voltage loop, d axis")
    xiq = State("pu", rate=lambda s: s.evq, doc="integral of the voltage loop, q axis")
    iod = component("ior", "ioi", 0, "current into the grid, d axis")
    ioq = component("ior", "ioi", 1, "current into the grid, q axis")

    @quantity("pu", "lack of voltage, d axis")
    def evd(s: Any) -> Any:
        return s.E - s.rv * s.iod + s.omega * s.lv * s.ioq - s.vod

    @quantity("pu", "lack of voltage, q axis")
    def evq(s: Any) -> Any:
        return -s.rv * s.ioq - s.omega * s.lv * s.iod - s.voq

    @quantity("pu", "lack of current, d axis")
    def eid(s: Any, converter: Any) -> Any:
        return s.kpv * s.evd + s.kiv * s.xid - converter.cf * s.omega * s.voq + s.kffi * s.iod - s.icvd

    @quantity("pu", "lack of current, q axis")
    def eiq(s: Any, converter: Any) -> Any:
        return s.kpv * s.evq + s.kiv * s.xiq + converter.cf * s.omega * s.vod + s.kffi * s.ioq - s.icvq

    def start(s: Any, converter: Any) -> Any:
        vo, io = converter.vor + 1j * converter.voi, converter.ior + 1j * converter.ioi
        icv, behind = converter.icvr + 1j * converter.icvi, vo + (s.rv + 1j * s.lv) * io
        angle = np.angle(behind)
        xi = (icv - 1j * converter.cf * vo - s.kffi * io) * np.exp(-1j * angle) / s.kiv
        return {"angle": angle, "E": np.abs(behind), "xid": xi.real, "xiq": xi.imag, **at_rest(s, converter, angle)}
