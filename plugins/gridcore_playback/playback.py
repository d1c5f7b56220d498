"""What a signal drives."""

from __future__ import annotations

from typing import Any

from gridcore.contract import Device, Param, Port, Reference, Setpoint, State

from .time_series import TimeSeries


class Playback(Device):
    """A signal moves an input, set-point or parameter of any device, through a lag ``T`` (none where it is zero).

    Event playback: Huang, Du, Kosterev & Yang, "Generator dynamic model validation and parameter calibration using
    phasor measurements at the point of connection", IEEE Trans. Power Syst. 28 (2013), section II::

        T dvalue/dt = parameter + scale (signal - signal at t0) - value

    It is the deviation from t0 that is played, so that the system begins at rest at its operating point.
    """

    attaches = Port("signal", TimeSeries)
    naming = "PLAY_{signal}"
    parameter = Reference(doc="address of what it moves: EXC1.Vref, GEN1.Pm, LOAD5.P0")
    scale = Param("", 1.0, doc="factor, from the unit of the recording to that of the parameter")
    T = Param("s", 0.0, ge=0, doc="time constant of the lag")
    at_t0 = Setpoint("", equals=lambda s, signal: signal.value, doc="value of the signal at t0")
    value = State("", T="T", drives="parameter", doc="the parameter's value now")

    def rates(s: Any, signal: Any) -> Any:
        return s.parameter + s.scale * (signal.value - s.at_t0) - s.value

    def start(s: Any, signal: Any) -> Any:
        return {"value": s.parameter}
