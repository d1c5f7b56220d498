"""Every benchmark runs, in short form. What it measures fails no test: a busy machine changes any ratio of times."""

from math import inf

import pytest

import gridcore as gc

from . import chosen, eig, ida, kernels, large, scale, sensitivities, startup, step, suite, sweep, unknowns, wecc
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
    "chosen": lambda: [chosen.against_ieee118(rounds=1, t_end=1.2)],
    "large": lambda: list(large.measure("ieee39", t_end=1.3)),
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


def test_chosen_steps_are_compared_with_fixed_ones_at_their_error():
    system = gc.build("wscc9")
    true = [gc.simulate(system, t, 1e-3).X[-1] for t in (0.3, 0.5)]
    options = {"step": "auto", "method": "bdf", "rtol": 1e-3, "atol": 1e-5}
    ratio = chosen.Problem("wscc9", system, (0.3, 0.5), true, (0.02, 0.01), options, 1.0, rounds=1).ratio()
    assert 0 < ratio.value < inf
    assert "fixed steps at an error of" in ratio.what


@pytest.mark.parametrize("h", [0.3, 0.1, 0.05, 0.012, 0.003])
def test_the_time_at_an_error_is_on_the_line_through_fixed_steps(h):
    steps = (0.1, 0.05, 0.025, 0.0125)
    errors, times = [2 * step**2 for step in steps], [0.3 / step**0.8 for step in steps]
    assert chosen.at_equal_error(2 * h**2, errors, times) == pytest.approx(0.3 / h**0.8)


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
