"""What a notebook shows of a case, a system, a run, and of what many runs found: HTML without style or script."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from gridcore_verbs.about import events, models
from gridcore_verbs.tables import Table

if TYPE_CHECKING:
    import pandas as pd

    from gridcore.case import Case
    from gridcore.equilibrium import Equilibrium
    from gridcore.results import Run
    from gridcore_dense.instants import Instants
    from gridcore_estimation.fit import Fit
    from gridcore_estimation.identifiability import Identifiability
    from gridcore_optimisation.critical import Critical
    from gridcore_optimisation.result import Optimum
    from gridcore_rotors.rotors import Rotors
    from gridcore_smallsignal.linearisation import Linearisation
    from gridcore_smallsignal.locus import Locus
    from gridcore_smallsignal.modes import Modes
    from gridcore_sweep.table import Table as Sweep
    from gridcore_tables.power_flow import PowerFlow
    from gridcore_tables.summary import Summary

_MODES = _SCENARIOS = _ROWS = 20  # more than these are told in numbers


def table(shown: Table) -> str:
    """A table with its headings."""
    head = "".join(f"<th>{escape(heading)}</th>" for heading in shown.columns)
    rows = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in shown.cells())
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def lines(shown: Iterable[tuple[str, str]]) -> str:
    """Headings and texts in two columns."""
    rows = "".join(f"<tr><th>{escape(heading)}</th><td>{escape(text)}</td></tr>" for heading, text in shown)
    return f"<table><tbody>{rows}</tbody></table>"


def _frame(shown: pd.DataFrame, what: str) -> str:
    """The first rows of a table of pandas, its index among them, and how many more there are."""
    rows = shown.head(_ROWS).reset_index()
    texts = {str(heading): [f"{value:.6g}" if isinstance(value, float) else str(value) for value in rows[heading]]
             for heading in rows}
    more = f"<p>{len(shown)} {what}, the first {_ROWS} shown</p>" if len(shown) > _ROWS else ""
    return table(Table(texts)) + more


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


def power_flow(shown: PowerFlow) -> str:
    """Buses and branches."""
    return _titled(repr(shown), _frame(shown.buses, "buses"), _frame(shown.branches, "branches"))


def locus(shown: Locus) -> str:
    """Of each mode where its damping ratio is least; where there is no equilibrium, why."""
    ratio = np.where(np.isnan(shown.damping_ratio), np.inf, shown.damping_ratio)
    flat, size = ratio.reshape(-1, ratio.shape[-1]), len(shown.dominant)
    least = np.argmin(flat, axis=0)
    order = np.argsort(flat[least, np.arange(size)], kind="stable")[:_MODES]
    places = [np.unravel_index(k, ratio.shape[:-1]) for k in least[order]]
    values = [shown.eigenvalues[(*place, mode)] for place, mode in zip(places, order, strict=True)]
    told = Table({
        "dominant state": [shown.dominant[mode] for mode in order],
        "least damping ratio": [f"{flat[least[mode], mode]:.4f}" for mode in order],
        "eigenvalue there [1/s]": [f"{value:.4f}" for value in values],
        **{f"{name} [{unit}]" if unit else name: [f"{grid[place[k]]:g}" for place in places]
           for k, (name, unit, grid) in enumerate(zip(shown.parameters, shown.units, shown.values, strict=True))}})
    failed = "".join(f"<p>{escape(why)}</p>" for why in dict.fromkeys(shown.failures.values()))
    return _titled(repr(shown), table(told), failed)


def rotors(shown: Rotors) -> str:
    """Whether machines stay together; of each how far its angle goes, and its speed."""
    angle, speed = np.degrees(shown.relative), np.where(shown.in_service, shown.omega, np.nan)
    ever = np.flatnonzero(shown.in_service.any(axis=0))
    order = ever[np.argsort(-np.nanmax(np.abs(angle[:, ever]), axis=0, initial=0.0), kind="stable")][:_ROWS]
    parted = [("parted", ", ".join(shown.parted))] if shown.parted else []
    spread = f"{np.degrees(np.max(shown.spread, initial=0.0)):.1f} degrees"
    told = {"machine": [shown.devices[k] for k in order]} | {
        heading: [f"{of(values[:, k]):.{digits}f}" for k in order]
        for heading, of, values, digits in (
            ("least angle [deg]", np.nanmin, angle, 1), ("largest angle [deg]", np.nanmax, angle, 1),
            ("least speed [pu]", np.nanmin, speed, 5), ("largest speed [pu]", np.nanmax, speed, 5))}
    return _titled(f"{len(shown.devices)} rotors: {shown.verdict}", lines([("apart at most", spread), *parted]),
                   table(Table(told)))


def identifiability(shown: Identifiability) -> str:
    """What each parameter does to the samples, and what they do not determine."""
    return _titled(repr(shown), table(shown.table()), *(f"<p>{escape(line)}</p>" for line in shown.unidentifiable()))


def linearisation(shown: Linearisation) -> str:
    """The states, by device."""
    states: dict[str, list[str]] = {}
    for device, name in shown.states:
        states.setdefault(device, []).append(name)
    more = [("", f"and {len(states) - _ROWS} more devices")] if len(states) > _ROWS else []
    return _titled(repr(shown), lines([*((d, ", ".join(of)) for d, of in list(states.items())[:_ROWS]), *more]))


def instants(shown: Instants) -> str:
    """When, and what is known there."""
    from gridcore_tables.signals import signals

    when = f"{shown.t[0]:g} to {shown.t[-1]:g} s" if len(shown.t) else ""
    told = [("times", when)]
    for signal in signals(shown.system, run=shown):
        devices = ", ".join(signal.devices[:_ROWS]) + (", ..." if len(signal.devices) > _ROWS else "")
        told.append((f"{signal.quantity} [{signal.unit}]" if signal.unit else signal.quantity, devices))
    return _titled(repr(shown), lines(told))
