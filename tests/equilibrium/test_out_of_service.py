"""``status = 0`` in a row: a device that is out of service at t0, with what hangs on it, is as if it were not there."""

import numpy as np
import pytest

import gridcore as gc
from gridcore.errors import CaseError


def machine_out_of_service() -> gc.Case:
    """The 9-bus system with a machine, its exciter and a line more, all of it out of service."""
    case = gc.load_case("wscc9")
    case.add(gc.Record("TwoAxis", {**case["GEN2"].fields, "id": "GEN9", "bus": 9, "status": 0}))
    case.add(gc.Record("IEEEType1", {**case["EXC2"].fields, "id": "EXC9", "machine": "GEN9"}))
    case.add(gc.Record("Line", {"id": "L", "bus1": 4, "bus2": 9, "x": 0.1, "status": 0}))
    return case


@pytest.fixture(scope="module")
def runs():
    systems = gc.build("wscc9"), gc.build(machine_out_of_service())
    return [gc.simulate(system, t_end=1.0) for system in systems]


def test_the_others_move_as_if_it_were_not_there(runs):
    for device in ("GEN1", "GEN2", "GEN3"):
        for name in ("omega", "delta", "Eqp"):
            assert runs[1][device, name] == pytest.approx(runs[0][device, name], rel=1e-11)


def test_it_is_at_a_standstill_and_so_is_what_hangs_on_it(runs):
    for device in ("GEN9", "EXC9", "L"):
        assert not runs[1][device, "status"].any()
    for device, name in (("GEN9", "delta"), ("EXC9", "Efd")):
        assert np.ptp(runs[1][device, name]) == 0
    assert not runs[1]["GEN9", "P"].any()
    assert not runs[1]["L", "P1"].any()


def test_gradients_in_the_parameters_of_the_others_are_the_same_and_in_its_own_zero(runs):
    objective = gc.Terminal(lambda v: v["GEN2", "omega"])
    here, there = (gc.adjoint(run, objective, wrt=["GEN*.H", "GEN*.P0", "LINE*.x"]) for run in runs)
    for name in here.parameter.values:
        assert float(there.sel(parameter=name)[0]) == pytest.approx(float(here.sel(parameter=name)[0]), rel=1e-9)
    own = gc.adjoint(runs[1], objective, wrt=["GEN9.H", "GEN9.P0", "EXC9.KA", "L.x"])
    assert not own.values.any()


def test_a_line_that_is_open_can_be_closed():
    case = machine_out_of_service()
    case.add(gc.BranchTrip(id="close", branch="L", t=float("inf"), reclose=0.3))
    run = gc.simulate(gc.build(case), t_end=0.5)
    assert not run["L", "P1"][run.t < 0.3].any()
    assert run["L", "P1"][run.t > 0.31].all()


@pytest.mark.parametrize("value", [2, -1, 0.5, "off"])
def test_status_is_zero_or_one(value):
    case = gc.load_case("wscc9")
    case.set("GEN2.status", value)
    with pytest.raises(CaseError, match=r"field 'status': .* must be 1 \(in service\) or 0"):
        gc.build(case)


def test_a_bus_has_no_status():
    case = gc.load_case("wscc9")
    case.records[0].fields["status"] = 0
    with pytest.raises(CaseError, match="a Bus has no such field"):
        gc.build(case)
