"""Two areas joined by a VSC line: what passes, what does not, and gradients through the inverter's limit."""

import numpy as np
import pytest

import gridcore as gc

LIMITS = ("VSC9.active_at_Imax", "VSC9.reactive_at_Iqmax", "VSC7.more_at_more_min", "fault.clears",
          "VSC9.active_off_Imax")


@pytest.fixture(scope="module")
def system():
    return gc.build("kundur_vsc")


@pytest.fixture(scope="module")
def run(system):
    return gc.simulate(system, 2.0, 0.002)


def test_the_dispatch_of_the_case_is_balanced(system):
    assert abs(system.Z0[system.layout.address("SLACK9.spare")]) < 1e-9


def test_the_inverter_passes_on_what_the_rectifier_takes_but_for_losses(system):
    run = gc.simulate(system, 0.02, 0.01)
    taken = -5 * run["VSC7", "P"][0]
    losses = 5 * (run["VSC7", "loss"][0] + run["VSC9", "loss"][0]) + run["CABLE7-9", "losses"][0]
    assert taken == pytest.approx(4.0, abs=1e-9)
    assert 5 * run["VSC9", "P"][0] == pytest.approx(taken - losses, abs=1e-9)


def test_the_fault_drives_the_converters_to_their_limits(run):
    items = [f"{e.device}.{e.item}" for e in run.events]
    assert set(LIMITS) <= set(items)
    assert run["VSC9", "I"].max() == pytest.approx(1.1, abs=1e-3)
    assert run["DCBUS7", "V"].max() > 1.05


def test_the_areas_do_not_swing_against_each_other(system):
    """Kundur's mode between the areas, at 0.6 Hz with the AC tie, is gone; each area keeps its own."""
    modes = gc.analyses.small_signal(system)
    swings = [k for k in modes.pairs() if next(iter(modes.participants(k, 1))).endswith(".omega")]
    assert len(swings) == 2
    for k in swings:
        shape = modes.participants(k, 4)
        areas = {name[3] in "12" for name in shape if name.startswith("GEN")}
        assert len(areas) == 1
        assert modes.frequency[k] > 1.1
    assert modes.labels.count("rotation") == 2


def test_the_other_area_hardly_feels_the_fault(run):
    speeds = {k: np.abs(run[f"GEN{k}", "omega"] - 1).max() for k in (1, 2, 3, 4)}
    assert max(speeds[1], speeds[2]) < 0.2 * min(speeds[3], speeds[4])


def test_after_the_fault_the_dc_voltage_comes_back(system):
    late = gc.simulate(system, 40.0, 0.01)
    assert late["DCBUS9", "V"][-1] == pytest.approx(1.0, abs=1e-5)
    assert late["VSC7", "P"][-1] == pytest.approx(late["VSC7", "P"][0], abs=1e-4)


def test_all_methods_come_to_one_end(system):
    pytest.importorskip("scikits_odes_sundials.ida", reason="run ./setup.sh ida")
    exact = gc.simulate(system, 2.0, 0.01, method="ida", rtol=1e-9, atol=1e-11)
    for method, options in (("theta", {"step": 0.0002}), ("trbdf2", {"step": 0.0005})):
        run = gc.simulate(system, 2.0, method=method, **options)
        assert [e.words for e in run.events] == [e.words for e in exact.events]
        np.testing.assert_allclose(run.X[-1], exact.X[-1], rtol=0, atol=5e-5)


@pytest.mark.parametrize("name", ["VSC7.kd", "CAP7.c", "SLACK9.c", "VSC9.Imax", "VSC9.kv"])
def test_the_gradient_of_the_overvoltage_is_that_of_differences(run, name):
    objective = gc.Integral(lambda v: 1e3 * np.maximum(v["DCBUS7", "V"] - 1.03, 0) ** 2)
    exact = gc.adjoint(run, objective, name).item()
    beside = gc.differences(run, objective, name, relative_step=3e-4).item()  # its round-off and its error are alike
    assert abs(exact) > 1e-4
    assert exact == pytest.approx(beside, rel=1e-7)


@pytest.mark.parametrize(("bus", "converter"), [(6, "VSC7"), (10, "VSC9")])
def test_behind_a_bolted_fault_the_current_of_a_converter_falls_with_the_voltage_that_leads_it(bus, converter):
    """Nothing but the converter is there: a current of any size would be at no angle."""
    case = gc.load_case("kundur_vsc")
    case.remove("fault")
    case.add_event(gc.BusFault(id="fault", bus=bus, t=0.1, clear=0.2013, x=1e-4))
    run = gc.simulate(gc.build(case), 0.6, 0.002)
    V, locked, Id, Iq = (run[name] for name in (
        f"BUS{converter[3:]}.Vm", f"{converter}.locked", f"{converter}.Id", f"{converter}.Iq"))
    low = (run.t > 0.1) & (run.t < 0.2013)
    np.testing.assert_allclose(locked[low], V[low] / 0.05, rtol=1e-12)
    assert np.all(V[low] < 0.02)
    np.testing.assert_allclose(run[converter, "P"], V * locked * Id, atol=1e-12)
    np.testing.assert_allclose(run[converter, "Q"], V * locked * Iq, atol=1e-12)
    assert np.all(locked[run.t > 0.25] == 1.0)
    end = gc.Integral(lambda v: v[converter, "P"] + v["DCBUS7", "V"])
    wrt = [f"{converter}.Imax", "fault.x", "fault.clear"]
    exact, beside = gc.adjoint(run, end, wrt).values, gc.differences(run, end, wrt, relative_step=1e-6).values
    np.testing.assert_allclose(exact, beside, rtol=1e-5, atol=1e-8)
