"""The optimisation studies: solvers agree, limits hold and have the price that is told, derivatives are right."""

from __future__ import annotations

import numpy as np
import pytest
from scripts import script

import gridcore as gc

redispatch, tuning = script("study_redispatch"), script("study_tuning")


@pytest.mark.parametrize("study", [redispatch.STUDIES[0], pytest.param(redispatch.STUDIES[1], marks=pytest.mark.slow)],
                         ids=lambda s: s.title)
def test_redispatch_meets_its_limit_and_solvers_agree(study):
    found = {method: study.solve(method) for method in redispatch.METHODS}
    for optimum in found.values():
        assert optimum.success
        assert optimum.constraints.item() <= 0.2 * study.before * (1 + 1e-6)
        assert optimum.optimality < 1e-6
    values = [optimum.value for optimum in found.values()]
    assert max(values) - min(values) < 1e-7 * max(values)


def test_the_price_of_the_frequency_limit_is_its_multiplier():
    nine = redispatch.STUDIES[0]
    found, limit = nine.solve("SLSQP"), nine.part * nine.before
    others = (redispatch.Study(nine.title, nine.name, nine.part * factor) for factor in (1.01, 0.99))
    looser, tighter = (other.solve("SLSQP").value for other in others)
    assert found.constraints["multiplier"].item() == pytest.approx((tighter - looser) / (0.02 * limit), rel=1e-3)


def test_derivatives_of_damping_are_those_of_the_whole_chain():
    """Central differences of power flow, initialisation and eigenvalues."""
    damping, names = tuning.Damping(), ["EXC2.KA", "PSS_EXC2.KS", "PSS_EXC2.T1", "GEN2.P0", "GEN2.V0"]
    _, gradient = damping.value_and_gradient(tuning.system(), names)
    for k, name in enumerate(names):
        at = tuning.system().Z0[tuning.system().layout.address(name)]
        h = 1e-4 * at
        a, b = (damping.value_and_gradient(tuning.system().with_values({name: at + s * h}), names)[0] for s in (1, -1))
        np.testing.assert_allclose(gradient[:, k], (a - b) / (2 * h), rtol=1e-5, atol=1e-9)


@pytest.mark.slow
def test_tuning_holds_the_floor_that_the_fault_alone_would_break():
    free, held = tuning.tuned(None), tuning.tuned(tuning.FLOOR)
    assert free.success
    assert held.success
    guessed = gc.adjoint(gc.simulate(tuning.system(), tuning.T_END), tuning.SWING, "EXC1.KA").value.item()
    assert free.value < held.value < guessed
    assert gc.analyses.small_signal(free.system).eigenvalues.real.max() > 0
    fast = gc.analyses.small_signal(held.system)
    assert fast.damping_ratio[fast.frequency > 0.5].min() == pytest.approx(tuning.FLOOR, abs=1e-6)
    assert held.optimality < 1e-6
