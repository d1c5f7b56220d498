"""The whole program once more, small, dense and on complex numbers: its complex step is the exact derivative.

What it shares with gridcore is the authors' device functions, called through :class:`gridcore.views.Scope`, and
the validated case. Power flow, initialisation, steps, event location, switches and objectives are its own, and
follow ../shared/design/sensitivities.md, not gridcore's code. Every array has a column for each parameter:
column k carries ``1e-40 i`` on parameter k, so that the imaginary part of whatever comes out, over 1e-40, is the
derivative (W. Squire, G. Trapp, SIAM Review 40, 1998). Decisions are taken on the real part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.linalg as la
from scipy.optimize import brentq

from gridcore.case import Case, Instance, validate
from gridcore.device import Guard
from gridcore.network import Bus
from gridcore.objective import Integral, Objective, Sampled, Terminal
from gridcore.views import Scope, Shape

TINY = 1e-40
MERGE = 1e-9  # times closer than this part of a step are one
ROUND_OFF = 1e-12


@dataclass
class Group:
    """Instances of one shape: at each path, the ids of what is there."""

    shape: Shape
    at: dict[tuple[str, ...], list[str]]

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
        some = slice(None) if member is None else slice(member, member + 1)

        def lookup(path: tuple[str, ...], name: str) -> Any:
            if name == "time":
                return t[None, :]
            if name in ("omega_b", "base_mva"):
                return Z[self.row["", name]][None, :]
            ids = group.at[path][some]
            if name in group.shape.at(path).cls.declares.modes:
                return np.array([self.mode[i, name] for i in ids])[:, None]
            return Z[[self.read[i, name] for i in ids]]

        return Scope(group.shape, lookup)

    def differential(self) -> np.ndarray:
        """Which rows are differential now."""
        out = np.zeros(self.n, dtype=bool)
        for group, d in self._calls:
            for name, state in d.states.items():
                for i in group.members:
                    out[self.row[i, name]] = ((state.T is None or self.Z[self.row[i, state.T], 0].real > 0)
                                              and (state.limits is None or self.mode[i, f"{name}_limit"] == 0))
        return out

    def F(self, Z: np.ndarray, t: np.ndarray) -> np.ndarray:
        """Right-hand sides, (n, columns)."""
        out = np.zeros((self.n, Z.shape[1]), dtype=complex)
        for group, d in self._calls:
            scope = self.scope(group, Z, t)
            status = scope.value((), "status")
            for (name, state), rate in zip(d.states.items(), scope.rates()):
                row = np.where(status, rate, 0.0)
                if state.T is not None:
                    T = scope.value((), state.T)
                    some = T.real > 0
                    row = np.where(some, row / np.where(some, T, 1.0), rate)
                if state.limits is not None:
                    mode, x = scope.value((), f"{name}_limit"), scope.value((), name)
                    low, high = (scope.value((), limit) for limit in state.limits)
                    row = np.where(mode == 0, row, x - np.where(mode > 0, high, low))
                out[[self.row[i, name] for i in group.members]] = row
            for name, residual in zip(d.algebraics, scope.residuals()):
                out[[self.row[i, name] for i in group.members]] += residual
            self._inject(group, scope, out)
        return out

    def _inject(self, group: Group, scope: Scope, out: np.ndarray) -> None:
        for port, pair in scope.currents().items():
            for axis, value in zip(("Vr", "Vi"), self._on_system_base(group, scope, pair)):
                np.add.at(out, [self.row[bus, axis] for bus in group.at[(port,)]], value)

    @staticmethod
    def _on_system_base(group: Group, scope: Scope, pair: tuple[Any, Any]) -> list[np.ndarray]:
        base = scope.value((), "Sn") / scope.value((), "base_mva") if "Sn" in group.shape.cls.declares.params else 1.0
        return [scope.value((), "status") * value * base for value in pair]

    def jacobian(self, function: Callable[[np.ndarray, np.ndarray], np.ndarray], rows: np.ndarray) -> np.ndarray:
        """Derivative of ``function(Z, t)`` in the given rows of Z, by the complex step from the real part."""
        Z = np.repeat(self.Z[:, :1].real.astype(complex), len(rows), axis=1)
        Z[rows, np.arange(len(rows))] += 1j * TINY
        return function(Z, np.repeat(self.t[:1].real.astype(complex), len(rows))).imag / TINY

    def newton(self, function: Callable[[np.ndarray, np.ndarray], np.ndarray], rows: np.ndarray,
               jacobian: Callable[[], np.ndarray] | None = None) -> None:
        """Solve ``function(Z, t) = 0`` for rows of Z, real part first with damping, then both parts together."""
        jacobian = jacobian or (lambda: self.jacobian(function, rows))
        R = function(self.Z, self.t)
        for _ in range(60):
            step = _solve(jacobian(), R)
            before, part, size = self.Z[rows].copy(), 1.0, np.abs(R[:, 0].real).max()
            while True:
                self.Z[rows] = before - part * step
                R = function(self.Z, self.t)
                now = np.abs(R[:, 0].real).max()
                if now <= (1 - part / 4) * size or now < 1e-9 or part < 1e-4:
                    break
                part /= 2
            if np.max(np.abs(step.real) / (1 + np.abs(before.real))) < 1e-5:
                _polish(lambda: function(self.Z, self.t), jacobian(), lambda d: self._move(rows, d))
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
                    where = np.array([buses.index(i) for i in group.at[("bus",)]])
                    np.add.at(S, where, P)
                    np.add.at(S, n + where, Q)
            return S

        def sent(Z: np.ndarray, t: np.ndarray) -> np.ndarray:
            out = np.zeros((self.n, Z.shape[1]), dtype=complex)
            for group in passive:
                self._inject(group, self.scope(group, Z, t), out)
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
        self.Z[at["Va0"]] = _angle(re, im)

    def initialise(self) -> None:
        """Variables and set-points at rest under the voltages and powers in Z."""
        self._start()
        setpoints = [self.row[i, name] for i, x in self.instances.items() for name in (
            *x.device.declares.setpoints, *(u for u, item in x.device.declares.inputs.items()
                                            if item.default is None and (i, u) not in self.driven))]
        self.setpoints = set(setpoints)
        self.newton(self._at_rest, np.array([*range(self.n), *setpoints], dtype=int))

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
                re, im = self._on_system_base(group, scope, scope.currents()["bus"])
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
            extra = {}
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


def _angle(re: np.ndarray, im: np.ndarray) -> np.ndarray:
    """The arc tangent of two arguments whose imaginary parts are infinitesimal."""
    return np.arctan2(im.real, re.real) + 1j * (re.real * im.imag - im.real * re.imag) / (re.real**2 + im.real**2)


def _solve(J: np.ndarray, R: np.ndarray) -> np.ndarray:
    both = la.solve(J, np.concatenate([R.real, R.imag], axis=1))
    return both[:, : R.shape[1]] + 1j * both[:, R.shape[1]:]


def _polish(residual: Callable[[], np.ndarray], J: np.ndarray, move: Callable[[np.ndarray], np.ndarray]) -> None:
    """Iterate with the real Jacobian frozen, until real and imaginary part have both come to rest."""
    factors, last = la.lu_factor(J), np.inf
    for _ in range(30):
        R = residual()
        both = la.lu_solve(factors, np.concatenate([R.real, R.imag], axis=1))
        step = both[:, : R.shape[1]] + 1j * both[:, R.shape[1]:]
        X = move(step)
        derivative = np.abs(X.imag) / TINY
        now = max(np.max(np.abs(step.real) / (1 + np.abs(X.real))),
                  np.max(np.abs(step.imag) / TINY / (1 + derivative.max(axis=0))))
        if now < 1e-15 or (now < 1e-11 and now > 0.3 * last):
            return
        last = now
    raise ArithmeticError(f"the oracle's complex iteration does not come to rest: {now}")


# -------------------------------------------------------------------- time


@dataclass
class Happened:
    """An entry of the list of events."""

    t: np.ndarray
    device: str
    item: str
    kind: str


@dataclass
class Row:
    """A guard, or the cancellation function of one, of one instance."""

    group: Group
    member: int
    guard: Guard
    cancels: bool
    side: int = 0
    active: bool = False

    @property
    def device(self) -> str:
        return self.group.members[self.member]


class Oracle:
    """One run on complex numbers.

    Parameters
    ----------
    case : Case
    wrt : sequence of str
        Addresses of parameters, and of differential states, whose initial value is meant.
    direct : bool
        Perturb after the power flow: dispatch and voltages at t0 are parameters of their own.

    Attributes
    ----------
    t : list of (columns,) arrays
    points : list of (Z, modes)
    steps : list of int
        Points at which steps begin; each ends at the next point.
    events : list of Happened
    """

    def __init__(self, case: Case, wrt: Sequence[str], t_end: float, step: float, theta: float = 0.5,
                 direct: bool = False):
        self.e = e = Equations(case, max(len(wrt), 1))
        self.theta, self.h = theta, step
        at = [e.row[address(name)] for name in wrt]
        parameters = [(row, k) for k, row in enumerate(at) if row >= e.n]
        states = [(row, k) for k, row in enumerate(at) if row < e.n]

        def disturb(pairs: list[tuple[int, int]]) -> None:
            for row, k in pairs:
                e.Z[row, k] += 1j * TINY

        if not direct:
            disturb(parameters)
        e.power_flow()
        if direct:
            disturb(parameters)
        e.initialise()
        if states:
            before = e.Z.copy()
            disturb(states)
            e.consistent()
            others = np.setdiff1d(np.arange(e.Z.shape[1]), [k for _, k in states])
            e.Z[:, others] = before[:, others]
        self._prepare(t_end)
        self._run(t_end)

    # ------------------------------------------------------------ events

    def _prepare(self, t_end: float) -> None:
        e = self.e
        self.t: list[np.ndarray] = []
        self.points: list[tuple[np.ndarray, dict]] = []
        self.steps: list[int] = []
        self.events: list[Happened] = []
        self.rows: list[Row] = []
        self.pending: list[tuple[np.ndarray, Row]] = []
        timers = []
        for group in e.groups:
            d = group.shape.cls.declares
            for name, timer in d.timers.items():
                timers += [(e.Z[e.row[i, timer.at]], group, k, name) for k, i in enumerate(group.members)]
            for k in range(len(group.members)):
                for guard in d.guards.values():
                    self.rows.append(Row(group, k, guard, False))
                    if callable(guard.cancel):
                        self.rows.append(Row(group, k, guard, True))
        self.timers = sorted((x for x in timers if x[0][0].real <= t_end), key=lambda x: x[0][0].real)

    def _gamma(self, row: Row, Z: np.ndarray | None = None, t: np.ndarray | None = None) -> np.ndarray:
        e = self.e
        scope = e.scope(row.group, e.Z if Z is None else Z, e.t if t is None else t, row.member)
        return np.broadcast_to(scope.call(row.guard.cancel if row.cancels else row.guard.function),
                               (1, (e.Z if Z is None else Z).shape[1]))[0]

    def _values(self) -> list[float]:
        return [float(self._gamma(row)[0].real) if row.active else 0.0 for row in self.rows]

    def _direction(self, row: Row) -> int:
        if row.cancels:
            return 1
        if any(waiting is row for _, waiting in self.pending):
            return -row.side if row.guard.cancel is True else 2
        return row.guard.direction

    def _watch(self) -> None:
        """Modes may have changed: which rows are watched from here."""
        e = self.e

        def holds(row: Row) -> bool:
            if row.cancels:
                return False
            wanted = {"status": 1.0, **row.guard.when}
            return all(self._read_mode(row, name) == value for name, value in wanted.items())

        self.pending = [(t, row) for t, row in self.pending if holds(row)]
        waiting = [row for _, row in self.pending]
        for row in self.rows:
            before, row.active = row.active, holds(row) or (
                row.cancels and any(w.device == row.device and w.guard is row.guard for w in waiting))
            if row.active and not before:
                row.side = -row.guard.direction or int(np.sign(self._gamma(row, e.Z)[0].real))
                if row.cancels:
                    row.side = -1

    def _resolve_name(self, row: Row, address: str) -> tuple[str, str]:
        port, _, name = address.rpartition(".")
        path: tuple[str, ...] = ()
        for part in port.split(".") if port else ():
            path = (*path, *(row.group.shape.at(path).find(part) or ()))
        return row.group.at[path][row.member], name

    def _read_mode(self, row: Row, address: str) -> float:
        return self.e.mode[self._resolve_name(row, address)]

    def _fired(self, gamma: Sequence[float]) -> list[int]:
        out = []
        for k, row in enumerate(self.rows):
            sign, direction = np.sign(gamma[k]), self._direction(row)
            if row.active and sign not in (0, row.side) and direction in (0, sign):
                out.append(k)
        return out

    def _settle_sides(self, gamma: Sequence[float], fired: list[int]) -> None:
        for k, row in enumerate(self.rows):
            direction = self._direction(row)
            if k in fired:
                row.side = direction or -row.side
            elif row.active and direction in (1, -1) and np.sign(gamma[k]) == -direction:
                row.side = -direction

    def _happen(self, fired: list[int], gamma: Sequence[float]) -> None:
        """All that happens at this instant."""
        while True:
            now = self.e.t[0].real + MERGE * self.h
            self._settle_sides(gamma, fired)
            triggers: list[tuple[Group, int, str, dict, Row | None]] = []
            while self.timers and self.timers[0][0][0].real <= now:
                _, group, k, name = self.timers.pop(0)
                triggers.append((group, k, name, group.shape.cls.declares.timers[name].then, None))
            due = [row for t, row in self.pending if t[0].real <= now]
            self.pending = [(t, row) for t, row in self.pending if row not in due]
            for row in due:
                triggers.append((row.group, row.member, row.guard.name, row.guard.then, row))
            for row in (self.rows[k] for k in fired):
                pending = next((w for _, w in self.pending if (w is row and row.guard.cancel is True) or (
                    row.cancels and w.device == row.device and w.guard is row.guard)), None)
                if pending is not None:
                    self.pending = [(t, w) for t, w in self.pending if w is not pending]
                    self._note(pending.device, pending.guard.name, "cancelled")
                    for other in self.rows:
                        if other.cancels and other.guard is pending.guard and other.device == pending.device:
                            other.active = False
                elif row.guard.delay is not None and row not in due:
                    delay = self.e.Z[self.e.row[row.device, row.guard.delay]]
                    self._note(row.device, row.guard.name, "delay started")
                    if delay[0].real > 0:
                        self.pending.append((self.e.t + delay, row))
                        for other in self.rows:
                            if other.cancels and other.guard is row.guard and other.device == row.device:
                                other.active, other.side = True, -1
                    else:
                        triggers.append((row.group, row.member, row.guard.name, row.guard.then, row))
                elif row not in due:
                    triggers.append((row.group, row.member, row.guard.name, row.guard.then, row))
            if not triggers:
                return
            self._switch(triggers)
            self._watch()
            gamma = self._values()
            for row in (r for *_, r in triggers if r is not None):
                k = self.rows.index(row)
                if row.active and abs(gamma[k]) <= ROUND_OFF and self._direction(row) in (1, -1) and (
                        self._drift(row) * self._direction(row) < 0):
                    row.side = -self._direction(row)
            fired = [k for k in self._fired(gamma) if abs(gamma[k]) > ROUND_OFF]

    def _note(self, device: str, item: str, kind: str) -> None:
        self.events.append(Happened(self.e.t.copy(), device, item, kind))

    def _drift(self, row: Row) -> float:
        """Which way a guard goes from here: the sign of its value a little later, on the tangent."""
        e = self.e
        X, t = e.Z.copy(), e.t.copy()
        self._step(np.full_like(e.t, 1e-7 * self.h) + e.t)
        value = float(self._gamma(row)[0].real)
        e.Z, e.t = X, t
        return value

    def _switch(self, triggers: list[tuple[Group, int, str, dict, Row | None]]) -> None:
        e = self.e
        for group, k, name, then, _ in triggers:
            scope = e.scope(group, e.Z, e.t, k)
            row = Row(group, k, None, False)  # type: ignore[arg-type]
            new = [(self._resolve_name(row, address), scope.call(value) if callable(value) else value)
                   for address, value in then.items()]
            for (device, target), value in new:
                instance = e.instances[device]
                if target in instance.device.declares.references:
                    device, target = instance.words[target].rsplit(".", 1)
                if (device, target) in e.mode:
                    e.mode[device, target] = float(np.real(np.ravel(value)[0]))
                    if target == "status":
                        self._follow(device)
                else:
                    e.Z[e.row[device, target]] = np.broadcast_to(value, (1, e.Z.shape[1]))[0]
            self._note(group.members[k], name, "switch")
        e.consistent()
        self._point()

    def _follow(self, host: str) -> None:
        """What hangs on a device goes out of service, and comes back, with it."""
        for i, instance in self.e.instances.items():
            if any(h == host and not port.startswith("bus") for port, h in instance.ports.items()):
                self.e.mode[i, "status"] = self.e.mode[host, "status"]
                self._follow(i)

    # ------------------------------------------------------------ steps

    def _point(self) -> None:
        self.t.append(self.e.t.copy())
        self.points.append((self.e.Z.copy(), dict(self.e.mode)))

    def _residual(self, Z0: np.ndarray, t0: np.ndarray) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
        """The theta step from (Z0, t0) as a function of where it ends."""
        e, theta, n = self.e, self.theta, self.e.n
        f0, m = e.F(Z0, t0), e.differential()[:, None]

        def R(Z: np.ndarray, t: np.ndarray) -> np.ndarray:
            F = e.F(Z, t)
            return np.where(m, Z[:n] - Z0[:n] - (t - t0) * ((1 - theta) * f0 + theta * F), F)

        return R

    def _jacobian(self, t0: np.ndarray) -> np.ndarray:
        """Derivative of the residual of a step in the state at its end."""
        e = self.e
        m, F = e.differential()[:, None], e.jacobian(e.F, np.arange(e.n))
        return np.where(m, np.eye(e.n) - (e.t - t0)[0].real * self.theta * F, F)

    def _step(self, target: np.ndarray) -> None:
        """One step to the time `target`."""
        e = self.e
        t0, R = e.t.copy(), self._residual(e.Z.copy(), e.t.copy())
        e.t = target.copy()
        e.newton(R, np.arange(e.n), lambda: self._jacobian(t0))

    def _locate(self, row: Row, Z0: np.ndarray, t0: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(Z, t) where a guard is zero: bracketed on the real part, then Newton on state and time together."""
        e, n, full = self.e, self.e.n, float((target - t0)[0].real)
        keep = e.Z, e.t

        def value(h: float) -> float:
            e.Z, e.t = Z0[:, :1].real.astype(complex), t0[:1].real.astype(complex)
            self._step(e.t + h)
            return float(self._gamma(row)[0].real)

        left, low, high = 0.0, value(0.0), value(full)
        if abs(low) <= 1e-9 * abs(high) or np.sign(low) == np.sign(high):  # it leaves zero: is there another?
            left = 1e-3 * full
            low = value(left)
        h = brentq(value, left, full, xtol=1e-9 * full) if np.sign(low) != np.sign(high) else 0.0
        value(h)
        X, e.Z, e.t = e.Z[:n], Z0.copy(), t0 + h
        e.Z[:n] = X
        R, m = self._residual(Z0, t0), e.differential()

        def residual() -> np.ndarray:
            return np.concatenate([R(e.Z, e.t), self._gamma(row)[None, :]])

        def move(step: np.ndarray) -> np.ndarray:
            e.Z[:n] -= step[:-1]
            e.t = e.t - step[-1]
            return np.concatenate([e.Z[:n], e.t[None, :]])

        def bordered() -> np.ndarray:
            in_x = e.jacobian(lambda Z, t: self._gamma(row, Z, t)[None, :], np.arange(n))
            Z1, t1 = e.Z[:, :1].real + 0j, e.t[:1].real + 1j * TINY
            F, f0 = e.F(Z1, t1)[:, 0], e.F(Z0[:, :1].real + 0j, t0[:1].real + 0j)[:, 0].real
            in_t, length = F.imag / TINY, float((e.t - t0)[0].real)
            end = np.where(m, -((1 - self.theta) * f0 + self.theta * F.real) - length * self.theta * in_t, in_t)
            return np.block([[self._jacobian(t0), end[:, None]],
                             [in_x, np.array([[self._gamma(row, Z1, t1)[0].imag / TINY]])]])

        for _ in range(3):
            move(_solve(bordered(), residual()))
        _polish(residual, bordered(), move)
        found = e.Z.copy(), e.t.copy()
        e.Z, e.t = keep
        return found

    def _advance(self, end: np.ndarray) -> None:
        """One step towards the time `end`: to a timer, a pending action or a guard before it."""
        e, slack = self.e, MERGE * self.h
        target = end
        if self.timers and self.timers[0][0][0].real <= target[0].real + slack:
            target = self.timers[0][0]
        for t, _ in self.pending:
            if t[0].real <= target[0].real + (slack if target is end else 0.0):
                target = t
        Z0, t0 = e.Z.copy(), e.t.copy()
        self._step(target)
        gamma = self._values()
        fired = self._fired(gamma)
        if fired:
            found = [self._locate(self.rows[k], Z0, t0, target) for k in fired]
            first = int(np.argmin([t[0].real for _, t in found]))
            fired = [fired[first]]
            e.Z, e.t = found[first]
            gamma = self._values()
        self.steps.append(len(self.points) - 1)
        self._point()
        waiting = [t[0].real for t, *_ in (*self.timers[:1], *self.pending)]
        if fired or e.t[0].real >= min(waiting, default=np.inf) - slack:
            self._happen(fired, gamma)
        else:
            self._settle_sides(gamma, fired)

    def _run(self, t_end: float) -> None:
        e, slack = self.e, MERGE * self.h
        steps = int(np.ceil(t_end / self.h - MERGE))
        self._watch()
        self._point()
        if self.timers and self.timers[0][0][0].real <= slack:  # up to an event at t0, a step of no length
            self._step(self.timers[0][0])
            self.steps.append(len(self.points) - 1)
            self._point()
        gamma = self._values()
        self._happen([k for k in self._fired(gamma) if abs(gamma[k]) > ROUND_OFF], gamma)
        for k in range(1, steps + 1):
            end = np.full_like(e.t, min(k * self.h, t_end))
            while e.t[0].real < end[0].real - slack:
                self._advance(end)
        if (e.t.imag != 0).any():  # from an event at t_end to t_end itself
            self._step(np.full_like(e.t, t_end))
            self.steps.append(len(self.points) - 1)
            self._point()

    # ------------------------------------------------------------ results

    @property
    def X(self) -> np.ndarray:
        """(points, n) the trajectory."""
        return np.array([Z[: self.e.n, 0].real for Z, _ in self.points])

    def signal(self, function: Callable[[Any], Any]) -> np.ndarray:
        """(points, columns) complex: a function of named quantities along the run."""
        e, keep = self.e, self.e.mode
        out = []
        for (Z, e.mode), t in zip(self.points, self.t):
            class Named:
                def __getitem__(_, key: tuple[str, str]) -> np.ndarray:
                    device, name = key
                    group = next(g for g in e.groups if device in g.members)
                    return e.scope(group, Z, t, group.members.index(device)).value((), name)[0]  # noqa: B023

            out.append(np.broadcast_to(function(Named()), t.shape))
        e.mode = keep
        return np.array(out)

    def values(self, objectives: Sequence[Objective]) -> np.ndarray:
        """(objectives, columns) complex."""
        return np.array([sum(factor * self._term(term) for factor, term in o.terms()) for o in objectives])

    def _term(self, term: Any) -> np.ndarray:
        r = self.signal(term.function)
        if isinstance(term, Terminal):
            return r[-1]
        if isinstance(term, Integral):
            return sum((self.t[k + 1] - self.t[k]) * ((1 - self.theta) * r[k] + self.theta * r[k + 1])
                       for k in self.steps)
        assert isinstance(term, Sampled)
        total = np.zeros(r.shape[1], dtype=complex)
        data, weights = (np.broadcast_to(np.asarray(v, dtype=float), np.shape(term.times))
                         for v in (term.data, term.weights))
        for time, value, weight in zip(term.times, data, weights):
            k = next(k for k in self.steps if self.t[k + 1][0].real >= time and
                     (self.t[k + 1] - self.t[k])[0].real > 0)
            s = (time - self.t[k]) / (self.t[k + 1] - self.t[k])
            total += weight * ((1 - s) * r[k] + s * r[k + 1] - value) ** 2
        return total


def derivative(values: np.ndarray) -> np.ndarray:
    """What the imaginary parts say."""
    return values.imag / TINY
