"""The checks of objectives: the bundled ones pass; one that is wrong in one way fails the check of that."""

from __future__ import annotations

import tempfile

import numpy as np
import pytest

import gridcore as gc
from gridcore.sensitivity import Partials
from gridcore.testing import objective_checks

WRT = ["GEN2.H", "fault.clear"]


def grid():
    """The nine buses; without the trip at the instant of clearing, which makes a derivative one-sided."""
    case = gc.load_case("wscc9")
    case.remove("trip")
    return case


def slip(v):
    return v["GEN2", "omega"] - 1.0


@objective_checks(gc.Integral(slip) - 0.1 * gc.Terminal(slip), grid(), WRT, t_end=0.4)
def test_a_sum_conforms(check):
    check()


@pytest.mark.parametrize("objective", [
    gc.Terminal(slip), gc.Integral(slip), gc.Sampled([0.1, 0.333], slip, 1e-3),
    gc.At([0.25], slip, 2.0, name="sample")], ids=lambda o: type(o).__name__)
def test_those_of_gridcore_are_well(objective):
    report = objective_checks.report(objective, grid(), WRT, t_end=0.4)
    assert report.ok, report


def of_a_file(system):
    """The objective of a file, for a system."""
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write('[[objective]]\nkind = "terminal"\nof = "GEN2.omega"\n')
        file.flush()
        return gc.analyses.load_objectives(file.name, system)[0]


@objective_checks(of_a_file, grid(), WRT, t_end=0.3, method="trbdf2",
                  expected_failures={"pickle": "its function is made when the file is read"})
def test_one_of_a_file_conforms(check):
    check()


class Last(gc.Objective):
    """A frequency at the end, halved."""

    def _of(self, run):
        return np.array([run.system.layout.address("GEN2.omega")]), run["GEN2.omega"]

    def value(self, run):
        return float(self._of(run)[1][-1] / 2)

    def weights(self, run):
        at, omega = self._of(run)
        points = np.zeros((len(omega), 1))
        points[-1] = 0.5
        return Partials(at, points)

    def clocks(self, run, moving=True):
        return {}


class Nowhere(Last):
    def value(self, run):
        return float("nan")


class Unsteady(Last):
    count = 0

    def value(self, run):
        self.count += 1
        return super().value(run) + 1e-9 * self.count


class Steep(Last):
    def weights(self, run):
        partials = super().weights(run)
        return Partials(partials.at, 1.001 * partials.points)


class Deaf(Last):
    """It takes what is not a number for one."""

    def value(self, run):
        return float(np.nan_to_num(self._of(run)[1][-1] / 2))


class Unclocked(gc.Integral):
    """The integral, as if its steps did not move with events."""

    def take(self, points, r):
        taken = super().take(points, r)
        taken.clocks = []
        return taken


@pytest.mark.parametrize(("objective", "failing"), [
    (Last(), None), (Nowhere(), "value"), (Unsteady(), "value"), (Steep(), "partials"), (Deaf(), "not finite"),
    (Unclocked(slip), "derivatives"), (gc.Terminal(lambda v: slip(v)), "pickle")],
    ids=lambda value: str(value) if value is None or isinstance(value, str) else type(value).__name__)
def test_what_is_wrong_fails_the_check_of_that_name(objective, failing):
    problems = objective_checks.report(objective, grid(), WRT, t_end=0.3).problems
    assert [words.partition(":")[0] for words in problems] == ([failing] if failing else []), problems
