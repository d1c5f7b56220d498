"""The verbs of the core, what verbs share, and progress.

Imports from everything to its left; heavy imports stand inside the verbs, and each name here is imported when it is
first used: all verbs are loaded together.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .main import main as main
    from .options import Study as Study
    from .options import file_of as file_of
    from .options import load as load
    from .options import method_options as method_options
    from .options import placed as placed
    from .options import read_options as read_options
    from .options import read_value as read_value
    from .options import sensitivity_options as sensitivity_options
    from .options import system_options as system_options
    from .options import time_options as time_options
    from .progress import Progress as Progress
    from .tables import Table as Table
    from .tables import per as per
    from .tables import write_csv as write_csv

_MODULE = {name: module for module, names in {
    "main": ("main",), "progress": ("Progress",), "tables": ("Table", "per", "write_csv"),
    "options": ("Study", "file_of", "load", "method_options", "placed", "read_options", "read_value",
                "sensitivity_options", "system_options", "time_options")}.items() for name in names}

__all__ = [*_MODULE]


def __getattr__(name: str) -> Any:
    if name not in _MODULE:
        raise AttributeError(f"module 'gridcore.commands' has no attribute '{name}'")
    found = getattr(import_module(f".{_MODULE[name]}", __name__), name)
    globals()[name] = found
    return found
