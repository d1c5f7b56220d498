"""Recordings as inputs: a measured voltage, frequency or any other signal of a file drives a part of a grid.

docs/playback.md is the page on it.
"""

from __future__ import annotations

from gridcore.registry import Register, hookimpl


@hookimpl
def register_devices(register: Register) -> None:
    """Signals, their samples, and what plays them back."""
    for name in ("Signal", "Sample", "Corner"):
        register(f"gridcore_playback.signal:{name}")
    register("gridcore_playback.playback:Playback")
    for name in ("PlaybackSource", "PLBVFU1"):
        register(f"gridcore_playback.source:{name}")


@hookimpl
def register_analyses(register: Register) -> None:
    """``gc.analyses.add_signal(case, ...)`` and ``.read_signals(case)``."""
    register("add_signal", "gridcore_playback.samples:add_signal")
    register("read_signals", "gridcore_playback.samples:read_signals")
