"""Events above the panels: a label for each instant, thin lines down through all panels, nothing overlapping."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from gridcore.results import Event

if TYPE_CHECKING:
    from gridcore.results import Run

ROWS = 8
_NAMED = 2


@dataclass(frozen=True)
class Instant:
    """All that happened at one time.

    Attributes
    ----------
    t : float
    lines : tuple of str
        What, in words.
    planned : bool
        Whether an event of the study is among them: those are always labelled.
    """

    t: float
    lines: tuple[str, ...]
    planned: bool


def instants(run: Run) -> list[Instant]:
    """The events of a run, grouped by time."""
    timers = {(trigger.device, trigger.item) for trigger in run.system.switching.timers}
    out = []
    for t, group in groupby(run.events, key=lambda event: event.t):
        events = list(group)
        out.append(Instant(t, _lines(events), any((e.device, e.item) in timers for e in events)))
    return out


def _lines(events: Sequence[Event]) -> tuple[str, ...]:
    """One line for each thing that happened, naming the places while they are few."""
    places: dict[str, list[str]] = {}
    for event in events:
        what = event.words.removeprefix(f"{event.place}: ")
        places.setdefault(what, []).append(event.place)
    return tuple(f"{', '.join(where)}: {what}" if len(where) <= _NAMED else f"{len(where)} devices: {what}"
                 for what, where in places.items())


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
