"""Objectives that have no value or no derivative: an error that says which, of what and when; never a number."""

import math
import warnings

import numpy as np
import pytest

import gridcore as gc
from gridcore.errors import CaseError


@pytest.fixture(scope="module")
def run():
    return gc.simulate(gc.build("wscc9"), t_end=0.3)


def slip(v):
    return v["GEN2", "omega"] - 1.0


DERIVE = [lambda run, objective: gc.adjoint(run, objective, "GEN2.H"),
          lambda run, objective: gc.analyses.forward_gradient(run, objective, "GEN2.H")]


@pytest.mark.parametrize(("error", "said"), [(ValueError("first\nsecond"), r"\(first\)$"),
                                             (ValueError(), r"\(ValueError\)$")])
def test_of_what_goes_wrong_in_a_function_the_first_line_is_told_or_its_kind(run, error, said):
    def fails(v):
        raise error

    with pytest.raises(CaseError, match=said):
        gc.adjoint(run, gc.Terminal(fails), "GEN2.H")


@pytest.mark.parametrize("derive", DERIVE)
@pytest.mark.parametrize(("function", "words"), [
    (lambda v: math.sin(slip(v)), "a number is asked for, by float or math"),
    (lambda v: float(slip(v)), "a number is asked for, by float or math"),
    (lambda v: slip(v) * np.nan, "has nan in it"),
    (lambda v: 1.0 if slip(v) > 0 else 0.0, "np.where for if"),
    (lambda v: max(slip(v), 0.0), "np.maximum for max"),
    (lambda v: [slip(v), slip(v)], "one number as result"),
    (lambda v: np.array([slip(v), slip(v)]), "gives 2 values: it gives one"),
    (lambda v: None, "one number as result")])
def test_what_cannot_be_traced_is_told_in_words(run, derive, function, words):
    with pytest.raises(CaseError, match=words) as caught:
        derive(run, gc.Terminal(function))
    assert "test_objectives_that_fail.py" in str(caught.value)


@pytest.mark.parametrize("derive", DERIVE)
@pytest.mark.parametrize(("function", "words"), [
    (lambda v: np.sqrt(slip(v)), r"size: its derivative in GEN2\.omega is inf at 0 s"),
    (lambda v: np.log(slip(v)), "size: its value is -inf at 0 s"),
    (lambda v: 1.0 / slip(v), "size: its value is inf at 0 s"),
    (lambda v: np.log(slip(v) - 1.0), "size: its value is nan at 0 s")])
def test_a_value_or_derivative_that_is_not_finite_is_refused_with_quantity_and_time(run, derive, function, words):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(CaseError, match=words):
            derive(run, [gc.Terminal(slip), gc.Integral(function, name="size")])


@pytest.mark.parametrize("derive", DERIVE)
def test_one_without_a_name_is_told_by_its_number_from_one(run, derive):
    with pytest.raises(CaseError, match=r"^objective 2: its value is inf at 0 s"):
        derive(run, [gc.Terminal(slip), gc.Integral(lambda v: 1.0 / slip(v)), gc.Terminal(slip)])


@pytest.mark.parametrize("function", [
    lambda v: np.sqrt(slip(v)), lambda v: np.log(slip(v)), lambda v: 1.0 / slip(v)])
def test_where_the_weight_is_zero_it_does_not_matter(run, function):
    """At t0 none of these has a derivative; at the end all have."""
    found = gc.adjoint(run, gc.Terminal(function), "GEN2.H").item()
    end = run["GEN2", "omega"][-1]
    h = 1e-6
    slope = (function({("GEN2", "omega"): end + h}) - function({("GEN2", "omega"): end - h})) / (2 * h)
    assert found == pytest.approx(slope * gc.adjoint(run, gc.Terminal(slip), "GEN2.H").item(), rel=1e-6)


def test_data_that_are_not_finite_are_counted(run):
    """A measurement has holes, as nan; the weights of what is there do not make up for them."""
    data = [1.0, np.nan, 1.0, np.inf, 1.0]
    with pytest.raises(CaseError, match="the data of a sampled objective have 2 values that are not finite"):
        gc.adjoint(run, gc.Sampled(np.linspace(0.1, 0.2, 5), lambda v: v["GEN2", "omega"], data), "GEN2.H")


class Broken(gc.Objective):
    """A kind of one's own whose derivative is not a number."""

    name = "broken"

    def value(self, run):
        return 1.0

    def weights(self, run):
        from gridcore.sensitivity import Partials

        points = np.zeros((len(run.t), 1))
        points[3] = np.nan
        return Partials(np.array([run.system.layout.address("GEN2.omega")]), points)

    def clocks(self, run, moving=True):
        return {}


def test_kinds_of_ones_own_are_held_to_the_same(run):
    with pytest.raises(CaseError, match=r"broken: its derivative in GEN2\.omega is nan at 0\.03 s"):
        gc.adjoint(run, Broken(), "GEN2.H")
