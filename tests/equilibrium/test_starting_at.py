"""States that start elsewhere than at rest: the run, and its derivatives, against differences of the whole program."""

from __future__ import annotations

import numpy as np
import pytest

import gridcore as gc
from gridcore.equilibrium import starting_at
from gridcore.sensitivity import evaluate

SYSTEM = gc.build("wscc9")
START = {"GEN2.omega": 1.002, "GEN3.Eqp": 0.75}
WRT = ["GEN2.omega", "GEN3.Eqp", "GEN1.delta", "GEN2.H", "GEN2.P0", "LINE7-8.x", "EXC1.KA"]
OBJECTIVES = [gc.Terminal(lambda v: v["GEN2", "delta"] - v["GEN1", "delta"]),
              gc.Integral(lambda v: (v["BUS7", "Vm"] - 1) ** 2), gc.Terminal(lambda v: v["EXC1", "VR"])]


def simulated(values, start=START):
    parameters = {name: value for name, value in values.items() if name not in start}
    states = {name: value for name, value in values.items() if name in start}
    return gc.simulate(starting_at(SYSTEM.with_values(parameters), {**start, **states}), t_end=0.5)


def test_a_state_starts_where_it_is_put_and_the_network_follows():
    run = simulated({})
    assert run["GEN2", "omega"][0] == 1.002
    assert run["GEN3", "Eqp"][0] == 0.75
    algebraic = ~run.system.base_differential
    assert np.abs(run.system.rhs(run.system.Z0)[algebraic]).max() < 1e-12
    assert abs(run["BUS3", "Vm"][0] - SYSTEM.rest[SYSTEM.layout.address("BUS3.Vm0")]) > 1e-3
    assert len(SYSTEM.held) == 0


def test_derivatives_of_a_run_away_from_rest_are_those_of_the_program():
    """GEN1.delta starts at rest and moves with the parameters; the two that are given do not."""
    run = simulated({})
    layout = SYSTEM.layout
    wrt = [name for name in WRT if name != "GEN1.delta"]
    by_adjoint = gc.adjoint(run, OBJECTIVES, wrt)
    expected = np.empty(by_adjoint.shape)
    for k, name in enumerate(by_adjoint["parameter"].values):
        at = START[name] if name in START else SYSTEM.Z0[layout.address(name)]
        h = 1e-4 * (1 + abs(at))
        values = [evaluate(simulated({name: at + s * h}), OBJECTIVES).values for s in (1, -1, 0.5, -0.5)]
        expected[:, k] = (8 * (values[2] - values[3]) - (values[0] - values[1])) / (6 * h)
    np.testing.assert_allclose(by_adjoint.values, expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("start", [{}, START])
def test_forward_is_adjoint_away_from_rest(start):
    run = simulated({}, start)
    forward, adjoint = gc.analyses.forward_gradient(run, OBJECTIVES, WRT), gc.adjoint(run, OBJECTIVES, WRT)
    np.testing.assert_allclose(forward.values, adjoint.values, rtol=1e-10, atol=1e-12)


def test_a_run_away_from_rest_is_kept_with_its_derivatives(tmp_path):
    run = simulated({})
    run.save(tmp_path / "run.nc")
    again = gc.load_run(tmp_path / "run.nc")
    assert np.array_equal(gc.adjoint(again, OBJECTIVES, WRT), gc.adjoint(run, OBJECTIVES, WRT))


def test_tables_of_a_system_with_other_values_have_these_values():
    run = gc.simulate(SYSTEM, t_end=0.1)
    other = gc.simulate(SYSTEM.with_values({"GEN2.H": 5.5}), t_end=0.1)
    assert gc.adjoint(run, OBJECTIVES, "GEN2.H")["at"].item() == SYSTEM.Z0[SYSTEM.layout.address("GEN2.H")]
    assert gc.adjoint(other, OBJECTIVES, "GEN2.H")["at"].item() == 5.5


@pytest.mark.parametrize(("values", "said"), [
    ({"GEN2.omga": 1.0}, "no differential state matches 'GEN2.omga'; did you mean GEN2.omega"),
    ({"BUS7.Vr": 1.0}, "no differential state matches 'BUS7.Vr'"),
    ({"GEN2.omega": "1.01 pu"}, "the initial value of GEN2.omega must be a finite number, not '1.01 pu'"),
    (["GEN2.omega"], "is not states with values: write starting_at"),
    ({"GEN2.omega": np.nan}, "the initial value of GEN2.omega must be a finite number")])
def test_what_is_no_state_or_no_value_is_refused(values, said):
    with pytest.raises(gc.errors.CaseError, match=said):
        starting_at(SYSTEM, values)


@pytest.mark.parametrize("values", [3, None, ["GEN2.H"]])
def test_what_is_no_mapping_of_addresses_is_one_sentence(values):
    with pytest.raises(gc.errors.CaseError, match=r"is not addresses with values: write with_values"):
        gc.build("swing").with_values(values)


def test_states_are_given_by_pattern_and_pair_and_a_system_by_its_name():
    named = starting_at(gc.build("wscc9"), {f"GEN{k}.omega": 1.001 for k in (1, 2, 3)})
    assert np.array_equal(starting_at("wscc9", {("GEN*", "omega"): 1.001}).Z0, named.Z0)
