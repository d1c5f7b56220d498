"""Two areas joined by a line with line-commutated converters: commutation that fails, and what follows."""

import numpy as np
import pytest

import gridcore as gc


@pytest.fixture(scope="module")
def system():
    return gc.build("kundur_lcc")


@pytest.fixture(scope="module")
def run(system):
    return gc.simulate(system, 2.0, 0.002)


def test_it_rests_and_the_inverter_has_what_the_line_does_not_lose(system):
    case = gc.load_case("kundur_lcc")
    case.remove("fault")
    rest = gc.simulate(gc.build(case), 10.0, 0.02)
    assert np.abs(rest.X - rest.X[0]).max() < 1e-9
    assert rest["LCC", "P"][0] == pytest.approx(4.0, abs=1e-12)
    assert rest["INV", "P"][0] == pytest.approx(4.0 - 0.01 * 4.0**2, abs=1e-12)


def test_a_near_fault_makes_commutation_fail_and_a_far_one_does_not(run):
    items = [f"{e.device}.{e.item}" for e in run.events if e.kind == "switch"]
    order = ["fault.strikes", "INV.fails", "INV.bypasses", "fault.clears", "INV.opens"]
    assert [item for item in items if item in order] == order
    case = gc.load_case("kundur_lcc")
    case.set("fault.x", 0.15)
    far = gc.simulate(gc.build(case), 2.0, 0.002)
    assert not [e for e in far.events if e.device == "INV" and e.item in ("fails", "bypasses")]
    assert np.arccos(far["INV", "cosg"]).min() > 0.12


def test_after_the_fault_the_line_is_as_it_was(system):
    late = gc.simulate(system, 60.0, 0.01)
    assert late["LCC", "i"][-1] == pytest.approx(4.0, abs=1e-4)
    assert late["INV", "P"][-1] == pytest.approx(late["INV", "P"][0], abs=1e-3)


@pytest.mark.parametrize("name", ["LCC.kp", "LCC.ki", "LCC.Td", "INV.gamma0", "INV.Tbypass", "fault.x"])
def test_the_gradient_of_the_energy_that_did_not_come_is_that_of_differences(run, name):
    objective = gc.Integral(lambda v: np.maximum(4.0 - v["INV", "P"], 0.0))
    exact = gc.adjoint(run, objective, name).item()
    beside = gc.differences(run, objective, name, relative_step=1e-6).item()
    assert abs(exact) > 1e-2
    assert exact == pytest.approx(beside, rel=1e-6)


def bolted(bus: int) -> gc.Run:
    case = gc.load_case("kundur_lcc")
    case.remove("fault")
    case.add_event(gc.BusFault(id="fault", bus=bus, t=0.1007, clear=0.2013, x=1e-4))
    return gc.simulate(gc.build(case), 0.29, 0.002)


@pytest.mark.parametrize("bus", [6, 7])
def test_at_a_bolted_fault_near_it_the_rectifier_takes_no_more_than_the_voltage_commutates(bus):
    """The bridge is blocked, 2 Rc i is what its voltage leaves of the angle, and cosines are not below -1."""
    run = bolted(bus)
    Vdo, i, commutated, Vd = (run["LCC", name] for name in ("Vdo", "i", "commutated", "Vd"))
    low = (run.t > 0.1007) & (run.t < 0.2013) & (i > 0.1)
    assert np.any(low)
    assert np.all(Vdo[low] < 0.05)
    np.testing.assert_allclose(2 * 0.012 * commutated[low], Vdo[low] * (1 + np.cos(2.6)), rtol=1e-12)
    assert np.all(commutated[low] < i[low])
    assert np.all(Vd >= -Vdo * (1 + 1e-12))
    np.testing.assert_allclose(np.hypot(run["LCC", "P"], run["LCC", "Q"]), Vdo * commutated, rtol=1e-9)
    items = [event.item for event in run.events if event.device == "LCC"]
    assert items.index("blocks") < items.index("commutated_to_first")


def test_the_gradient_through_such_a_fault_is_that_of_differences():
    run, end = bolted(6), gc.Integral(lambda v: v["LCC", "Q"] + v["LCC", "i"])
    wrt = ["LCC.amax", "LCC.Rc", "fault.x", "fault.t"]
    exact, beside = gc.adjoint(run, end, wrt).values, gc.differences(run, end, wrt, relative_step=1e-6).values
    assert np.all(np.abs(exact) > 1e-6)
    np.testing.assert_allclose(exact, beside, rtol=1e-5, atol=1e-9)
