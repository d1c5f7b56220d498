from __future__ import annotations

import gc as garbage
import itertools
import math
import resource
import subprocess
import sys
from pathlib import Path

import closed_forms
import numpy as np
import pytest
from devices_for_tests import Clockwork, Delayed, DelayedForGood, Driven, Limited, LinearDAE, registered, system
from scipy.integrate import solve_ivp
from scipy.linalg import expm

import gridcore as gc
from gridcore.contract import Algebraic, Device, Param, State
from gridcore.equations import Workspace
from gridcore.integrate import Driver
from gridcore.linear import Newton
from gridcore.tape import Method
from gridcore_devices.hybrid.switched_linear import SwitchedLinear
from gridcore_ida.stepper import Ida

ROOT = Path(__file__).parents[2]
TIGHT = {"rtol": 1e-11, "atol": 1e-13}


@pytest.fixture(scope="module", autouse=True)
def _ida():
    pytest.importorskip("scikits_odes_sundials.ida", reason="run ./setup.sh ida")


@pytest.mark.usefixtures("small_devices")
class TestAccuracy:
    def test_linear_equation_against_the_matrix_exponential(self):
        run = gc.simulate(system(SwitchedLinear(id="S", p1=1e9)), 0.09, 0.01, method="ida", **TIGHT)
        assert run.events == []
        exact = np.array([expm(closed_forms.A1 * t) @ [0, 1] for t in run.t])
        np.testing.assert_allclose(run.X, exact, rtol=0, atol=1e-8)

    def test_index_one_dae_against_its_closed_form(self):
        """X' = -1.5 x + 0.5 sin t."""
        run = gc.simulate(system(LinearDAE(id="D")), 10.0, 0.1, method="ida", **TIGHT)
        t, k = run.t, 1.5
        forced = 0.5 * (k * np.sin(t) - np.cos(t)) / (k * k + 1)
        x = forced + (1 - forced[0]) * np.exp(-k * t)
        np.testing.assert_allclose(run["D", "x"], x, rtol=0, atol=1e-9)
        np.testing.assert_allclose(run["D", "y"], (np.sin(t) - x) / 2, rtol=0, atol=1e-9)

    def test_nonlinear_equation_against_scipy(self):
        run = gc.simulate(system(Driven(id="D")), 5.0, 0.1, method="ida", **TIGHT)
        exact = solve_ivp(lambda t, x: -x + np.sin(t) + 0.3 * x * x, (0, 5), [0.5], t_eval=run.t, method="DOP853",
                          rtol=1e-13, atol=1e-14)
        np.testing.assert_allclose(run["D", "x"], exact.y[0], rtol=0, atol=1e-9)

    def test_tolerances_are_obeyed(self):
        s = system(LinearDAE(id="D"))
        exact = gc.simulate(s, 5.0, 5.0, method="ida", rtol=1e-12, atol=1e-14).X[-1]
        error = [np.abs(gc.simulate(s, 5.0, 5.0, method="ida", rtol=r, atol=r / 100).X[-1] - exact).max()
                 for r in (1e-4, 1e-6, 1e-8, 1e-10)]
        assert all(b < a / 5 for a, b in itertools.pairwise(error))
        assert error[-1] < 1e-8

    def test_hiskens_pai_against_its_exact_switching_times(self):
        times, x = closed_forms.hiskens_pai(0.2)
        run = gc.simulate(system(SwitchedLinear(id="S")), 0.2, 1e-3, method="ida", **TIGHT)
        np.testing.assert_allclose([e.t for e in run.events], times, rtol=0, atol=1e-9)
        np.testing.assert_allclose(run.X[-1], x, rtol=0, atol=1e-7)

    def test_it_agrees_with_theta_events_included(self):
        s = system(SwitchedLinear(id="S"))
        ida, theta = gc.simulate(s, 0.2, 1e-3, method="ida"), gc.simulate(s, 0.2, 1e-5)
        np.testing.assert_allclose([e.t for e in ida.events], [e.t for e in theta.events], rtol=0, atol=1e-6)
        np.testing.assert_allclose(ida.X[-1], theta.X[-1], rtol=0, atol=1e-6)

    def test_it_agrees_with_theta_on_a_grid_with_a_fault_and_regulator_limits(self):
        """Fault, both regulators to their limits and back, fault cleared: times and state to 1e-6."""
        s = gc.build("wscc9_paper")
        ida, theta = gc.simulate(s, 0.35, 0.01, method="ida", **TIGHT), gc.simulate(s, 0.35, 5e-5)
        assert [str(e)[12:] for e in ida.events] == [str(e)[12:] for e in theta.events]
        assert len(ida.events) == 6
        np.testing.assert_allclose([e.t for e in ida.events], [e.t for e in theta.events], rtol=0, atol=1e-6)
        np.testing.assert_allclose(ida.X[-1], theta.X[-1], rtol=1e-6, atol=1e-6)

    def test_rows_that_become_algebraic_and_differential_again(self):
        run = gc.simulate(system(Limited(id="L")), 6.5, 0.5, method="ida", **TIGHT)
        np.testing.assert_allclose([e.t for e in run.events], closed_forms.LIMITED_TIMES, rtol=0, atol=1e-9)

    def test_the_grid_does_not_cut_its_steps(self):
        s = system(LinearDAE(id="D"))
        coarse, fine = (gc.simulate(s, 5.0, h, method="ida") for h in (1.0, 0.001))
        assert fine.counters["internal_steps"] < 2 * coarse.counters["internal_steps"]
        assert len(fine.t) > 5000
        for t in (1.0, 2.0, 3.0, 4.0, 5.0):
            at = fine["D", "x"][np.abs(fine.t - t) < 1e-12]
            assert coarse["D", "x"][coarse.t == t] == pytest.approx(at, abs=1e-6)

    def test_steps_may_be_bounded(self):
        s = system(LinearDAE(id="D"))
        run = gc.simulate(s, 5.0, 5.0, method="ida", rtol=1e-3, atol=1e-3, max_step=0.05, first_step=0.01)
        assert np.diff(run.t).max() == pytest.approx(0.05, rel=1e-6)
        assert run.t[1] == pytest.approx(0.01)


@pytest.mark.usefixtures("small_devices")
class TestRestart:
    def test_the_derivative_at_a_restart_is_consistent(self):
        """0 = x + 2 y - sin t, so 2 y' = cos t - x'."""
        s = system(LinearDAE(id="D"))
        rate = Newton(s.workspace()).derivative(s.differential(s.Z0))
        x, y = s.Z0[:2]
        np.testing.assert_allclose(rate, [y - x, (1 - (y - x)) / 2], rtol=1e-14)

    def test_two_thousand_restarts_do_not_leak(self):
        """Of 300 unknowns a new solver at each event leaks 47 MB in all."""
        s = system(*(Clockwork(id=f"C{k}", speed=0.0) for k in range(300)))
        stepper, ws = Ida(1.0), s.workspace()
        ws.differential[:] = s.differential(s.Z0)
        t, used = 0.0, []
        for count in range(2200):
            stepper.restart(ws, t)
            t = stepper.advance(t, t + 1e-6).t
            if count in (199, 2199):
                garbage.collect()
                used.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
        assert stepper.counters["restarts"] == 2199
        assert used[1] - used[0] < 12  # MB

    def test_steps_do_not_grow_dearer_along_a_run(self):
        """scikits.odes keeps every state at which IDA stopped for a root or a stop time: there must be none."""
        s = system(Clockwork(id="C", threshold=0.5), LinearDAE(id="D"))
        stepper = Ida(0.1)
        driver = Driver(s, stepper, Method("ida"), 0.1, 0.0, 2.0)
        driver.run()
        result = stepper.solver.step(stepper.tn + 1.0)
        assert driver.counters["events"] == 1
        assert result.roots.t is None
        assert result.tstop.t is None


    def test_events_of_algebraic_variables_are_not_undone_by_solving_for_them_after_another_event(self):
        """Three guards on one sine at one instant: nothing is cancelled by the tolerance of IDA."""
        s = system(Limited(id="L"), Delayed(id="A", threshold=0.9, delay=0.3),
                   Delayed(id="B", threshold=0.9, delay=0.4), DelayedForGood(id="C", threshold=0.9, delay=0.0))
        run = gc.simulate(s, 2.0, 0.05, method="ida")
        assert not [e for e in run.events if e.kind == "cancelled"]
        started = [e.t for e in run.events if e.kind == "delay started"]
        np.testing.assert_allclose(started, [math.asin(0.9)] * 3, rtol=1e-14)

    def test_only_who_asks_for_it_pays_for_it(self):
        code = ("import gridcore as gc, sys; gc.simulate(gc.build('hiskens_pai'), 0.01, 0.001);"
                "assert not [m for m in sys.modules if m.startswith('scikits_odes') or m.startswith('gridcore_ida.')]")
        subprocess.run([sys.executable, "-c", code], check=True)


def begun(s):
    """IDA at the start of a run."""
    ida, ws = Ida(0.01), s.workspace()
    ws.differential[:] = s.differential(s.Z0)
    ida.restart(ws, 0.0)
    ida.begin(0.0)
    return ida


class TestSparse:
    """SPGMR on equations multiplied by the inverse of P."""

    @pytest.mark.parametrize("ratio", [1.0, 1.5, 0.3])
    def test_its_products_are_those_of_the_inverse_of_p_with_the_true_matrix(self, ratio):
        s = gc.build("wscc9")
        ida, v = begun(s), np.random.default_rng(1).normal(size=s.n)
        residual, product = np.zeros(s.n), np.zeros(s.n)
        ida.residual(0.02, s.Z0[: s.n] + 1e-3, v, residual)
        at = s.Z0.copy()
        at[: s.n] += 1e-3
        F_X, M, F = s.jacobian(at).toarray(), np.diag(s.differential(at).astype(float)), s.rhs(at)
        P = 50.0 * M - F_X  # of the first order: cj is one by the step
        scale = ida.near.scale
        np.testing.assert_allclose(residual / scale, np.linalg.solve(P, M @ v - F), rtol=1e-9, atol=1e-12)
        ida.product(residual, v, v, residual, v, product, 50.0 * ratio)
        expected = np.linalg.solve(P, (50.0 * ratio * M - F_X) @ v)
        np.testing.assert_allclose(product / scale, expected, rtol=1e-9, atol=1e-12)

    def test_the_order_told_by_one_step_makes_the_matrix_of_the_next(self):
        s = gc.build("wscc9")
        ida, v = begun(s), np.ones(s.n)
        X, residual = s.Z0[: s.n].copy(), np.zeros(s.n)
        ida.residual(0.02, X, 0 * v, residual)
        ida.product(residual, X, v, residual, v, np.zeros(s.n), 75.0)  # of the second order
        ida.near.reached = 0.02
        ida.residual(0.06, X, v, residual)
        expected = np.linalg.solve(1.5 / 0.04 * np.diag(ida.mass) - s.jacobian(s.Z0).toarray(), ida.mass)
        np.testing.assert_allclose(residual / ida.near.scale, expected, rtol=1e-6, atol=1e-9)

    @pytest.mark.parametrize(("name", "tolerance"), [("wscc9_paper", 1e-5), ("wscc9_paper", 1e-9), ("ieee118", 1e-6)])
    def test_newton_and_krylov_have_little_to_do(self, name, tolerance):
        """What they see is near the identity: hardly more than one iteration of each in a step."""
        work = gc.simulate(gc.build(name), 0.5, 0.01, method="ida", rtol=tolerance, atol=tolerance).counters
        assert work["residuals"] < 1.2 * work["internal_steps"]
        assert work["products"] < 1.5 * work["residuals"]

    def test_theta_converges_to_it_with_order_two_on_118_buses(self):
        s = gc.build("ieee118")
        exact = gc.simulate(s, 0.3, 0.01, method="ida", rtol=1e-10, atol=1e-11)
        error = [np.abs(gc.simulate(s, 0.3, h).X[-1] - exact.X[-1]).max() for h in (0.01, 0.005, 0.0025)]
        assert error[0] / error[1] == pytest.approx(4, rel=0.1)
        assert error[1] / error[2] == pytest.approx(4, rel=0.1)

    def test_there_is_no_dense_matrix(self):
        """Of 4000 unknowns it would be 128 MB."""
        code = """
import resource, sys
sys.path.insert(0, "tests")
from devices_for_tests import LinearDAE, registered, system
import gridcore as gc

def used():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

with registered(LinearDAE):
    gc.simulate(system(LinearDAE(id="D")), 1.0, 0.5, method="ida")
    s = system(*(LinearDAE(id=f"D{k}") for k in range(2000)))
    before = used()
    gc.simulate(s, 1.0, 0.5, method="ida")
print(s.n, used() - before)
"""
        done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=ROOT)
        n, megabytes = done.stdout.split()
        assert int(n) == 4000
        assert float(megabytes) < 40


@pytest.mark.usefixtures("small_devices")
class TestFailure:
    @pytest.mark.parametrize("callback", ["rhs", "matrix"])
    def test_an_exception_in_a_callback_comes_out_with_place_and_time(self, monkeypatch, callback):
        s = system(LinearDAE(id="D"))
        function, calls = getattr(Workspace, callback), []

        def broken(ws):
            calls.append(ws.Z[-1])
            if ws.Z[-1] > 0.5:
                raise gc.errors.ConvergenceError("sick", place="D.x")
            return function(ws)

        monkeypatch.setattr(Workspace, callback, broken)
        with pytest.raises(gc.errors.ConvergenceError, match="sick") as caught:
            gc.simulate(s, 20.0, 0.1, method="ida")
        error = caught.value
        assert error.place == "D.x"
        assert error.t == calls[-1] > 0.5
        assert isinstance(error.__cause__, gc.errors.ConvergenceError)
        assert 0.0 < error.run.t[-1] <= error.t

    def test_an_interrupt_in_a_callback_stays_an_interrupt(self, monkeypatch):
        s = system(LinearDAE(id="D"))
        function = Workspace.rhs

        def interrupted(ws):
            if ws.Z[-1] > 0.5:
                raise KeyboardInterrupt
            return function(ws)

        monkeypatch.setattr(Workspace, "rhs", interrupted)
        with pytest.raises(KeyboardInterrupt):
            gc.simulate(s, 2.0, 0.1, method="ida")

    def test_where_there_is_no_solution_the_place_and_the_time_are_named(self):
        class Fold(Device):
            """0 = y^2 + t - 1 has no solution beyond t = 1."""

            x0 = Param("", 1.0)
            x, y = State("", start_at="x0"), Algebraic("", init=1.0)

            def rates(s):
                return -s.x

            def residuals(s):
                return s.y * s.y + s.time - 1

        with registered(Fold), pytest.raises(gc.errors.ConvergenceError, match=r"IDA: .*at F\.y at t = ") as caught:
            gc.simulate(system(Clockwork(id="C"), Fold(id="F")), 2.0, 0.1, method="ida")
        assert caught.value.t == pytest.approx(1.0, abs=0.01)
        assert caught.value.run.t[-1] == pytest.approx(1.0, abs=0.02)

    def test_without_scikits_odes_it_says_what_to_do(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "scikits_odes_sundials.ida", None)
        with pytest.raises(gc.errors.MissingDependency, match=r"\./setup\.sh ida"):
            gc.simulate(system(Clockwork(id="C")), 1.0, 0.1, method="ida")
        assert gc.simulate(system(Clockwork(id="C")), 1.0, 0.1).t[-1] == 1.0

    @pytest.mark.parametrize("options", [{"rtol": 0.0}, {"atol": -1.0}, {"rtol": math.nan}, {"max_step": -0.1}])
    def test_impossible_options_are_refused(self, options):
        with pytest.raises(gc.errors.CaseError, match=next(iter(options))):
            gc.simulate(system(Clockwork(id="C")), 1.0, 0.1, method="ida", **options)
