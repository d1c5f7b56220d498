"""Inner loops of a grid-forming converter: a voltage loop around a current loop."""

from __future__ import annotations

from typing import Any

import numpy as np

from gridcore.contract import Algebraic, Device, Input, Param, Quantity, State, quantity

from ..frames import from_frame, to_frame


def _part(re: str, im: str, index: int, doc: str) -> Quantity:
    """Component d (0) or q (1) of a phasor of the converter in the frame of the control."""
    return Quantity("pu", lambda s, converter: to_frame(getattr(converter, re), getattr(converter, im), s.angle)[index],
                    doc)


class VoltageCascade(Device):
    """Voltage and current loop, virtual impedance and active damping in the frame that an outer loop turns.

    D'Arco, Suul & Fosso, Electric Power Systems Research 122 (2015); ω is the speed of the outer loop::

        v*   = E - (rv + j ω lv) io                                                 virtual impedance
        icv* = kpv (v* - vo) + kiv ξ + j cf ω vo + kffi io,   dξ/dt = v* - vo          voltage loop
        vcv  = kpc (icv* - icv) + kic γ + j lf ω icv + kffv vo - vAD,   dγ/dt = icv* - icv   current loop
        vAD  = kAD (vo - φ),   dφ/dt = ωAD (vo - φ)                                      active damping

    An outer loop that hangs on it drives its angle against the network's frame, its speed, and the voltage E.
    """

    attaches = "converter"
    naming = "LOOPS_{converter}"
    kpv = Param("pu", gt=0, doc="gain of the voltage loop")
    kiv = Param("1/s", gt=0, doc="integral gain of the voltage loop")
    kffi = Param("pu", 0.0, doc="feed-forward of the current into the grid")
    kpc = Param("pu", gt=0, doc="gain of the current loop")
    kic = Param("1/s", gt=0, doc="integral gain of the current loop")
    kffv = Param("pu", 0.0, doc="feed-forward of the voltage")
    kad = Param("pu", 0.0, ge=0, doc="gain of the active damping")
    wad = Param("1/s", 50.0, gt=0, doc="cut-off frequency of the active damping")
    rv = Param("pu", 0.0, ge=0, doc="virtual resistance")
    lv = Param("pu", 0.0, ge=0, doc="virtual inductance")
    angle = Input("rad", doc="angle of the control's frame against the network's")
    omega = Input("pu", 1.0, doc="speed of the control's frame")
    E = Input("pu", doc="voltage behind the virtual impedance")
    gammad = State("pu", doc="integral of the current loop, d axis")
    gammaq = State("pu", doc="integral of the current loop, q axis")
    phid = State("pu", doc="slow part of the voltage, d axis")
    phiq = State("pu", doc="slow part of the voltage, q axis")
    xid = State("pu", doc="integral of the voltage loop, d axis")
    xiq = State("pu", doc="integral of the voltage loop, q axis")
    vr = Algebraic("pu", init=1.0, drives="converter.vr", equals=lambda s: s.asked_r,
                   doc="voltage asked of the bridge, real part")
    vi = Algebraic("pu", drives="converter.vi", equals=lambda s: s.asked_i,
                   doc="voltage asked of the bridge, imaginary part")
    vod, voq = (_part("vor", "voi", k, f"voltage of the capacitor, {axis} axis") for k, axis in enumerate("dq"))
    iod, ioq = (_part("ior", "ioi", k, f"current into the grid, {axis} axis") for k, axis in enumerate("dq"))
    icvd, icvq = (_part("icvr", "icvi", k, f"current of the bridge, {axis} axis") for k, axis in enumerate("dq"))

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

    @quantity("pu", "voltage asked of the bridge, d axis")
    def vd(s: Any, converter: Any) -> Any:
        return (s.kpc * s.eid + s.kic * s.gammad - converter.lf * s.omega * s.icvq + s.kffv * s.vod
                - s.kad * (s.vod - s.phid))

    @quantity("pu", "voltage asked of the bridge, q axis")
    def vq(s: Any, converter: Any) -> Any:
        return (s.kpc * s.eiq + s.kic * s.gammaq + converter.lf * s.omega * s.icvd + s.kffv * s.voq
                - s.kad * (s.voq - s.phiq))

    @quantity("pu", "the same in the network's frame, real part")
    def asked_r(s: Any) -> Any:
        return from_frame(s.vd, s.vq, s.angle)[0]

    @quantity("pu", "the same in the network's frame, imaginary part")
    def asked_i(s: Any) -> Any:
        return from_frame(s.vd, s.vq, s.angle)[1]

    def rates(s: Any) -> Any:
        return s.eid, s.eiq, s.wad * (s.vod - s.phid), s.wad * (s.voq - s.phiq), s.evd, s.evq

    def start(s: Any, converter: Any) -> Any:
        vo, io = converter.vor + 1j * converter.voi, converter.ior + 1j * converter.ioi
        icv, v = converter.icvr + 1j * converter.icvi, converter.vr + 1j * converter.vi
        behind = vo + (s.rv + 1j * s.lv) * io
        turned = np.exp(-1j * np.angle(behind))
        vo, io, icv, v = vo * turned, io * turned, icv * turned, v * turned
        xi = (icv - 1j * converter.cf * vo - s.kffi * io) / s.kiv
        gamma = (v - 1j * converter.lf * icv - s.kffv * vo) / s.kic
        return {"angle": np.angle(behind), "E": np.abs(behind), "xid": xi.real, "xiq": xi.imag, "gammad": gamma.real,
                "gammaq": gamma.imag, "phid": vo.real, "phiq": vo.imag, "vr": converter.vr, "vi": converter.vi}
