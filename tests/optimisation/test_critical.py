"""The critical value by Newton is the one that halving finds, and its derivatives are those of the found values."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import gridcore as gc
from gridcore.errors import ConvergenceError
from gridcore_optimisation import critical, saddle
from gridcore_optimisation.critical import critical_value
from gridcore_optimisation.parting import PARTED, between_runs

NINE = dict(between=(0.15, 0.3), t_end=3.0)


@pytest.fixture(scope="module")
def system():
    return gc.build("wscc9")


@pytest.fixture(scope="module")
def found(system):
    return critical_value(system, **NINE, wrt=["GEN2.H", "GEN2.P0", "EXC2.KA", "LINE7-8.x"], tolerance=1e-8)


def halved(system, t_end, stable, unstable, tolerance):
    """By the verdict of simulations alone."""
    while unstable - stable > tolerance:
        middle = 0.5 * (stable + unstable)
        run = gc.simulate(system.with_values({"fault.clear": middle}), t_end)
        stable, unstable = (stable, middle) if gc.analyses.rotors(run).spread.max() >= 2 * np.pi else (middle, unstable)
    return 0.5 * (stable + unstable)


def test_nine_buses(system, found):
    """A fault at bus 7: cleared after 83 ms is stable, after 95 ms it is not."""
    assert 0.183 < found.value < 0.195
    assert found.newton
    assert found.value == pytest.approx(halved(system, 5.0, 0.183, 0.195, 1e-8), abs=2e-8)
    assert found.stable <= found.value + 1e-7
    assert found.unstable >= found.value - 1e-7


def test_each_step_of_newton_gains_more_than_the_last(found):
    """The closer it is, the longer a run stays at the saddle, and the less remains of what disturbs the estimate."""
    errors = np.array([abs(a.value - found.value) for a in found.attempts[3:]])
    gains = errors[:-1] / errors[1:]
    assert len(found.attempts) <= 9
    assert gains[0] > 10
    assert (np.diff(gains) > 0).all()


def test_one_machine_at_an_infinite_bus():
    system = gc.build("smib")
    found = critical_value(system, between=(0.17, 0.6), t_end=3.0)
    assert found.newton
    assert found.value == pytest.approx(halved(system, 4.0, 0.17, 0.2, 1e-7), abs=1e-6)


@pytest.mark.slow
def test_fifty_machines():
    system = gc.build("ieee145")
    found = critical_value(system, between=(0.2, 0.4), t_end=3.0)
    assert found.newton
    assert len(found.attempts) <= 9
    assert found.value == pytest.approx(halved(system, 5.0, 0.3, 0.31, 1e-6), abs=2e-6)


def test_a_saddle_that_does_not_decide_is_left(system, found, monkeypatch):
    """Newton's iteration leads to a saddle, but what passes it on the stable side is lost later."""
    rotors = critical.analyses.rotors

    def lost_later(run):
        out = rotors(run)
        cleared = run.system.Z0[run.system.layout.address("fault.clear")]
        spread = np.full_like(out.spread, 7.0) if found.value - 1e-3 < cleared < found.value else out.spread
        return dataclasses.replace(out, spread=spread)

    monkeypatch.setattr(critical.analyses, "rotors", lost_later, raising=False)
    other = critical_value(system, **NINE)
    assert not other.newton
    assert other.value == pytest.approx(found.value - 1e-3, abs=2e-6)


@pytest.mark.slow
def test_a_later_swing_that_is_lost():
    """At 39 buses: this fault is survived in the first swing, and not in a later one."""
    system = gc.build("ieee39")
    found = critical_value(system, between=(1.1, 1.2), t_end=8.0)
    assert found.newton
    assert found.value == pytest.approx(halved(system, 8.0, 1.16, 1.17, 1e-6), abs=2e-6)


def test_without_a_saddle_it_halves_and_says_so(system, found, monkeypatch):
    monkeypatch.setattr(critical, "passages", lambda *_: [])
    other = critical_value(system, **NINE, wrt="GEN2.H", tolerance=1e-3)
    assert not other.newton
    assert other.sensitivities is None  # the closest runs are too far apart to say so much
    assert other.unstable - other.stable <= 1e-3
    assert other.value == pytest.approx(found.value, abs=1e-3)


def test_without_a_saddle_its_derivatives_are_those_of_where_the_closest_runs_part(system, found, monkeypatch):
    monkeypatch.setattr(critical, "passages", lambda *_: [])
    names = found.sensitivities.parameter.values.tolist()
    other = critical_value(system, **NINE, wrt=names, tolerance=1e-8)
    assert not other.newton
    assert other.sensitivities.values == pytest.approx(found.sensitivities.values, rel=1e-4)
    assert other.sensitivities.unit.equals(found.sensitivities.unit)


@pytest.mark.parametrize(("name", "between"), [("wscc9", (0.15, 0.3)), ("smib", (0.17, 0.6))])
def test_runs_part_in_the_difference_of_speeds_that_differ_most(name, between):
    """At an infinite bus, in that of the machine itself."""
    system = gc.build(name)
    at = critical_value(system, between=between, t_end=5.0).value
    runs = [gc.simulate(system.with_values({"fault.clear": at + side * 1e-6}), 5.0) for side in (-1, 1)]
    until, measure = between_runs(*runs)
    until_then, a_step_before = ([gc.adjoint(gc.simulate(run.system, end), measure, "fault.clear").value.item()
                                  for run in runs] for end in (until, until - 0.01))
    assert PARTED <= until_then[1] - until_then[0] < 1.2 * PARTED
    assert 0 < a_step_before[1] - a_step_before[0] < PARTED


def test_between_runs_that_do_not_part_there_is_nothing(system):
    stable, unstable = (gc.simulate(system.with_values({"fault.clear": at}), 1.0) for at in (0.15, 0.150001))
    assert between_runs(stable, unstable) is None


def test_of_a_run_that_fails_those_behind_it_tell(system, found, monkeypatch):
    """Here a stretch of stable values that cannot be simulated."""
    simulated = critical.simulate

    def failing(of, **options):
        if 0.17 < of.Z0[of.layout.address("fault.clear")] < 0.18:
            raise ConvergenceError("no")
        return simulated(of, **options)

    monkeypatch.setattr(critical, "simulate", failing)
    other = critical_value(system.with_values({"fault.clear": 0.175}), between=(0.16, 0.24), t_end=3.0)
    assert any(attempt.failed for attempt in other.attempts)
    assert other.value == pytest.approx(found.value, abs=1e-6)


def test_the_eigenvalue_at_a_passage_is_one_of_the_linearised_system(system, found):
    """Against LAPACK on the reduced Jacobian; the only one with a positive real part that is not small."""
    run = found.run
    tangents = critical.tangents(run, "fault.clear")
    [passed, *_] = saddle.passages(run, tangents, np.searchsorted(run.t, 0.3), len(run.t) - 1)
    Z = run.read(np.arange(system.layout.size))[passed.k]
    J, mass = run.system.jacobian(Z).toarray(), run.system.differential(Z)
    f_x, f_y, g_x, g_y = (J[np.ix_(a, b)] for a in (mass, ~mass) for b in (mass, ~mass))
    expected = np.linalg.eigvals(f_x - f_y @ np.linalg.solve(g_y, g_x))
    assert passed.eigenvalue == pytest.approx(expected.real.max(), rel=1e-10)
    residual = passed.left @ J - passed.eigenvalue * passed.left * mass
    assert np.abs(residual).max() < 1e-9 * np.abs(passed.left @ np.abs(J)).max()


def test_its_derivatives_are_those_of_the_found_values(system, found):
    for name, slope in zip(found.sensitivities.parameter.values, found.sensitivities.values):
        at = system.Z0[system.layout.address(name)]
        h = 2e-4 * at
        a, b = (critical_value(system.with_values({name: at + s * h}), **NINE, tolerance=1e-8).value for s in (1, -1))
        assert slope == pytest.approx((a - b) / (2 * h), rel=1e-5)


def test_derivatives_have_names_and_units(found):
    table = found.sensitivities
    assert table.parameter.values.tolist() == ["GEN2.H", "GEN2.P0", "EXC2.KA", "LINE7-8.x"]
    assert table.unit.values.tolist() == ["s", "pu", "pu", "pu"]
    assert table.attrs["units"] == "s"
    assert table.sel(parameter="GEN2.H") > 0 > table.sel(parameter="GEN2.P0")


def test_another_parameter_than_a_time(system):
    """How much machine 2 may deliver for the fault to be survived: found again as the critical time at that power."""
    power = critical_value(system, "GEN2.P0", between=(1.5, 2.2), t_end=3.0)
    time = critical_value(system.with_values({"GEN2.P0": power.value}), **NINE)
    assert time.value == pytest.approx(0.183, abs=2e-6)


def test_ends_and_tolerance_may_have_units(system, found):
    same = critical_value(system, between=("150 ms", "18 cycles"), t_end="3 s", tolerance="100 us")
    assert same.value == pytest.approx(found.value, abs=1e-4)
    assert len(same.attempts) < len(found.attempts)


def test_an_end_may_come_first(system, found):
    other = critical_value(system, between=(0.3, 0.15), t_end=3.0)
    assert other.value == pytest.approx(found.value, abs=1e-6)


@pytest.mark.parametrize(("arguments", "said"), [
    (dict(between=(0.15,)), "between = (0.15,) must be two values: (0.1, 0.5)"),
    (dict(between="0.1"), "between = '0.1' must be two values"),
    (dict(between=3), "between = 3 must be two values"),
    (dict(attempts=None), "attempts = None must be a number, at least 1"),
    (dict(attempts=0), "attempts = 0 must be a number, at least 1"),
    (dict(tolerance=0), "tolerance = 0 must be above 0"),
    (dict(tolerance="-1 us"), "tolerance = -1 us must be above 0"),
    (dict(between=(0.15, 0.16)), "fault.clear = 0.15 and 0.16 are both stable"),
    (dict(between=(0.25, 0.3)), "are both unstable"),
    (dict(parameter="fault.cleared"), "no parameter or state matches 'fault.cleared'; did you mean fault.clear"),
    (dict(parameter="GEN*.H"), "'GEN*.H' is a pattern: one parameter is wanted"),
    (dict(wrt="GEN9.H"), "no parameter or state matches 'GEN9.H'"),
    (dict(attempts=3), "no convergence in 3 simulations; stable at 0.183, unstable at 0.3")])
def test_what_is_wrong_is_told(system, arguments, said):
    with pytest.raises(gc.GridcoreError) as error:
        critical_value(system, **{**NINE, **arguments})
    assert said in str(error.value)


def test_where_nothing_can_fall_out_of_step_no_value_is_called_stable():
    assert gc.simulate("swing", t_end=0.2).summary().stable is None
    with pytest.raises(gc.errors.CaseError, match="case 'swing' has no machines that could fall out of step"):
        critical_value("swing", "SWING.t_clear", between=(0.15, 0.9), t_end=0.2)


def test_the_buffer_at_a_point_is_what_the_run_reads_there(system):
    run = gc.simulate(system, t_end=0.3)
    Z = run.read(np.arange(system.layout.size))
    assert len(set(run.point_settings.tolist())) > 2
    for k in (len(run.t) - 1, 0, *np.flatnonzero(np.diff(run.t) == 0)):
        assert np.array_equal(saddle.buffer(run, k), Z[k], equal_nan=True)
