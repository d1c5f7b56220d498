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
