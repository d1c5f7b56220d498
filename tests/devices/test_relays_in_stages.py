"""FRQTPAT, VTGTPAT, LDS3BL and LVS3BL: what they measure, when they pick up, and what their breakers do."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import gridcore as gc
from gridcore.errors import GridcoreError

TIMES = dict(TP=0.1, TB=0.05)
STAGES = dict(t1=0.1, tb1=0.05, frac1=0.3, t2=0.2, tb2=0.03, frac2=0.5, t3=0.3, tb3=0.01, frac3=0.4)


def grid(model, voltage=(), ramp=(), trips=(), **values):
    """A relay at an infinite bus whose voltage is stepped and whose angle is moved; a machine behind a line, a load."""
    case = gc.Case("relay")
    for id in (1, 2):
        case.add(gc.Record("Bus", {"id": id}))
    case.add(gc.Record("InfiniteBus", {"id": "INF", "bus": 1, "control": "slack"}))
    case.add(gc.Record("Line", {"bus1": 1, "bus2": 2, "x": 0.1}))
    case.add(gc.Record("GENCLS", {"id": "GEN", "bus": 2, "P0": 0.5, "H": 4.0, "D": 1.0, "Xdp": 0.3}))
    case.add(gc.Record("ZIP", {"id": "LOAD", "bus": 1, "P0": 0.8, "Q0": 0.2}))
    places = {"load": "LOAD"} if model in ("LDS3BL", "LVS3BL") else {"bus": 1, "machine": "GEN"}
    case.add(gc.Record(model, {"id": "R", **places, **values}))
    for device, ttb in trips:
        case.add(gc.Record("TransferTrip", {"relay": "R", "device": device, "ttb": ttb}))
    for k, (t, by) in enumerate(voltage):
        case.add(gc.ParameterStep(id=f"v{k}", parameter="INF.E", t=t, by=by))
    for k, (t0, t1, by) in enumerate(ramp):
        case.add(gc.Ramp(id=f"r{k}", parameter="INF.angle", t0=t0, t1=t1, by=by))
    return gc.simulate(gc.build(case, deenergise=bool(trips)), 1.0, 0.01)


def acted(run):
    """Item and kind of what the relay did, and when."""
    return [(event.item, event.kind, event.t) for event in run.events if event.device == "R"]


def approx(t):
    return pytest.approx(t, abs=1e-9)


@pytest.mark.parametrize(("item", "by", "band"), [("low", -0.3, (0.8, 1.2)), ("high", 0.3, (0.8, 1.2))])
def test_a_pick_up_starts_anew_where_the_voltage_comes_back_and_a_breaker_opens_whatever_comes(item, by, band):
    run = grid("VTGTPAT", [(0.1, by), (0.15, -by), (0.3, by), (0.42, -by)], VL=band[0], VU=band[1], **TIMES)
    assert acted(run) == [
        (item, "delay started", approx(0.1)), (item, "cancelled", approx(0.15)), (item, "delay started", approx(0.3)),
        (item, "switch", approx(0.4)), ("trips", "delay started", approx(0.4)), ("trips", "switch", approx(0.45))]
    after = run.t > 0.45 + 1e-9
    assert_allclose(run["GEN", "status"][after], 0.0)
    assert_allclose(run["GEN", "status"][run.t < 0.45 - 1e-9], 1.0)
    assert_allclose(run["LINE1-2", "P2"][after], 0.0, atol=1e-12)


def test_a_relay_that_is_beyond_its_band_at_t0_times_from_there():
    run = grid("VTGTPAT", VL=1.1, VU=1.3, **TIMES)
    assert acted(run)[-1] == ("trips", "switch", approx(0.15))


@pytest.mark.parametrize(("item", "sign"), [("low", -1.0), ("high", 1.0)])
def test_a_frequency_is_that_of_the_bus_and_trips_the_generator_after_both_times(item, sign):
    band, moved = dict(FL=59.4, FU=60.6), [(0.1, 1.0, sign * 0.02 * 120 * np.pi * 0.9)]
    assert grid("FRQTPAT", ramp=moved, **band, TP=5.0)["R", "frequency"][-1] == pytest.approx(60 + sign * 1.2, rel=1e-6)
    run = grid("FRQTPAT", ramp=moved, **band, **TIMES)
    (_, _, began), *_, (last, kind, tripped) = acted(run)
    at = int(np.searchsorted(run.t, began))
    assert (last, kind, tripped) == ("trips", "switch", approx(began + 0.15))
    assert acted(run)[0][0] == item
    assert run["R", "frequency"][at] == pytest.approx(60 + sign * 0.6, rel=1e-9)


def test_stages_shed_their_parts_of_the_load_at_t0_once_and_never_more_than_there_is():
    run = grid("LVS3BL", [(0.1, -0.25), (0.6, 0.25), (0.7, -0.25)], v1=0.8, v2=0.8, v3=0.78, **STAGES)
    assert [(item, t) for item, kind, t in acted(run) if kind == "switch" and item.endswith("sheds")] == [
        ("first_sheds", approx(0.25)), ("second_sheds", approx(0.33)), ("third_sheds", approx(0.41))]
    for begin, end, left in ((0.1, 0.25, 1.0), (0.25, 0.33, 0.7), (0.33, 0.41, 0.2), (0.41, 1.0, 0.0)):
        within = (run.t > begin + 1e-9) & (run.t < end - 1e-9)
        assert_allclose(run["LOAD", "k"][within], left, atol=1e-15)
    assert_allclose(run["LOAD", "P"][-1], 0.0, atol=1e-15)


def test_a_stage_whose_voltage_comes_back_in_time_sheds_nothing_and_one_without_a_threshold_does_not_act():
    run = grid("LVS3BL", [(0.1, -0.25), (0.15, 0.25)], v1=0.8, v2=0.0, **STAGES)
    assert acted(run) == [("first_picks_up", "delay started", approx(0.1)),
                          ("first_picks_up", "cancelled", approx(0.15))]


def test_what_a_relay_trips_besides_is_tripped_by_its_first_pick_up_whatever_comes_and_once():
    """The stage that picks up first is the second, after 0.2 s; the voltage is back before either breaker opens."""
    run = grid("LVS3BL", [(0.1, -0.25), (0.305, 0.25), (0.5, -0.25)], v1=0.6, v2=0.8,
               trips=[("GEN", 0.1), ("LINE1-2", 0.25)], **STAGES | dict(frac2=0.0))
    tripped = {event.device: event.t for event in run.events if event.item == "trips" and event.kind == "switch"}
    assert tripped == {"TRANSFER_R_GEN": approx(0.4), "TRANSFER_R_LINE1-2": approx(0.55)}
    for device, t in (("GEN", 0.4), ("LINE1-2", 0.55)):
        assert_allclose(run[device, "status"][run.t < t - 1e-9], 1.0)
        assert_allclose(run[device, "status"][run.t > t + 1e-9], 0.0)
    assert_allclose(run["LOAD", "k"], 1.0)


def test_derivatives_go_through_a_transfer_trip():
    run = grid("LVS3BL", [(0.1, -0.25)], v1=0.8, trips=[("GEN", 0.0513)], **STAGES | dict(t1=0.1037, tb1=0.0213))
    spread = gc.Integral(lambda v: v["GEN", "omega"] + v["BUS2", "Vm"] ** 2)
    wrt = ["R.t1", "R.tb1", "R.frac1", "TRANSFER_R_GEN.ttb", "LINE1-2.x"]
    exact = gc.adjoint(run, spread, wrt).values
    assert_allclose(exact, gc.analyses.forward_gradient(run, spread, wrt).values, rtol=1e-10, atol=1e-14)
    assert_allclose(exact, gc.differences(run, spread, wrt).values, rtol=1e-5, atol=1e-8)
    assert (exact[0, [0, 3]] != 0).all()


def test_stages_of_the_frequency_shed_at_their_thresholds():
    run = grid("LDS3BL", ramp=[(0.1, 1.0, -0.03 * 120 * np.pi * 0.9)], f1=59.5, f2=59.0, f3=50.0, **STAGES)
    began = {item: t for item, kind, t in acted(run) if kind == "delay started"}
    for stage, threshold, wait in (("first", 59.5, 0.15), ("second", 59.0, 0.23)):
        at = int(np.searchsorted(run.t, began[f"{stage}_picks_up"]))
        assert run["R", "frequency"][at] == pytest.approx(threshold, rel=1e-9)
        assert (f"{stage}_sheds", "switch", approx(began[f"{stage}_picks_up"] + wait)) in acted(run)
    assert_allclose(run["LOAD", "k"][-1], 0.2)


@pytest.mark.parametrize(("model", "values", "word"), [
    ("FRQTPAT", dict(FL=61.0, FU=60.0), "FL"), ("VTGTPAT", dict(VL=1.0, VU=0.9), "VL"),
    ("LVS3BL", dict(SC=1.0), "SC")])
def test_data_without_a_meaning_and_shunts_that_are_shed_are_refused(model, values, word):
    with pytest.raises(GridcoreError, match=word):
        grid(model, **values)
