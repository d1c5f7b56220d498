"""File formats: one module each, with ``read(path) -> Case`` and often ``write(case, path)``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gridcore.registry.hookspecs import hookimpl

from . import dyr, excel, matpower, native, raw


@hookimpl
def register_readers(register: Callable[..., None]) -> None:
    """The format of gridcore itself as text and as a spreadsheet, and those of MATPOWER and of PSS/E."""
    register(".toml", native.read, native.write)
    register(".xlsx", excel.read, excel.write)
    register(".m", matpower.read, matpower.write)
    register(".raw", raw.read)


@hookimpl
def register_companions(register: Callable[..., None]) -> None:
    """Dynamic data of PSS/E, taken by itself beside a power-flow file; rows in gridcore's own format."""
    register(".dyr", dyr.extend, beside=(".raw",))
    register(".toml", native.extend)


@hookimpl
def register_commands(register: Callable[[Any], None]) -> None:
    """The verb ``models``."""
    from .command import models

    register(models)
