"""The current loop of a converter, in the frame at an angle of its control."""

from __future__ import annotations

from typing import Any

import numpy as np

from gridcore.contract import Algebraic, Device, Param, State, quantity

from ..frames import component, from_frame


class CurrentLoop(Device):
    """Base of what drives the bridge of a converter: its current loop, with active damping of the filter.

    D'Arco, Suul & Fosso, Electric Power Systems Research 122 (2015), in the frame at `angle` with the speed `omega`, ω;
    what derives from it has ``eid`` and ``eiq``, the lack of current ``icv* - icv``::

        vcv  = kpc (icv* - icv) + kic γ + j lf ω icv + kffv vo - vAD,   dγ/dt = icv* - icv
        vAD  = kad (vo - φ),   dφ/dt = wad (vo - φ)
    """

    attaches = "converter"
    naming = "LOOPS_{converter}"
    kpc = Param("pu", gt=0, doc="gain of the current loop")
    kic = Param("1/s", gt=0, doc="integral gain of the current loop")
    kffv = Param("pu", 0.0, doc="feed-forward of the voltage")
    kad = Param("pu", 0.0, ge=0, doc="gain of the active damping")
    wad = Param("1/s", 50.0, gt=0, doc="cut-off frequency of the active damping")
    gammad = State("pu", rate=lambda s: s.eid, doc="integral of the current loop, d axis")
    gammaq = State("pu", rate=lambda s: s.eiq, doc="integral of the current loop, q axis")
    phid = State("pu", rate=lambda s: s.wad * (s.vod - s.phid), doc="slow part of the voltage, d axis")
    phiq = State("pu", rate=lambda s: s.wad * (s.voq - s.phiq), doc="slow part of the voltage, q axis")
    vr = Algebraic("pu", init=1.0, drives="converter.vr", equals=lambda s: s.asked_r,
                   doc="voltage asked of the bridge, real part")
    vi = Algebraic("pu", drives="converter.vi", equals=lambda s: s.asked_i,
                   doc="voltage asked of the bridge, imaginary part")
    vod = component("vor", "voi", 0, "voltage of the capacitor, d axis")
    voq = component("vor", "voi", 1, "voltage of the capacitor, q axis")
    icvd = component("icvr", "icvi", 0, "current of the bridge, d axis")
    icvq = component("icvr", "icvi", 1, "current of the bridge, q axis")

    @quantity("pu", "voltage asked of the bridge, d axis")
    def vcvd(s: Any, converter: Any) -> Any:
        return (s.kpc * s.eid + s.kic * s.gammad - converter.lf * s.omega * s.icvq + s.kffv * s.vod
                - s.kad * (s.vod - s.phid))

    @quantity("pu", "voltage asked of the bridge, q axis")
    def vcvq(s: Any, converter: Any) -> Any:
        return (s.kpc * s.eiq + s.kic * s.gammaq + converter.lf * s.omega * s.icvd + s.kffv * s.voq
                - s.kad * (s.voq - s.phiq))

    @quantity("pu", "the same in the network's frame, real part")
    def asked_r(s: Any) -> Any:
        return from_frame(s.vcvd, s.vcvq, s.angle)[0]

    @quantity("pu", "the same in the network's frame, imaginary part")
    def asked_i(s: Any) -> Any:
        return from_frame(s.vcvd, s.vcvq, s.angle)[1]


def at_rest(s: Any, converter: Any, angle: Any) -> dict[str, Any]:
    """The loop's states at t0 where its frame is at an angle."""
    turned, vo = np.exp(-1j * angle), converter.vor + 1j * converter.voi
    icv, v = converter.icvr + 1j * converter.icvi, converter.vr + 1j * converter.vi
    gamma = (v - 1j * converter.lf * icv - s.kffv * vo) * turned / s.kic
    return {"gammad": gamma.real, "gammaq": gamma.imag, "phid": (vo * turned).real, "phiq": (vo * turned).imag,
            "vr": converter.vr, "vi": converter.vi}
