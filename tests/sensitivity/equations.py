"""The equations of a case on complex numbers, small and dense, and their operating point. See :mod:`oracle`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.linalg as la
from operations import Operations

from gridcore.case import Case, Instance, validate
from gridcore.contract import Bus, Scope, Shape

TINY = 1e-40
NEAR = 1e-3  # a step of Newton's, relative: the Jacobian where it began is good enough from here


@dataclass
class Group:
    """Instances of one shape: at each path, the ids of what is there; and what was written down of its functions."""

    shape: Shape
    at: dict[tuple[str, ...], list[str]]
    written: dict[Any, Operations] = field(default_factory=dict)
    places: dict[Any, Any] = field(default_factory=dict)
    targets: list[np.ndarray] = field(default_factory=list)

    @property
    def members(self) -> list[str]:
        return self.at[()]


class Equations:
    """Names, values and the equations of a case. Rows of ``Z`` are variables first, then parameters."""

    def __init__(self, case: Case, columns: int):
        self.case = valid = validate(case)
        self.instances = {i.id: i for i in valid.records}
        self.groups = self._group()
        of = [(i, i.device.declares) for i in valid.records]
        variables = [(i.id, name) for i, d in of for name in d.variables()]
        parameters = [(i.id, name) for i, d in of for name in (*d.params, *d.setpoints, *d.inputs)]
        self.n = len(variables)
        names = [*variables, *parameters, ("", "omega_b"), ("", "base_mva")]  # of the system itself
        self.row = {name: k for k, name in enumerate(names)}
        self.Z = np.zeros((len(names), columns), dtype=complex)
        self.mode = {(i.id, name): m.initial for i, d in of for name, m in d.modes.items()}
        self.t = np.zeros(columns, dtype=complex)
        self._fill(of)
        self.read = dict(self.row)
        self.driven: set[tuple[str, str]] = set()
        self._connect()
        self._calls = [(g, g.shape.cls.declares) for g in self.groups]

    def _group(self) -> list[Group]:
        shapes: dict[str, Shape] = {}

        def shape(i: str) -> Shape:
            if i not in shapes:
                instance = self.instances[i]
                shapes[i] = Shape(instance.device, tuple((p, shape(host)) for p, host in instance.ports.items()))
            return shapes[i]

        members: dict[Shape, list[str]] = {}
        for i in self.instances:
            members.setdefault(shape(i), []).append(i)

        def end(i: str, path: tuple[str, ...]) -> str:
            for port in path:
                i = self.instances[i].ports[port]
            return i

        return [Group(s, {path: [end(i, path) for i in m] for path, _ in s.walk()}) for s, m in members.items()]

    def _fill(self, of: Sequence[tuple[Instance, Any]]) -> None:
        for i, d in of:
            for name, item in {**d.variables(), **d.setpoints}.items():
                self.Z[self.row[i.id, name]] = item.init
            for name in d.params:
                self.Z[self.row[i.id, name]] = i.values[name]
            for name, item in d.inputs.items():
                self.Z[self.row[i.id, name]] = item.default or 0.0
        self.Z[self.row["", "omega_b"]] = 2 * np.pi * self.case.frequency
        self.Z[self.row["", "base_mva"]] = self.case.base_mva

    def _connect(self) -> None:
        """What drives an input is read in its place; a ramp takes the place of its parameter."""
        for group in self.groups:
            d = group.shape.cls.declares
            for name, item in {**d.variables(), **d.params}.items():
                if not item.drives:
                    continue
                for i in group.members:
                    port, _, target = item.drives.rpartition(".")
                    if port:
                        target = (self.instances[i].ports[port], target)
                        if target not in self.row:
                            continue
                        self.driven.add(target)
                    else:
                        device, _, parameter = self.instances[i].words[target].rpartition(".")
                        self.read[i, target] = self.read[device, parameter]
                        target = (device, parameter)
                    self.read[target] = self.row[i, name]
        for i, instance in self.instances.items():
            for name, address in instance.words.items():
                if name in instance.device.declares.references and (i, name) not in self.read:
                    self.read[i, name] = self.row[tuple(address.rsplit(".", 1))]

    def scope(self, group: Group, Z: np.ndarray, t: np.ndarray, member: int | None = None) -> Scope:
        """A scope on a group, values being (members, columns)."""
        return Scope(group.shape, self._lookup(group, Z, t, member))

    def values(self, group: Group, what: Any, function: Callable[[Scope], Iterable[Any]], Z: np.ndarray, t: np.ndarray,
               member: int | None = None) -> list[Any]:
        """``function(scope)``, known as `what`: it is called once, and what it does is done again."""
        if what not in group.written:
            group.written[what] = Operations(lambda lookup: function(Scope(group.shape, lookup)))
        return group.written[what](self._lookup(group, Z, t, member))

    def _lookup(self, group: Group, Z: np.ndarray, t: np.ndarray, member: int | None) -> Callable[..., Any]:
        def lookup(path: tuple[str, ...], name: str) -> Any:
            if name == "time":
                return t[None, :]
            at = group.places.get((path, name, member))
            if at is None:
                at = group.places[path, name, member] = self._places(group, path, name, member)
            return Z[at] if isinstance(at, np.ndarray) else np.array([self.mode[each] for each in at])[:, None]

        return lookup

    def _places(self, group: Group, path: tuple[str, ...], name: str, member: int | None) -> Any:
        """Rows of Z where a name is read, or names of modes."""
        if name in ("omega_b", "base_mva"):
            return np.array([self.row["", name]])
        ids = group.at[path] if member is None else group.at[path][member: member + 1]
        if name in group.shape.at(path).cls.declares.modes:
            return [(i, name) for i in ids]
        return np.array([self.read[i, name] for i in ids])

    def differential(self) -> np.ndarray:
        """Which rows are differential now."""
        out = np.zeros(self.n, dtype=bool)
        for group, d in self._calls:
            scope = self.scope(group, self.Z[:, :1], self.t[:1])
            for name, state in d.states.items():
                moves = np.ones(len(group.members), dtype=bool)
                if state.T is not None:
                    moves &= np.broadcast_to(np.real(scope.value((), state.T)) > 0, (len(moves), 1))[:, 0]
                for i, free in zip(group.members, moves):
                    out[self.row[i, name]] = free and (state.limits is None or self.mode[i, f"{name}_limit"] == 0)
        return out

    def at_moving_bound(self) -> list[tuple[str, str]]:
        """Differential states at a limit of theirs that is, or whose opposite is, more than a parameter."""
        out = []
        for group, d in self._calls:
            for name, state in d.states.items():
                if state.limits is None or not any(bound in d.quantities for bound in state.limits):
                    continue
                for k, i in enumerate(group.members):
                    T = 1.0 if state.T is None else self.scope(group, self.Z, self.t, k).value((), state.T)
                    if self.mode[i, f"{name}_limit"] != 0 and np.real(np.ravel(T)[0]) > 0:
                        out.append((i, name))
        return out

    def F(self, Z: np.ndarray, t: np.ndarray) -> np.ndarray:
        """Right-hand sides, (n, columns)."""
        out = np.zeros((self.n, Z.shape[1]), dtype=complex)
        for group, _ in self._calls:
            self._add(group, Z, t, out)
        return out

    def _add(self, group: Group, Z: np.ndarray, t: np.ndarray, out: np.ndarray) -> None:
        """What a group's members contribute to the right-hand sides."""
        for rows, value in zip(self._targets(group), self.values(group, "equations", self._equations, Z, t)):
            np.add.at(out, rows, value)

    def _targets(self, group: Group) -> list[np.ndarray]:
        """The rows of F to which a group's equations and flows belong."""
        if not group.targets:
            d, scope = group.shape.cls.declares, self.scope(group, self.Z, self.t)
            group.targets = [*(self._at(group.members, name) for name in (*d.states, *d.algebraics)),
                             *(self._at(group.at[port,], axis)
                               for port in scope.flows() for axis in scope.potentials(port))]
        return group.targets

    def _at(self, ids: Sequence[str], name: str) -> np.ndarray:
        return np.array([self.row[i, name] for i in ids])

    @classmethod
    def _equations(cls, scope: Scope) -> list[Any]:
        """Of all members: right-hand sides of states, residuals of algebraic equations, flows."""
        return [*cls._own(scope), *cls._flows(scope)]

    @staticmethod
    def _own(scope: Scope) -> list[Any]:
        """Right-hand sides of a group's states, and the residuals of its algebraic equations."""
        d = scope.shape.cls.declares
        status, out = scope.value((), "status"), []
        for (name, state), rate in zip(d.states.items(), scope.rates()):
            row = np.where(status, rate, 0.0)
            if state.T is not None:
                T = scope.value((), state.T)
                some = T.real > 0
                row = np.where(some, row / np.where(some, T, 1.0), rate)
            if state.limits is not None:
                mode, x = scope.value((), f"{name}_limit"), scope.value((), name)
                low, high = (0.0 if limit is None else limit if not isinstance(limit, str)
                             else scope.value((), limit) for limit in state.limits)
                row = np.where(mode == 0, row, x - np.where(mode > 0, high, low))
            out.append(row)
        return [*out, *scope.residuals()]

    @classmethod
    def _flows(cls, scope: Scope) -> list[Any]:
        """What is injected at all nodes, on the base of the system."""
        return [value for pair in scope.flows().values() for value in cls._on_system_base(scope, pair)]

    @staticmethod
    def _on_system_base(scope: Scope, pair: tuple[Any, ...]) -> list[Any]:
        rated = "Sn" in scope.shape.cls.declares.params
        base = scope.value((), "Sn") / scope.value((), "base_mva") if rated else 1.0
        return [scope.value((), "status") * value * base for value in pair]

    def jacobian(self, function: Callable[[np.ndarray, np.ndarray], np.ndarray], rows: np.ndarray) -> np.ndarray:
        """Derivative of ``function(Z, t)`` in the given rows of Z, by the complex step from the real part."""
        Z = np.repeat(self.Z[:, :1].real.astype(complex), len(rows), axis=1)
        Z[rows, np.arange(len(rows))] += 1j * TINY
        return function(Z, np.repeat(self.t[:1].real.astype(complex), len(rows))).imag / TINY

    def round_off(self, guard: Callable[[np.ndarray, np.ndarray], np.ndarray], A: np.ndarray) -> float:
        """Size below which a guard is zero where equations with the matrix A are solved: docs/sensitivities.md."""
        X, rows = 1 + np.abs(self.Z[: self.n, 0].real), np.arange(self.n)
        in_x = self.jacobian(guard, rows)[0]
        in_t = guard(self.Z[:, :1].real + 0j, self.t[:1].real + 1j * TINY)[0, 0].imag / TINY
        w = np.linalg.solve(A.T, in_x)
        return max(1e-12, 1e-14 * (np.abs(w) @ np.abs(A) @ X + np.abs(in_x) @ X + abs(in_t * self.t[0].real)))

    def newton(self, function: Callable[[np.ndarray, np.ndarray], np.ndarray], rows: np.ndarray,
               jacobian: Callable[[], np.ndarray] | None = None) -> None:
        """Solve ``function(Z, t) = 0`` for rows of Z, real part first with damping, then both parts together."""
        jacobian = jacobian or (lambda: self.jacobian(function, rows))
        R = function(self.Z, self.t)
        for _ in range(60):
            J = jacobian()
            step = solve(J, R)
            before, part, size = self.Z[rows].copy(), 1.0, np.abs(R[:, 0].real).max()
            while True:
                self.Z[rows] = before - part * step
                R = function(self.Z, self.t)
                now = np.abs(R[:, 0].real).max()
                if now <= (1 - part / 4) * size or now < 1e-9 or part < 1e-4:
                    break
                part /= 2
            if np.max(np.abs(step.real) / (1 + np.abs(before.real))) < NEAR:
                polish(lambda: function(self.Z, self.t), J, lambda d: self._move(rows, d))
                return
        raise ArithmeticError(f"the oracle's Newton does not converge: {size}")

    def _move(self, rows: np.ndarray, step: np.ndarray) -> np.ndarray:
        self.Z[rows] -= step
        return self.Z[rows]

    # ------------------------------------------------------------ operating point

    def power_flow(self) -> None:
        """Voltages, and the power of slack and PV sources, into Z."""
        buses = [i for i, x in self.instances.items() if x.device is Bus]
        if not buses:
            return
        n = len(buses)
        at = {name: np.array([self.row[i, name] for i in buses]) for name in ("Vr", "Vi", "Vm0", "Va0")}
        held, slack, sources = {}, set(), []
        for i, instance in self.instances.items():
            if instance.device.regulates:
                bus = buses.index(instance.ports["bus"])
                sources.append((i, bus, instance.words["control"]))
                if instance.words["control"] != "PQ":
                    held[bus] = self.row[i, "V0"]
                    if instance.words["control"] == "slack":
                        slack.add(bus)
        passive = [g for g, d in self._calls if g.shape.cls.function("currents") is not None
                   and not d.variables() and g.shape.cls.function("scheduled") is None]
        share = [1.0]

        def scheduled(Z: np.ndarray, t: np.ndarray) -> np.ndarray:
            S = np.zeros((2 * n, Z.shape[1]), dtype=complex)
            for group, _ in self._calls:
                function = group.shape.cls.function("scheduled")
                if function is not None:
                    P, Q = self.scope(group, Z, t).call(function)
                    where = np.array([buses.index(i) for i in group.at[(group.shape.cls.bus_ports()[0],)]])
                    np.add.at(S, where, P)
                    np.add.at(S, n + where, Q)
            return S

        def sent(Z: np.ndarray, t: np.ndarray) -> np.ndarray:
            out = np.zeros((self.n, Z.shape[1]), dtype=complex)
            for group in passive:
                self._add(group, Z, t, out)
            re, im, Ir, Ii = Z[at["Vr"]], Z[at["Vi"]], out[at["Vr"]], out[at["Vi"]]
            return -np.concatenate([re * Ir + im * Ii, im * Ir - re * Ii])

        def mismatch(Z: np.ndarray, t: np.ndarray) -> np.ndarray:
            R = sent(Z, t) - share[0] * scheduled(Z, t)
            re, im = Z[at["Vr"]], Z[at["Vi"]]
            for bus, V0 in held.items():
                if bus in slack:
                    R[bus] = re[bus] - Z[V0] * np.cos(Z[at["Va0"][bus]])
                    R[n + bus] = im[bus] - Z[V0] * np.sin(Z[at["Va0"][bus]])
                else:
                    R[n + bus] = re[bus] ** 2 + im[bus] ** 2 - Z[V0] ** 2
            return R

        angle = self.Z[at["Va0"][min(slack)]]
        for bus in range(n):
            V = self.Z[held[bus]] if bus in held else self.Z[at["Vm0"][bus]]
            self.Z[at["Vr"][bus]], self.Z[at["Vi"][bus]] = V * np.cos(angle), V * np.sin(angle)
        for share[0] in np.linspace(0.0, 1.0, 5):
            self.newton(mismatch, np.concatenate([at["Vr"], at["Vi"]]))
        missing = sent(self.Z, self.t) - scheduled(self.Z, self.t)
        for name, first, kinds in (("P0", 0, {"slack"}), ("Q0", n, {"slack", "PV"})):
            for bus in range(n):
                here = [i for i, b, control in sources if b == bus and control in kinds]
                rating = sum(self.Z[self.row[i, "Sn"]] for i in here)
                for i in here:
                    self.Z[self.row[i, name]] += missing[first + bus] * self.Z[self.row[i, "Sn"]] / rating
        re, im = self.Z[at["Vr"]], self.Z[at["Vi"]]
        self.Z[at["Vm0"]] = np.sqrt(re * re + im * im)
        self.Z[at["Va0"]] = angle_of(re, im)

    def initialise(self, settle: Callable[[], bool] = lambda: False) -> None:
        """Variables and set-points at rest under the voltages and powers in Z, as long as `settle` changes modes."""
        self._start()
        setpoints = [self.row[i, name] for i, x in self.instances.items() for name in (
            *x.device.declares.setpoints, *(u for u, item in x.device.declares.inputs.items()
                                            if item.default is None and (i, u) not in self.driven))]
        self.setpoints = set(setpoints)
        unknown = np.array([*range(self.n), *setpoints], dtype=int)
        self.newton(self._at_rest, unknown)
        while settle():
            self.newton(self._at_rest, unknown)

    def _at_rest(self, Z: np.ndarray, t: np.ndarray) -> np.ndarray:
        G, more = self.F(Z, t), []
        for group, d in self._calls:
            scope, cls = self.scope(group, Z, t), group.shape.cls
            for name, state in d.states.items():
                if state.start_at:
                    G[[self.row[i, name] for i in group.members]] = (
                        scope.value((), name) - scope.value((), state.start_at))
            for name, setpoint in d.setpoints.items():
                if setpoint.equals is not None:
                    more.append(scope.value((), name) - scope.call(setpoint.equals))
            if cls is Bus:
                Vm, Va = scope.value((), "Vm0"), scope.value((), "Va0")
                for axis, value in (("Vr", Vm * np.cos(Va)), ("Vi", Vm * np.sin(Va))):
                    G[[self.row[i, axis] for i in group.members]] = scope.value((), axis) - value
            if cls.regulates:
                P, Q = scope.value((), "P0"), scope.value((), "Q0")
                Vm, Va = scope.value(("bus",), "Vm0"), scope.value(("bus",), "Va0")
                re, im = self._on_system_base(scope, scope.flows()["bus"])
                more.append(re - (P * np.cos(Va) + Q * np.sin(Va)) / Vm)
                more.append(im - (P * np.sin(Va) - Q * np.cos(Va)) / Vm)
        return np.concatenate([G, *more])

    def _start(self) -> None:
        """First guesses from the devices' own ``start``, hosts first."""
        for group in sorted(self.groups, key=lambda g: max(len(path) for path in g.at)):
            function = group.shape.cls.function("start")
            if function is None:
                continue
            scope = self.scope(group, self.Z[:, :1].real, self.t[:1].real)
            extra = {"instances": SimpleNamespace(ids=[], on=False)}
            if group.shape.cls.regulates:
                base = scope.value((), "base_mva") / scope.value((), "Sn")
                extra["power"] = SimpleNamespace(P=scope.value((), "P0") * base, Q=scope.value((), "Q0") * base)
            for name, value in scope.call(function, **extra).items():
                self.Z[[self.read[i, name] for i in group.members]] = value

    def consistent(self) -> None:
        """Solve the algebraic equations for the algebraic variables."""
        rows = np.flatnonzero(~self.differential())
        if len(rows):
            self.newton(lambda Z, t: self.F(Z, t)[rows], rows)


def address(name: str) -> tuple[str, str]:
    """``"GEN1.H"`` as a pair; ``base.`` is no device."""
    device, _, item = name.rpartition(".")
    return "" if device == "base" else device, item


def angle_of(re: np.ndarray, im: np.ndarray) -> np.ndarray:
    """The arc tangent of two arguments whose imaginary parts are infinitesimal."""
    return np.arctan2(im.real, re.real) + 1j * (re.real * im.imag - im.real * re.imag) / (re.real**2 + im.real**2)


def solve(J: np.ndarray, R: np.ndarray) -> np.ndarray:
    both = la.solve(J, np.concatenate([R.real, R.imag], axis=1))
    return both[:, : R.shape[1]] + 1j * both[:, R.shape[1]:]


def polish(residual: Callable[[], np.ndarray], J: np.ndarray, move: Callable[[np.ndarray], np.ndarray]) -> None:
    """Iterate with the real Jacobian frozen, until real and imaginary part have both come to rest."""
    factors, last = la.lu_factor(J), np.inf
    for _ in range(60):
        R = residual()
        both = la.lu_solve(factors, np.concatenate([R.real, R.imag], axis=1))
        step = both[:, : R.shape[1]] + 1j * both[:, R.shape[1]:]
        X = move(step)
        derivative = np.abs(X.imag) / TINY
        now = max(np.max(np.abs(step.real) / (1 + np.abs(X.real))),
                  np.max(np.abs(step.imag) / TINY / (1 + derivative.max(axis=0))))
        if now < 1e-15 or (now < 1e-10 and now > 0.3 * last):
            return
        last = now
    raise ArithmeticError(f"the oracle's complex iteration does not come to rest: {now}")


@dataclass
class Happened:
    """An entry of the list of events."""

    t: np.ndarray
    device: str
    item: str
    kind: str


def derivative(values: np.ndarray) -> np.ndarray:
    """What the imaginary parts say."""
    return values.imag / TINY
