"""The Western Interconnection with 37 converters: its fault, its modes, and a gradient in all gains at once."""

import numpy as np
import pytest

import gridcore as gc
from gridcore.sensitivity import evaluate

# What the files have at zero, which is a bound, is beside it here.
SILENT = {"REPC_*.Kp": None, "REPC_*.Ki": None, "REPC_*.Ddn": 20.0, "REPC_*.Dup": 15.0, "GEN*.Khv": 0.7}
GAINS = {"REEC_*.Kqv": 1.0, "REPC_*.Kpg": None, "REPC_*.Kig": None, **SILENT}
T_END = 1.6


@pytest.fixture(scope="module")
def system():
    return gc.build("wecc240")


def test_it_rests_for_twenty_seconds():
    case = gc.load_case("wecc240")
    case.remove("fault")
    run = gc.simulate(gc.build(case), 20.0, 0.05)
    assert not run.events
    assert np.abs(run.X - run.X[0]).max() < 1e-9


def test_the_fault_is_survived_and_takes_current_from_the_plants_near_it(system):
    run = gc.simulate(system, 10.0, 0.01)
    low = {event.device for event in run.events if event.item == "gain_below_2"}
    assert {"GEN2431_S", "GEN2434_S", "GEN2439_S"} <= low
    assert len(low) < 37 / 2
    machines = [i.id for i in system.layout.instances if i.device.__name__ == "GENROU"]
    omega = np.array([run[id, "omega"][-1] for id in machines])
    assert np.abs(omega - 1).max() < 2e-3
    for plant in low:
        assert run[plant, "P"][-1] == pytest.approx(run[plant, "P"][0], abs=0.02)


def test_the_gradient_in_all_gains_together_is_that_of_differences_along_random_directions(system):
    """All that are not behind a flag: reactive support, which the files do not have, among them; 86 events.

    Dead bands of 1 pu, and a voltage that nowhere rises above Volim, leave nothing of the SILENT ones.
    """
    system = system.with_values({gain: value for gain, value in GAINS.items() if value})
    objectives = [gc.Integral(lambda v: 1e3 * (v["BUS2401", "Vm"] - 1.05) ** 2),
                  gc.Integral(lambda v: 1e6 * (v["GEN2438_SG", "omega"] - 1) ** 2)]
    run = gc.simulate(system, T_END, 0.01)
    gradient = gc.adjoint(run, objectives, list(GAINS))
    names = [str(name) for name in gradient["parameter"].values]
    assert len(names) == 8 * 37
    assert not gc.adjoint(run, objectives, list(SILENT)).values.any()
    at = np.array([system.Z0[system.layout.address(name)] for name in names])

    def values(change):
        other = gc.simulate(system.with_values(dict(zip(names, at + change))), T_END, mesh=run)
        assert [(e.device, e.item) for e in other.events] == [(e.device, e.item) for e in run.events]
        return evaluate(other, objectives).values.ravel()

    rng = np.random.default_rng(1)
    for _ in range(2):
        way = 1e-4 * at * rng.normal(size=len(at))
        beside = (8 * (values(way / 2) - values(-way / 2)) - (values(way) - values(-way))) / 6
        exact = gradient.values @ way
        np.testing.assert_array_less(np.abs(beside - exact), 1e-6 * np.abs(gradient.values) @ np.abs(way))


def test_the_least_damped_modes_are_those_of_the_dense_matrix_and_certified(system):
    found = gc.analyses.small_signal(system, method="sparse", count=12)
    dense = gc.analyses.small_signal(system, method="dense")
    swings = [k for k in found.pairs() if found.frequency[k] > 0.1]
    assert len(swings) > 4
    for k in swings:
        assert np.abs(dense.eigenvalues - found.eigenvalues[k]).min() < 1e-8 * abs(found.eigenvalues[k])
        assert found.certificate.covers(found.eigenvalues[k])
    assert 0.04 < min(found.damping_ratio[k] for k in swings) < 0.05


def test_integrators_without_gain_are_exact_zeros_with_vectors_of_their_own(system):
    """The plants have dead bands in which nothing drives their integrators: 37 of them, and the rotation."""
    modes = gc.analyses.small_signal(system, method="sparse", count=10)
    A = gc.analyses.linearise(system).reduced
    still = ~A.any(axis=1)
    labels = [label for label in modes.labels if label]
    assert labels.count("constant") == still.sum() - 1 > 30
    assert sorted(set(labels)) == ["common speed", "constant", "rotation"]
    zero = [k for k, label in enumerate(modes.labels) if label in ("constant", "rotation")]
    right = modes.right[:, zero]
    assert np.linalg.matrix_rank(right) == len(zero)
    np.testing.assert_allclose(A @ right, 0.0, atol=1e-8 * np.abs(A).max())
