"""What any device must show, and what the doctor says: in words, what is wrong with a class.

It knows devices only by their contract. Parameters are drawn at random within their bounds, ports are
filled with registered devices that have what is asked for, and the whole stands in a small grid.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import casadi as ca
import numpy as np

from gridcore.contract import Declarations, Device, Guard, Load, Node, Path, Scope, Source, Timer, kind_of
from gridcore.equations import Batch, Symbol, Trace, c_source, vector_function
from gridcore.equations.native import INTERPRETER, load
from gridcore.equilibrium import Equilibrium, build, doubts
from gridcore.errors import ConvergenceError, DeviceError, EventError, GridcoreError, PluginError
from gridcore.integrate import simulate
from gridcore.testing import NotExamined, Suite, Wrong, require

from .complex_step import derivative_of, perturbed
from .continuity import continuous, numbers
from .testbed import case_of, plausible, shape_of, testbed

_POINTS = 8  # random points at which equations are compared
_DRAWS = 5  # sets of random parameters of which one must have an equilibrium
_WHILE = 0.1  # s, of a run from it

# What may differ, of 1 + |value|.
_AGAIN = 1e-13  # traced twice: ten times the round-off of a sum
_SAME = 1e-12  # traced and called, alone and among others: the order of operations differs
_COMPILED = 1e-14  # compiled and interpreted: the operations are the same, libm may differ in the last digit
_DERIVATIVE = 1e-9  # traced and by the complex step: wrong rules differ in the first digits, cancellation takes six
_REST = 1e-10  # residual of a device at rest, which is what an initialisation must reach
_ORDER_START = 1e-8  # initial states of instances in another order: what a power flow leaves
_ORDER = 1e-7  # and their right-hand sides, for equations of slope 10

# A reference to a book, paper or standard has one of these: a year, a standard's name, an equation, a link.
_SOURCE = re.compile(r"\b(1[89]|20)\d\d\b|\bIEEE\b|\bIEC\b|\bWECC\b|\beqs?\.|\bdoi\b|https?://|[Mm]anual")


@contextmanager
def _grid(cls: type[Device], seed: int = 0) -> Iterator[Subject]:
    """A class, which need not be registered, and with what `seed` random points are drawn."""
    if not (isinstance(cls, type) and issubclass(cls, Device)):
        raise PluginError(f"{cls!r} is not a class that is derived from gridcore.Device")
    with testbed(cls):
        yield Subject(cls, np.random.default_rng(seed))


device_checks = Suite["Subject"](_grid)


# ---------------------------------------------------------------- what can be read off the class


_TABLES = {"parameter": "params", "state": "states", "algebraic": "algebraics", "input": "inputs",
           "set-point": "setpoints", "mode": "modes", "quantity": "quantities", "reference": "references",
           "field": "fields", "guard": "guards", "timer": "timers"}


@device_checks.add("documented")
def _declarations(subject: Subject) -> str:
    """Docs, units and a source."""
    cls, problems, count = subject.cls, [], 0
    declared = cls.declares
    times = {*(state.T for state in declared.states.values()), *(guard.delay for guard in declared.guards.values()),
             *(timer.at for timer in declared.timers.values())}
    for kind, table in _TABLES.items():
        for name, item in getattr(declared, table).items():
            count += 1
            if not item.doc:
                problems.append(f"{kind} {name} has no doc: say in a few words what it is")
            unit = getattr(item, "unit", "")
            if unit and not re.fullmatch(r"[\w%/^*. ()-]+", unit):
                problems.append(f"{kind} {name}: unit {unit!r} is not a unit")
            if kind == "parameter" and not unit and name in times:
                problems.append(f"parameter {name} is a time and has no unit: declare it in s")
    doc = "\n".join(base.__doc__ or "" for base in cls.__mro__ if base not in (Device, Source, Load, object)).strip()
    if not doc:
        problems.append("the class has no docstring: say what it is, and where its equations come from")
    elif declared.states and not _SOURCE.search(doc):
        problems.append("the docstring names no source: give the book, paper or standard (with its year) and the "
                        "numbers of the equations")
    if problems:
        raise Wrong(*problems)
    return f"{count} declarations"


def _events(declared: Declarations) -> list[Guard | Timer]:
    return [*declared.guards.values(), *declared.timers.values()]


# ---------------------------------------------------------------- the equations at random points


class Subject:
    """A class; once it is examined its shape and trace, and random values of everything that its functions may read."""

    def __init__(self, cls: type[Device], rng: np.random.Generator):
        self.cls, self.rng = cls, rng

    def examine(self) -> None:
        """Stand it on what its ports ask for, and trace it."""
        self.shape, rng = shape_of(self.cls), self.rng
        self.trace = Trace(self.shape)
        self.names = [name for names, _ in self.functions() for name in names]
        self.outputs = self.traced(self.trace)
        self.point: dict[Symbol, np.ndarray] = {
            ((), "time"): rng.uniform(0, 5, _POINTS), ((), "omega_b"): np.full(_POINTS, 120 * np.pi),
            ((), "base_mva"): np.full(_POINTS, 100.0)}
        draws = [self.parameters() for _ in range(_POINTS)]
        for path, s in self.shape.walk():
            d = s.cls.declares
            for name in (*d.params, *d.setpoints, *d.inputs, *d.references, *d.variables(), *d.modes):
                self.point[path, name] = np.array([_draw(d, name, draw[path], rng) for draw in draws])

    def parameters(self) -> dict[Path, dict[str, float]]:
        """Random parameters of the device and of what it hangs on."""
        return {path: plausible(s.cls, self.rng) for path, s in self.shape.walk()}

    @cached_property
    def resting(self) -> tuple[list[dict[Path, dict[str, float]]], Equilibrium]:
        """Parameters of three instances, and the small grid at rest with them."""
        if issubclass(self.cls, Node):
            raise NotExamined("a node is at rest with what hangs on it")
        trouble = ""
        for _ in range(_DRAWS):
            draws = [self.parameters() for _ in range(3)]
            try:
                system = build(case_of(self.shape, draws, (0, 1, 2)))
            except GridcoreError as error:
                trouble = trouble or f"it does not initialise: {error}"
                continue
            assert system.operating_point is not None
            if system.operating_point.residual <= _REST:
                return draws, system
            trouble = trouble or ("it does not rest at the operating point: max |F| = "
                                  f"{system.operating_point.residual:.3g}")
        raise Wrong(f"{trouble} (of {_DRAWS} random sets of parameters, none did better)")

    def functions(self) -> Iterator[tuple[list[str], Callable[..., Any]]]:
        """Every function of views that the class has, with what to call its values."""
        cls, declared, states = self.cls, self.cls.declares, self.cls.declares.states
        if states:
            yield [f"rate of {name}" for name in states], lambda s: [getattr(s, f"{name}_rate") for name in states]
        for name, words in (("residuals", [f"residual of {x}" for x, variable in declared.algebraics.items()
                                           if variable.equation is None]),
                            ("currents", [f"{part} current at {port}" for port in cls.bus_ports()
                                          for part in ("real", "imaginary")]),
                            ("flows", [f"flow into {name} at {port}" for port in cls.node_ports()
                                       for name in self.trace.potentials(port)]),
                            ("scheduled", ["scheduled P", "scheduled Q"])):
            function = cls.function(name)
            if function is not None:
                yield words, function
        for guard in declared.guards.values():
            yield [f"guard {guard.name}"], guard.function
            if callable(guard.cancel):
                yield [f"cancellation of {guard.name}"], guard.cancel
        for name, quantity in declared.quantities.items():
            yield [f"quantity {name}"], quantity.function
        for name, equals in (*((name, variable.equation) for name, variable in declared.algebraics.items()),
                             *((name, setpoint.equals) for name, setpoint in declared.setpoints.items())):
            if equals is not None:
                yield [f"what {name} equals"], equals
        for item in _events(declared):
            for target, value in item.then.items():
                if callable(value):
                    yield [f"what {item.name} makes of {target}"], value

    def traced(self, trace: Trace) -> list[ca.SX]:
        """What the functions give on the symbols of a trace."""
        out: list[ca.SX] = []
        for names, function in self.functions():
            values = _flat(trace.expression(function))
            if len(values) != len(names):
                raise DeviceError(f"{self.cls.__name__}.{getattr(function, '__name__', names[0])}() returns "
                                  f"{len(values)} values for {len(names)}: {', '.join(names)}")
            out += [ca.SX(v) for v in values]
        return out

    @cached_property
    def jacobian(self) -> ca.SX:
        """Of the outputs in the symbols of the trace."""
        return ca.jacobian(ca.vertcat(*self.outputs), ca.vertcat(*self.trace.symbols.values()))

    def evaluated(self, trace: Trace, outputs: ca.SX | list[ca.SX]) -> np.ndarray:
        """(outputs, points) values of expressions of a trace."""
        function = vector_function("outputs", list(trace.symbols.values()), outputs)
        inputs = np.array([self.point[s] for s in trace.symbols]).reshape(-1, _POINTS)
        return np.asarray(function.map(_POINTS)(inputs)).reshape(-1, _POINTS)

    def scope(self, point: dict[Symbol, Any]) -> Scope:
        """What calls functions of the device on numbers."""
        return Scope(self.shape, lambda path, name: point[path, name])

    def called(self, point: dict[Symbol, Any]) -> np.ndarray:
        """(outputs, points) values of the plain functions."""
        scope = self.scope(point)
        with np.errstate(all="ignore"):
            values = [v for _, function in self.functions() for v in _flat(scope.call(function))]
            return np.array([np.broadcast_to(np.asarray(v), (_POINTS,)) for v in values])


def _draw(declared: Declarations, name: str, parameters: dict[str, float], rng: np.random.Generator) -> float:
    """A random value: of a mode one that it is seen to take, of a variable one beside its first guess."""
    if name in parameters:
        return parameters[name]
    if name in declared.modes:
        seen = {declared.modes[name].initial, *(g.when[name] for g in declared.guards.values() if name in g.when)}
        set_to = [item.then[name] for item in _events(declared) if name in item.then]
        return float(rng.choice(sorted(seen | {float(value) for value in set_to if not callable(value)})))
    item = {**declared.variables(), **declared.setpoints, **declared.inputs, **declared.references}[name]
    centre = next((c for c in (getattr(item, key, None) for key in ("init", "default")) if c is not None), 1.0)
    return float(centre + rng.uniform(0.05, 0.4) * rng.choice([-1, 1]))


def _flat(values: Any) -> list[Any]:
    if isinstance(values, tuple | list):
        return [v for value in values for v in _flat(value)]
    return [values]


@device_checks.add("traced")
def _traced(subject: Subject) -> str:
    """The functions take symbols, and give as many values as are declared."""
    subject.examine()
    return ""


@device_checks.add("called", "traced")
def _callable(subject: Subject) -> str:
    """The functions take real and complex numbers."""
    if not subject.outputs:
        raise NotExamined("it has no equations")
    subject.called(subject.point)
    subject.called({s: perturbed(v) for s, v in subject.point.items()})
    return ""


@device_checks.add("pure", "called")
def _values(subject: Subject) -> str:
    """Traced equations give what the functions give, each time."""
    called, again = (subject.called(subject.point) for _ in range(2))
    other = Trace(subject.shape)
    first = subject.evaluated(subject.trace, subject.outputs)
    second = subject.evaluated(other, subject.traced(other))
    problems = []
    for k, name in enumerate(subject.names):
        if not _same(called[k], again[k], 0.0) or not _same(first[k], second[k], _AGAIN):
            problems.append(f"{name} is not the same when it is computed twice: a function may depend only on its "
                            "arguments")
        elif not np.isfinite(called[k]).any():
            problems.append(f"{name} is no number at any of {_POINTS} random points")
        elif not _same(first[k], called[k], _SAME):
            worst = int(np.nanargmax(np.abs(first[k] - called[k])))
            problems.append(f"{name} is {first[k, worst]:.6g} when traced and {called[k, worst]:.6g} when called on "
                            "numbers: it must not look at what kind of thing its arguments are")
    if problems:
        raise Wrong(*problems)
    return f"{len(subject.names)} expressions are the same whenever they are computed"


def _same(a: np.ndarray, b: np.ndarray, tolerance: float) -> bool:
    """Equal where both are numbers."""
    both = np.isfinite(a) & np.isfinite(b)
    return bool(np.all(np.abs(a - b)[both] <= tolerance * (1 + np.abs(b[both]))))


device_checks.add("numbers", "pure")(numbers)
device_checks.add("continuous", "numbers")(continuous)


@device_checks.add("derivatives", "called")
def _derivatives(subject: Subject) -> str:
    """Traced derivatives in every symbol against the complex step of the functions."""
    symbols, names = list(subject.trace.symbols), subject.names
    traced = subject.evaluated(subject.trace, ca.vec(ca.densify(subject.jacobian)))
    traced = traced.reshape(len(symbols), len(names), _POINTS)
    numbers, worst = np.isfinite(subject.called(subject.point)), 0.0
    for symbol, by_tracing in zip(symbols, traced):
        if subject.trace.kind(symbol) == "m":
            continue
        by_step = derivative_of(subject.called({s: perturbed(v, float(s == symbol)) for s, v in subject.point.items()}))
        both = numbers & np.isfinite(by_tracing) & np.isfinite(by_step)
        error = np.where(both, np.abs(by_tracing - by_step) / (1 + np.abs(by_step)), 0.0)
        at = np.unravel_index(int(error.argmax()), error.shape)
        require(error[at] <= _DERIVATIVE,
                f"the derivative of {names[at[0]]} in {'.'.join((*symbol[0], symbol[1]))} is {by_tracing[at]:.6g} by "
                f"its traced equations and {by_step[at]:.6g} by the complex step of the function")
        worst = max(worst, float(error[at]))
    return f"{len(names)} expressions in {len(symbols)} symbols agree with the complex step to {worst:.1g}"


@device_checks.add("compiled", "called")
def _compiled(subject: Subject) -> str:
    """The compiled kernels give what the interpreted ones give."""
    symbols = list(subject.trace.symbols.values())
    functions = [vector_function("outputs", symbols, subject.outputs)]
    if subject.jacobian.nnz():
        functions.append(vector_function("jacobian", symbols, subject.jacobian.nz[:]))
    _, (library,) = load([c_source(functions)])
    if library is INTERPRETER:
        raise NotExamined("there is no C compiler")
    Z = np.array([subject.point[s] for s in subject.trace.symbols]).T.ravel().copy()
    gather = np.arange(Z.size, dtype=np.int32).reshape(_POINTS, -1)
    for function in functions:
        batch = Batch(function, gather, np.zeros((_POINTS, function.nnz_out(0)), dtype=np.int32))
        interpreted = batch.values(Z).copy()
        batch.bind(library)
        require(_same(batch.values(Z), interpreted, _COMPILED),
                "compiled and interpreted equations differ by more than 1e-14")
    return "kernels equal to interpreted ones to 1e-14"


@device_checks.add("events", "traced")
def _targets(subject: Subject) -> str:
    """What guards and timers refer to exists."""
    declared, problems = subject.cls.declares, []
    for item in _events(declared):
        try:
            for address in getattr(item, "when", {}):
                path, name = subject.trace.resolve(address)
                if kind_of(subject.shape.at(path), name) != "m":
                    problems.append(f"guard {item.name} is watched under {address!r}, which is no mode")
            subject.trace.actions(item.name)
        except DeviceError as error:
            problems.append(str(error))
    if problems:
        raise Wrong(*problems)
    guards, timers = len(declared.guards), len(declared.timers)
    return f"{guards} guards and {timers} timers refer to what is there" if guards or timers else ""


# ---------------------------------------------------------------- starting and resting


@device_checks.add("start", "traced")
def _start(subject: Subject) -> str:
    """``start`` gives names that exist, to each instance what it gives it alone."""
    cls, declared = subject.cls, subject.cls.declares
    function, problems = cls.function("start"), []
    if function is None:
        return ""

    def call(members: slice) -> dict[str, Any]:
        P, Q = np.linspace(0.2, 0.6, _POINTS)[members], np.linspace(-0.1, 0.2, _POINTS)[members]
        on = np.zeros(_POINTS, dtype=bool)[members]  # of what is out of service no start refuses its operating point
        extra: dict[str, Any] = {"instances": SimpleNamespace(ids=[f"D{k}" for k in range(len(P))], on=on)}
        extra |= {"power": SimpleNamespace(P=P, Q=Q)} if cls.regulates else {}
        with np.errstate(all="ignore"):
            return dict(subject.scope({s: v[members] for s, v in subject.point.items()}).call(function, **extra))

    together, alone = call(slice(None)), [call(slice(k, k + 1)) for k in range(_POINTS)]
    unknown = sorted(set(together) - {*declared.variables(), *declared.setpoints, *declared.inputs})
    if unknown:
        problems.append(f"start() gives {', '.join(unknown)}: not a state, algebraic, set-point or input")
    for name, value in together.items():
        value = np.broadcast_to(np.asarray(value), (_POINTS,))
        single = np.array([np.asarray(one[name]).ravel()[0] for one in alone])
        if np.iscomplexobj(value):
            problems.append(f"start() gives a complex {name}")
        elif not _same(value, single, _SAME):
            problems.append(f"start() gives {name} of one instance from the data of another: it is called on arrays, "
                            "one entry an instance")
    if problems:
        raise Wrong(*problems)
    return ""


@device_checks.add("set-points", "traced")
def _count(subject: Subject) -> str:
    """Set-points to be found against conditions to find them by."""
    shapes = [(path, s.cls, s.cls.declares) for path, s in subject.shape.walk() if not issubclass(s.cls, Node)]
    driven = set()
    for path, _, declared in shapes:
        for item in (*declared.params.values(), *declared.variables().values()):
            port, _, target = (item.drives or "").rpartition(".")
            driven.add(((*path, port), target))
    free = [".".join((*path, name)) for path, _, declared in shapes
            for name, item in (*declared.setpoints.items(), *declared.inputs.items())
            if getattr(item, "equals", None) is None and getattr(item, "default", None) is None
            and (path, name) not in driven]
    needed = 2 * sum(cls.regulates for _, cls, _ in shapes)
    names = f"{len(free)} ({', '.join(free)})" if free else "none"
    by = "active and reactive power" if needed else "nothing: it does not regulate"
    require(len(free) <= needed, f"{len(free) - needed} set-points too many: it has {names} to be found, by {by}; give "
                                 "`equals` to a set-point, a default to an input, or take one away")
    require(len(free) >= needed, f"{needed - len(free)} set-points too few: it has {names} to be found, by {by}; "
                                 "declare what its controls are set to as Setpoint or Input")
    return f"{names} to be found" + f", by {by}" * (needed > 0)


@device_checks.add("at rest", "start", "set-points")
def _equilibrium(subject: Subject) -> str:
    """At the operating point of a small grid, with some parameters."""
    point = subject.resting[1].operating_point
    return f"max |F| = {point.residual if point else 0.0:.1g} in a small grid"


@device_checks.add("plausible", "at rest")
def _plausible(subject: Subject) -> str:
    """Nothing that the checks of a build doubt."""
    _, system = subject.resting
    if told := list(doubts(system.system, system.Z0, system)):
        raise Wrong(*told)
    return ""


@device_checks.add("instances", "at rest")
def _permutation(subject: Subject) -> str:
    """The same instances in another order: the same numbers under the same names."""
    draws, system = subject.resting
    other = build(case_of(subject.shape, draws, (2, 0, 1)))
    place = {name: k for k, name in enumerate(other.variables)}
    order = np.array([place[name] for name in system.variables])
    Z, Y = system.Z0.copy(), other.Z0.copy()
    Z[: system.n] *= 1.01
    Y[order] = Z[: system.n]
    for what, mine, theirs, tolerance in (
            ("the operating point depends", system.Z0[: system.n], other.Z0[order], _ORDER_START),
            ("the equations depend", system.rhs(Z), other.rhs(Y)[order], _ORDER)):
        worst = system.variables[int(np.argmax(np.abs(mine - theirs)))]
        require(_same(mine, theirs, tolerance), f"{what} on the order of the instances: {'.'.join(worst)}")
    return "three of them in another order give the same"


@device_checks.add("runs", "at rest")
def _runs(subject: Subject) -> str:
    """A short while from rest, without switching to and fro for ever."""
    try:
        run = simulate(subject.resting[1], _WHILE, _WHILE / 10)
    except EventError:
        raise
    except ConvergenceError as error:  # with the data that were drawn there need not be a solution
        raise NotExamined(str(error)) from None
    return f"{run.counters['steps']} steps from rest, {len(run.events)} events"
