"""What can switch in an assembled system: guards, timers, and the changes that they make.

A *trigger* is one guard or timer of one instance. Applying it changes modes, parameters or states in
the buffer Z, and what must follow from that: devices that hang on one out of service are out of
service with it, and an island left without a voltage source is an error or is taken out of service.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from .. import numerics
from ..equations import Batch, Batches, Direct, Group, Layout, function_of
from ..errors import EventError, NetworkError
from .islands import Islands

CROSSING_BACK = -2


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
        Guard row whose rise cancels a pending action; -1 for none, CROSSING_BACK for the guard's own return.
    what : str
        What happens, in words.
    settles : bool
        Of a guard: whether initialisation makes its changes where it finds it across.
    own : int
        Of a guard: which of the functions of its group's guards it is.
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
    own: int = -1

    def __str__(self) -> str:
        return f"{self.device}.{self.item}"


def in_words(triggers: Iterable[Trigger]) -> str:
    """Each of them once, and what happens there."""
    return ", ".join(dict.fromkeys(f"{trigger} ({trigger.what})" for trigger in triggers))


class Change:
    """The changes of one item of one group: new values as a function of its symbols, and where they go."""

    def __init__(self, function: ca.Function, gather: np.ndarray, targets: np.ndarray):
        self.function, self.gather, self.targets = function, gather, targets
        self.value = Direct(function)

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

    def __init__(self, layout: Layout, islands: Islands):
        self.layout, self.islands = layout, islands
        self.guards: list[Trigger] = []
        self.timers: list[Trigger] = []
        self._changes, self._labels = dict[tuple[int, str], Change](), dict[int, str]()  # of what was changed so far
        conditions: list[tuple[int, int, float]] = []  # guard, position of a mode, value that it must have
        self._asked: dict[int, list[tuple[int, Any]]] = {}  # by position of a mode: who asks for it, all its conditions
        batches: list[Batch] = []
        for number, group in enumerate(layout.groups):
            for name, timer in group.shape.cls.declares.timers.items():
                times = layout.source[layout.of_group(group, timer.at)]
                self.timers += [Trigger(layout.instances[i].id, name, number, k, 0, int(at), -1, timer.doc or name)
                                for k, (i, at) in enumerate(zip(group.members, times, strict=True))]
            if group.trace.guards:
                batches.append(self._add_guards(number, group, conditions))
        self.batches, self._value_of = Batches(batches), dict[int, Callable[[np.ndarray], float]]()
        self._batch_of = {self.guards[int(batch.scatter[0, 0])].group: batch for batch in batches}
        table = np.array(conditions, dtype=float).reshape(-1, 3)
        self._when = table[:, 0].astype(int), table[:, 1].astype(int), table[:, 2]
        self.directions = np.array([g.direction for g in self.guards], dtype=np.int8)
        self.is_cancel = np.isin(np.arange(len(self.guards)), self._when[0], invert=True)

    def _add_guards(self, number: int, group: Group, conditions: list[tuple[int, int, float]]) -> Batch:
        layout, trace, declared, first = self.layout, group.trace, group.shape.cls.declares, len(self.guards)
        names = [name for name, _ in trace.guards]
        when = {name: [(layout.target(group, *trace.resolve(mode)), value)
                       for mode, value in {"status": 1.0, **guard.when}.items()]
                for name, guard in declared.guards.items()}
        for k, i in enumerate(group.members):
            for own, name in enumerate(names):
                guard = declared.guards[name.removesuffix(":cancel")]
                is_cancel, row = name != guard.name, len(self.guards)
                delay, cancel = -1, -1
                if guard.delay is not None:
                    delay = int(layout.source[layout.address(f"{layout.instances[i].id}.{guard.delay}")])
                    if delay < layout.n:
                        raise layout.instances[i].record.error(
                            f"{layout.label(delay)} drives it, and a delay changes in steps only", guard.delay)
                    if guard.cancel is not False:
                        cancel = row + (not is_cancel) if callable(guard.cancel) else CROSSING_BACK
                words = (guard.doc or guard.name).splitlines()[0].rstrip(".")
                self.guards.append(Trigger(
                    layout.instances[i].id, guard.name, number, k, 1 if is_cancel else guard.direction, delay, cancel,
                    words, guard.settles and not is_cancel, own))
                if not is_cancel:
                    its_own = [(int(at[k]), value) for at, value in when[name]]
                    for at, value in its_own:
                        conditions.append((row, at, value))
                        self._asked.setdefault(at, []).append((row, its_own))
        return Batch(*function_of("guards", layout, group, [e for _, e in trace.guards]),
                     first + np.arange(len(group) * len(names)).reshape(len(group), -1))

    def values(self, Z: np.ndarray) -> np.ndarray:
        """Guard functions at Z, (n_guards,)."""
        values = np.zeros(len(self.guards))
        self.batches.add(Z, values)
        return values

    def value(self, guard: int) -> Callable[[np.ndarray], float]:
        """The function of one guard."""
        if guard not in self._value_of:
            batch, own = self._batch_of[self.guards[guard].group], self.guards[guard].own
            gather, function = batch.gather[self.guards[guard].member], Direct(batch.function)
            self._value_of[guard] = lambda Z: float(function(Z[gather])[own])
        return self._value_of[guard]

    def active(self, Z: np.ndarray, before: np.ndarray | None = None, changed: np.ndarray | None = None) -> np.ndarray:
        """Which guards are watched under the modes in Z (not those of cancellation functions).

        `before`: those that were, if only these positions of Z have `changed` since; all may have by default.
        """
        active, (guards, at, value) = ~self.is_cancel, self._when
        if before is None or changed is None:
            active[guards.compress(Z.take(at) != value)] = False
            return active
        active &= before
        for guard, its_own in (asks for place in changed.tolist() for asks in self._asked.get(place, ())):
            active[guard] = all(Z[at] == value for at, value in its_own)
        return active

    def across(self, Z: np.ndarray, margin: float | None = None) -> np.ndarray:
        """Which guards would fire at Z at once, (n_guards,) bool; by default those that break what is at rest."""
        gamma, margin = self.values(Z), numerics.INITIAL if margin is None else margin
        return np.asarray(self.active(Z) & (self.directions != 0) & (np.sign(gamma) == self.directions)
                          & (np.abs(gamma) > margin))

    def change(self, trigger: Trigger) -> Change:
        """The changes that an item makes, for all instances of its group."""
        key = (trigger.group, trigger.item)
        if key not in self._changes:
            group = self.layout.groups[trigger.group]
            actions = group.trace.actions(trigger.item)
            targets = np.stack([self.layout.target(group, *symbol) for symbol, _ in actions], axis=1)
            moved = np.isin(targets, [timer.time for timer in self.timers])
            if moved.any():
                time = self.layout.label(int(targets[moved][0]))
                raise EventError(f"{trigger} changes {time}, the time of an event, which stands when the run begins")
            self._changes[key] = Change(
                *function_of("change", self.layout, group, [value for _, value in actions]), targets)
        return self._changes[key]

    def chosen(self, triggers: Iterable[tuple[str, int]]) -> list[Trigger]:
        """Triggers by kind, ``"timer"`` or ``"guard"``, and number."""
        return [(self.timers if kind == "timer" else self.guards)[number] for kind, number in triggers]

    def targets(self, guard: int) -> set[int]:
        """Positions in Z that a guard changes at once: none, where its action is delayed or it cancels one."""
        trigger = self.guards[guard]
        return set() if trigger.time >= 0 or self.is_cancel[guard] else {
            int(at) for at in self.change(trigger).targets[trigger.member]}

    def apply(self, Z: np.ndarray, triggers: Sequence[Trigger]) -> np.ndarray:
        """Make the changes of the triggers in Z, one after the other, and what follows; returns where Z has changed.

        Raises
        ------
        NetworkError
            If an island is left without a voltage source, unless islands may be de-energised.
        EventError
            If one of them changes an input that another device drives.
        """
        before: dict[int, float] = {}
        for trigger in triggers:
            change = self.change(trigger)
            targets, new = change.targets[trigger.member].tolist(), change.value(Z[change.gather[trigger.member]])
            for at in self.layout.driven.keys() & targets:
                raise EventError(f"{trigger} changes {self.layout.label(at)}, but {self.layout.driven[at]} drives it: "
                                 "that would have no effect", t=float(Z[-1]))
            for at, value in zip(targets, new.tolist(), strict=True):
                if Z[at] != value:
                    self._check(trigger, at, value, float(Z[-1]))
                    before.setdefault(at, float(Z[at]))
                    Z[at] = value
        if not (touched := [at for at in before if at in self._status]):
            return np.array([at for at, value in before.items() if Z[at] != value], dtype=int)
        whole = Z.copy()
        whole[list(before)] = list(before.values())
        for at in touched:
            self.layout.set_status(Z, self._status[at], Z[at])
        try:
            self.islands.settle(Z)
        except NetworkError as error:
            raise NetworkError(f"at t = {Z[-1]:.9g} s, after {in_words(triggers)}: {error}") from None
        return np.flatnonzero(Z != whole)

    def _check(self, trigger: Trigger, at: int, value: float, t: float) -> None:
        """Refuse a parameter that is taken out of its bounds."""
        if (layout := self.layout).n <= at < layout.n + layout.n_p:
            id, _, name = (self._labels.get(at) or self._labels.setdefault(at, layout.label(at))).rpartition(".")
            param = layout.instances[layout.number[id]].device.declares.params.get(name)
            if param and (allowed := param.refuses(value)):
                raise EventError(f"{trigger} takes {id}.{name} to {value:.6g}; it must be {allowed}", t=t)

    @functools.cached_property
    def _status(self) -> dict[int, str]:
        """Where in Z the status of an instance is, and whose it is."""
        return {int(at): self.layout.instances[i].id for g in self.layout.groups
                for i, at in zip(g.members, self.layout.of_group(g, "status"), strict=True)}
