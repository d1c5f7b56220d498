"""The averaged bridge of a converter and its LCL filter."""

from __future__ import annotations

from typing import Any

import numpy as np

from gridcore.contract import Input, Param, PerUnit, Source, State, quantity


class LCLConverter(Source):
    """A converter's bridge behind an LCL filter, in the network's dq frame, all currents and voltages of it states.

    D'Arco, Suul & Fosso, "A Virtual Synchronous Machine implementation for distributed control of power converters in
    SmartGrids", Electric Power Systems Research 122 (2015); here in the frame of the network, which turns at nominal
    speed::

        lf/ωb dicv/dt = vcv - vo - (rf + j lf) icv
        cf/ωb dvo/dt  = icv - io - j cf vo
        lg/ωb dio/dt  = vo - V - (rg + j lg) io

    ``vcv`` is what the inner loops that hang on it drive, ``vr`` and ``vi``; the DC side is stiff, and the bridge gives
    what it is asked for.
    """

    naming = "CONV{bus}"
    lf = Param(PerUnit("ohm"), gt=0, doc="inductance at the bridge")
    rf = Param(PerUnit("ohm"), 0.0, ge=0, doc="its resistance")
    cf = Param(PerUnit("S"), gt=0, doc="capacitance")
    lg = Param(PerUnit("ohm"), gt=0, doc="inductance at the grid")
    rg = Param(PerUnit("ohm"), 0.0, ge=0, doc="its resistance")
    vr = Input("pu", doc="voltage of the bridge, real part")
    vi = Input("pu", doc="voltage of the bridge, imaginary part")
    icvr = State("pu", doc="current of the bridge, real part")
    icvi = State("pu", doc="current of the bridge, imaginary part")
    vor = State("pu", init=1.0, doc="voltage of the capacitor, real part")
    voi = State("pu", doc="voltage of the capacitor, imaginary part")
    ior = State("pu", doc="current into the grid, real part")
    ioi = State("pu", doc="current into the grid, imaginary part")

    @quantity("pu", "active power at the capacitor")
    def P(s: Any) -> Any:
        return s.vor * s.ior + s.voi * s.ioi

    @quantity("pu", "reactive power at the capacitor")
    def Q(s: Any) -> Any:
        return s.voi * s.ior - s.vor * s.ioi

    def rates(s: Any, bus: Any) -> Any:
        def inductor(r: Any, l: Any, re: Any, im: Any, across: tuple[Any, Any]) -> tuple[Any, Any]:  # noqa: E741
            return (s.omega_b * ((across[0] - r * re) / l + im), s.omega_b * ((across[1] - r * im) / l - re))

        return (*inductor(s.rf, s.lf, s.icvr, s.icvi, (s.vr - s.vor, s.vi - s.voi)),
                s.omega_b * ((s.icvr - s.ior) / s.cf + s.voi), s.omega_b * ((s.icvi - s.ioi) / s.cf - s.vor),
                *inductor(s.rg, s.lg, s.ior, s.ioi, (s.vor - bus.Vr, s.voi - bus.Vi)))

    def currents(s: Any, bus: Any) -> Any:
        return s.ior, s.ioi

    def start(s: Any, bus: Any, power: Any) -> Any:
        V = bus.Vr + 1j * bus.Vi
        io = np.conj((power.P + 1j * power.Q) / V)
        vo = V + (s.rg + 1j * s.lg) * io
        icv = io + 1j * s.cf * vo
        v = vo + (s.rf + 1j * s.lf) * icv
        return {"ior": io.real, "ioi": io.imag, "vor": vo.real, "voi": vo.imag, "icvr": icv.real, "icvi": icv.imag,
                "vr": v.real, "vi": v.imag}
