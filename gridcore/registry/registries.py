"""The registries, one for each hook, and registration for a session: a notebook, a script, a test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from ..errors import PluginError
from . import records
from .manager import manager
from .registry import Registry

T = TypeVar("T")


class Devices(Registry[Any]):
    """Device classes by name; a class is its own record."""

    def __init__(self, hook: str):
        super().__init__(type, hook, "device")

    def make(self, *values: Any, **named: Any) -> Any:
        """A device class, from what ``register`` was given."""
        if len(values) != 1 or named:
            raise PluginError("a device is registered by its class alone: register(MyDevice)")
        cls, is_class = values[0], isinstance(values[0], type)
        if not is_class or not hasattr(cls, "declares"):
            raise PluginError(f"{cls!r} is not a class that is derived from gridcore.Device")
        if cls.contract_error is not None:
            raise cls.contract_error
        return cls

    def name(self, item: Any) -> str:
        """The name of the class."""
        return item.__name__


class Formats(Registry[T]):
    """Records that are found by the suffix of a file."""

    def of_file(self, path: Path) -> T | None:
        """That of the longest suffix that a file's name ends in, in capitals or not; None if there is none."""
        fitting = [suffix for suffix in self if path.name.lower().endswith(suffix.lower())]
        return self[max(fitting, key=len)] if fitting else None


class Analyses(Registry[records.Analysis]):
    """``gc.analyses.<name>(...)``: whatever plugins registered."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name].function
        except PluginError as error:
            raise AttributeError(str(error)) from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self]


devices = Devices("register_devices")
integrators = Registry[records.Integrator](records.Integrator, "register_integrators")
linear_solvers = Registry[records.LinearSolver](records.LinearSolver, "register_linear_solvers")
analyses = Analyses(records.Analysis, "register_analyses")
readers = Formats[records.Reader](records.Reader, "register_readers")
companions = Formats[records.Companion](records.Companion, "register_companions")
cases = Registry[records.Cases](records.Cases, "register_cases")
adjoints = Registry[records.Adjoint](records.Adjoint, "register_adjoints")
jump_rules = Registry[records.JumpRule](records.JumpRule, "register_jump_rules")
objective_kinds = Registry[records.ObjectiveKind](records.ObjectiveKind, "register_objective_kinds")
objective_shapes = Registry[records.ObjectiveShape](records.ObjectiveShape, "register_objective_shapes")
plots = Registry[records.Plot](records.Plot, "register_plots")
exporters = Formats[records.Exporter](records.Exporter, "register_exporters")
commands = Registry[records.Command](records.Command, "register_commands")
REGISTRIES: tuple[Registry[Any], ...] = (
    devices, integrators, linear_solvers, analyses, readers, companions, cases, adjoints, jump_rules,
    objective_kinds, objective_shapes, plots, exporters, commands)
_BY_RECORD = {registry.record: registry for registry in REGISTRIES}


def _placed(thing: Any) -> tuple[Registry[Any], Any]:
    """The registry for a thing, and the item that it is there."""
    registry = _BY_RECORD.get(type(thing), devices)
    return registry, registry.make(thing)


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
    placed = [_placed(item) for item in (thing, *more)]
    for registry, item in placed:
        registry.check_free(item)
    for registry, item in placed:
        registry.add(item)
    return thing


@contextmanager
def registered(*things: Any) -> Iterator[None]:
    """Within it, things are registered as by :func:`register`, in place of whatever has their names.

    ``with gc.registered(MyDevice): ...``. What is registered within it for the session is forgotten after it.
    """
    placed = [_placed(thing) for thing in things]
    with ExitStack() as stack:
        for registry in REGISTRIES:
            stack.enter_context(registry.having([item for its, item in placed if its is registry]))
        yield


def reload() -> None:
    """Find all plugins again at the next look-up: one was installed, or the environment changed."""
    manager.cache_clear()
    for registry in REGISTRIES:
        registry.forget()
