"""Fits: every method finds the truth, failed trials are steps made shorter, bad questions are refused."""

from __future__ import annotations

import numpy as np
import pytest
from fabrication import CHANNELS, CLEAR, TIMES, fabricated, smib
from scipy.optimize import curve_fit

import gridcore as gc
from gridcore.errors import CaseError
from gridcore_estimation import Measurements, Recording, Unidentifiable, problem
from gridcore_estimation.methods import METHODS
from gridcore_estimation.problem import TrialFailed

TRUE = {"GEN1.H": 4.2, "CCT1.x": 0.46}


@pytest.fixture(scope="module")
def data():
    return fabricated(smib().with_values(TRUE), noise=0.01)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_finds_parameters_of_machine_and_line(method):
    exact = fabricated(smib().with_values(TRUE))
    fit = gc.analyses.estimate(smib(), exact, list(TRUE), method=method, tolerance=1e-9)
    assert fit.converged
    np.testing.assert_allclose(fit.values, list(TRUE.values()), rtol=1e-6)
    assert not fit.remarks()
    assert fit["GEN1.H"] == fit.values[0]
    assert fit.system.case["GEN1"].fields["H"] == fit["GEN1.H"]


def test_all_methods_agree_on_noisy_data(data):
    fits = [gc.analyses.estimate(smib(), data, list(TRUE), method=method, tolerance=1e-8) for method in METHODS]
    for fit in fits[1:]:
        assert (np.abs(fit.values - fits[0].values) < 1e-3 * fits[0].standard_errors).all()


def test_values_and_covariance_are_those_of_scipys_curve_fit(data):
    """`curve_fit` has no derivatives here but its own differences, and nothing but the simulation."""
    fit = gc.analyses.estimate(smib(), data, list(TRUE), tolerance=1e-10)

    def model(_, H, x):
        run = gc.simulate(smib().with_values({"GEN1.H": H, "CCT1.x": x}), TIMES[-1])
        return np.concatenate([np.interp(TIMES, run.t, run[tuple(name.split("."))]) for name in CHANNELS])

    values, covariance = curve_fit(model, TIMES, data.value, [3.5, 0.5], sigma=data.weight**-0.5, xtol=1e-12)
    np.testing.assert_allclose(fit.values, values, rtol=1e-5)
    np.testing.assert_allclose(fit.covariance, covariance, rtol=1e-3)


def test_a_level_of_confidence_is_between_zero_and_one(data):
    fit = gc.analyses.estimate(smib(), data, list(TRUE))
    for level in (0.0, 1.0, 95.0):
        with pytest.raises(CaseError, match="must be between 0 and 1"):
            fit.intervals(level)


def test_times_of_events_and_initial_values_are_found_too():
    true = {"fault.clear": 0.1751, "GEN1.omega": 1.002, "GEN1.H": 3.8}
    from gridcore.equilibrium import starting_at

    system = starting_at(smib().with_values({"fault.clear": 0.1751, "GEN1.H": 3.8}), {"GEN1.omega": 1.002})
    fit = gc.analyses.estimate(smib(), fabricated(system), list(true), tolerance=1e-9)
    np.testing.assert_allclose(fit.values, list(true.values()), rtol=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_a_trial_that_fails_is_a_shorter_step(method, monkeypatch):
    """Three simulations on the way fail: each is counted, and the fit arrives all the same."""
    original = problem.simulate
    tried: list[float] = []

    def simulate(system, *args, **options):
        H = system.Z0[system.layout.address("GEN1.H")]
        if H != 3.5 and len(tried) < 3:
            tried.append(H)
            raise gc.errors.ConvergenceError("barred", t=0.2)
        return original(system, *args, **options)

    monkeypatch.setattr(problem, "simulate", simulate)
    fit = gc.analyses.estimate(smib(), fabricated(smib().with_values({"GEN1.H": 4.2})), "GEN1.H", method=method)
    assert fit.rejected == len(tried) == 3
    assert (np.diff(np.abs(np.array(tried) - 3.5)) < 0).all()
    assert fit.converged
    assert fit["GEN1.H"] == pytest.approx(4.2, rel=1e-5)


def test_trials_that_fail_behind_the_last_iterate_are_counted(monkeypatch):
    original, tried = problem.simulate, []

    def simulate(system, *args, **options):
        if system.Z0[system.layout.address("GEN1.H")] == 3.5:
            return original(system, *args, **options)
        tried.append(system)
        raise gc.errors.ConvergenceError("barred", t=0.2)

    monkeypatch.setattr(problem, "simulate", simulate)
    fit = gc.analyses.estimate(smib(), fabricated(smib().with_values({"GEN1.H": 4.2})), "GEN1.H", limit=3)
    assert fit.rejected == len(tried) > 0


def test_a_value_that_a_device_does_not_allow_is_a_failed_trial_of_gauss_newton():
    """From a delay of 0.3 s the first full step leads to one below zero."""
    base = gc.build("wscc9_recovery_loads")
    recordings = relayed([base, base.with_values({"up.scale": 1.5})], np.arange(305, 326) / 10)
    start = {"RELAY14.threshold": 0.84, "RELAY14.delay": 0.1}
    fit = gc.analyses.estimate(recordings, wrt=list(start), start=start, method="gauss-newton")
    assert fit.rejected > 0
    np.testing.assert_allclose(fit.values, [0.85, 0.01], rtol=1e-4)


def relayed(systems, times, channels=("BUS6.Vm",)):
    """Recordings after the trip of a line."""
    grid = [(0.0, 0.5), (27.5, 0.01)]
    return [Recording(s, fabricated(s, channels=channels, times=times, step=grid), grid) for s in systems]


def test_bounds_hold_and_a_value_on_one_is_told(data):
    fit = gc.analyses.estimate(smib(), data, list(TRUE), bounds={"GEN1.H": (3.0, 4.0)})
    assert fit["GEN1.H"] == pytest.approx(4.0, abs=1e-4)
    assert any("GEN1.H is at its upper bound, 4" in remark for remark in fit.remarks())


def test_a_bound_is_no_integer_where_those_of_the_device_are(data):
    fit = gc.analyses.estimate(smib(), data, "GEN1.H", start={"GEN1.H": 4.7}, bounds={"GEN1.H": (4.6, 5.5)})
    assert (fit.low.tolist(), fit.high.tolist()) == ([4.6], [5.5])
    assert fit["GEN1.H"] == pytest.approx(4.6, abs=1e-4)
    with pytest.raises(CaseError, match=r"bounds of GEN1\.H: 3\.5 must be less than 3\.5"):
        gc.analyses.estimate(smib(), data, "GEN1.H", bounds={"GEN1.H": (3.5, 3.5)})


def test_a_bound_that_is_none_is_no_bound(data):
    free = gc.analyses.estimate(smib(), data, list(TRUE))
    for pair in ((None, None), (None, 6), (2, None)):
        fit = gc.analyses.estimate(smib(), data, list(TRUE), bounds={"GEN1.H": pair})
        np.testing.assert_allclose(fit.values, free.values, rtol=1e-6)
    fit = gc.analyses.estimate(smib(), data, list(TRUE), bounds={"GEN1.H": (None, 4.0)})
    assert fit["GEN1.H"] == pytest.approx(4.0, abs=1e-4)


def test_as_many_parameters_as_samples_are_told(data):
    """They fit anything: there is no covariance though the samples determine them, unless the noise is known."""
    few = data.only("GEN1.omega").between(0.5, 0.56)
    assert len(few) == 1
    remark, = gc.analyses.estimate(smib(), few, "GEN1.H").remarks()
    assert remark.startswith("no degrees of freedom: as many parameters as samples")
    assert remark.endswith("of which intervals are made")
    known = gc.analyses.estimate(smib(), few, "GEN1.H", absolute=True)
    assert known.remarks() == ["no degrees of freedom: as many parameters as samples fit whatever was measured"]
    assert np.isfinite(known.intervals()).all()


def test_a_recording_takes_a_case_or_its_name_and_a_file_as_an_estimation_does(tmp_path):
    data = fabricated(gc.build("smib"), noise=0.001)
    data.to_csv(tmp_path / "m.csv")
    expected = gc.analyses.estimate("smib", data, "GEN1.H")
    for system in ("smib", gc.load_case("smib"), gc.simulate("smib", 0.1)):
        fit = gc.analyses.estimate([Recording(system, tmp_path / "m.csv")], wrt="GEN1.H")
        assert fit["GEN1.H"] == expected["GEN1.H"]
    with pytest.raises(CaseError, match="data of type int are no Measurements"):
        Recording("smib", 3)


def test_samples_without_weight_count_for_nothing(data):
    some = Measurements(data.time, data.channel, data.value, np.where(data.channel == "BUS1.Vm", 0.0, data.weight))
    ignored = gc.analyses.estimate(smib(), some, list(TRUE), tolerance=1e-9)
    absent = gc.analyses.estimate(smib(), data.only(["GEN1.omega", "CCT1.P1"]), list(TRUE), tolerance=1e-9)
    np.testing.assert_allclose(ignored.values, absent.values, rtol=1e-9)
    np.testing.assert_allclose(ignored.covariance, absent.covariance, rtol=1e-6)
    assert ignored.degrees_of_freedom == absent.degrees_of_freedom == 78


def test_a_robust_loss_bears_outliers(data):
    value = data.value.copy()
    value[::15] += 0.3 * data.weight[::15] ** -0.5
    spoilt = Measurements(data.time, data.channel, value, data.weight)
    plain = gc.analyses.estimate(smib(), spoilt, list(TRUE))
    robust = gc.analyses.estimate(smib(), spoilt, list(TRUE), loss="cauchy", f_scale=0.02)
    clean = gc.analyses.estimate(smib(), data, list(TRUE))
    assert np.abs(robust.values - clean.values).max() < 0.1 * np.abs(plain.values - clean.values).max()
    assert (np.abs(robust.values - list(TRUE.values())) < 4 * robust.standard_errors).all()


def test_a_scale_that_makes_outliers_of_most_samples_is_told(data):
    fine = gc.analyses.estimate(smib(), data, list(TRUE), loss="cauchy", f_scale=0.02)
    fits = [gc.analyses.estimate(smib(), data, list(TRUE), loss=loss, f_scale=1e-5) for loss in ("cauchy", "linear")]
    told = [[remark for remark in fit.remarks() if "are beyond f_scale" in remark] for fit in (fine, *fits)]
    assert (told[0], told[2]) == ([], [])
    beyond = int((np.abs(fits[0].residuals) > 1e-5).sum())
    assert told[1] == [f"{beyond} of {len(data)} samples are beyond f_scale, outliers by its measure: values and "
                       "intervals are those of the few others"]


def test_recordings_of_two_events_tell_more_than_one():
    other = smib().with_values({"fault.clear": 0.15, "GEN1.P0": 0.7})
    recordings = [Recording(s, fabricated(s.with_values(TRUE), noise=0.01, seed=k), name=f"event {k}")
                  for k, s in enumerate((smib(), other))]
    one, both = (gc.analyses.estimate(part, wrt=list(TRUE), absolute=True) for part in (recordings[:1], recordings))
    assert (both.standard_errors < one.standard_errors).all()
    assert both.runs[1].system.Z0[other.layout.address("fault.clear")] == 0.15
    assert set(both.whiteness) == {f"event {k}: {channel}" for k in (0, 1) for channel in CHANNELS}


def test_a_delay_and_a_threshold_take_two_events():
    """One event shows the time of a trip, which either moves: refused with the direction; two tell them apart."""
    base = gc.build("wscc9_recovery_loads").with_values({"RELAY14.delay": 0.25})
    recordings = relayed([base.with_values({"up.scale": scale}) for scale in (1.35, 1.7)], np.arange(310, 331) / 10,
                         ["BUS6.Vm", "GEN2.omega"])
    wrt = ["RELAY14.threshold", "RELAY14.delay"]
    with pytest.raises(Unidentifiable) as error:
        gc.analyses.estimate(recordings[:1], wrt=wrt)
    assert "RELAY14.threshold by" in str(error.value)
    assert "RELAY14.delay by" in str(error.value)
    fit = gc.analyses.estimate(recordings, wrt=wrt, start={"RELAY14.threshold": 0.82, "RELAY14.delay": 0.15})
    np.testing.assert_allclose(fit.values, [0.85, 0.25], rtol=1e-6)


def test_what_the_data_do_not_determine_is_held_on_request():
    data = fabricated(smib().with_values(TRUE), noise=0.001)
    with pytest.raises(Unidentifiable, match=r"BUS3.kv moves no sample; what can be told apart: GEN1.H, CCT1.x"):
        gc.analyses.estimate(smib(), data, ["GEN1.H", "CCT1.x", "BUS3.kv"])
    fit = gc.analyses.estimate(smib(), data, ["GEN1.H", "BUS3.kv", "CCT1.x"], unidentifiable="hold")
    assert fit.held == {"BUS3.kv": 230.0}
    assert fit.names == ["GEN1.H", "CCT1.x"]
    np.testing.assert_allclose(fit.values, list(TRUE.values()), rtol=1e-2)
    assert any("BUS3.kv was held at 230" in remark for remark in fit.remarks())


def test_what_nothing_is_left_of_is_refused_and_not_held(data):
    with pytest.raises(Unidentifiable, match=r"determine the parameters: BUS3\.kv moves no sample"):
        gc.analyses.estimate(smib(), data, ["BUS3.kv"], unidentifiable="hold")


def test_progress_is_told_as_it_is_made(data):
    told = []
    fit = gc.analyses.estimate(smib(), data, list(TRUE), tell=lambda *iterate: told.append(iterate))
    assert [number for number, _ in told] == list(range(fit.iterations + 1))
    assert told[-1][1].cost == fit.cost == pytest.approx(0.5 * fit.residuals @ fit.residuals)
    assert fit.progress().columns["iteration"] == list(range(fit.iterations + 1))


def test_data_may_be_a_file_or_a_dataset(tmp_path, data):
    data.to_csv(tmp_path / "m.csv")
    expected = gc.analyses.estimate(smib(), data, "GEN1.H")
    assert gc.analyses.estimate(smib(), tmp_path / "m.csv", "GEN1.H")["GEN1.H"] == expected["GEN1.H"]
    run = gc.simulate(smib().with_values({"GEN1.H": 4.2}), 1.0)
    fit = gc.analyses.estimate(smib(), run.to_xarray(["omega"]).drop_vars(["event_time", "event_words"]), "GEN1.H")
    assert fit["GEN1.H"] == pytest.approx(4.2, rel=1e-6)


def test_a_fit_is_a_dataset(data):
    fit = gc.analyses.estimate(smib(), data, list(TRUE))
    ds = fit.to_xarray()
    assert ds["value"].sel(parameter="GEN1.H").item() == fit["GEN1.H"]
    np.testing.assert_allclose(ds["residual"], np.sqrt(ds["weight"]) * (ds["simulated"] - ds["measured"]), atol=1e-12)
    assert ds["path"].shape == (fit.iterations + 1, 2)


@pytest.mark.parametrize(("options", "said"), [
    ({"start": {"GEN1.h": 1.0}}, "start: 'GEN1.h' is not among the parameters that are varied; did you mean GEN1.H"),
    ({"bounds": {"CCT2.x": (0, 1)}}, "bounds: 'CCT2.x' is not among the parameters that are varied"),
    ({"bounds": {"GEN1.H": (5, 6)}}, "GEN1.H starts at 3.5, outside its bounds 5 to 6"),
    ({"bounds": {"GEN1.H": (6, 5)}}, "bounds of GEN1.H: 6 must be less than 5"),
    ({"start": {"GEN1.H": np.nan}}, "start of GEN1.H must be a finite number"),
    ({"scale": {"GEN1.H": 0.0}}, "the scale of GEN1.H must be greater than 0"),
    ({"method": "newton"}, "no method 'newton'; did you mean gauss-newton"),
    ({"loss": "hubert"}, "no loss 'hubert'; did you mean huber"),
    ({"method": "gauss-newton", "loss": "huber"}, "Gauss-Newton has no robust loss"),
    ({"method": "gauss-newton", "bounds": {"GEN1.H": (1, 5)}}, "Gauss-Newton has no bounds"),
    ({"bounds": {"GEN1.H": (np.nan, 6)}}, "the bounds of GEN1.H must be two numbers, or None for no bound, not (nan"),
    ({"bounds": {"GEN1.H": (3,)}}, "the bounds of GEN1.H must be two numbers, or None for no bound, not (3,)"),
    ({"bounds": {"GEN1.H": 3}}, "the bounds of GEN1.H must be two numbers, or None for no bound, not 3"),
    *(({"limit": limit}, f"limit = {limit!r} must be a whole number of iterations above 0") for limit in (0, -1, 2.5)),
    *(({"tolerance": tolerance}, f"tolerance = {tolerance!r} must be a number above 0")
      for tolerance in (0.0, -1e-6, float("nan"), float("inf"), "1e-6")),
    ({"unidentifiable": "ignore"}, "unidentifiable = 'ignore' must be 'error' or 'hold'"),
    ({"absolute": True, "loss": "huber"}, "absolute = True is for loss = 'linear'"),
    ({"theta": 7.0}, "theta")])
def test_bad_questions_are_refused(data, options, said):
    with pytest.raises(gc.GridcoreError) as error:
        gc.analyses.estimate(smib(), data, "GEN1.H", **options)
    assert said in str(error.value)


def test_a_start_without_a_simulation_is_told_with_its_values(data):
    with pytest.raises(TrialFailed, match=r"no simulation where the estimation starts, GEN1.P0 = 5: the power flow"):
        gc.analyses.estimate(smib(), data, "GEN1.P0", start={"GEN1.P0": 5.0})


def test_data_that_are_none_are_refused():
    for wrong, said in ((None, "there are no data"), (3, "data of type int"), ([1, 2], "data of type list")):
        with pytest.raises(CaseError, match=said):
            gc.analyses.estimate(smib(), wrong, "GEN1.H")
    with pytest.raises(CaseError, match="there are no recordings"):
        gc.analyses.estimate([], wrt="GEN1.H")
    with pytest.raises(CaseError, match="belong to each Recording"):
        gc.analyses.estimate([Recording(smib(), fabricated(smib()))], "m.csv", "GEN1.H")


def test_the_clearing_time_of_the_fabricated_data_is_off_the_grid():
    assert CLEAR * 100 != round(CLEAR * 100)


def test_the_residual_of_an_outlier_may_have_the_unit_of_the_channels():
    weighted = fabricated(smib().with_values(TRUE), noise=0.01)
    alone = Measurements(weighted.time, weighted.channel, weighted.value, np.ones(len(weighted)))
    volts, all_three, sigmas = (problem.Problem([Recording(smib(), data)], ["GEN1.H"])
                                for data in (alone.only(["BUS1.Vm"]), alone, weighted))
    assert volts.residual("480 V") == pytest.approx(0.02, rel=1e-15)  # of 24 kV
    assert volts.residual("2 %") == volts.residual("0.02") == sigmas.residual(0.02) == 0.02
    with pytest.raises(CaseError, match="must be above 0"):
        volts.residual("-1 %")
    with pytest.raises(CaseError, match=r"means 0\.00208696, 0\.02 for"):
        problem.Problem([Recording(smib(), alone.only(["BUS1.Vm", "CCT1.P1"])),
                         Recording(smib(), alone.only(["BUS1.Vm"]), name="x")], ["GEN1.H"]).residual("480 V")
    with pytest.raises(CaseError, match="unit 's' is not understood"):
        all_three.residual("1 s")
    with pytest.raises(CaseError, match="a number without unit"):
        sigmas.residual("1 V")


def test_a_robust_loss_takes_it_with_a_unit():
    data = fabricated(smib().with_values(TRUE), ["BUS1.Vm"], noise=0.01)
    data = Measurements(data.time, data.channel, data.value, np.ones(len(data)))
    fits = [gc.analyses.estimate(smib(), data, ["GEN1.H"], loss="huber", f_scale=given) for given in ("24 V", 0.001)]
    assert np.array_equal(fits[0].values, fits[1].values)
    assert np.array_equal(fits[0].covariance, fits[1].covariance)


def test_a_speed_takes_hertz_for_a_residual_and_no_kilovolts():
    data = Measurements.of([0.0, 0.1, 0.2, 0.3], {"GEN1.omega": [1.0, 1.0, 1.001, 1.002]})
    fits = [gc.analyses.estimate(smib(), data, ["GEN1.H"], loss="huber", f_scale=given) for given in ("60 mHz", 0.001)]
    assert fits[0].values == pytest.approx(fits[1].values, rel=1e-9)
    with pytest.raises(CaseError, match=r"f_scale = '0.5 kV', for GEN1.omega: unit 'kV' is not understood here"):
        gc.analyses.estimate(smib(), data, ["GEN1.H"], loss="huber", f_scale="0.5 kV")
