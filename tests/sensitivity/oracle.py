"""The whole program once more, small, dense and on complex numbers: its complex step is the exact derivative.

What it shares with gridcore is the authors' device functions, called through
:class:`gridcore.contract.scope.Scope`, and the validated case. Power flow, initialisation, steps, event location,
switches and objectives are its own, and follow docs/sensitivities.md, not gridcore's code. Every array has a column
for each parameter: column k carries ``1e-40 i`` on parameter k, so that the imaginary part of whatever comes out,
over 1e-40, is the derivative (W. Squire, G. Trapp, SIAM Review 40, 1998). Decisions are taken on the real part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from equations import NEAR, TINY, Equations, Group, Happened, address, polish, solve
from oracle_results import Results
from rules import BdfRule, Rule
from scipy.optimize import brentq

from gridcore.case import Case
from gridcore.contract import Guard

GRID, LOCATED = 0, -1  # clocks
MERGE = 1e-9  # times closer than this part of a step are one
ACROSS = 1e-10  # what initialisation takes for the other side of zero
MOVED = 1e-9  # relative: a bound that jumped


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


Trigger = tuple[Group, int, str, dict, Row | None]


class Oracle(Results):
    """One run on complex numbers.

    Parameters
    ----------
    case : Case
    wrt : sequence of str
        Addresses of parameters, and of differential states, whose initial value is meant.
    rule : Rule
        What a step is.
    direct : bool
        Perturb after the power flow: dispatch and voltages at t0 are parameters of their own.
    mesh : array, optional
        The times at which steps end, in place of multiples of `step`.

    Attributes
    ----------
    t : list of (columns,) arrays
    points : list of (Z, modes)
    steps : list of int
        Points at which steps begin; each ends at the next point.
    events : list of Happened
    """

    def __init__(self, case: Case, wrt: Sequence[str], t_end: float, step: float,
                 rule: Rule, direct: bool = False, mesh: np.ndarray | None = None):
        self.e = e = Equations(case, max(len(wrt), 1))
        self.rule, self.h, self.mesh = rule, step, mesh
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
        self._list_rows()
        e.initialise(self._settle)
        if states:
            before = e.Z.copy()
            disturb(states)
            e.consistent()
            others = np.setdiff1d(np.arange(e.Z.shape[1]), [k for _, k in states])
            e.Z[:, others] = before[:, others]
        self._prepare(t_end)
        self._run(t_end)

    # ------------------------------------------------------------ events

    def _list_rows(self) -> None:
        self.rows: list[Row] = []
        for group in self.e.groups:
            for k in range(len(group.members)):
                for guard in group.shape.cls.declares.guards.values():
                    self.rows.append(Row(group, k, guard, False))
                    if callable(guard.cancel):
                        self.rows.append(Row(group, k, guard, True))

    def _settle(self) -> bool:
        """Modes that say on which branch the equations rest: those that are across change; whether any did."""
        across = [row for row in self.rows if row.guard.settles and not row.cancels and self._holds(row)
                  and float(self._gamma(row)[0].real) * row.guard.direction > ACROSS]
        for row in across:
            for target, value in row.guard.then.items():
                self.e.mode[self._resolve_name(row, target)] = float(value)
        return bool(across)

    def _prepare(self, t_end: float) -> None:
        e = self.e
        self.t: list[np.ndarray] = []
        self.points: list[tuple[np.ndarray, dict]] = []
        self.steps: list[int] = []
        self.events: list[Happened] = []
        self.clock = GRID  # on which the present point lies: else where an event is located, or an array that is a time
        self.pending: list[tuple[np.ndarray, Row]] = []
        timers = [(e.Z[e.row[i, timer.at]].copy(), group, k, name) for group in e.groups
                  for name, timer in group.shape.cls.declares.timers.items() for k, i in enumerate(group.members)]
        numbered = ((number, *timer) for number, timer in enumerate(timers) if timer[0][0].real <= t_end)
        self.timers = sorted(numbered, key=lambda timer: timer[1][0].real)

    def _gamma(self, row: Row, Z: np.ndarray | None = None, t: np.ndarray | None = None) -> np.ndarray:
        e, function = self.e, row.guard.cancel if row.cancels else row.guard.function
        Z = e.Z if Z is None else Z
        value, = e.values(row.group, (row.guard.name, row.cancels), lambda scope: [scope.call(function)],
                          Z, e.t if t is None else t, row.member)
        return np.broadcast_to(value, (1, Z.shape[1]))[0]

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
        self.pending = [(t, row) for t, row in self.pending if self._holds(row)]
        waiting = [row for _, row in self.pending]
        for row in self.rows:
            before, row.active = row.active, self._holds(row) or (
                row.cancels and any(w.device == row.device and w.guard is row.guard for w in waiting))
            if row.active and not before:
                row.side = -row.guard.direction or int(np.sign(self._gamma(row, e.Z)[0].real))
                if row.cancels:
                    row.side = -1

    def _holds(self, row: Row) -> bool:
        """Whether the modes are such that a guard is watched."""
        wanted = {"status": 1.0, **row.guard.when}
        return not row.cancels and all(self._read_mode(row, name) == value for name, value in wanted.items())

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
        """All that happens at this instant, one cause after the other: what fired, then what is due."""
        while True:
            self._settle_sides(gamma, fired)
            triggers = self._fire([self.rows[k] for k in fired])
            if not triggers:
                due = self._due()
                if due is None:
                    return
                t, clock, triggers = due
                if clock != self.clock:
                    self._move_on(t, clock)
            self._switch(triggers)
            self._watch()
            gamma = self._values()
            for row in (r for *_, r in triggers if r is not None):
                if row.active and self._direction(row) in (1, -1) and self._zero(row) and (
                        self._drift(row) * self._direction(row) < 0):
                    row.side = -self._direction(row)
            fired = [k for k in self._fired(gamma) if not self._zero(self.rows[k])]

    def _fire(self, fired: list[Row]) -> list[Trigger]:
        """What is done at once for guards that fired; the others are put off, or cancel what was."""
        triggers: list[Trigger] = []
        for row in fired:
            pending = next((w for _, w in self.pending if (w is row and row.guard.cancel is True) or (
                row.cancels and w.device == row.device and w.guard is row.guard)), None)
            if pending is not None:
                self.pending = [(t, w) for t, w in self.pending if w is not pending]
                self._note(pending.device, pending.guard.name, "cancelled")
                self._watch_cancellation(pending, False)
            elif row.guard.delay is not None:
                self._note(row.device, row.guard.name, "delay started")
                self.pending.append((self.e.t + self.e.Z[self.e.row[row.device, row.guard.delay]], row))
                self._watch_cancellation(row, True)
            else:
                triggers.append((row.group, row.member, row.guard.name, row.guard.then, row))
        return triggers

    def _watch_cancellation(self, of: Row, active: bool) -> None:
        for other in self.rows:
            if other.cancels and other.guard is of.guard and other.device == of.device:
                other.active, other.side = active, -1 if active else other.side

    def _due(self) -> tuple[np.ndarray, int, list[Trigger]] | None:
        """What is due first at this instant, its time and its clock: delayed actions, as they were decided, before
        timers, as they stand.
        """
        now = self.e.t[0].real + MERGE * self.h
        due = [(t, row) for t, row in self.pending if t[0].real <= now]
        if due:
            t, row = due[0]
            self.pending = [(t, other) for t, other in self.pending if other is not row]
            self._watch_cancellation(row, False)
            return t, id(t), [(row.group, row.member, row.guard.name, row.guard.then, row)]
        timers = [timer for timer in self.timers if timer[1][0].real <= now]
        if not timers:
            return None
        first = min(timers, key=lambda timer: timer[0])
        self.timers = [timer for timer in self.timers if timer is not first]
        _, t, group, k, name = first
        return t, id(t), [(group, k, name, group.shape.cls.declares.timers[name].then, None)]

    def _zero(self, row: Row, t0: np.ndarray | None = None) -> bool:
        """Whether a guard is zero but for round-off: after a switch, or at the end of a step from t0."""
        e, value = self.e, abs(float(self._gamma(row)[0].real))
        A = self._jacobian(t0) if t0 is not None else np.where(
            e.differential()[:, None], np.eye(e.n), e.jacobian(e.F, np.arange(e.n)))
        return value <= e.round_off(lambda Z, t: self._gamma(row, Z, t)[None, :], A)

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

    def _switch(self, triggers: list[Trigger]) -> None:
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
        self._solve_again()
        self._point()

    def _solve_again(self) -> None:
        """The algebraic equations after a switch; a moving bound that jumps away leaves its state where it was."""
        e = self.e
        before = {at: e.Z[e.row[at]].copy() for at in e.at_moving_bound()}
        e.consistent()
        away = [(i, name) for (i, name), x in before.items() if (e.Z[e.row[i, name]] - x)[0].real
                * e.mode[i, f"{name}_limit"] > MOVED * (1 + abs(x[0].real))]
        if away:
            for at in away:
                e.Z[e.row[at]] = before[at]
                e.mode[at[0], f"{at[1]}_limit"] = 0.0
            e.consistent()

    def _follow(self, host: str) -> None:
        """What hangs on a device goes out of service, and comes back, with it."""
        for i, instance in self.e.instances.items():
            if any(h == host and not port.at_node for port, h in instance.ports.items()):
                self.e.mode[i, "status"] = self.e.mode[host, "status"]
                self._follow(i)

    # ------------------------------------------------------------ steps

    def _point(self) -> None:
        self.t.append(self.e.t.copy())
        self.points.append((self.e.Z.copy(), dict(self.e.mode)))
        if isinstance(self.rule, BdfRule):
            self.rule.history = self._history()

    def _history(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Where the steps began that led here since the last event, latest first; of steps of no length the end."""
        k, out, began = len(self.points) - 1, [], set(self.steps)
        while k - 1 in began:
            k -= 1
            if (self.t[k + 1] - self.t[k])[0].real > 0:
                out.append((self.points[k][0], self.t[k]))
        return out

    def _jacobian(self, t0: np.ndarray) -> np.ndarray:
        """Derivative of the residual of a step in the state at its end."""
        return self.rule.jacobian(self.e, t0)

    def _step(self, target: np.ndarray) -> None:
        """One step to the time `target`."""
        e = self.e
        t0, R = e.t.copy(), self.rule.residual(e, e.Z.copy(), e.t.copy())
        e.t = target.copy()
        e.newton(R, np.arange(e.n), lambda: self._jacobian(t0))

    def _move_on(self, target: np.ndarray, clock: int) -> None:
        """A step of no length, but for its derivatives."""
        self.clock = clock
        self._step(target)
        self.steps.append(len(self.points) - 1)
        self._point()

    def _first(self, fired: list[int], Z0: np.ndarray, t0: np.ndarray, target: np.ndarray
               ) -> tuple[int, np.ndarray, np.ndarray]:
        """Of guards that are across at `target`, the first: its row, and where it is zero."""
        e, full = self.e, float((target - t0)[0].real)
        ends = {k: float(self._gamma(self.rows[k])[0].real) for k in fired}
        keep = e.Z, e.t
        e.Z, e.t = Z0, t0
        begins = {k: float(self._gamma(self.rows[k])[0].real) for k in fired}

        def guess(k: int) -> float:
            return begins[k] / (begins[k] - ends[k]) if begins[k] * ends[k] < 0 else 0.0

        def order(k: int) -> tuple[float, bool, int]:
            """Those of one instant: who rises first falls last."""
            return guess(k), ends[k] < 0, k if ends[k] > 0 else -k

        first, found = -1, (keep[0], keep[1])
        for k in sorted(fired, key=order):
            row, length = self.rows[k], full
            if first >= 0:  # is it across where the first so far is zero?
                e.Z, e.t = found
                length = float((e.t - t0)[0].real)
                now = float(self._gamma(row)[0].real)
                if self._zero(row, t0) or np.sign(now) == row.side:
                    continue
            part = guess(k)
            try:
                if not 1e-9 < part < 1 - 1e-9:
                    raise ArithmeticError("it leaves zero")
                h, X = part * full, (1 - part) * Z0[: e.n, :1].real + part * keep[0][: e.n, :1].real
                there = self._locate(row, Z0, t0, h, X)
                if not 0 < float((there[1] - t0)[0].real) <= length * (1 + MERGE):
                    raise ArithmeticError("another crossing")
            except ArithmeticError:
                there = self._locate(row, Z0, t0, *self._bracket(row, Z0, t0, length))
            first, found = k, there
        e.Z, e.t = keep
        return first, *found

    def _bracket(self, row: Row, Z0: np.ndarray, t0: np.ndarray, full: float) -> tuple[float, np.ndarray]:
        """Length of the step that ends where a guard is zero, and the state there, (n, 1): on the real part."""
        e = self.e

        def value(h: float) -> float:
            e.Z, e.t = Z0[:, :1].real.astype(complex), t0[:1].real.astype(complex)
            self._step(e.t + h)
            return float(self._gamma(row)[0].real)

        left, low, high = 0.0, value(0.0), value(full)
        if abs(low) <= 1e-9 * abs(high) or np.sign(low) == np.sign(high):  # it leaves zero: is there another?
            left = 1e-3 * full
            low = value(left)
        h = brentq(value, left, full, xtol=1e-6 * full) if np.sign(low) != np.sign(high) else 0.0
        value(h)
        return h, e.Z[: e.n].real

    def _locate(self, row: Row, Z0: np.ndarray, t0: np.ndarray, h: float, X: np.ndarray
                ) -> tuple[np.ndarray, np.ndarray]:
        """(Z, t) where a guard is zero: Newton on state and time together, from where it nearly is."""
        e, n = self.e, self.e.n
        e.Z, e.t = Z0.copy(), t0 + h
        e.Z[:n] = X
        R, of_one = self.rule.residual(e, Z0, t0), self.rule.residual(e, Z0[:, :1].real + 0j, t0[:1].real + 0j)

        def residual() -> np.ndarray:
            return np.concatenate([R(e.Z, e.t), self._gamma(row)[None, :]])

        def move(step: np.ndarray) -> np.ndarray:
            e.Z[:n] -= step[:-1]
            e.t = e.t - step[-1]
            return np.concatenate([e.Z[:n], e.t[None, :]])

        def bordered() -> np.ndarray:
            in_x = e.jacobian(lambda Z, t: self._gamma(row, Z, t)[None, :], np.arange(n))
            Z1, t1 = e.Z[:, :1].real + 0j, e.t[:1].real + 1j * TINY
            return np.block([[self._jacobian(t0), of_one(Z1, t1).imag / TINY],
                             [in_x, np.array([[self._gamma(row, Z1, t1)[0].imag / TINY]])]])

        for _ in range(12):
            J = bordered()
            step = solve(J, residual())
            move(step)
            if np.max(np.abs(step.real)) < NEAR:
                break
        polish(residual, J, move)
        return e.Z.copy(), e.t.copy()

    def _advance(self, end: np.ndarray) -> None:
        """One step towards the time `end`: to a timer, a pending action or a guard before it."""
        e, slack = self.e, MERGE * self.h
        target = end
        if self.timers and self.timers[0][1][0].real <= target[0].real + slack:
            target = self.timers[0][1]
        for t, _ in self.pending:
            if t[0].real <= target[0].real + (slack if target is end else 0.0):
                target = t
        Z0, t0 = e.Z.copy(), e.t.copy()
        self.clock = GRID if target is end else id(target)
        self._step(target)
        gamma = self._values()
        fired = self._fired(gamma)
        if fired:
            first, e.Z, e.t = self._first(fired, Z0, t0, target)
            fired, self.clock = [first], LOCATED
            gamma = self._values()
        self.steps.append(len(self.points) - 1)
        self._point()
        waiting = [t[0].real for t in (*(timer[1] for timer in self.timers[:1]), *(t for t, _ in self.pending))]
        if fired or e.t[0].real >= min(waiting, default=np.inf) - slack:
            self._happen(fired, gamma)
        else:
            self._settle_sides(gamma, fired)

    def _run(self, t_end: float) -> None:
        e, slack = self.e, MERGE * self.h
        mesh = self.mesh
        if mesh is None:
            mesh = np.minimum(self.h * np.arange(1, int(np.ceil(t_end / self.h - MERGE)) + 1), t_end)
        self._watch()
        self._point()
        gamma = self._values()
        self._happen([k for k in self._fired(gamma) if not self._zero(self.rows[k])], gamma)
        for at in mesh:
            end = np.full_like(e.t, at)
            while e.t[0].real < end[0].real - slack:
                self._advance(end)
            if self.clock != GRID:  # from an event to the point of the grid that it falls on
                self._move_on(end, GRID)
