"""New England with four converters: one trajectory by all methods, and gradients in gains that differences confirm."""

import numpy as np
import pytest

import gridcore as gc

MACHINES = [f"GEN{bus}" for bus in (30, 31, 34, 36, 38, 39)]
FOLLOWING = ("GEN33", "GEN37")
FORMING = ("GEN32", "GEN35")


@pytest.fixture(scope="module")
def system():
    return gc.build("ieee39_converters")


@pytest.fixture(scope="module")
def run(system):
    return gc.simulate(system, 5.0, 0.01)


def swing(v):
    mean = sum(v[machine, "omega"] for machine in MACHINES) / len(MACHINES)
    return sum((50 * (v[machine, "omega"] - mean)) ** 2 for machine in MACHINES)


def test_the_dispatch_is_that_of_the_machines():
    """Power flow does not see what turns."""
    before, after = (gc.build(name).operating_point.power_flow.V for name in ("ieee39", "ieee39_converters"))
    np.testing.assert_allclose(after, before, rtol=0, atol=1e-10)


def test_the_fault_drives_the_converters_to_their_limits_and_back(run):
    items = [f"{e.device}.{e.item}" for e in run.events]
    for at, off in (("GEN35.I_at_IMAX", "GEN35.I_off_IMAX"), ("REEC_GEN33.dip_below", "REEC_GEN33.dip_from_below"),
                    ("GEN33.Ip_at_LVPL", "GEN33.Ip_off_LVPL"),
                    ("REEC_GEN33.current_at_Ipmax", "REEC_GEN33.current_off_Ipmax")):
        assert items.index(at) < items.index("fault.clears") <= items.index(off)


def test_after_the_fault_all_are_in_step_and_the_followers_give_what_they_gave(system):
    late = gc.simulate(system, 30.0, 0.02)
    speeds = np.array([late[name, "omega"][-1] for name in (*MACHINES, *FORMING)])
    assert np.ptp(speeds) < 1e-5
    for name in FOLLOWING:
        assert late[name, "P"][-1] == pytest.approx(late[name, "P"][0], abs=1e-3)


def test_all_methods_come_to_one_end(system):
    pytest.importorskip("scikits_odes_sundials.ida", reason="run ./setup.sh ida")
    exact = gc.simulate(system, 3.0, 0.01, method="ida", rtol=1e-9, atol=1e-11)
    for method, options in (("theta", {"step": 0.001}), ("trbdf2", {"step": 0.002})):
        run = gc.simulate(system, 3.0, method=method, **options)
        assert [e.words for e in run.events] == [e.words for e in exact.events]
        np.testing.assert_allclose(run.X[-1], exact.X[-1], rtol=0, atol=1e-4)
        for quantity in (("GEN33", "P"), ("GEN35", "Q"), ("GEN36", "omega"), ("BUS16", "Vm")):
            np.testing.assert_allclose(run[quantity][-1], exact[quantity][-1], rtol=0, atol=1e-5)


@pytest.mark.parametrize(("name", "step"), [
    ("GEN32.mp", 1e-6), ("GEN35.mp", 1e-6), ("GEN35.IMAX", 1e-5), ("GEN35.kiv", 3e-5), ("REEC_GEN33.Kvi", 3e-5),
    ("REEC_GEN33.Kqi", 3e-5), ("REPC_REEC_GEN33.Kp", 3e-5)])
def test_the_gradient_of_the_swing_is_that_of_differences(run, name, step):
    """Smaller steps where an event would pass a point of the grid: a kink of the program."""
    objective = gc.Integral(swing)
    exact = gc.adjoint(run, objective, name).item()
    assert abs(exact) > 1e-3
    assert exact == pytest.approx(gc.differences(run, objective, name, relative_step=step).item(), rel=1e-6)


def test_the_damping_of_an_oscillation_depends_on_gains_as_differences_say(system):
    modes = gc.analyses.small_signal(system)
    k = next(k for k in modes.pairs() if abs(modes.frequency[k] - 0.927) < 0.01)
    for name in ("GEN35.mp", "REEC_GEN33.Kvi", "REPC_REEC_GEN33.Kp"):
        exact = modes.sensitivities(name, [k])["damping_ratio"].item()
        value = float(system.Z0[system.layout.address(name)])
        ratio = []
        for h in (-2e-4, -1e-4, 1e-4, 2e-4):
            other = gc.analyses.small_signal(system.with_values({name: value * (1 + h)}))
            nearest = np.argmin(np.abs(other.eigenvalues - modes.eigenvalues[k]))
            ratio.append(other.damping_ratio[nearest])
        beside = (8 * (ratio[2] - ratio[1]) - (ratio[3] - ratio[0])) / (12e-4 * value)
        assert exact == pytest.approx(beside, rel=1e-6)
