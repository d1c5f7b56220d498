"""File formats: one module each, with ``read(path) -> Case`` and often ``write(case, path)``."""

from __future__ import annotations

from collections.abc import Callable

from gridcore.hookspecs import hookimpl

from . import matpower, native


@hookimpl
def register_readers(register: Callable[..., None]) -> None:
    """The format of gridcore itself, and that of MATPOWER."""
    register(".toml", native.read, native.write)
    register(".m", matpower.read, matpower.write)
