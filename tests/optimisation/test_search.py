"""Optimisation of simulations: one run and one adjoint a trial, results by name, errors that say what is wrong."""

from __future__ import annotations

import numpy as np
import pytest
from quadratics import NAMES, SYSTEM, Linear, Quadratic

import gridcore as gc
from gridcore_optimisation import Constraint, Measure, Simulation, optimise, problem
from gridcore_optimisation import measures as measures_module

BOUNDS = {"GEN*.P0": (0.2, 2.0)}


@pytest.fixture(scope="module")
def system():
    return gc.build("wscc9_paper")


@pytest.fixture(scope="module")
def frequency(system):
    return gc.analyses.load_objectives("cases/wscc9_paper/frequency.toml", system)


def moved(v):
    return (v["GEN2", "P0"] - 1.63) ** 2 + (v["GEN3", "P0"] - 0.85) ** 2


@pytest.fixture(scope="module")
def redispatch(system, frequency):
    """The smallest change of dispatch that keeps every frequency function below a limit."""
    cost = gc.Terminal(moved, name="moved", unit="pu^2")
    return optimise(system, cost, "GEN[23].P0", t_end=1.0, bounds=BOUNDS, constraints=Constraint(frequency, high=1e-3))


def test_a_redispatch_keeps_its_limits_at_the_least_change(system, frequency, redispatch):
    """Against a search that has no gradients: no point of a fine grid around it is allowed and cheaper."""
    assert redispatch.success
    run = gc.simulate(redispatch.system, 1.0, 0.01)
    kept = gc.adjoint(run, frequency, "GEN2.P0").value.values
    assert (kept <= 1e-3 + 1e-9).all()
    np.testing.assert_allclose(kept, redispatch.constraints, rtol=1e-12)
    P2, P3 = redispatch.x.values
    for d2 in np.linspace(-0.01, 0.01, 9):
        for d3 in np.linspace(-0.01, 0.01, 9):
            other = system.with_values({"GEN2.P0": P2 + d2, "GEN3.P0": P3 + d3})
            cost = (P2 + d2 - 1.63) ** 2 + (P3 + d3 - 0.85) ** 2
            if cost < redispatch.value - 1e-9:
                values = gc.adjoint(gc.simulate(other, 1.0, 0.01), frequency, "GEN2.P0").value.values
                assert values.max() > 1e-3


def test_a_multiplier_is_what_a_limit_costs(system, frequency, redispatch):
    """Moving a limit by d changes the cost by minus its multiplier times d."""
    d = 5e-6

    def cost(limit):
        constraints = [Constraint(frequency[:2], high=1e-3), Constraint(frequency[2], high=limit)]
        return optimise(system, gc.Terminal(moved), "GEN[23].P0", t_end=1.0, bounds=BOUNDS,
                        constraints=constraints).value

    slope = (cost(1e-3 - d) - cost(1e-3 + d)) / (2 * d)
    assert redispatch.constraints.multiplier.values[2] == pytest.approx(slope, rel=1e-3)


def test_results_have_names_and_units(redispatch):
    x = redispatch.x
    assert x.parameter.values.tolist() == ["GEN2.P0", "GEN3.P0"]
    assert x.unit.values.tolist() == ["pu", "pu"]
    assert x.sel(parameter="GEN3.P0") < x.start.sel(parameter="GEN3.P0")
    assert redispatch.constraints.constraint.values.tolist() == ["H_GEN1", "H_GEN2", "H_GEN3"]
    assert redispatch.system.case["GEN2"].fields["P0"] == x.values[0]
    history = redispatch.history
    assert history.sizes["iteration"] == redispatch.iterations + 1
    assert history.objective.values[0] == redispatch.start == 0.0
    assert history.objective.values[-1] == redispatch.value
    np.testing.assert_array_equal(history.x.values[-1], x)
    assert [redispatch.trials[k].value for k in history.trial.values] == history.objective.values.tolist()


def test_everything_goes_into_one_dataset_and_back(redispatch, tmp_path):
    import xarray as xr

    redispatch.to_xarray().to_netcdf(tmp_path / "o.nc", engine="h5netcdf")
    back = xr.load_dataset(tmp_path / "o.nc", engine="h5netcdf")
    np.testing.assert_array_equal(back.x, redispatch.x)
    np.testing.assert_array_equal(back.x_history, redispatch.history.x)
    np.testing.assert_array_equal(back.multiplier, redispatch.constraints.multiplier)
    assert back.attrs["method"] == "SLSQP"
    assert back.attrs["simulations"] == len(redispatch.trials)


def test_a_trial_is_one_simulation_and_one_adjoint(system, frequency, monkeypatch):
    counts = {"simulate": 0, "adjoint": 0}

    def counted(name, made):
        def wrapped(*args, **options):
            counts[name] += 1
            return made(*args, **options)

        monkeypatch.setattr(measures_module, name, wrapped)

    for name in counts:
        counted(name, getattr(measures_module, name))
    found = optimise(system, gc.Terminal(moved), "GEN[23].P0", t_end=1.0, bounds=BOUNDS,
                     constraints=[Constraint(frequency[1], high=2e-3), Constraint(frequency[2], high=1e-3)])
    assert counts == {"simulate": len(found.trials), "adjoint": len(found.trials)}


def test_the_equations_are_not_traced_again(system, frequency, monkeypatch):
    monkeypatch.setattr("gridcore.equations.layout.Trace", None)
    found = optimise(system, gc.Terminal(moved), "GEN[23].P0", t_end=1.0, bounds=BOUNDS,
                     constraints=Constraint(frequency, high=2e-3))
    assert found.success


def test_gradients_are_those_of_the_values(system, frequency, redispatch):
    """Central differences of trials."""
    for k, name in enumerate(["GEN2.P0", "GEN3.P0"]):
        h, at = 1e-4, redispatch.x.values[k]
        runs = [gc.simulate(redispatch.system.with_values({name: at + s * h}), 1.0, 0.01) for s in (1, -1)]
        a, b = (gc.adjoint(run, frequency, name).value.values for run in runs)
        final = redispatch.trials[int(redispatch.history.trial.values[-1])]
        np.testing.assert_allclose(final.jacobian[:, k], (a - b) / (2 * h), rtol=1e-4, atol=1e-9)


def test_several_objectives_are_summed(system, frequency):
    one = problem_of(system, frequency).trials[0]
    parts = [problem_of(system, o).trials[0] for o in frequency]
    assert one.value == pytest.approx(sum(part.value for part in parts), rel=1e-14)
    np.testing.assert_allclose(one.gradient, sum(part.gradient for part in parts), rtol=3e-13)


def problem_of(system, objective):
    from gridcore_optimisation.parameters import Parameters

    return problem.Problem(system, Parameters.of(system, "GEN[23].P0", None, None), objective, [],
                           lambda objectives: Simulation(objectives, 1.0))


def test_a_run_of_ida_is_optimised_with_the_continuous_adjoint():
    pytest.importorskip("scikits_odes_sundials.ida", reason="run ./setup.sh ida")
    angle = gc.Integral(lambda v: (v["SWING", "delta"] - 0.8) ** 2)
    theta = optimise("swing", angle, "SWING.Pm", t_end=0.5, step=0.001)
    ida = optimise("swing", angle, "SWING.Pm", t_end=0.5, adjoint={"method": "continuous"},
                   simulate={"method": "ida", "rtol": 1e-7, "atol": 1e-7}, options={"gtol": 1e-4})
    assert ida.success
    assert ida.x.item() == pytest.approx(theta.x.item(), rel=1e-4)


def test_any_measure_may_be_objective_or_limit_beside_a_run():
    """Of a protocol with one method: what another plugin analyses is held, or minimised, like the fault response."""
    assert isinstance(Linear([1, 0, 0]), Measure)
    assert isinstance(Simulation([], 1.0), Measure)
    peak = gc.Integral(lambda v: np.maximum(v["SWING", "delta"] - 0.9, 0) ** 2, name="peak")
    found = optimise(SYSTEM, Quadratic([1.06, 5.0, 5.0]), NAMES, t_end=1.0, scale=0.1,
                     constraints=[Constraint(peak, high=1e-3), Constraint(Linear([[0, 0, 1]], ["damping"]), high=6.0)])
    assert found.success
    assert found.constraints.constraint.values.tolist() == ["peak", "damping"]
    assert found.constraints.values[0] == pytest.approx(1e-3, rel=1e-6)


def test_the_start_must_be_a_system_that_can_be_simulated():
    case = gc.load_case("swing")
    case.set("SWING.Pm", 2.0877)
    with pytest.raises(gc.GridcoreError):
        optimise(gc.build(case), Wrong(error=True), "SWING.H")


class Wrong:
    """Measures that break the protocol."""

    def __init__(self, values=1.0, gradient=(1.0,), error=False):
        self.values, self.gradient, self.error = values, gradient, error

    def value_and_gradient(self, system, parameters):
        if self.error:
            raise gc.errors.ConvergenceError("no value")
        return self.values, self.gradient


END = gc.Terminal(lambda v: v["SWING", "delta"])


@pytest.mark.parametrize(("arguments", "said"), [
    (dict(objective=END), "t_end is missing"),
    (dict(objective=lambda v: 1.0, t_end=1.0), "is neither an objective (gc.Integral"),
    (dict(objective=[], t_end=1.0), "there is no objective in an empty list"),
    (dict(objective=END, t_end=1.0, constraints=END), "is not a Constraint: write Constraint(objective, high=limit)"),
    (dict(objective=END, t_end=1.0, options="maxiter"), "options = 'maxiter' must be a table: {'maxiter': 50}"),
    (dict(objective=END, t_end=1.0, method="BFGS"), "no method 'BFGS'; did you mean L-BFGS-B"),
    (dict(objective=Wrong([1.0, 2.0], [[1.0], [2.0]])), "the objective has 2 values: one can be minimised"),
    (dict(objective=Wrong(1.0, (1.0, 2.0))), "Wrong.value_and_gradient gives 1 values and derivatives of shape (2,)"),
    (dict(objective=Wrong(np.nan)), "a value or a derivative is not finite")])
def test_what_is_wrong_is_told(arguments, said):
    constraints = arguments.pop("constraints", ())
    with pytest.raises(gc.GridcoreError) as error:
        optimise(SYSTEM, wrt="SWING.H", constraints=[constraints] if constraints else (), **arguments)
    assert said in str(error.value)


def test_constraints_that_are_none_of_a_list_are_refused_too():
    with pytest.raises(gc.errors.CaseError, match="3 is not a Constraint"):
        optimise(SYSTEM, END, "SWING.H", t_end=1.0, constraints=3)


@pytest.mark.parametrize(("limits", "said"), [
    ({}, "lower or an upper limit"), (dict(low=2, high=1), "contradict each other: 2 to 1"),
    (dict(high=np.nan), "lower or an upper limit")])
def test_a_constraint_has_limits(limits, said):
    with pytest.raises(gc.errors.CaseError, match=said):
        Constraint(END, **limits)


def test_it_is_an_analysis():
    assert gc.analyses.optimise(SYSTEM, Quadratic([1.0]), "SWING.Pm").x.item() == pytest.approx(1.0, rel=1e-8)
