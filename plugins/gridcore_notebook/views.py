"""What a notebook shows of a case, a system, a run, and of what many runs found: HTML without style or script."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

from gridcore_verbs.about import events, models
from gridcore_verbs.tables import Table

if TYPE_CHECKING:
    from gridcore.case import Case
    from gridcore.equilibrium import Equilibrium
    from gridcore.results import Run
    from gridcore_estimation.fit import Fit
    from gridcore_optimisation.critical import Critical
    from gridcore_optimisation.result import Optimum
    from gridcore_smallsignal.modes import Modes
    from gridcore_sweep.table import Table as Sweep
    from gridcore_tables.summary import Summary

_MODES = _SCENARIOS = 20  # more than these are told in numbers


def table(shown: Table) -> str:
    """A table with its headings."""
    head = "".join(f"<th>{escape(heading)}</th>" for heading in shown.columns)
    rows = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in shown.cells())
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def lines(shown: Iterable[tuple[str, str]]) -> str:
    """Headings and texts in two columns."""
    rows = "".join(f"<tr><th>{escape(heading)}</th><td>{escape(text)}</td></tr>" for heading, text in shown)
    return f"<table><tbody>{rows}</tbody></table>"


def _titled(title: str, *parts: str) -> str:
    return f"<div><strong>{escape(title)}</strong>{''.join(parts)}</div>"


def case(shown: Case) -> str:
    """Title, models, and what happens in it."""
    title = f"{shown.name}: {shown.title}" if shown.title else shown.name
    happens = events(shown)
    return _titled(title, table(models(shown)), table(happens) if happens.columns["event"] else "")


def system(shown: Equilibrium) -> str:
    """Size, power flow and initial state."""
    from gridcore_verbs.summary import describe_system

    return lines(describe_system(shown))


def run(shown: Run) -> str:
    """The summary that ``gridcore run`` ends with."""
    from gridcore_verbs.summary import describe_run

    return _titled(repr(shown), lines(describe_run(shown)))


def summary(shown: Summary) -> str:
    """What came of a run."""
    return lines(shown.lines)


def modes(shown: Modes) -> str:
    """The modes that are damped least."""
    from gridcore_smallsignal.report import mode_table

    return _titled(repr(shown), table(mode_table(shown, _MODES)))


def fit(shown: Fit) -> str:
    """Parameters with their intervals, and what a reader should know of them."""
    notes = "".join(f"<p>{escape(remark)}</p>" for remark in shown.remarks())
    return _titled(f"fit by {shown.method}: {shown.iterations} iterations, {shown.message}", table(shown.table()),
                   notes)


def optimum(shown: Optimum) -> str:
    """Objective, parameters, and limits where there are any."""
    from gridcore_optimisation.report import limits, parameters

    return _titled(f"objective {shown.start:.9g} to {shown.value:.9g}: {shown.iterations} iterations, {shown.message}",
                   table(parameters(shown)), table(limits(shown)) if len(shown.constraints) else "")


def critical(shown: Critical) -> str:
    """The value, and how it was found."""
    from gridcore_optimisation.report import attempts

    return _titled(repr(shown), table(attempts(shown)))


def sweep(shown: Sweep) -> str:
    """The worst scenarios."""
    more = f", the worst {_SCENARIOS} shown" if len(shown) > _SCENARIOS else ""
    return _titled(f"{shown.title}: {len(shown)} scenarios{more}", table(shown.worst(_SCENARIOS)))
