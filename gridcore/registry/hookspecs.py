"""The whole extension surface. A plugin is a module, named in the entry-point group ``gridcore``, that implements any
of :data:`HOOKS` with ``@gridcore.hookimpl``; the built-in ones are found the same way.

Each hook is handed a ``register`` callable. It takes the fields of the hook's record in
:mod:`gridcore.registry.records` by position or by name, or the record itself. Where it takes a function or a device
class, ``"module:name"`` does as well: that module is imported when the name is first asked for. All plugins' modules
are imported together, at the first look-up of any name: heavy imports belong inside what is registered.

A plugin may state ``gridcore_api = 1``, the version of this contract that it was written for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pluggy

from .records import RECORDS

API = 1
"""The version of the contract: raised when a plugin that was right before would be wrong."""

HOOKS = tuple(record.hook for record in RECORDS)
"""Names of all hooks."""

Register = Callable[..., Any]

hookimpl = pluggy.HookimplMarker("gridcore")


@pluggy.HookspecMarker("gridcore")
def specification(register: Register) -> None:
    """What every hook is called with."""
