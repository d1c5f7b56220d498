"""The optimisation studies: solvers agree, limits hold and have the price that is told, derivatives are right."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq
from scripts import script

import gridcore as gc

redispatch, tuning, pll = script("study_redispatch"), script("study_tuning"), script("study_pll")


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


def test_the_gradient_of_the_overshoot_of_a_pll_is_that_of_differences():
    run = pll.run(pll.system())
    exact = gc.adjoint(run, pll.OVERSHOOT, pll.WRT).values
    np.testing.assert_allclose(exact, gc.differences(run, pll.OVERSHOOT, pll.WRT, relative_step=1e-5), rtol=1e-6)


@pytest.mark.slow
def test_a_pll_is_tuned_to_its_floor_and_nothing_on_it_overshoots_less():
    """Along the floor, found by bisection, the overshoot falls to where the ramp holds ki; and beyond it, it rises."""
    held, free = pll.tuned(pll.FLOOR), pll.tuned(None)
    (kp, ki), guess = held.x.values, pll.run(pll.system())

    def damping(kp: float, ki: float) -> float:
        values = dict(zip(pll.WRT, (kp, ki), strict=True))
        return pll.PLLDamping().value_and_gradient(pll.system().with_values(values), pll.WRT)[0]

    def overshoot(kp: float, ki: float) -> float:
        run = pll.run(pll.system().with_values(dict(zip(pll.WRT, (kp, ki), strict=True))))
        return gc.adjoint(run, pll.OVERSHOOT, pll.WRT[:1]).value.item()

    assert held.success
    assert held.optimality < 1e-6
    assert ki == pytest.approx(pll.RAMP / pll.ERROR, rel=1e-9)
    assert kp == pytest.approx(brentq(lambda kp: damping(kp, ki) - pll.FLOOR, 0.15, 0.4, xtol=1e-10), rel=1e-6)
    assert free.value < held.value < 0.3 * gc.adjoint(guess, pll.OVERSHOOT, pll.WRT[:1]).value.item()
    for more in (1.05, 1.3):
        assert overshoot(kp * more, ki) > held.value
        beside = brentq(lambda kp, ki=more * ki: damping(kp, ki) - pll.FLOOR, 0.15, 0.5, xtol=1e-6)
        assert overshoot(beside, more * ki) > held.value


@pytest.mark.slow
def test_the_price_of_the_floor_of_a_pll_is_its_multiplier():
    looser, tighter = (pll.tuned(pll.FLOOR * factor).value for factor in (0.99, 1.01))
    assert pll.tuned(pll.FLOOR).constraints["multiplier"].item() == pytest.approx(
        (tighter - looser) / (0.02 * pll.FLOOR), rel=1e-2)
