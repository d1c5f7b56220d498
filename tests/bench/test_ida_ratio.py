"""IDA against theta at equal accuracy, in short form."""

import inspect

import pytest

from gridcore_ida.stepper import ROOTFINDING, Ida

from . import ida

pytestmark = pytest.mark.bench


def test_ida_costs_a_few_times_what_theta_does():
    pytest.importorskip("scikits_odes_sundials.ida", reason="run ./setup.sh ida")
    [ratio] = ida.against_theta(rounds=5, steps=(ida.GRID,))
    assert ratio.value < ida.TARGET


def test_the_default_root_finding_is_the_faster_one():
    pytest.importorskip("scikits_odes_sundials.ida", reason="run ./setup.sh ida")
    default = ROOTFINDING.index(inspect.signature(Ida).parameters["rootfinding"].default)
    times = [cost.times for cost in ida.costs(names=("wscc9_paper", "ieee118", "npcc140"))]
    total = [sum(column) for column in zip(*times, strict=True)]
    assert total[default] == min(total)


def test_of_errors_that_rise_again_only_the_last_good_ones_count():
    assert ida.equal_accuracy([5.0, 0.9, 2.0, 0.8, 0.1], 1.0) == 3
    with pytest.raises(ValueError, match="no tolerance"):
        ida.equal_accuracy([0.1, 2.0], 1.0)
