"""What any objective must show: a finite number, its derivatives, and an error where it has none."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from gridcore import Case, Run, adjoint, build, differences, simulate
from gridcore.equilibrium import Equilibrium
from gridcore.errors import GridcoreError
from gridcore.sensitivity import Objective, Partials, evaluate
from gridcore.tape import InMemory
from gridcore.testing import NotExamined, Suite, Wrong, require

STEP = 1e-6  # by which variables are moved, relative to their size
PARTIAL = 1e-6  # accuracy of differences of one number by so much
DERIVED = 1e-5  # accuracy of gc.differences across events


@dataclass
class Subject:
    """An objective, and a run that it is a number of."""

    objective: Objective
    run: Run
    wrt: Any

    @property
    def name(self) -> str:
        """What errors call it."""
        return self.objective.name or "objective 1"

    @cached_property
    def partials(self) -> Partials:
        """Its derivatives in variables at the points of the run."""
        partials = self.objective.weights(self.run)
        variable = partials.at < self.run.system.n
        return Partials(partials.at[variable], partials.points[:, variable])

    def moved(self, by: np.ndarray) -> Run:
        """The run with its variables, (points, n), moved."""
        run, states = self.run, InMemory(self.run.system.n)
        for X in run.X + by:
            states.append(X)
        return Run(run.system, replace(run.tape, states=states), run.settings, run.counters, run.timings)


@contextmanager
def subject(objective: Objective | Callable[[Equilibrium], Objective], case: str | Case, wrt: Any, t_end: float = 1.0,
            **how: Any) -> Iterator[Subject]:
    """An objective, or what makes one for a system; and a case to simulate, with parameters to differentiate in."""
    run = simulate(build(case), t_end, **how)
    yield Subject(objective if isinstance(objective, Objective) else objective(run.system), run, wrt)


objective_checks = Suite(subject)


@objective_checks.add("value")
def valued(subject: Subject) -> str:
    """A finite number, the same whenever it is asked, alone and among others."""
    value = subject.objective.value(subject.run)
    require(isinstance(value, float) and np.isfinite(value), f"value(run) is {value!r}: it must be a finite float")
    require(subject.objective.value(subject.run) == value, "value(run) is another when it is asked again")
    among = evaluate(subject.run, [subject.objective, -2.0 * subject.objective]).values
    require(np.allclose(among, [value, -2.0 * value], rtol=1e-13), f"among others {value} is {among[0]}")
    return f"{value:.6g}"


@objective_checks.add("partials", "value")
def partial(subject: Subject) -> str:
    """Its derivatives in variables of the run are those of its value, all together in random directions."""
    rng, worst = np.random.default_rng(0), 0.0
    at, points = subject.partials.at, subject.partials.points
    require(points.shape == (len(subject.run.t), len(at)), f"weights(run).points has the shape {points.shape}, not "
                                                           f"{(len(subject.run.t), len(at))}: (points, entries)")
    for _ in range(3):
        by = STEP * (1.0 + np.abs(subject.run.X)) * rng.choice([-1.0, 1.0], subject.run.X.shape)
        found = (points * by[:, at]).sum()
        expected = (subject.objective.value(subject.moved(by)) - subject.objective.value(subject.moved(-by))) / 2
        size = max(np.abs(points * by[:, at]).sum(), abs(expected))
        error = abs(found - expected) / size if size else 0.0
        require(error <= PARTIAL, f"in a random direction its value moves by {expected:.8g}, by weights(run) it is "
                                  f"{found:.8g}")
        worst = max(worst, float(error))
    return f"those of the value to {worst:.0e}"


@objective_checks.add("not finite", "value")
def not_finite(subject: Subject) -> str:
    """A variable that is not a number, where it matters the most: an error that names the objective."""
    weights = np.abs(subject.partials.points)
    if not weights.any():
        raise NotExamined("it depends on no variable")
    point, entry = np.unravel_index(int(weights.argmax()), weights.shape)
    by = np.zeros_like(subject.run.X)
    by[point, subject.partials.at[entry]] = np.nan
    try:
        found = evaluate(subject.moved(by), [subject.objective]).values[0]
    except GridcoreError as error:
        require(subject.name in str(error), f"of a run with nan in it, '{subject.name}' is not in the error: {error}")
        return "an error that names it"
    raise Wrong(f"of a run with nan in it the value is {found}, without a word")


@objective_checks.add("derivatives", "partials")
def derived(subject: Subject) -> str:
    """The adjoint is what differences of the whole program say: its parts in the times of points are right, too."""
    exact = adjoint(subject.run, subject.objective, subject.wrt)
    checked = differences(subject.run, subject.objective, subject.wrt).values[0]
    error = np.abs(exact.values[0] - checked) / (np.abs(checked).max() or 1.0)
    worst = int(error.argmax())
    require(error[worst] <= DERIVED, f"in {exact.parameter.values[worst]}: {exact.values[0, worst]:.8g}, by "
                                     f"differences {checked[worst]:.8g}")
    return f"those of differences to {error[worst]:.0e}, in {len(error)} parameters"


@objective_checks.add("pickle", "value")
def pickled(subject: Subject) -> str:
    """It can be sent to another process."""
    try:
        other = pickle.loads(pickle.dumps(subject.objective))
    except Exception as error:
        raise Wrong(f"it cannot be pickled, as functions of a module can: {type(error).__name__}: {error}") from None
    require(other.value(subject.run) == subject.objective.value(subject.run), "out of a pickle it has another value")
    return "the same value"
