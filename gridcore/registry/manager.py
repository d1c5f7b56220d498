"""The plugin manager: entry points found and loaded at first use, and hooks called so that no plugin is in the way.

pluggy calls the hooks, in its order and with its wrappers. Every implementation is enclosed beforehand, so that what
it registers is known to be its own, and so that one that fails registers nothing and stops nobody.
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from types import ModuleType
from typing import Any, TypeVar

import pluggy

from ..errors import DeviceError, PluginError, PluginWarning
from ..suggest import suggest
from . import hookspecs

T = TypeVar("T")

GROUP = "gridcore"
TRACE = "GRIDCORE_TRACE_HOOKS"
DISABLE = "GRIDCORE_DISABLE"


@dataclass(frozen=True)
class Origin:
    """Who registers: the name of an entry point, and the distribution that has it."""

    entry: str
    distribution: str

    def __str__(self) -> str:
        return f"{self.entry} ({self.distribution})"


class _State:
    """What is going on, for those that pluggy or Python calls with arguments of their own."""

    loading: bool = False
    calls: list[_Calls] = []  # the last one is the present one; a hook may look up names that others register


def loading() -> bool:
    """Whether plugins are being imported: a faulty class among them is then told when it is registered."""
    return _State.loading


@functools.cache
def manager() -> pluggy.PluginManager:
    """The manager with every installed plugin in it. A plugin that fails is reported and skipped.

    ``GRIDCORE_DISABLE=name,...`` leaves entry points out; ``GRIDCORE_TRACE_HOOKS=1`` shows all calls on standard error.
    """
    pm = pluggy.PluginManager(GROUP)
    pm.add_hookspecs(type("Hooks", (), dict.fromkeys(hookspecs.HOOKS, hookspecs.specification)))
    entries = sorted(metadata.entry_points(group=GROUP), key=lambda e: e.name)
    disabled = {name.strip() for name in os.environ.get(DISABLE, "").split(",") if name.strip()}
    for name in sorted(disabled - {entry.name for entry in entries}):
        _warn(f"{DISABLE}: there is no plugin '{name}'{suggest(name, [entry.name for entry in entries])}")
    modules: list[Any] = []
    names: dict[Any, str] = {of: f"{of.name} {of.version}" for of in {entry.dist for entry in entries} if of}
    for entry in reversed(entries):  # pluggy calls first what it was given last
        origin = Origin(entry.name, names.get(entry.dist, "unknown distribution"))
        if entry.name in disabled:
            trace(f"'{entry.name}' is disabled by {DISABLE}")
            continue
        trace(f"loading '{entry.name}' ({origin.distribution}) from {entry.value}")
        _State.loading = True
        try:
            module = entry.load()
            if module not in modules:
                _take(pm, module, origin)
                modules.append(module)
        except Exception as error:
            _skipped(origin, error)
        finally:
            _State.loading = False
    return pm


def _take(pm: pluggy.PluginManager, module: Any, origin: Origin) -> None:
    """Give a plugin's implementations to pluggy, all of them or none."""
    version = getattr(module, "gridcore_api", hookspecs.API)
    if version != hookspecs.API:
        raise PluginError(f"it is written for version {version!r} of the plugin contract (gridcore_api); this gridcore "
                          f"has version {hookspecs.API}")
    enclosed = ModuleType(origin.entry)  # pluggy looks at every name there is
    for name in dir(module):
        function = getattr(module, name)
        if isinstance(getattr(function, f"{GROUP}_impl", None), dict):
            if not hasattr(pm.hook, name):
                raise PluginError(f"unknown hook '{name}'{suggest(name, vars(pm.hook))}")
            setattr(enclosed, name, _enclose(function, origin))
    try:
        pm.register(enclosed, name=str(origin))
    except Exception:
        if pm.is_registered(enclosed):
            pm.unregister(enclosed)
        raise


def _enclose(function: Callable[..., Any], origin: Origin) -> Callable[..., Any]:
    """An implementation whose registrations are its own, and whose failure is told and stops nobody."""
    if not inspect.isgeneratorfunction(function):

        @functools.wraps(function)
        def call(*values: Any) -> Any:
            with _State.calls[-1].of(origin):
                return function(*values)

        return call

    @functools.wraps(function)
    def wrap(*values: Any) -> Generator[None, Any, Any]:
        wrapper, begun = function(*values), False
        with _State.calls[-1].of(origin):
            next(wrapper)
            begun = True
        result = yield
        if not begun:
            return result
        with _State.calls[-1].of(origin):
            try:
                wrapper.send(result)
            except StopIteration as end:
                return end.value
        return result

    return wrap


def collect(hook: str, make: Callable[..., T]) -> list[tuple[Origin, T]]:
    """Call a hook: who registered what, in order. `make` gives the item for what was registered."""
    calls = _Calls(hook, make)
    caller = getattr(manager().hook, hook)
    _State.calls.append(calls)
    try:
        caller(register=calls.register)
    finally:
        _State.calls.pop()
    return calls.items


class _Calls:
    """One call of a hook."""

    def __init__(self, hook: str, make: Callable[..., Any]):
        self.hook, self.make = hook, make
        self.items: list[tuple[Origin, Any]] = []
        self.origin: Origin | None = None

    def register(self, *values: Any, **named: Any) -> None:
        """What plugins call."""
        assert self.origin is not None
        try:
            self.items.append((self.origin, self.make(*values, **named)))
        except DeviceError as error:  # a faulty class: the others of its plugin may be well
            _warn(f"a device of plugin {self.origin} is skipped: {error}")

    @contextmanager
    def of(self, origin: Origin) -> Iterator[None]:
        """What is registered within it is of this plugin; nothing of it, if it fails."""
        trace(f"{self.hook}: {origin}")
        before, self.origin = self.origin, origin
        count = len(self.items)
        try:
            yield
        except Exception as error:
            del self.items[count:]
            _skipped(origin, error)
        finally:
            self.origin = before


def trace(text: str) -> None:
    """One line on standard error, if ``GRIDCORE_TRACE_HOOKS`` is set."""
    if os.environ.get(TRACE):
        sys.stderr.write(f"gridcore: {text}\n")


def _skipped(origin: Origin, error: Exception) -> None:
    _warn(f"plugin {origin} is skipped: {type(error).__name__}: {error}")


def _warn(text: str) -> None:
    warnings.warn(text, PluginWarning, stacklevel=3)
