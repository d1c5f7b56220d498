"""CrossIEEEG1 and CrossWSIEG1: one governor of two machines, the low-pressure one with its own parts of the steam."""

from __future__ import annotations

import numpy as np
import pytest
from governor_bench import Bench
from numpy.testing import assert_allclose

import gridcore as gc
from gridcore.errors import GridcoreError
from gridcore_conformance import testbed

STEAM = dict(K=20.0, T1=0.2, T2=0.05, T3=0.15, Uo=0.3, Uc=-0.5, PMAX=0.95, PMIN=0.0, T4=0.25, T5=4.0, T6=0.4, T7=0.1,
             K1=0.6, K3=0.4, K5=0.0, K7=0.0, K2=0.0, K4=0.2, K6=0.5, K8=0.3)
CURVE = {f"{name}{k}": x for k, (gate, steam) in enumerate(
    ((0.0, 0.0), (0.3, 0.4), (0.6, 0.65), (0.8, 0.85), (1.0, 0.95)), 1) for name, x in (("GV", gate), ("PGV", steam))}
MODELS = {"CrossIEEEG1": STEAM, "CrossWSIEG1": STEAM | CURVE}
each = pytest.mark.parametrize("model", MODELS)
HIGH, LOW, BASE = 0.7, 0.45, 80.0  # powers on the system's base; MVA of the low-pressure machine


def built(model, slope=0.0, trip="", **changes):
    """Two machines whose speeds are prescribed, at a bus each; the high-pressure one has the governor; one may trip."""
    case = gc.Case("bench")
    for id in (1, 2, 3):
        case.add(gc.Record("Bus", {"id": id}))
    for id in (1, 2):
        case.add(gc.Record("Line", {"bus1": id, "bus2": 3, "x": 0.1}))
    case.add(gc.Record("InfiniteBus", {"id": "INF", "bus": 3, "control": "slack"}))
    case.add(gc.Record("Bench", {"id": "HP", "bus": 1, "P0": HIGH, "Sn": 100.0}))
    case.add(gc.Record("Bench", {"id": "LP", "bus": 2, "P0": LOW, "Sn": BASE}))
    case.add(gc.Record(model, {"id": "G", "machine": "HP", "second": "LP", **MODELS[model], **changes}))
    for id, t, by in (("down", 0.5, slope), ("on", 1.5, -slope)):
        case.add(gc.ParameterStep(id=id, parameter="HP.slope", t=t, by=by))
    if trip:  # its relay is beyond its band from the beginning
        case.add(gc.Record("VTGTPAT", {"id": "R", "bus": 3, "machine": trip, "VL": 2.0, "VU": 3.0, "TP": 1.0}))
    with testbed.testbed(Bench):
        return gc.build(case)


@each
def test_at_rest_both_machines_have_the_power_of_the_power_flow(model):
    run = gc.simulate(built(model), 1.0, 0.1)
    assert_allclose(run["HP", "Pm"], HIGH, atol=1e-12)
    assert_allclose(run["LP", "Pm"], LOW * 100.0 / BASE, atol=1e-12)
    assert run["G", "share"][0] == pytest.approx(LOW * 100.0 / BASE / HIGH, rel=1e-12)


@each
def test_power_of_both_over_the_speed_of_the_first_is_the_transfer_function_of_the_diagram(model):
    system, d = built(model), STEAM
    layout, J = system.layout, system.jacobian(system.Z0).toarray()
    column = system.system.parameter_jacobian([layout.address("HP.slope")]).evaluate(system.Z0).toarray()[:, 0]
    M = np.diag(system.differential(system.Z0).astype(float))
    share = LOW * 100.0 / BASE / HIGH
    for w in (0.05, 0.4, 3.0, 20.0):
        s = 1j * w
        response = np.linalg.solve(s * M - J, column) * s
        behind = np.cumprod([1 / (1 + s * d[T]) for T in ("T4", "T5", "T6", "T7")])
        governor = d["K"] * (1 + s * d["T2"]) / ((1 + s * d["T1"]) * (1 + s * d["T3"]))  # the curve has slope 1 there
        for address, names, factor in (("G.Pm", "K1 K3 K5 K7", 1.0), ("G.PmL", "K2 K4 K6 K8", share)):
            expected = -governor * factor * np.dot([d[name] for name in names.split()], behind)
            assert response[layout.address(address)] == pytest.approx(expected, rel=1e-9)


@each
def test_both_powers_are_parts_of_one_steam_through_a_limit_of_the_valve(model):
    run = gc.simulate(built(model, slope=-0.04), 8.0, 0.02)
    assert {"valve_at_PMAX", "valve_at_highest"} & {event.item for event in run.events}
    x, d = {name: run["G", name] for name in ("x4", "x5", "x6", "x7")}, STEAM
    for machine, numbers, factor in (("HP", (1, 3, 5, 7), 1.0), ("LP", (2, 4, 6, 8), run["G", "share"])):
        parts = sum(d[f"K{k}"] * steam for k, steam in zip(numbers, x.values(), strict=True))
        assert np.ptp(parts) > 0.05
        assert_allclose(run[machine, "Pm"], factor * parts, atol=1e-12)


@each
@pytest.mark.parametrize(("trip", "other"), [("HP", "LP"), ("LP", "HP")])
def test_where_a_machine_trips_the_governor_goes_and_the_other_keeps_its_power(model, trip, other):
    run = gc.simulate(built(model, slope=-0.005, trip=trip), 2.0, 0.02)
    after = run.t > 1.0 + 1e-9
    assert not run["G", "status"][after].any()
    assert np.ptp(run[other, "Pm"]) > 1e-5
    assert np.ptp(run[other, "Pm"][after]) == 0
    assert run[other, "status"].all()


@each
def test_a_second_machine_without_a_part_is_refused(model):
    with pytest.raises(GridcoreError, match="K2"):
        built(model, K4=0.0, K6=0.0, K8=0.0)
