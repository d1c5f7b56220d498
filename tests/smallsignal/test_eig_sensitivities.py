"""Derivatives of eigenvalues are total: against differences of power flow, initialisation and eigenvalues together."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from book import book_case
from chain import best_differences, direction, finite

import gridcore as gc
from gridcore.errors import CaseError

TOLERANCE = 1e-7  # relative to 1 + the derivative


@pytest.fixture(scope="module")
def system():
    return gc.build("wscc9")


@pytest.fixture(scope="module")
def modes(system):
    return gc.analyses.small_signal(system)


@pytest.fixture(scope="module")
def simple(modes):
    """Numbers of the eigenvalues that have derivatives: all but the exact zero."""
    return [k for k, label in enumerate(modes.labels) if not label]


@pytest.fixture(scope="module")
def tables(modes, simple):
    """Total, and at a fixed operating point."""
    return [modes.sensitivities(["*.*"], simple, operating_point=moving) for moving in (True, False)]


@pytest.fixture(scope="module")
def by_differences(system, modes, simple, tables):
    """Derivatives in every parameter, and how well they are known; of shares of a load in what they can do."""
    directions = {name: direction(system, name) for name in tables[0]["parameter"].values.tolist()
                  if finite(system, name)}
    return {name: (along, *best_differences(system, along, modes.eigenvalues[simple]))
            for name, along in directions.items() if along is not None}


def worst(table, by_differences):
    """Largest error of each parameter, relative to 1 + the derivative."""
    out = {}
    for name, (along, true, _) in by_differences.items():
        found = sum(part * table["eigenvalue"].sel(parameter=p).values for p, part in along.items())
        out[name] = float((np.abs(found - true) / (1 + np.abs(true))).max())
    return out


def test_every_parameter_of_the_9_bus_is_there(system, tables):
    names = set(tables[0]["parameter"].values.tolist())
    given = {f"{i.id}.{name}" for i in system.instances for name in i.values}
    found_by_power_flow = {f"GEN{k}.Q0" for k in (1, 2, 3)} | {"GEN1.P0"} | {
        f"BUS{k}.{v}" for k in range(1, 10) for v in ("Vm0", "Va0")}
    zero_time_constants = {f"EXC{k}.TR" for k in (1, 2, 3)}
    assert given - names == found_by_power_flow | zero_time_constants | {"trip.t"}  # which is fault.clear
    assert len(names) > 140


@pytest.mark.slow
def test_differences_are_good_enough_to_judge_by(by_differences):
    assert max(float((apart / (1 + np.abs(true))).max()) for _, true, apart in by_differences.values()) < TOLERANCE


@pytest.mark.slow
def test_total_derivatives_are_those_of_the_whole_chain(tables, by_differences):
    off = {name: error for name, error in worst(tables[0], by_differences).items() if error >= TOLERANCE}
    assert not off


@pytest.mark.slow
def test_without_the_operating_point_most_of_them_are_wrong(tables, by_differences):
    """The same comparison fails, by far, when the shift of operating point and set-points is left out."""
    errors = worst(tables[1], by_differences)
    assert sum(error > 1e-4 for error in errors.values()) > len(errors) / 3
    # dispatch and voltages act through the operating point alone
    for name in ("GEN2.P0", "GEN1.V0", "GEN2.V0"):
        assert errors[name] > 1e-3
        assert np.abs(tables[1]["eigenvalue"].sel(parameter=name).values).max() < 1e-12


def test_what_has_no_limit_has_no_influence(system, tables):
    infinite = [name for name in tables[0]["parameter"].values.tolist() if not finite(system, name)]
    assert infinite
    assert np.abs(tables[0]["eigenvalue"].sel(parameter=infinite).values).max() == 0


@pytest.mark.parametrize("name", ["GEN2.P0", "LOAD5.P0", "LOAD8.Q0", "EXC2.KA", "GEN3.Xd", "LINE7-8.x", "GEN2.V0"])
def test_total_derivatives_with_loads_of_constant_power(name):
    system = gc.build(book_case())
    modes = gc.analyses.small_signal(system)
    simple = [k for k, label in enumerate(modes.labels) if not label]
    true, _ = best_differences(system, {name: 1.0}, modes.eigenvalues[simple])
    found = modes.sensitivities(name, simple)["eigenvalue"].values[:, 0]
    assert np.abs(found - true).max() < TOLERANCE * (1 + np.abs(true).max())


def test_damping_ratio_and_frequency_follow_from_the_eigenvalue(modes, tables, simple):
    table, h = tables[0], 1e-7
    values = modes.eigenvalues[simple][:, None]
    d = table["eigenvalue"].values
    moved = values + h * d / np.abs(d).max()
    scale = np.abs(d).max() / h
    ratio = -moved.real / np.abs(moved) + values.real / np.abs(values)
    assert np.abs(ratio * scale - table["damping_ratio"].values).max() < 1e-5 * np.abs(d).max()
    hertz = (np.abs(moved.imag) - np.abs(values.imag)) / (2 * np.pi)
    assert np.abs(hertz * scale - table["frequency"].values).max() < 1e-5 * np.abs(d).max()


def test_conjugates_have_conjugate_derivatives(modes):
    d = modes.sensitivities("EXC*.KA", [0, 1])["eigenvalue"].values
    assert modes.eigenvalues[1] == np.conj(modes.eigenvalues[0])
    np.testing.assert_allclose(d[1], d[0].conj(), rtol=1e-12, atol=1e-14)


def test_an_exact_zero_stays(system, modes):
    zero = modes.labels.index("rotation")
    d = modes.sensitivities("*.*", [zero])["eigenvalue"]
    allowed = [direction(system, name) for name in d["parameter"].values.tolist()]
    for along in filter(None, allowed):
        assert abs(sum(part * d.sel(parameter=p).values for p, part in along.items()).item()) < 1e-9


def test_common_speed_is_damped_by_what_damps_the_machines():
    """The second zero of the undamped system has a derivative in D although it has no eigenvector of its own."""
    def speed(D):
        case = book_case()
        case.set("GEN2.D", D)
        values = gc.analyses.small_signal(gc.build(case)).eigenvalues
        return values[values != 0][np.abs(values[values != 0]).argmin()].real

    modes = gc.analyses.small_signal(gc.build(book_case()))
    slope = modes.sensitivities("GEN2.D", [modes.labels.index("common speed")])["eigenvalue"].item()
    assert slope == pytest.approx((4 * speed(0.05) / 0.05 - speed(0.1) / 0.05) / 2, rel=1e-5)


def test_cost_is_one_adjoint_solve_a_mode_whatever_the_number_of_parameters(system, modes, monkeypatch):
    """A complex eigenvalue is two real right-hand sides; the kernel of second derivatives runs once a mode."""
    from gridcore.equilibrium import InitialSensitivity
    from gridcore_smallsignal.bilinear import BilinearGradient

    made, gradients = [], []
    of, evaluate = InitialSensitivity.of.__func__, BilinearGradient.evaluate
    monkeypatch.setattr(InitialSensitivity, "of", classmethod(lambda *a: made.append(of(*a)) or made[-1]))
    monkeypatch.setattr(BilinearGradient, "evaluate", lambda *a: gradients.append(a) or evaluate(*a))
    for wrt in ("GEN1.H", "*.*"):
        modes.sensitivities(wrt, [0, 2, 4])
        first = made[-1].lu.solves
        modes.sensitivities(wrt, [0, 2, 4])
        assert made[-1].lu.solves - first == 2 * 3
    assert len(gradients) == 4 * 3


def test_dispatch_direct_takes_power_and_voltage_by_themselves(modes):
    d = modes.sensitivities(["GEN2.Q0", "BUS5.Vm0"], [0], dispatch="direct")["eigenvalue"].values
    assert np.abs(d).min() > 1e-6


def test_names_that_are_not_there_are_refused_with_the_nearest(modes):
    with pytest.raises(CaseError, match=r"did you mean .*EXC1\.KA"):
        modes.sensitivities("EXC1.KAA")
    with pytest.raises(CaseError, match="found by the power flow"):
        modes.sensitivities("GEN1.P0")
    with pytest.raises(CaseError, match="initial value"):
        modes.sensitivities("GEN1.delta")
    with pytest.raises(CaseError, match="wrt is empty: name parameters"):
        modes.sensitivities([])
    with pytest.raises(CaseError, match="mode 77: there are 21"):
        modes.sensitivities("GEN1.H", [77])


def test_a_point_of_a_run_has_no_chain_to_differentiate(system):
    later = system.with_values({"fault.t": 9.0, "fault.clear": 9.1})
    modes = gc.analyses.small_signal(gc.simulate(later, t_end=0.1))
    with pytest.raises(CaseError, match="operating point"):
        modes.sensitivities("GEN1.H")


def test_multiple_eigenvalues_are_told(small_signal_of_twins):
    modes = small_signal_of_twins
    with pytest.warns(UserWarning, match="multiple eigenvalue"):
        modes.sensitivities("GEN1.H")


@pytest.fixture
def small_signal_of_twins():
    """Two machines alone, each on an infinite bus of its own, the same to the last bit."""
    case = gc.load_case("smib")
    twin = case.copy()
    for record in twin.records:
        for key in ("id", "bus", "bus1", "bus2"):
            if isinstance(record.fields.get(key), int):
                record.fields[key] += 100
            elif isinstance(record.fields.get(key), str):
                record.fields[key] += "_B"
    for record in [*twin.records]:
        case.add(record)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return gc.analyses.small_signal(gc.build(case))
