"""The checks of jump rules: the bundled ones pass; one that is wrong in one way fails the check of that."""

from __future__ import annotations

import numpy as np
import pytest

from gridcore.registry import jump_rules
from gridcore.sensitivity import Discrete
from gridcore.testing import jump_rule_checks


@jump_rule_checks(Discrete())
def test_the_exact_rule_conforms(check):
    check()


def test_every_registered_rule_is_well_and_the_report_says_how_near_it_is():
    for name, words in (("discrete", "that of differences to"), ("continuous", "tends to that of differences")):
        report = jump_rule_checks.report(jump_rules[name].rule)
        assert report.ok, report
        assert words in str(report)


class OneSided(Discrete):
    """Its tangent is not what its transpose is the transpose of."""

    def step(self, operator, dX, dP, dT0, dT1):
        X, T = super().step(operator, dX, dP, dT0, dT1)
        return X, T * 1.001


class Fixed(Discrete):
    """Events stay where they are, whatever the parameters."""

    moving = False

    def step(self, operator, dX, dP, dT0, dT1):
        still = np.zeros_like(dT0)
        return operator.forward(dX, dP, still, still), still

    def step_transpose(self, operator, aX, aP, aT1):
        return operator.transpose(aX, aP)[0], np.zeros_like(aT1), np.zeros_like(aT1)


class Shifting(Discrete):
    """It moves points with their clocks, and the state along its trajectory, too."""

    def shift(self, points, k):
        return points.slope(k)


@pytest.mark.parametrize(("rule", "failing", "words"), [
    (OneSided(), "transpose", "differ by"), (Fixed(), "derivatives", "not nearer"),
    (Shifting(), "derivatives", "by differences")])
def test_what_is_wrong_fails_the_check_of_that_name(rule, failing, words):
    (problem,) = jump_rule_checks.report(rule).problems
    assert problem.startswith(f"{failing}: ")
    assert words in problem
