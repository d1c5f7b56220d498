"""Load shedding in a system that needs it."""

import numpy as np
import pytest

import gridcore as gc


def case_without_events():
    case = gc.load_case("wscc9")
    case.remove("fault")
    case.remove("trip")
    return case


def ufls(**fields):
    return gc.Record("UnderFrequencyLoadShedding", fields)


def test_loss_of_a_machine_sheds_load_in_stages_each_after_its_delay():
    case = case_without_events()
    case.add(gc.Trip(id="loss", device="GEN2", t=0.5))
    for n, threshold in enumerate((59.5, 59.2), 1):
        for bus in (5, 6, 8):
            case.add(ufls(id=f"STAGE{n}_{bus}", load=f"LOAD{bus}", threshold=threshold, delay=0.2, shed=0.15))
    run = gc.simulate(gc.build(case), t_end=4.0, step=0.01)
    for n in (1, 2):
        for bus in (5, 6, 8):
            (armed, acted) = [e for e in run.events if e.device == f"STAGE{n}_{bus}"]
            assert (armed.kind, acted.kind) == ("delay started", "switch")
            assert acted.t - armed.t == pytest.approx(0.2, abs=1e-12)
    for bus in (5, 6, 8):
        np.testing.assert_allclose(run[f"LOAD{bus}", "k"][[0, -1]], [1.0, 0.7], rtol=1e-14)


def test_measured_frequency_is_the_speed_of_the_machines_once_they_move_together():
    case = case_without_events()
    case.add(gc.ParameterStep(id="more", parameter="LOAD5.P0", t=0.5, scale=1.2))
    case.add(ufls(id="STAGE", load="LOAD8", threshold=50.0, shed=0.1))
    run = gc.simulate(gc.build(case), t_end=20.0, step=0.01)
    H = {"GEN1": 23.64, "GEN2": 6.4, "GEN3": 3.01}
    centre = sum(h * run[g, "omega"][-1] for g, h in H.items()) / sum(H.values()) - 1
    assert centre < -1e-3
    assert run["STAGE", "slip"][-1] == pytest.approx(centre, rel=2e-2)


@pytest.mark.parametrize(("delay", "sheds"), [(0.5, False), (0.1, True)])
def test_undervoltage_stage_rides_through_a_fault_shorter_than_its_delay(delay, sheds):
    case = case_without_events()
    case.add(gc.BusFault(id="dip", bus=8, t=0.1, clear=0.3, x=0.1))
    case.add(gc.Record("UnderVoltageLoadShedding", {
        "id": "STAGE", "load": "LOAD8", "threshold": 0.8, "delay": delay, "shed": 0.4}))
    run = gc.simulate(gc.build(case), t_end=1.5, step=0.005)
    kinds = [event.kind for event in run.events if event.device == "STAGE"]
    assert kinds[:2] == ["delay started", "switch" if sheds else "cancelled"]
    assert run["LOAD8", "k"][-1] == pytest.approx(0.6 if sheds else 1.0)


def test_overcurrent_relay_trips_the_line_that_feeds_a_fault():
    case = case_without_events()
    case.add(gc.BusFault(id="short", bus=5, t=0.1, clear=0.6, x=0.05))
    case.add(gc.Record("OverCurrentRelay", {"branch": "LINE4-5", "threshold": 3.0, "delay": 0.1}))
    run = gc.simulate(gc.build(case), t_end=0.5, step=0.005)
    trip = [e for e in run.events if e.device == "RELAY_LINE4-5" and e.kind == "switch"]
    assert [e.t for e in trip] == [pytest.approx(0.2, abs=1e-12)]
    assert run["LINE4-5", "I1"][-1] < 1e-12
