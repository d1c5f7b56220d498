"""Both root findings of IDA: the same events, and what a stepper that finds roots itself is told by the driver."""

from __future__ import annotations

import closed_forms
import numpy as np
import pytest
from bench.ida import both
from devices_for_tests import Clockwork, Delayed, DelayedForGood, DelayedOwnCancel, Limited, LinearDAE, system

import gridcore as gc
from gridcore.case.files import shipped
from gridcore.integrate import Driver
from gridcore.integrate.guards import Watch
from gridcore.tape import Method
from gridcore_devices.hybrid.bouncing_ball import BouncingBall
from gridcore_devices.hybrid.switched_linear import SwitchedLinear
from gridcore_ida.stepper import ROOTFINDING, Ida

TIGHT = {"rtol": 1e-11, "atol": 1e-13}
# Where guards are slow: at IDA's own tolerances their instants are known to some 1e-8 s only.
SLOW = {name: {"rtol": 1e-10, "atol": 1e-10} for name in ("kundur_lcc", "wscc9_paper")}


@pytest.fixture(scope="module", autouse=True)
def _ida():
    pytest.importorskip("scikits_odes_sundials.ida", reason="run ./setup.sh ida")


@pytest.mark.parametrize("name", sorted(shipped()))
def test_both_give_the_same_events_at_the_same_times_on_all_shipped_cases(name):
    ours, theirs = (run() for run in both(name, **SLOW.get(name, {})))
    assert [e.words for e in theirs.events] == [e.words for e in ours.events]
    np.testing.assert_allclose([e.t for e in theirs.events], [e.t for e in ours.events], rtol=0, atol=1e-8)
    np.testing.assert_allclose(theirs.X[-1], ours.X[-1], rtol=1e-6, atol=1e-6)
    guards = len(ours.system.system.switching.guards)
    assert (theirs.counters.get("root_evaluations", 0) > 0) == (guards > 0)
    assert "root_evaluations" not in ours.counters


@pytest.mark.usefixtures("small_devices")
class TestEvents:
    """Against closed forms, by SUNDIALS' root finding."""

    def simulate(self, s, t_end, step, **options):
        return gc.simulate(s, t_end, step, method="ida", rootfinding="sundials", **options)

    def test_hiskens_pai(self):
        times, x = closed_forms.hiskens_pai(0.2)
        run = self.simulate(system(SwitchedLinear(id="S")), 0.2, 0.2, **TIGHT)
        np.testing.assert_allclose([e.t for e in run.events], times, rtol=0, atol=1e-9)
        np.testing.assert_allclose(run.X[-1], x, rtol=0, atol=1e-7)

    def test_a_limit_that_is_reached_and_left(self):
        run = self.simulate(system(Limited(id="L")), 6.5, 6.5, **TIGHT)
        np.testing.assert_allclose([e.t for e in run.events], closed_forms.LIMITED_TIMES, rtol=0, atol=1e-9)

    def test_a_ball_that_its_own_reset_sends_back(self):
        run = self.simulate(system(BouncingBall(id="B", restitution=0.5)), 1.35, 0.1)
        np.testing.assert_allclose([e.t for e in run.events], closed_forms.impacts(1.0, 0.5, 8), rtol=1e-9)

    def test_delays_and_their_cancellations(self):
        """What arms and cancels a delay restarts nothing: IDA goes on from the root."""
        devices = (Delayed(id="A", threshold=0.9, delay=2.0), DelayedOwnCancel(id="B", threshold=0.5, delay=1.0),
                   DelayedForGood(id="C", threshold=0.7, delay=2.0))
        ours, theirs = (gc.simulate(system(*devices), 6.5, 0.5, method="ida", rootfinding=kind, **TIGHT)
                        for kind in ROOTFINDING)
        assert [e.words for e in theirs.events] == [e.words for e in ours.events]
        assert {e.kind for e in theirs.events} == {"delay started", "cancelled", "switch"}
        np.testing.assert_allclose([e.t for e in theirs.events], [e.t for e in ours.events], rtol=0, atol=1e-9)

    def test_guards_that_fire_at_one_instant(self):
        run = self.simulate(system(*(Clockwork(id=i, threshold=0.3) for i in "ABC")), 1.0, 0.1)
        np.testing.assert_allclose([e.t for e in run.events], [0.3] * 3, rtol=0, atol=1e-9)
        assert [run[i, "up"][-1] for i in "ABC"] == [1, 1, 1]

    def test_a_guard_at_zero_at_t0(self):
        run = self.simulate(system(Clockwork(id="C", x0=0.3, threshold=0.3)), 1.0, 0.1)
        assert [(e.t, e.item) for e in run.events] == [(0.0, "rises")]

    def test_no_copy_of_a_root_is_kept(self):
        """scikits.odes would stack all of them anew in each later step."""
        s = system(*(Clockwork(id=f"C{k}", threshold=0.1 * k) for k in range(1, 10)), LinearDAE(id="D"))
        stepper = Ida(0.1, rootfinding="sundials")
        driver = Driver(s, stepper, Method("ida"), 0.1, 0.0, 1.0)
        driver.run()
        result = stepper.solver.step(stepper.tn + 1.0)
        assert driver.counters["events"] == 9
        assert result.roots.t is None

    def test_an_error_in_a_guard_comes_out(self, monkeypatch):
        def broken(watch, Z):
            if Z[-1] > 0.5:
                raise ZeroDivisionError("no such guard")
            return np.ones(len(watch.direction))

        monkeypatch.setattr(Watch, "margins", broken)
        with pytest.raises(gc.errors.ConvergenceError, match="no such guard"):
            self.simulate(system(Clockwork(id="C", threshold=2.0)), 1.0, 0.1)

    def test_a_root_finding_that_is_not_there_is_refused(self):
        with pytest.raises(gc.errors.CaseError, match="rootfinding = 'ours' must be 'interpolant' or 'sundials'"):
            gc.simulate(system(Clockwork(id="C")), 1.0, 0.1, method="ida", rootfinding="ours")


@pytest.mark.usefixtures("small_devices")
class TestContract:
    """Without a driver: what ``ws.guards`` says is all that a stepper knows."""

    def go(self, guards=None):
        """Ends of the advances over one second, of a state that is the time; what was across at one has fired."""
        s = system(Clockwork(id="C", speed=1.0))
        stepper, ws = Ida(10.0, rootfinding="sundials"), s.workspace()
        ws.differential[:] = s.differential(s.Z0)
        fired = np.zeros(2, dtype=bool)
        if guards is not None:
            ws.guards = lambda Z: np.where(fired, 1.0, guards(Z[0]))
        stepper.restart(ws, 0.0)
        ends, t = [], 0.0
        while t < 1.0:
            t = stepper.advance(t, 1.0).t
            ends.append(t)
            fired |= guards is not None and ws.guards(ws.Z) < 0
            assert ws.X[0] == pytest.approx(t, abs=1e-9)
        return np.array(ends), stepper.counters["internal_steps"]

    def test_an_advance_ends_just_beyond_a_root_then_at_the_end_of_the_step(self):
        plain, steps = self.go()
        ends, counted = self.go(lambda x: np.array([0.3 - x, 1.0]))
        assert counted == steps
        [beyond] = np.setdiff1d(ends, plain)
        assert set(plain) <= set(ends)
        begun, end = plain[plain < 0.3].max(), plain[plain > 0.3].min()
        assert 0.3 < beyond < 0.3 + 2e-3 * (end - begun)

    def test_of_two_roots_in_a_step_the_first_ends_it(self):
        """The other is the driver's: it is across at the next end."""
        plain, _ = self.go()
        a, b = plain[-3] + np.array([0.25, 0.75]) * (plain[-2] - plain[-3])
        [beyond] = np.setdiff1d(self.go(lambda x: np.array([b - x, a - x]))[0], plain)
        assert a < beyond < b

    def test_margins_that_touch_zero_or_stay_there_end_nothing(self):
        plain, _ = self.go()
        ends, _ = self.go(lambda x: np.array([0.0, abs(x - 0.3)]))
        assert np.array_equal(ends, plain)
