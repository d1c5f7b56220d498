"""The plugin manager: entry points found, loaded at first use, and their names kept apart."""

from __future__ import annotations

import functools
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from importlib import metadata
from typing import Any

import pluggy

from ..errors import PluginError
from ..suggest import suggest
from . import hookspecs

GROUP = "gridcore"
TRACE = "GRIDCORE_TRACE_HOOKS"


class PluginWarning(UserWarning):
    """A plugin could not be loaded and is skipped."""


@functools.cache
def manager() -> pluggy.PluginManager:
    """The manager with every installed plugin in it. A plugin that fails is reported and skipped;
    set ``GRIDCORE_TRACE_HOOKS=1`` to see on standard error who is called and registers what.
    """
    pm = pluggy.PluginManager(GROUP)
    pm.add_hookspecs(hookspecs)
    for entry in sorted(metadata.entry_points(group=GROUP), key=lambda e: e.name):
        origin = f"{entry.dist.name} {entry.dist.version}" if entry.dist else "unknown distribution"
        _trace(f"loading '{entry.name}' ({origin}) from {entry.value}")
        try:
            module = entry.load()
            if not pm.is_registered(module):
                pm.register(module, name=f"{entry.name} ({origin})")
        except Exception as error:
            _skipped(f"{entry.name} ({origin})", error)
    try:
        pm.check_pending()
    except pluggy.PluginValidationError as error:  # a misspelt hook would never be called
        _skipped(str(error.plugin and pm.get_name(error.plugin)), error)
    return pm


def _trace(text: str) -> None:
    if os.environ.get(TRACE):
        sys.stderr.write(f"gridcore: {text}\n")


def _skipped(plugin: str, error: Exception) -> None:
    warnings.warn(f"plugin {plugin} is skipped: {type(error).__name__}: {error}", PluginWarning, stacklevel=3)


class Registry:
    """What one hook's plugins registered, by name.

    Raises
    ------
    PluginError
        If two plugins register one name (both are named), or a name is asked for that none has
        (the nearest ones are offered).
    """

    def __init__(self, kind: str, hook: str):
        self.kind, self.hook = kind, hook
        self._origin: dict[str, str] = {}
        self._items: dict[str, Any] | None = None

    def _load(self) -> dict[str, Any]:
        if self._items is None:
            items: dict[str, Any] = {}
            for impl in getattr(manager().hook, self.hook).get_hookimpls():
                _trace(f"{self.hook}: {impl.plugin_name}")
                try:
                    impl.function(register=functools.partial(self._register, items, impl.plugin_name))
                except PluginError:
                    raise
                except Exception as error:
                    _skipped(impl.plugin_name, error)
            self._items = items
        return self._items

    def _register(self, items: dict[str, Any], origin: str, name: Any, item: Any = None, *rest: Any,
                  **named: Any) -> None:
        if item is None:  # register(thing): it knows its own name
            name, item = getattr(name, "name", None) or name.__name__, name
        if name in items:
            raise PluginError(f"{self.kind} '{name}' is registered twice: "
                              f"by {self._origin[name]} and by {origin}")
        items[name] = (item, *rest, *named.values()) if rest or named else item
        self._origin[name] = origin
        _trace(f"{self.hook}:   {self.kind} '{name}'")

    def __getitem__(self, name: str) -> Any:
        items = self._load()
        if name not in items:
            raise PluginError(f"unknown {self.kind} '{name}'{suggest(name, items)}")
        return items[name]

    def __contains__(self, name: object) -> bool:
        return name in self._load()

    def __iter__(self) -> Iterator[str]:
        return iter(self._load())

    def origin(self, name: str) -> str:
        """The plugin and distribution that registered `name`."""
        self[name]
        return self._origin[name]


devices = Registry("device", "register_devices")
integrators = Registry("integrator", "register_integrators")
linear_solvers = Registry("linear solver", "register_linear_solvers")
readers = Registry("file format", "register_readers")
companions = Registry("companion format", "register_companions")
jump_rules = Registry("jump rule", "register_jump_rules")
commands = Registry("command", "register_commands")


class Analyses(Registry):
    """``gc.analyses.<name>(...)``: whatever plugins registered."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except PluginError as error:
            raise AttributeError(str(error)) from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self]


analyses = Analyses("analysis", "register_analyses")
REGISTRIES = (devices, integrators, analyses, readers, companions, jump_rules, commands)
