"""File formats, one module each with ``read(path) -> Case`` and often ``write(case, path)``; and limits, widened."""

from __future__ import annotations

from gridcore.registry import Register, hookimpl


@hookimpl
def register_readers(register: Register) -> None:
    """The format of gridcore itself, as text and as a spreadsheet, and those of MATPOWER, PSS/E, ANDES and
    PowerSystems.jl.
    """
    register(".toml", "gridcore_readers.native:read", "gridcore_readers.native:write")
    register(".xlsx", "gridcore_readers.excel:read", "gridcore_readers.excel:write")
    register(".m", "gridcore_readers.matpower:read", "gridcore_readers.matpower:write")
    register(".raw", "gridcore_readers.raw:read", "gridcore_readers.raw_write:write")
    register(".dyr", "gridcore_readers.dyr_write:read", "gridcore_readers.dyr_write:write")
    register(".rawx", "gridcore_readers.raw:read")
    register(".json", "gridcore_readers.json_file:read")


@hookimpl
def register_companions(register: Register) -> None:
    """Rows in gridcore's own format: the events of a study; dynamic data of PSLF, and of PSS/E, taken by itself beside
    a power-flow file.
    """
    register(".toml", "gridcore_readers.native:extend")
    register(".dyr", "gridcore_readers.dyr:extend", beside=(".raw", ".rawx"))
    register(".dyd", "gridcore_readers.dyd:extend")


@hookimpl
def register_analyses(register: Register) -> None:
    """``gc.analyses.widen_limits(case)``."""
    register("widen_limits", "gridcore_readers.widen_limits:widen_limits")


@hookimpl
def register_commands(register: Register) -> None:
    """The verbs ``faults`` and ``models``."""
    register("faults", "gridcore_readers.command:faults")
    register("models", "gridcore_readers.command:models")
