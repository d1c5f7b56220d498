"""The registries, one for each hook, and registration for a session: a notebook, a script, a test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import MethodType
from typing import Any, TypeVar

from ..errors import PluginError
from . import records
from .manager import manager
from .registry import Registry

S = TypeVar("S", bound=records.Registrable)
T = TypeVar("T")


class Devices(Registry[records.DeviceClass]):
    """Device classes by name."""

    def __getitem__(self, name: str) -> Any:
        return self._entry(name).resolved.cls


class Formats(Registry[S]):
    """Records that are found by the suffix of a file."""

    def of_file(self, path: Path) -> S | None:
        """That of the longest suffix that a file's name ends in, in capitals or not; None if there is none."""
        fitting = [suffix for suffix in self if path.name.lower().endswith(suffix.lower())]
        return self[max(fitting, key=len)] if fitting else None


class Analyses(Registry[records.Analysis]):
    """``gc.analyses.<name>(...)``: whatever plugins registered."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name].function
        except PluginError as error:
            raise AttributeError(str(error)) from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self]


class AsMethod:
    """A method of a class that is an analysis: ``at = AsMethod("interpolated")``, whose documentation is that one's."""

    def __init__(self, name: str):
        self.name = name

    def __get__(self, of: Any, cls: type) -> Any:
        function = analyses[self.name].function
        return function if of is None else MethodType(function, of)


devices = Devices(records.DeviceClass)
integrators = Registry(records.Integrator)
linear_solvers = Registry(records.LinearSolver)
analyses = Analyses(records.Analysis)
readers = Formats(records.Reader)
companions = Formats(records.Companion)
cases = Registry(records.Cases)
adjoints = Registry(records.Adjoint)
jump_rules = Registry(records.JumpRule)
objective_kinds = Registry(records.ObjectiveKind)
objective_shapes = Registry(records.ObjectiveShape)
checks = Registry(records.Check)
plots = Registry(records.Plot)
exporters = Formats(records.Exporter)
commands = Registry(records.Command)
REGISTRIES: tuple[Registry[Any], ...] = (
    devices, integrators, linear_solvers, analyses, readers, companions, cases, adjoints, jump_rules,
    objective_kinds, objective_shapes, checks, plots, exporters, commands)
_BY_RECORD = {registry.record: registry for registry in REGISTRIES}


def _item(thing: Any) -> tuple[Registry[Any], Any]:
    """The registry for a thing, and the item that it is there."""
    registry = _BY_RECORD.get(type(thing), devices)
    return registry, registry.record.of(thing)


def register(thing: T, *more: Any) -> T:
    """Register things for this session, as an installed plugin would; the first is returned.

    ``gc.register(MyDevice)``, also as a decorator; ``gc.register(gridcore.registry.Analysis("spread", spread))``.

    Parameters
    ----------
    thing, *more : type or record
        Device classes, or records of :mod:`gridcore.registry.records`. One that this session registered before
        under the same name is replaced.

    Raises
    ------
    PluginError
        If one is not what its kind should be, or a plugin has its name; then none is registered.
    DeviceError
        If a device class is faulty.
    """
    items = [_item(item) for item in (thing, *more)]
    for registry, item in items:
        registry.check_free(item)
    for registry, item in items:
        registry.add(item)
    return thing


@contextmanager
def registered(*things: Any) -> Iterator[None]:
    """Within it, things are registered as by :func:`register`, in place of whatever has their names.

    ``with gc.registered(MyDevice): ...``. What is registered within it for the session is forgotten after it.

    Parameters
    ----------
    *things : type or record
        As of :func:`register`, whose errors it raises.
    """
    items = [_item(thing) for thing in things]
    before = [registry.session for registry in REGISTRIES]
    try:
        for registry, item in items:
            registry.add(item)
        yield
    finally:
        for registry, session in zip(REGISTRIES, before, strict=True):
            registry.session = session


def reload() -> None:
    """Find all plugins again at the next look-up: one was installed, or the environment changed."""
    manager.cache_clear()
    for registry in REGISTRIES:
        registry.forget()
