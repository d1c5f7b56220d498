"""Systems that are no grids, run through the same machinery."""

import numpy as np
import pytest

import gridcore as gc


def test_hiskens_pai_system_has_its_six_events_and_its_final_state():
    run = gc.simulate(gc.build(gc.load_case("hiskens_pai")), t_end=0.2, step=1e-3)
    assert len(run.events) == 6
    assert run.events[0].t == pytest.approx(0.0957333, abs=5e-8)
    expected = [-0.0196299279712484, -0.0130620897988687]
    np.testing.assert_allclose(run.X[-1], expected, rtol=0, atol=1e-14)


def violation(Pm):
    """-Pm + 1e4 int max(0, delta - 1)^2 dt of the swing case, by the trapezoidal rule on its own steps."""
    case = gc.load_case("swing")
    case.set("SWING.Pm", Pm)
    run = gc.simulate(gc.build(case), t_end=1.0, step=0.01)
    return -Pm + 1e4 * np.trapezoid(np.maximum(run["SWING", "delta"] - 1, 0) ** 2, run.t)


@pytest.mark.parametrize(("Pm", "gradient", "digits"), [
    (1.06, 140.0487958, 1e-7), (1.032130009, 45.40765371, 2e-6), (1.018758331, 14.84698503, 2e-6)])
def test_swing_case_has_the_published_gradients(Pm, gradient, digits):
    """Zhang et al. (2017), table III; by differences, extrapolated once.

    Pm is printed to 1e-9: at the second derivative of 3000 that leaves the gradient open by 2e-6.
    """
    def slope(h):
        return (violation(Pm + h) - violation(Pm - h)) / (2 * h)

    assert (4 * slope(1e-4) - slope(2e-4)) / 3 == pytest.approx(gradient, abs=digits)


def test_bouncing_ball_meets_the_floor_at_the_times_of_free_fall():
    """The trapezoidal rule is exact for a parabola, and so are the impacts."""
    case = gc.Case("ball")
    case.add(gc.Record("BouncingBall", {"id": "ball", "height0": 1.0, "restitution": 0.8}))
    run = gc.simulate(gc.build(case), t_end=3.0, step=0.01)
    fall, e = np.sqrt(2 / 9.81), 0.8
    impacts = [fall, *(fall * (1 + 2 * sum(e**k for k in range(1, n))) for n in range(2, 10))]
    found = [event.t for event in run.events]
    np.testing.assert_allclose(found, [t for t in impacts if t < 3.0], rtol=1e-12)
