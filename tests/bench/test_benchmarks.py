"""Every benchmark runs, in short form. What it measures fails no test: a busy machine changes any ratio of times."""

from math import inf

import pytest

from . import eig, ida, kernels, scale, sensitivities, startup, step, suite, sweep, unknowns, wecc
from .ratios import Ratio, best

SHORT = {
    "kernels": lambda: kernels.measure(rounds=1, counts=(10, 50)),
    "imports": lambda: startup.imports(rounds=1),
    "commands": lambda: startup.commands(rounds=1),
    "step": lambda: step.measure(rounds=1),
    "suite": lambda: suite.measure(rounds=1, most=118),
    "sensitivities": lambda: sensitivities.measure(rounds=1, forward_rounds=1),
    "sweep": lambda: sweep.two_against_one({"faults": ["1", "2"]}, t_end=0.5),
    "eig": lambda: eig.against_dense(rounds=1),
    "scale": lambda: scale.measure(("case118", "case2869pegase"), rounds=1),
    "unknowns": lambda: list(unknowns.measure(rounds=1, t_end=1.2, most=118)),
    "wecc": lambda: list(wecc.measure(rounds=1, t_end=1.2)),
}


@pytest.mark.parametrize("name", SHORT)
def test_it_measures(name):
    ratios = SHORT[name]()
    assert ratios
    assert all(0 < ratio.value < inf for ratio in ratios)


def test_ida_and_its_root_findings_are_measured():
    pytest.importorskip("scikits_odes_sundials.ida", reason="run ./setup.sh ida")
    [against_theta] = ida.against_theta(rounds=1, steps=(ida.GRID,))
    [roots] = ida.root_findings(rounds=1, names=("wscc9_paper",))
    assert 0 < against_theta.value < inf
    assert 0 < roots.value < inf


def test_of_errors_that_rise_again_only_the_last_good_ones_count():
    assert ida.equal_accuracy([5.0, 0.9, 2.0, 0.8, 0.1], 1.0) == 3
    with pytest.raises(ValueError, match="no tolerance"):
        ida.equal_accuracy([0.1, 2.0], 1.0)


def test_a_missed_target_is_told():
    assert "MISSED" in str(Ratio("what", 2.0, 1.0))
    assert "MISSED" not in str(Ratio("what", 1.0, 1.0))


def test_functions_are_timed_in_turn_and_the_best_counts():
    clock = iter([0, 3, 3, 4, 4, 5, 5, 7]).__next__
    assert best(lambda: None, lambda: None, rounds=2, clock=clock) == [1, 1]
