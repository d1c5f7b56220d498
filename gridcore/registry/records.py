"""What can be registered: one small frozen record for each kind, checked when it is made.

The first field is the name under which it is found. A field that holds a function may hold ``"module:name"`` in
its place; a :class:`~gridcore.registry.registry.Registry` gives records whose references are resolved.
"""

from __future__ import annotations

import dataclasses
import inspect
import pkgutil
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self, dataclass_transform

from ..errors import PluginError
from ..suggest import suggest

Function = Any
"""A callable; or, until its record is looked up, ``"module:name"``."""

_REFERENCE = re.compile(r"[^\W\d][\w.]*:[^\W\d]\w*")


@dataclass_transform(frozen_default=True)
@dataclass(frozen=True)
class Registrable:
    """Base of the records. Making one whose fields are not what they should be is a PluginError.

    A class says its `hook`, `what` it is in messages, and by name its functions: how they are called, if that is fixed.
    """

    hook: ClassVar[str] = ""
    what: ClassVar[str] = ""
    functions: ClassVar[Mapping[str, str | None]] = {}

    def __init_subclass__(cls, /, hook: str = "", what: str = "", **functions: str | None):
        cls.hook, cls.what, cls.functions = hook or cls.hook, what or cls.what, functions or cls.functions
        dataclass(frozen=True)(cls)

    @property
    def key(self) -> str:
        """The name under which it is found."""
        return getattr(self, dataclasses.fields(self)[0].name)

    @classmethod
    def of(cls, *values: Any, **named: Any) -> Self:
        """A record from what a plugin gives ``register``: the record itself, or its fields."""
        if len(values) == 1 and isinstance(values[0], cls) and not named:
            return values[0]
        known = [field.name for field in dataclasses.fields(cls)]
        for name in named:
            if name not in known:
                raise PluginError(f"{cls.what}: there is no field '{name}'{suggest(name, known)}")
        try:
            return cls(*values, **named)
        except TypeError as error:
            raise PluginError(f"{cls.what}: {error}; the fields are {', '.join(known)}") from None

    def __post_init__(self) -> None:
        if not isinstance(self.key, str) or not self.key:
            raise PluginError(f"{self.what}: {self.key!r} is not a name")
        for field in dataclasses.fields(self):
            if field.name in self.functions:
                self._check_function(field)
        self.check()

    def _check_function(self, field: dataclasses.Field[Any]) -> None:
        value, arguments = getattr(self, field.name), self.functions[field.name]
        if value is field.default:  # optional, and not given
            return
        if isinstance(value, str):
            self.need(_REFERENCE.fullmatch(value), f"{field.name} = {value!r} must be a function or 'module:name'")
            return
        self.need(callable(value), f"{field.name} = {value!r} cannot be called")
        if inspect.isabstract(value):
            raise self.error(f"{value.__name__} lacks {', '.join(sorted(value.__abstractmethods__))}")
        if arguments is None:
            return
        try:
            signature = inspect.signature(value)
        except (TypeError, ValueError):  # written in C
            return
        try:
            signature.bind(*arguments.split(", "))
        except TypeError:
            raise self.error(f"{field.name} is called as {field.name}({arguments}), and takes {signature}") from None

    def check(self) -> None:
        """What else must hold, said by :meth:`need`."""

    def need(self, condition: Any, message: str) -> None:
        """Raise unless it holds."""
        if not condition:
            raise self.error(message)

    def error(self, message: str) -> PluginError:
        """An error that names the record."""
        return PluginError(f"{self.what} '{self.key}': {message}")

    def resolved(self) -> Self:
        """The same with every reference replaced by what it names."""
        found = {}
        for name in self.functions:
            reference = getattr(self, name)
            if isinstance(reference, str):
                try:
                    found[name] = pkgutil.resolve_name(reference)
                except (ImportError, AttributeError) as error:
                    raise self.error(f"'{reference}' cannot be loaded: {error}") from error
        return dataclasses.replace(self, **found) if found else self


class DeviceClass(Registrable, hook="register_devices", what="device", cls=None):
    """A device, by its class alone, whose name is its own: ``register(MyDevice)``, ``register("module:MyDevice")``."""

    cls: Function

    @property
    def key(self) -> str:
        """The name of the class."""
        cls = self.cls
        return cls.rpartition(":")[2] if isinstance(cls, str) else getattr(cls, "__name__", repr(cls))

    def check(self) -> None:
        if not isinstance(self.cls, str):
            self.need(hasattr(self.cls, "declares"), "is not a class that is derived from gridcore.Device")
            if self.cls.contract_error is not None:
                raise self.cls.contract_error


class _OfSuffix(Registrable):
    """Base of those that are found by the suffix of a file."""

    suffix: str

    def check(self) -> None:
        self.need(re.fullmatch(r"\.\S+", self.suffix), "a suffix begins with a dot")


class Integrator(Registrable, hook="register_integrators", what="integrator", make="step"):
    """For ``gc.simulate(method=name)``; ``make(step, **options)``: a :class:`~gridcore.integrate.Stepper`."""

    name: str
    make: Function


class LinearSolver(Registrable, hook="register_linear_solvers", what="linear solver", make=None):
    """A solver of sparse linear systems: ``make()``."""

    name: str
    make: Function


class Analysis(Registrable, hook="register_analyses", what="analysis", function=None):
    """A function of the namespace ``gc.analyses``."""

    name: str
    function: Function

    def check(self) -> None:
        self.need(self.name.isidentifier() and not self.name.startswith("_"),
                  "is called as gc.analyses.name: it must be a name of Python")


class Reader(_OfSuffix, hook="register_readers", what="file format", read="path", write="case, path"):
    """A format of cases: ``read(path) -> Case``, and ``write(case, path)`` if it can be written."""

    read: Function
    write: Function = None


class Companion(_OfSuffix, hook="register_companions", what="companion format", extend="case, path"):
    """A format that adds to a case: ``extend(case, path)``; taken by itself beside files of the formats `beside`."""

    extend: Function
    beside: tuple[str, ...] = ()

    def check(self) -> None:
        super().check()
        self.need(isinstance(self.beside, tuple) and all(str(suffix).startswith(".") for suffix in self.beside),
                  f"beside = {self.beside!r} must be a tuple of suffixes")


class Cases(Registrable, hook="register_cases", what="folder of cases"):
    """A folder of cases: ``folder/CASE/case.toml`` is found as ``gc.load_case("CASE")``."""

    name: str
    folder: Path

    def check(self) -> None:
        self.need(isinstance(self.folder, str | Path), f"folder = {self.folder!r} is not a path")
        object.__setattr__(self, "folder", Path(self.folder))


class JumpRule(Registrable, hook="register_jump_rules", what="jump rule"):
    """How sensitivities cross an event.

    `rule` has the attribute ``moving`` and the methods ``step``, ``step_transpose`` and ``shift`` of
    :class:`gridcore.sensitivity.jump_rules.Discrete`.
    """

    name: str
    rule: Any

    def check(self) -> None:
        self.need(not isinstance(self.rule, type), f"rule is the class {self.rule!r}: give an object of it")
        for method in ("step", "step_transpose", "shift"):
            self.need(callable(getattr(self.rule, method, None)), f"rule {self.rule!r} has no method '{method}'")
        self.need(hasattr(self.rule, "moving"), f"rule {self.rule!r} has no attribute 'moving'")


class Adjoint(Registrable, hook="register_adjoints", what="adjoint", sweep="replay, run, objectives, weights, rule"):
    """A way backwards from objectives to parameters: ``gc.adjoint(..., method=name)``.

    ``sweep(replay, run, objectives, weights, rule)`` has ``run()``, which leaves the adjoints at the first point in
    ``X`` (m, n) and ``P`` (m, n_c): see :class:`gridcore.sensitivity.adjoint.ReverseSweep`. `jumps` names the jump rule
    that it goes with by default. One that is `exact` gives the derivative of the numbers that the run has, and needs
    steps that can be differentiated; of another the result says how far it is from the discrete gradient.
    """

    name: str
    sweep: Function
    jumps: str = "discrete"
    exact: bool = True

    def check(self) -> None:
        self.need(isinstance(self.jumps, str) and self.jumps, f"jumps = {self.jumps!r} is not the name of a jump rule")
        self.need(isinstance(self.exact, bool), f"exact = {self.exact!r} must be True or False")


class _OfObjectiveFiles(Registrable, make="table, quantity"):
    """Base of what tables of objective files name.

    ``make(table, quantity)`` reads its fields from a ``Table`` (docs/plugins.md).
    """

    name: str
    make: Function
    fields: tuple[str, ...] = ()

    def check(self) -> None:
        self.need(isinstance(self.fields, tuple) and all(isinstance(field, str) for field in self.fields),
                  f"fields = {self.fields!r} must be a tuple of names")


class ObjectiveKind(_OfObjectiveFiles, hook="register_objective_kinds", what="kind of objective"):
    """A ``kind`` of objective files; of a `shaped` one, ``table.density(quantity)`` is what its ``shape`` makes."""

    shaped: bool = False


class ObjectiveShape(_OfObjectiveFiles, hook="register_objective_shapes", what="shape of objective"):
    """A ``shape`` of objective files: what ``terminal`` and ``integral`` objectives are of."""


class Check(Registrable, hook="register_checks", what="check", examine="system, Z, found"):
    """What is hardly meant, in words: ``examine(system, Z, found)``; `found`: the equilibrium, where there is one."""

    name: str
    examine: Function


class Plot(Registrable, hook="register_plots", what="plot", draw="result, path"):
    """A figure: ``draw(result, path)`` for results of one kind, such as ``run`` or ``gradient``."""

    kind: str
    draw: Function


class Exporter(_OfSuffix, hook="register_exporters", what="run format", write="run, path", read="path"):
    """A format of runs: ``write(run, path)``, and ``read(path) -> Run`` if it can be read."""

    write: Function
    read: Function = None


class Command(Registrable, hook="register_commands", what="command", command=None):
    """A verb of the command line: a ``click`` command."""

    name: str
    command: Function

    @classmethod
    def of(cls, *values: Any, **named: Any) -> Self:
        """As of any record; and from the command alone, which knows its name."""
        if len(values) == 1 and not named and not isinstance(values[0], str | cls):
            values = (getattr(values[0], "name", None), values[0])
        return super().of(*values, **named)

    def check(self) -> None:
        self.need(isinstance(self.command, str) or hasattr(self.command, "make_context"),
                  f"{self.command!r} is not a click command")


RECORDS: tuple[type[Registrable], ...] = (
    DeviceClass, Integrator, LinearSolver, Analysis, Reader, Companion, Cases, Adjoint, JumpRule, ObjectiveKind,
    ObjectiveShape, Check, Plot, Exporter, Command)
