"""What a notebook shows of a case, a system, a run, modes: HTML without style or script of its own."""

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
    from gridcore_smallsignal.modes import Modes
    from gridcore_tables.summary import Summary

_MODES = 20  # more than these are told in numbers


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
