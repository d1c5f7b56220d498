"""What can switch in an assembled system: guards, timers, and the changes that they make.

A *trigger* is one guard or timer of one instance. Applying it changes modes, parameters or states in
the buffer Z, and what must follow from that: devices that hang on one out of service are out of
service with it, and an island left without a voltage source is an error or is taken out of service.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..contract import Guard
from ..equations import Batch, Batches, Direct, Group, Layout, Trace, function_of
from .islands import Islands


@dataclass(frozen=True)
class Trigger:
    """One guard or timer of one instance.

    Attributes
    ----------
    device, item : str
        The instance and the name of its guard or timer.
    group, member : int
        Its place in the layout.
    direction : int
        Of a guard: 1 up, -1 down, 0 both; 0 for a timer.
    time : int
        Of a timer, position in Z of its time; of a delayed guard, of its delay; else -1.
    cancel : int
        Guard row whose rise cancels a pending action; -1 for none, -2 for crossing back.
    what : str
        What happens, in words.
    settles : bool
        Of a guard: whether initialisation makes its changes where it finds it across.
    """

    device: str
    item: str
    group: int
    member: int
    direction: int
    time: int
    cancel: int
    what: str
    settles: bool = False

    def __str__(self) -> str:
        return f"{self.device}.{self.item}"


@dataclass
class Change:
    """The changes of one item of one group: new values as a function of its symbols, and where they go."""

    function: ca.Function
    gather: np.ndarray
    targets: np.ndarray

    @functools.cached_property
    def value(self) -> Direct:
        """The function on numbers: (inputs,) in, (targets,) out."""
        return Direct(self.function)

    def gradient(self, values: np.ndarray) -> np.ndarray:
        """Its derivative, (targets, inputs)."""
        return self._gradient(values).reshape(len(values), self.targets.shape[1]).T.copy()

    @functools.cached_property
    def _gradient(self) -> Direct:
        x = ca.SX.sym("x", self.function.nnz_in(0))
        return Direct(ca.Function("gradient", [x], [ca.densify(ca.jacobian(self.function(x), x))]))


class Switching:
    """Guards and timers of a system, and how to apply them.

    Attributes
    ----------
    guards : list of Trigger
        One for each row of the guard function; rows of cancellation functions repeat their guard.
    timers : list of Trigger
    """

    def __init__(self, layout: Layout, traces: Sequence[Trace], islands: Islands):
        self.layout, self.traces, self.islands = layout, traces, islands
        self.guards: list[Trigger] = []
        self.timers: list[Trigger] = []
        batches: list[Batch] = []
        self._changes: dict[tuple[int, str], Change] = {}
        conditions: list[list[tuple[int, float]]] = []
        self._is_cancel: list[bool] = []
        for number, (group, trace) in enumerate(zip(layout.groups, traces, strict=True)):
            self._add_timers(number, group)
            if trace.guards:
                batches.append(self._add_guards(number, group, trace, conditions))
        self.batches = Batches(batches)
        width = max((len(c) for c in conditions), default=0)
        padded = [c + [(layout.globals["base_mva"], np.nan)] * (width - len(c)) for c in conditions]
        self._when_at = np.array([[at for at, _ in c] for c in padded], dtype=int).reshape(len(padded), width)
        self._when_is = np.array([[v for _, v in c] for c in padded], dtype=float).reshape(len(padded), width)
        self.directions = np.array([g.direction for g in self.guards], dtype=int)
        self.is_cancel = np.array(self._is_cancel, dtype=bool)

    def _add_timers(self, number: int, group: Group) -> None:
        for name, item in group.shape.cls.declares.timers.items():
            times = self.layout.source[self.layout.index(group.members, group.shape.cls, item.at)]
            self.timers += [Trigger(self.layout.instances[i].id, name, number, k, 0, int(at), -1, item.doc or name)
                            for k, (i, at) in enumerate(zip(group.members, times, strict=True))]

    def _add_guards(self, number: int, group: Group, trace: Trace, conditions: list[list[tuple[int, float]]]) -> Batch:
        declared = group.shape.cls.declares
        first, width = len(self.guards), len(trace.guards)
        columns = {name: k for k, (name, _) in enumerate(trace.guards)}
        when = {}
        for name, guard in declared.guards.items():
            wanted = {"status": 1.0, **guard.when}
            when[name] = [(self.layout.target(group, *trace.resolve(mode)), value) for mode, value in wanted.items()]
        for k, i in enumerate(group.members):
            for name in columns:
                guard = declared.guards[name.removesuffix(":cancel")]
                self.guards.append(self._trigger(number, group, k, int(i), guard, first + k * width, columns,
                                                 name.endswith(":cancel")))
                self._is_cancel.append(name.endswith(":cancel"))
                conditions.append([] if self._is_cancel[-1]
                                  else [(int(at[k]), float(value)) for at, value in when[guard.name]])
        function, gather = function_of("guards", self.layout, group, trace, [e for _, e in trace.guards])
        scatter = first + np.arange(len(group) * width).reshape(len(group), width)
        return Batch(function, gather, scatter)

    def _trigger(self, number: int, group: Group, k: int, i: int, guard: Guard, row: int, columns: dict[str, int],
                 is_cancel: bool) -> Trigger:
        delay, cancel = -1, -1
        if guard.delay is not None:
            delay = self.layout.address(f"{self.layout.instances[i].id}.{guard.delay}")
            if guard.cancel is not False:
                cancel = row + columns[f"{guard.name}:cancel"] if callable(guard.cancel) else -2
        words = (guard.doc or guard.name).splitlines()[0].rstrip(".")
        return Trigger(self.layout.instances[i].id, guard.name, number, k, 1 if is_cancel else guard.direction,
                       delay, cancel, words, guard.settles and not is_cancel)

    def values(self, Z: np.ndarray) -> np.ndarray:
        """Guard functions at Z, (n_guards,)."""
        values = np.zeros(len(self.guards))
        self.batches.add(Z, values)
        return values

    def active(self, Z: np.ndarray) -> np.ndarray:
        """Which guards are watched under the modes in Z (not those of cancellation functions)."""
        holds = (Z[self._when_at] == self._when_is) | np.isnan(self._when_is)
        return holds.all(axis=1) & ~self.is_cancel

    def change(self, trigger: Trigger) -> Change:
        """The changes that an item makes, for all instances of its group."""
        key = (trigger.group, trigger.item)
        if key not in self._changes:
            group, trace = self.layout.groups[trigger.group], self.traces[trigger.group]
            actions = trace.actions(trigger.item)
            targets = np.stack([self.layout.target(group, *a.target) for a in actions], axis=1)
            function, gather = function_of("change", self.layout, group, trace, [a.value for a in actions])
            self._changes[key] = Change(function, gather, targets)
        return self._changes[key]

    def apply(self, Z: np.ndarray, triggers: Iterable[Trigger]) -> None:
        """Make the changes of the triggers in Z, one after the other, and what follows from them.

        Raises
        ------
        NetworkError
            If an island is left without a voltage source, unless islands may be de-energised.
        """
        switched: set[int] = set()
        for trigger in triggers:
            change = self.change(trigger)
            new = change.value(Z[change.gather[trigger.member]])
            for at, value in zip(change.targets[trigger.member], new, strict=True):
                if at >= self.layout.n + self.layout.n_p and Z[at] != value:
                    switched.add(int(at))
                Z[at] = value
        touched = switched & self._status.keys()
        for at in touched:
            for below in self.layout.dependants(self._status[at]):
                Z[self.layout.address(f"{self.layout.instances[below].id}.status")] = Z[at]
        if touched:
            self.islands.settle(Z)

    @functools.cached_property
    def _status(self) -> dict[int, int]:
        """Where in Z the status of an instance is, and whose it is."""
        return {int(at): int(i) for g in self.layout.groups
                for i, at in zip(g.members, self.layout.index(g.members, g.shape.cls, "status"), strict=True)}
