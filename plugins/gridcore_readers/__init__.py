"""File formats: one module each, with ``read(path) -> Case`` and often ``write(case, path)``."""

from __future__ import annotations

from collections.abc import Callable

from gridcore.hookspecs import hookimpl

from . import dyr, matpower, native, raw


@hookimpl
def register_readers(register: Callable[..., None]) -> None:
    """The format of gridcore itself, and those of MATPOWER and of PSS/E."""
    register(".toml", native.read, native.write)
    register(".m", matpower.read, matpower.write)
    register(".raw", raw.read)


@hookimpl
def register_companions(register: Callable[..., None]) -> None:
    """Dynamic data of PSS/E, taken by itself beside a power-flow file."""
    register(".dyr", dyr.extend, beside=(".raw",))
