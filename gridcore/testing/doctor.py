"""The doctor: checks any device class, and says in words what is wrong with it.

It knows devices only by their contract. Parameters are drawn at random within their bounds, ports are
filled with registered devices that have what is asked for, and the whole stands in a small grid.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import casadi as ca
import numpy as np

from .. import numerics
from ..contract import (
    GLOBALS,
    REQUIRED,
    Declarations,
    Device,
    Guard,
    Load,
    Node,
    Path,
    Scope,
    Shape,
    Source,
    Timer,
    kind_of,
)
from ..equations import Batch, Symbol, Trace, c_source, vector_function
from ..equations.native import INTERPRETER, load
from ..equilibrium import Equilibrium, build
from ..errors import DeviceError, GridcoreError
from .complex_step import derivative_of, perturbed
from .testbed import case_of, known, plausible, shape_of

_POINTS = 8
_DRAWS = 5
# A book, paper or standard leaves one of these: a year, a standard's name, an equation, a link.
_SOURCE = re.compile(r"\b(1[89]|20)\d\d\b|\bIEEE\b|\bIEC\b|\bWECC\b|\beqs?\.|\bdoi\b|https?://|[Mm]anual")


@dataclass
class Report:
    """What the doctor found.

    Attributes
    ----------
    device : str
        Name of the class.
    problems : list of str
        What is wrong.
    passed : list of str
        What was checked and is well.
    """

    device: str
    problems: list[str] = field(default_factory=list)
    passed: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    @property
    def lines(self) -> list[str]:
        """All of it in words, problems first."""
        return [f"wrong: {line}" for line in self.problems] + self.passed

    def __str__(self) -> str:
        return "\n".join([f"{self.device}: {'well' if self.ok else 'NOT WELL'}", *(f"  {x}" for x in self.lines)])


def examine(cls: type[Device], seed: int = 0) -> Report:
    """Check one device class.

    Parameters
    ----------
    cls : type
        The class; it need not be registered.
    seed : int
        Of the random points.

    Returns
    -------
    Report
        ``print(examine(MyDevice))``.
    """
    report, rng = Report(cls.__name__), np.random.default_rng(seed)
    _declarations(cls, report)
    with known(cls):
        try:
            patient = _Patient(shape_of(cls), rng)
        except DeviceError as error:
            report.problems.append(str(error))
            return report
        _targets(patient, report)
        if _values(patient, report):
            _derivatives(patient, report)
            _compiled(patient, report)
        _start(patient, report)
        if not issubclass(cls, Node) and _count(patient, report):
            _equilibrium(patient, report, rng)
    return report


# ---------------------------------------------------------------- what can be read off the class


def _declarations(cls: type[Device], report: Report) -> None:
    """Docs, units and a source."""
    declared, before = cls.declares, len(report.problems)
    for kind, table in _tables(declared):
        for name, item in table.items():
            if not item.doc:
                report.problems.append(f"{kind} {name} has no doc: say in a few words what it is")
            unit = getattr(item, "unit", "")
            if unit and not re.fullmatch(r"[\w%/^*. ()-]+", unit):
                report.problems.append(f"{kind} {name}: unit {unit!r} is not a unit")
            if kind == "parameter" and item.unit == "" and _looks_like_a_time(declared, name):
                report.problems.append(f"parameter {name} is a time and has no unit: declare it in s")
    doc = "\n".join(base.__doc__ or "" for base in cls.__mro__ if base not in (Device, Source, Load, object)).strip()
    if not doc:
        report.problems.append("the class has no docstring: say what it is, and where its equations come from")
    elif declared.states and not _SOURCE.search(doc):
        report.problems.append("the docstring names no source: give the book, paper or standard (with its year) and "
                               "the numbers of the equations")
    if len(report.problems) == before:
        report.passed.append(f"documented: {sum(len(table) for _, table in _tables(declared))} declarations")


def _tables(declared: Declarations) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "parameter", declared.params
    yield "state", declared.states
    yield "algebraic", declared.algebraics
    yield "input", declared.inputs
    yield "set-point", declared.setpoints
    yield "mode", declared.modes
    yield "quantity", declared.quantities
    yield "reference", declared.references
    yield "field", declared.fields
    yield "guard", declared.guards
    yield "timer", declared.timers


def _events(declared: Declarations) -> list[Guard | Timer]:
    return [*declared.guards.values(), *declared.timers.values()]


def _looks_like_a_time(declared: Declarations, name: str) -> bool:
    """Whether the framework itself uses a parameter as a time."""
    return (any(state.T == name for state in declared.states.values())
            or any(guard.delay == name for guard in declared.guards.values())
            or any(timer.at == name for timer in declared.timers.values()))


# ---------------------------------------------------------------- the equations at random points


class _Patient:
    """A shape, its trace, and random values of everything that its functions may read."""

    def __init__(self, shape: Shape, rng: np.random.Generator):
        self.shape, self.cls = shape, shape.cls
        self.trace = Trace(shape)
        self.names: list[str] = []
        self.outputs = self.traced(self.trace)
        self.symbols = list(self.trace.symbols)
        draws = [{path: plausible(s.cls, rng) for path, s in shape.walk() if not issubclass(s.cls, Node)}
                 for _ in range(_POINTS)]
        self.point = {symbol: np.array([self._draw(symbol, draw, rng) for draw in draws]) for symbol in self._all()}

    def functions(self) -> Iterator[tuple[str, Callable[..., Any]]]:
        """Every function of views that the class has, with what to call its value (several: numbered)."""
        cls, declared = self.cls, self.cls.declares
        for name, words in (("rates", [f"rate of {x}" for x in declared.states]),
                            ("residuals", [f"residual of {x}" for x in declared.algebraics]),
                            ("currents", [f"{part} current at {port}" for port in cls.bus_ports()
                                          for part in ("real", "imaginary")]),
                            ("flows", [f"flow into {name} at {port}" for port in cls.node_ports()
                                       for name in self.trace.potentials(port)]),
                            ("scheduled", ["scheduled P", "scheduled Q"])):
            function = cls.function(name)
            if function is not None:
                yield "\n".join(words), function
        for guard in declared.guards.values():
            yield f"guard {guard.name}", guard.function
            if callable(guard.cancel):
                yield f"cancellation of {guard.name}", guard.cancel
        for name, quantity in declared.quantities.items():
            yield f"quantity {name}", quantity.function
        for name, setpoint in declared.setpoints.items():
            if setpoint.equals is not None:
                yield f"what {name} equals", setpoint.equals
        for item in _events(declared):
            for target, value in item.then.items():
                if callable(value):
                    yield f"what {item.name} makes of {target}", value

    def traced(self, trace: Trace) -> list[ca.SX]:
        out: list[ca.SX] = []
        self.names.clear()
        for names, function in self.functions():
            values = _flat(trace.expression(function))
            words = names.split("\n")
            if len(values) != len(words):
                raise DeviceError(f"{self.cls.__name__}.{getattr(function, '__name__', names)}() returns {len(values)} "
                                  f"values for {len(words)}: {', '.join(words)}")
            self.names += words
            out += [ca.SX(v) for v in values]
        return out

    def called(self, point: dict[Symbol, Any]) -> np.ndarray:
        """(outputs, points) values of the plain functions."""
        scope = Scope(self.shape, lambda path, name: point[path, name])
        with np.errstate(all="ignore"):
            values = [v for _, function in self.functions() for v in _flat(scope.call(function))]
            return np.array([np.broadcast_to(np.asarray(v), (_POINTS,)) for v in values])

    def _all(self) -> Iterator[Symbol]:
        for path, shape in self.shape.walk():
            d = shape.cls.declares
            for name in (*d.params, *d.setpoints, *d.inputs, *d.references, *d.variables(), *d.modes):
                yield path, name
        yield from (((), name) for name in GLOBALS)

    def _draw(self, symbol: Symbol, draw: dict[Path, dict[str, float]], rng: np.random.Generator) -> float:
        path, name = symbol
        if name in GLOBALS and not path:
            return {"time": rng.uniform(0, 5), "omega_b": 120 * np.pi, "base_mva": 100.0}[name]
        cls = self.shape.at(path).cls
        declared, kind = cls.declares, kind_of(self.shape.at(path), name)
        if issubclass(cls, Node):
            return _draw_of_node(declared, name, rng)
        if kind == "m":
            return float(rng.choice(_values_of_mode(declared, name)))
        if name in declared.params:
            return draw[path][name]
        centre = getattr(declared.variables().get(name) or declared.setpoints.get(name), "init", None)
        default = getattr(declared.inputs.get(name), "default", None)
        centre = next((c for c in (centre, default) if c is not None), 1.0)
        return float(centre + rng.uniform(0.05, 0.4) * rng.choice([-1, 1]))


def _draw_of_node(declared: Declarations, name: str, rng: np.random.Generator) -> float:
    """A potential near its first guess; of an energised node whose parameters are their defaults."""
    if name in declared.modes:
        return declared.modes[name].initial
    if name in declared.params:
        default = declared.params[name].default
        return 1.0 if default is REQUIRED else float(default)
    centre = declared.variables()[name].init
    spread = 0.1 * abs(centre) or 0.3
    return float(centre + rng.uniform(-spread, spread))


def _values_of_mode(declared: Declarations, name: str) -> list[float]:
    """The values that a mode is seen to take: at first, in conditions, in actions."""
    if name == "status":
        return [1.0]
    items = _events(declared)
    seen = {declared.modes[name].initial, *(g.when[name] for g in declared.guards.values() if name in g.when)}
    return sorted(seen | {float(i.then[name]) for i in items if name in i.then and not callable(i.then[name])})


def _flat(values: Any) -> list[Any]:
    if isinstance(values, tuple | list):
        return [v for value in values for v in _flat(value)]
    return [values]


def _values(patient: _Patient, report: Report) -> bool:
    """Traced equations give what the functions give, each time; False if they could not be called at all."""
    if not patient.outputs:
        return False
    try:
        called, again = (patient.called(patient.point) for _ in range(2))
        patient.called({s: perturbed(v) for s, v in patient.point.items()})
    except Exception as error:
        report.problems.append(f"its functions fail on numbers: {type(error).__name__}: {error}")
        return False
    first, second = (_evaluate(patient, trace) for trace in (patient.trace, Trace(patient.shape)))
    pure = True
    for k, name in enumerate(patient.names):
        if not _same(called[k], again[k], 0.0) or not _same(first[k], second[k], numerics.CHECK_AGAIN):
            report.problems.append(f"{name} is not the same when it is computed twice: a function may depend only on "
                                   "its arguments")
            pure = False
        elif not np.isfinite(called[k]).any():
            report.problems.append(f"{name} is no number at any of {_POINTS} random points")
        elif not _same(first[k], called[k], numerics.CHECK_SAME):
            worst = int(np.nanargmax(np.abs(first[k] - called[k])))
            report.problems.append(f"{name} is {first[k, worst]:.6g} when traced and {called[k, worst]:.6g} when "
                                   "called on numbers: it must not look at what kind of thing its arguments are")
    if pure:
        report.passed.append(f"pure: {len(patient.names)} expressions are the same whenever they are computed")
    return True


def _evaluate(patient: _Patient, trace: Trace) -> np.ndarray:
    outputs = patient.traced(trace)
    function = vector_function("outputs", list(trace.symbols.values()), outputs)
    inputs = np.array([patient.point[s] for s in trace.symbols]).reshape(-1, _POINTS)
    return np.asarray(function.map(_POINTS)(inputs)).reshape(-1, _POINTS)


def _same(a: np.ndarray, b: np.ndarray, tolerance: float) -> bool:
    """Equal where both are numbers."""
    both = np.isfinite(a) & np.isfinite(b)
    return bool(np.all(np.abs(a - b)[both] <= tolerance * (1 + np.abs(b[both]))))


def _derivatives(patient: _Patient, report: Report) -> None:
    """Traced derivatives in every symbol against the complex step of the functions."""
    symbols = list(patient.trace.symbols.values())
    jacobian = ca.densify(ca.jacobian(ca.vertcat(*patient.outputs), ca.vertcat(*symbols)))
    function = ca.Function("jacobian", [ca.vertcat(*symbols)], [ca.vec(jacobian)])
    inputs = np.array([patient.point[s] for s in patient.trace.symbols]).reshape(-1, _POINTS)
    traced = np.asarray(function.map(_POINTS)(inputs)).reshape(len(symbols), len(patient.outputs), _POINTS)
    numbers, worst, wrong = np.isfinite(patient.called(patient.point)), 0.0, False
    for column, symbol in enumerate(patient.trace.symbols):
        if patient.trace.kind(symbol) == "m":
            continue
        point = {s: perturbed(v, float(s == symbol)) for s, v in patient.point.items()}
        slope = derivative_of(patient.called(point))
        for row, name in enumerate(patient.names):
            a, b = traced[column, row], slope[row]
            both = numbers[row] & np.isfinite(a) & np.isfinite(b)
            error = np.where(both, np.abs(a - b) / (1 + np.abs(b)), 0.0)
            worst = max(worst, float(error.max()))
            if error.max() > numerics.CHECK_DERIVATIVE and not wrong:
                k, wrong = int(error.argmax()), True
                where = ".".join((*symbol[0], symbol[1]))
                report.problems.append(f"the derivative of {name} in {where} is {a[k]:.6g} by its "
                                       f"traced equations and {b[k]:.6g} by the complex step of the function")
    if not wrong:
        report.passed.append(f"derivatives: {len(patient.names)} expressions in {len(symbols)} symbols agree with the "
                             f"complex step to {worst:.1g}")


def _compiled(patient: _Patient, report: Report) -> None:
    """The compiled kernels give what the interpreted ones give."""
    symbols = list(patient.trace.symbols.values())
    jacobian = ca.jacobian(ca.vertcat(*patient.outputs), ca.vertcat(*symbols))
    functions = [vector_function("outputs", symbols, patient.outputs)]
    if jacobian.nnz():
        functions.append(vector_function("jacobian", symbols, jacobian.nz[:]))
    _, (library,) = load([c_source(functions)])
    if library is INTERPRETER:
        report.passed.append("no C compiler: compiled kernels not compared with interpreted ones")
        return
    Z = np.array([patient.point[s] for s in patient.trace.symbols]).T.ravel().copy()
    for function in functions:
        gather = np.arange(Z.size, dtype=np.int32).reshape(_POINTS, -1)
        scatter = np.zeros((_POINTS, function.nnz_out(0)), dtype=np.int32)
        batch = Batch(function, gather, scatter)
        interpreted = batch.values(Z).copy()
        batch.bind(library)
        if not _same(batch.values(Z), interpreted, numerics.CHECK_COMPILED):
            report.problems.append("compiled and interpreted equations differ by more than 1e-14")
            return
    report.passed.append("compiled kernels: equal to interpreted ones to 1e-14")


def _targets(patient: _Patient, report: Report) -> None:
    """What guards and timers refer to exists."""
    declared, before = patient.cls.declares, len(report.problems)
    for item in _events(declared):
        try:
            for address in getattr(item, "when", {}):
                path, name = patient.trace.resolve(address)
                if kind_of(patient.shape.at(path), name) != "m":
                    report.problems.append(f"guard {item.name} is watched under {address!r}, which is no mode")
            patient.trace.actions(item.name)
        except DeviceError as error:
            report.problems.append(str(error))
    if len(report.problems) == before and (declared.guards or declared.timers):
        report.passed.append(f"events: {len(declared.guards)} guards and {len(declared.timers)} timers refer to what "
                             "is there")


# ---------------------------------------------------------------- starting and resting


def _start(patient: _Patient, report: Report) -> None:
    """``start`` gives names that exist, to each instance what it gives it alone."""
    cls = patient.cls
    function = cls.function("start")
    if function is None:
        return
    declared = cls.declares
    names = {*declared.variables(), *declared.setpoints, *declared.inputs}

    def call(members: slice) -> dict[str, Any]:
        point = {s: v[members] for s, v in patient.point.items()}
        P, Q = np.linspace(0.2, 0.6, _POINTS)[members], np.linspace(-0.1, 0.2, _POINTS)[members]
        extra: dict[str, Any] = {"power": SimpleNamespace(P=P, Q=Q)} if cls.regulates else {}
        scope = Scope(patient.shape, lambda path, name: point[path, name])
        with np.errstate(all="ignore"):
            return dict(scope.call(function, **extra))

    try:
        together = call(slice(None))
        alone = [call(slice(k, k + 1)) for k in range(_POINTS)]
    except Exception as error:
        report.problems.append(f"start() fails: {type(error).__name__}: {error}")
        return
    unknown = sorted(set(together) - names)
    if unknown:
        report.problems.append(f"start() gives {', '.join(unknown)}: not a state, algebraic, set-point or input")
    for name, value in together.items():
        value = np.broadcast_to(np.asarray(value), (_POINTS,))
        single = np.array([np.asarray(one[name]).ravel()[0] for one in alone])
        if np.iscomplexobj(value):
            report.problems.append(f"start() gives a complex {name}")
        elif not _same(value, single, numerics.CHECK_SAME):
            report.problems.append(f"start() gives {name} of one instance from the data of another: it is called on "
                                   "arrays, one entry an instance")


def _count(patient: _Patient, report: Report) -> bool:
    """Set-points to be found against conditions to find them by."""
    shapes = [(path, s) for path, s in patient.shape.walk() if not issubclass(s.cls, Node)]
    driven = {(path[:-1] if not port else (*path, port), target)
              for path, s in shapes for item in (*s.cls.declares.params.values(), *s.cls.declares.variables().values())
              if item.drives for port, _, target in (item.drives.rpartition("."),) if port}
    free = [".".join((*path, name)) for path, s in shapes for name, item in
            (*s.cls.declares.setpoints.items(), *s.cls.declares.inputs.items())
            if getattr(item, "equals", None) is None and getattr(item, "default", None) is None
            and (path, name) not in driven]
    needed = 2 * sum(s.cls.regulates for _, s in shapes)
    if len(free) == needed:
        report.passed.append(f"set-points: {len(free)} to be found ({', '.join(free)}), for active and reactive power"
                             if free else "set-points: none to be found")
        return True
    names = f"{len(free)} ({', '.join(free)})" if free else "none"
    by = "active and reactive power" if needed else "nothing: it does not regulate"
    if len(free) > needed:
        report.problems.append(f"{len(free) - needed} set-points too many: it has {names} to be found, by {by}; give "
                               "`equals` to a set-point, a default to an input, or take one away")
    else:
        report.problems.append(f"{needed - len(free)} set-points too few: it has {names} to be found, by {by}; declare "
                               "what its controls are set to as Setpoint or Input")
    return False


def _equilibrium(patient: _Patient, report: Report, rng: np.random.Generator) -> None:
    """At rest at the operating point of a small grid; and three instances in any order give the same."""
    trouble = ""
    for _ in range(_DRAWS):
        draws = [{path: plausible(s.cls, rng) for path, s in patient.shape.walk() if not issubclass(s.cls, Node)}
                 for _ in range(3)]
        try:
            system = build(case_of(patient.shape, draws, (0, 1, 2)))
        except GridcoreError as error:
            trouble = trouble or f"it does not initialise: {error}"
            continue
        except Exception as error:
            report.problems.append(f"it does not initialise: {type(error).__name__}: {error}")
            return
        assert system.operating_point is not None
        residual = system.operating_point.residual
        if residual <= numerics.CHECK_REST:
            report.passed.append(f"at rest in a small grid: max |F| = {residual:.1g}")
            _permutation(patient, system, draws, report)
            return
        trouble = trouble or f"it does not rest at the operating point: max |F| = {residual:.3g}"
    report.problems.append(f"{trouble} (of {_DRAWS} random sets of parameters, none did better)")


def _permutation(patient: _Patient, system: Equilibrium, draws: list[Any], report: Report) -> None:
    """The same instances in another order: the same numbers under the same names."""
    other = build(case_of(patient.shape, draws, (2, 0, 1)))
    place = {name: k for k, name in enumerate(other.variables)}
    order = np.array([place[name] for name in system.variables])
    mine, theirs = system.Z0[: system.n], other.Z0[order]
    if not _same(mine, theirs, numerics.CHECK_ORDER_START):
        worst = system.variables[int(np.argmax(np.abs(mine - theirs)))]
        report.problems.append(f"the operating point depends on the order of the instances: {'.'.join(worst)}")
        return
    Z, Y = system.Z0.copy(), other.Z0.copy()
    Z[: system.n] *= 1.01
    Y[order] = Z[: system.n]
    first, second = system.rhs(Z), other.rhs(Y)[order]
    if not _same(first, second, numerics.CHECK_ORDER):
        worst = system.variables[int(np.argmax(np.abs(first - second)))]
        report.problems.append(f"the equations depend on the order of the instances: {'.'.join(worst)}")
        return
    report.passed.append("instances: three of them in another order give the same")
