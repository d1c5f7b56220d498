"""Events above the panels: a label for each instant, thin lines down through all panels, nothing overlapping."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

from gridcore.results import Event

if TYPE_CHECKING:
    from gridcore.results import Run

ROWS = 8
_NAMED = 2  # devices, or kinds of what happens: of more it is said how many
_APART = 2  # instants of limits and relays between two events of the study that have labels of their own


@dataclass(frozen=True)
class Instant:
    """All that happened at one time; or what limits and relays did between two events of the study, as one.

    Attributes
    ----------
    t : float
        The first time.
    lines : tuple of str
        What, in words.
    planned : bool
        Whether it is of the study: those are always labelled.
    also : tuple of float
        Later times that the words are of, too.
    """

    t: float
    lines: tuple[str, ...]
    planned: bool
    also: tuple[float, ...] = ()


def instants(run: Run, fold: bool = True) -> list[Instant]:
    """The events of a run, in order, those of the study apart from what limits and relays did.

    Parameters
    ----------
    run : Run
    fold : bool
        Where limits and relays act at more than two instants between two events of the study, those are one.
    """
    timers = {(trigger.device, trigger.item) for trigger in run.system.switching.timers}
    out: list[Instant] = []
    between: list[Event] = []

    def close() -> None:
        apart = [list(group) for _, group in groupby(between, key=lambda event: event.t)]
        if fold and len(apart) > _APART:
            times = [group[0].t for group in apart]
            out.append(Instant(times[0], _folded(between), False, tuple(times[1:])))
        else:
            out.extend(Instant(group[0].t, _lines(group), False) for group in apart)
        between.clear()

    for t, group in groupby(run.events, key=lambda event: event.t):
        events = list(group)
        study = [event for event in events if (event.device, event.item) in timers]
        if study:
            close()
            out.append(Instant(t, _lines(study), True))
        between.extend(event for event in events if (event.device, event.item) not in timers)
    close()
    return out


def common(runs: Mapping[str, Run]) -> list[Instant]:
    """The events of several runs, in order; behind what not all of them have stands whose it is."""
    found: dict[Instant, list[str]] = {}
    for name, run in runs.items():
        for mark in instants(run):
            found.setdefault(mark, []).append(name)
    told = [mark if len(who) == len(runs) else
            replace(mark, lines=tuple(f"{line} ({', '.join(who)})" for line in mark.lines))
            for mark, who in found.items()]
    return sorted(told, key=lambda mark: mark.t)


def _lines(events: Sequence[Event]) -> tuple[str, ...]:
    """One line for each thing that happened, naming the places while they are few."""
    places: dict[str, dict[str, int]] = {}
    for event in events:
        at = places.setdefault(event.words.removeprefix(f"{event.place}: "), {})
        at[event.place] = at.get(event.place, 0) + 1
    return tuple((", ".join(where) if len(where) <= _NAMED else f"{len(where)} devices") + f": {what}"
                 + (f", {sum(where.values())} times" if sum(where.values()) > len(where) else "")
                 for what, where in places.items())


def _folded(events: Sequence[Event]) -> tuple[str, ...]:
    """What happened until when: by kind while the kinds are few, else how much of it."""
    lines = _lines(events)
    if len(lines) > _NAMED:
        devices = list(dict.fromkeys(event.place for event in events))
        who = ", ".join(devices) if len(devices) <= _NAMED else f"{len(devices)} devices"
        lines = (f"{who}: {len(events)} switchings of limits and relays",)
    return (*lines[:-1], f"{lines[-1]} (until {events[-1].t:.4g} s)")


def arrange(found: Sequence[Instant], starts: Sequence[float], widths: Sequence[float]) -> list[int | None]:
    """The row (0 on top) in which each label begins, or None for a label that is left out.

    A label stands to the right of its line, and the line goes down from it: so a later label that an
    earlier one reaches over goes below it, and no line crosses a label.

    Parameters
    ----------
    found : sequence of Instant
        In order of time.
    starts, widths : sequences of float
        Where each label begins and how wide it is, in one unit.
    """
    rows: list[int | None] = []
    for k, instant in enumerate(found):
        over = [row + len(found[i].lines) for i, row in enumerate(rows)
                if row is not None and starts[i] + widths[i] > starts[k]]
        row = max(over, default=0)
        fits = row + len(instant.lines) <= ROWS or (instant.planned and row + len(instant.lines) <= 2 * ROWS)
        rows.append(row if fits else None)
    return rows
