"""Recordings as inputs: a measured voltage, frequency or any other signal of a file drives a part of a grid.

docs/playback.md is the page on it.
"""

from __future__ import annotations

from gridcore.registry import Register, hookimpl


@hookimpl
def register_devices(register: Register) -> None:
    """Signals, their samples, and what plays them back."""
    for name in ("TimeSeries", "Sample", "Corner"):
        register(f"gridcore_playback.time_series:{name}")
    register("gridcore_playback.playback:Playback")
    for name in ("PlaybackSource", "PLBVFU1"):
        register(f"gridcore_playback.source:{name}")


@hookimpl
def register_analyses(register: Register) -> None:
    """``gc.analyses.add_time_series(case, ...)`` and ``.read_time_series(case)``."""
    register("add_time_series", "gridcore_playback.samples:add_time_series")
    register("read_time_series", "gridcore_playback.samples:read_time_series")
