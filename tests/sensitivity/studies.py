"""What the tests of sensitivities have in common: a study, its run, its oracle, and their comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from equations import derivative
from oracle import Oracle
from rules import BdfRule, Rule, ThetaRule, TrBdf2Rule

import gridcore as gc
from gridcore.sensitivity import Integral, Objective, Sampled, Terminal
from gridcore.tape import finest

EXACT = 1e-10  # against the complex step
SAME = 1e-12  # adjoint against forward
CANCELS = 1e-11  # the same of what is small because larger numbers cancel: relative to the largest of its parameter


@dataclass
class Study:
    """A case, how it is run, what is asked, and the events without which it would not show what it should.

    ``must`` holds ``device.item`` and, for delays, ``device.item:delay started`` or ``:cancelled``, in order.
    """

    case: gc.Case
    t_end: float
    step: float | str
    wrt: Sequence[str]
    quantities: Sequence[tuple[str, str]]
    must: Sequence[str] = ()
    theta: float = 0.5
    method: str = "theta"
    start: int = 1
    changes: Sequence[tuple[float, int]] = ()
    dispatch: str = "power flow"
    times: Sequence[float] = ()
    system: Any = field(default=None, repr=False)
    run: Any = field(default=None, repr=False)

    def simulate(self) -> Any:
        """The run, made once."""
        if self.run is None:
            self.system = gc.build(self.case)
            self.run = gc.simulate(self.system, self.t_end, self.step, self.method, **self.options())
        return self.run

    def options(self) -> dict[str, Any]:
        """Of the method."""
        return {"theta": {"theta": self.theta}, "trbdf2": {},
                "bdf": {"start": self.first, "order": [(0.0, 5), *self.changes]}}[self.method]

    @property
    def first(self) -> int:
        """The order of a first step of BDF: as it is by default where steps are chosen."""
        return 2 if self.step == "auto" else self.start

    def oracle(self, run: Any) -> Oracle:
        """The same on complex numbers; steps that were chosen by their error are given."""
        chosen = run.t[run.tape.mesh()] if self.step == "auto" else None
        direct = self.dispatch == "direct"
        return Oracle(self.case, self.wrt, self.t_end, finest(self.step), self.rule(), direct, chosen)

    def rule(self) -> Rule:
        """A step of the method, for the oracle."""
        return {"theta": lambda: ThetaRule(self.theta), "trbdf2": TrBdf2Rule,
                "bdf": lambda: BdfRule(start=self.first, changes=self.changes)}[self.method]()

    def objectives(self) -> list[Objective]:
        """Of each quantity the end, an integral and samples; and a weighted sum of all kinds."""
        times = self.times or self.t_end * np.array([0.137, 0.4713, 0.9127])
        out: list[Objective] = []
        for q in self.quantities:
            out += [Terminal(lambda v, q=q: v[q]), Integral(lambda v, q=q: v[q] * v[q]),
                    Sampled(times, lambda v, q=q: v[q], data=0.3, weights=np.arange(1.0, 1.0 + len(times)))]
        first, last = self.quantities[0], self.quantities[-1]
        everything = (2.0 * Integral(lambda v: v[first] * v[last])
                      + 0.5 * Sampled(times, lambda v: np.sin(v[first])) + -3.0 * Terminal(lambda v: v[last] ** 2))
        return [*out, everything]


def words(events: Any) -> list[str]:
    """Events as ``device.item`` with their kind where it is not a switch."""
    return [f"{e.device}.{e.item}" + ("" if e.kind == "switch" else f":{e.kind}") for e in events]


def within(found: np.ndarray, true: np.ndarray, relative: float, floor: np.ndarray) -> None:
    """Entry by entry, but for the round-off of what cancels."""
    allowed = relative * np.abs(true) + floor
    error = np.abs(found - true)
    worst = np.unravel_index(np.argmax(error - allowed), error.shape)
    assert (error <= allowed).all(), (
        f"entry {worst}: {found[worst]!r} for {true[worst]!r}, off by {error[worst]:.3g}, allowed {allowed[worst]:.3g}")


def compare(study: Study) -> None:
    """Trajectory and events as the oracle's; forward and adjoint sensitivities its complex step, and each other."""
    run = study.simulate()
    oracle = study.oracle(run)
    happened = iter(words(run.events))
    for event in study.must:
        assert event in happened, f"{event} is missing or out of order: {words(run.events)}"
    assert words(run.events) == words(oracle.events)
    assert len(run.t) == len(oracle.t)
    instants, near = [e.t[0].real for e in oracle.events], 1e-11 if study.method != "bdf" else 3e-11
    np.testing.assert_allclose([e.t for e in run.events], instants, rtol=0, atol=near)
    np.testing.assert_allclose(run.t, [t[0].real for t in oracle.t], rtol=0, atol=near)
    order = [oracle.e.row[name] for name in run.system.variables]
    # both programs know the instant of an event to round-off over its crossing speed; what is quick changes with it
    moved = max((abs(e.t - instant) for e, instant in zip(run.events, instants, strict=True)), default=0.0)
    h = np.diff(run.t)
    speed = np.abs(np.diff(run.X, axis=0)[h > 0] / h[h > 0, None]).max(axis=0)
    size = 1 + np.abs(oracle.X[:, order]) + moved * speed / 1e-11
    # bdf divides points, with their round-off, by distances: what slopes are off by adds up along the run
    same = 3e-11 if study.method != "bdf" else max(3e-11, 1e-13 * study.t_end / h[h > 0].min())
    assert np.max(np.abs(run.X - oracle.X[:, order]) / size) < same

    slopes = np.array([derivative(Z[: oracle.e.n]) for Z, _ in oracle.points])
    largest = np.abs(slopes).max(axis=(0, 1))
    fastest = np.abs(np.diff(slopes, axis=0)[h > 0] / h[h > 0, None, None]).max(axis=(0, 1))
    # some roundings of what is of size one; twice the chord's rate, which is not the largest between two points
    floor = 1e-15 + CANCELS * largest + 2 * moved * fastest
    if study.method == "bdf":  # in whose derivatives in time the points, with their round-off, are divided by distances
        floor = floor + 30 * np.abs(run.X - oracle.X[:, order]).max() / h[h > 0].min()
    states = [name for name, kept in zip(run.system.variables, run.system.base_differential) if kept]
    forward = gc.analyses.tsa(run, study.wrt, [*study.quantities, *states], dispatch=study.dispatch).values
    true = np.array([derivative(oracle.signal(lambda v, q=q: v[q])) for q in study.quantities])
    count = len(study.quantities)
    within(forward[:, :count], true.transpose(1, 0, 2), EXACT, floor)
    within(forward[:, count:], slopes[:, [oracle.e.row[s] for s in states]], EXACT, floor)

    objectives = study.objectives()
    table = gc.adjoint(run, objectives, study.wrt, dispatch=study.dispatch)
    values = oracle.values(objectives)
    as_states = same / 3e-11
    np.testing.assert_allclose(table.value, values[:, 0].real, rtol=1e-10 * as_states, atol=1e-11 * as_states)
    within(table.values, derivative(values), EXACT, 10 * floor)
    ends = table.values[: 3 * count: 3]
    # of bdf both are off by round-off of points over their distances, 5e-11 where a ball bounces, apart by a part of it
    same = 20 * SAME if study.method == "bdf" else SAME
    within(ends, forward[-1, :count], same, 1e-16 + same * largest)
