"""Results by name, as a dataset, as a table; rotor angles; a run in words."""

from __future__ import annotations

import dataclasses
import sys
import tracemalloc
from gc import collect

import numpy as np
import pytest

import gridcore as gc
from gridcore.errors import CaseError, DeviceError
from gridcore.results import describe_run, describe_system, layout, rotors, signals


@pytest.fixture(scope="module")
def run():
    """The 9-bus fault study, 0.4 s."""
    return gc.simulate(gc.build("wscc9"), t_end=0.4)


@pytest.fixture(scope="module")
def dataset(run):
    return run.to_xarray()


def two_islands(**trip):
    """Two machines with a load each, joined by a line that trips."""
    case = gc.Case("pair", frequency=50)
    for bus, control in ((1, "slack"), (2, "PV")):
        case.add(gc.Record("Bus", {"id": bus, "kv": 20}))
        case.add(gc.Record("Classical", {"id": f"G{bus}", "bus": bus, "control": control, "P0": 0.2, "H": 4.0 / bus,
                                         "Sn": 100.0 * bus, "Xdp": 0.3}))
        case.add(gc.Record("ZIP", {"id": f"L{bus}", "bus": bus, "P0": 0.3}))
    case.add(gc.Record("Line", {"id": "TIE", "bus1": 1, "bus2": 2, "x": 0.1}))
    for device, t in trip.items():
        case.add(gc.Trip(device=device, t=t))
    return case


# By name --------------------------------------------------------------------------------------------

def test_a_variable_is_its_column_of_X(run):
    for column in (0, 7, run.system.n - 1):
        device, name = run.system.variables[column]
        assert np.array_equal(run[device, name], run.X[:, column])


def test_a_quantity_follows_from_the_variables(run):
    assert np.allclose(run["BUS7", "Vm"], np.hypot(run["BUS7", "Vr"], run["BUS7", "Vi"]), rtol=1e-15, atol=1e-20)
    angle = np.arctan2(run["BUS7", "Vi"], run["BUS7", "Vr"])
    assert np.allclose(run["BUS7", "Va"], angle, rtol=0, atol=1e-15)


def test_an_input_is_what_drives_it(run):
    assert np.array_equal(run["GEN2", "Efd"], run["EXC2", "Efd"])


def test_a_parameter_and_a_mode_hold_what_was_set_at_each_point(run):
    assert np.all(run["GEN2", "H"] == 6.40)
    fault = run["fault", "on"]
    strikes, clears = (np.flatnonzero(run.t == t) for t in (0.1, 0.183))
    assert [*fault[strikes]] == [0, 1, 1]  # on the clock of the fault, and at the point of the grid behind it
    assert [*fault[clears]] == [1, 0]
    assert [*run["LINE5-7", "status"][clears]] == [1, 0]


def test_several_devices_at_once_are_each_of_them_in_the_order_asked_for(run):
    order = ["GEN3", "GEN1"]
    assert np.array_equal(run.of(order, "Pe"), np.stack([run[d, "Pe"] for d in order], axis=1))


def test_an_unknown_name_is_answered_with_the_nearest(run):
    with pytest.raises(CaseError, match="no device 'GEN22'; did you mean GEN2"):
        run["GEN22", "omega"]
    with pytest.raises(DeviceError, match="no 'omege'; did you mean omega"):
        run["GEN2", "omege"]


def test_events_say_where_and_what(run):
    assert [(e.t, e.words) for e in run.events] == [
        (0.1, "BUS7: fault"), (0.183, "BUS7: fault cleared"), (0.183, "LINE5-7: opened")]
    assert str(run.events[0]) == "0.1000000 s  BUS7: fault"


# Dataset --------------------------------------------------------------------------------------------

def test_the_dataset_has_every_variable_bit_for_bit(run, dataset):
    for device, name in run.system.variables:
        holder = next(v for v in dataset.data_vars.values()
                      if v.name in (name, f"{name}_DC1") and device in v.coords.get(v.dims[-1], []))
        assert np.array_equal(holder.sel({holder.dims[1]: device}), run[device, name])


def test_the_dataset_carries_units_and_descriptions(dataset):
    assert dataset["omega"].attrs == {"units": "pu", "long_name": "rotor speed"}
    assert dataset["time"].attrs["units"] == "s"
    assert dataset["Vm"].dims == ("time", "bus")
    assert [*dataset["omega"]["TwoAxis"].values] == ["GEN1", "GEN2", "GEN3"]


def test_a_name_of_buses_and_of_exciters_stays_two_variables(run, dataset):
    assert np.array_equal(dataset["Vm"].sel(bus="BUS2"), run["BUS2", "Vm"])
    assert np.array_equal(dataset["Vm_DC1"].sel(IEEEType1="EXC2"), run["EXC2", "Vm"])


def test_an_instant_of_switching_stands_twice_before_and_after(dataset):
    at = np.flatnonzero(dataset["time"].values == 0.1)
    assert [*dataset["switchings"].values[at]] == [0, 1, 1]
    before, after, _ = dataset["Vm"].sel(bus="BUS7").values[at]
    assert before == pytest.approx(1.0258, abs=1e-4)
    assert after < 0.01


def test_the_dataset_lists_the_events(run, dataset):
    assert [*dataset["event_time"].values] == [e.t for e in run.events]
    assert [*dataset["event_words"].values] == [e.words for e in run.events]


def test_chosen_quantities_of_all_devices_that_have_them(run):
    chosen = run.to_xarray(["P1", "omega"])
    assert {"P1", "omega"} <= set(chosen.data_vars)
    assert "delta" not in chosen
    assert np.array_equal(chosen["P1"].sel(branch="LINE4-5"), run["LINE4-5", "P1"])
    assert chosen["P1"].sizes["branch"] == 9  # lines and transformers
    with pytest.raises(CaseError, match="no device has a quantity 'omeg'; did you mean omega"):
        run.to_xarray(["omeg"])


def test_devices_of_one_kind_are_one_variable_whatever_their_models():
    case = two_islands()
    case.add(gc.Record("Bus", {"id": 3, "kv": 20}))
    case.add(gc.Record("Line", {"bus1": 2, "bus2": 3, "x": 0.1}))
    case.add(gc.Record("InfiniteBus", {"id": "INF", "bus": 3, "control": "PV", "P0": 0.1}))
    found = {s.name: s for s in signals(gc.build(case))}
    assert found["delta"].devices == ("G1", "G2")
    assert found["P"].devices == ("G1", "G2", "INF")
    assert found["delta"].dimension == "Classical"
    assert found["P"].dimension == "Source"
    assert {s.dimension: s.devices for s in found.values()} == {
        **{s.dimension: s.devices for s in found.values()}, "bus": ("BUS1", "BUS2", "BUS3")}


# Rotors ---------------------------------------------------------------------------------------------

def test_inertia_weighted_angles_to_the_centre_of_inertia_cancel(run):
    machines = rotors(run)
    inertia = np.array([23.64, 6.40, 3.01])  # all on 100 MVA
    assert np.allclose(machines.relative @ inertia, 0, atol=1e-12)
    delta = run.of(["GEN1", "GEN2", "GEN3"], "delta")
    assert np.allclose(machines.spread, delta.max(axis=1) - delta.min(axis=1), rtol=1e-14)


def test_the_rating_weighs_as_inertia_does():
    machines = rotors(gc.simulate(gc.build(two_islands()), t_end=0.05))
    weight = np.array([4.0 * 100, 2.0 * 200])
    assert np.allclose(machines.relative @ weight, 0, atol=1e-12)


def test_islands_have_a_centre_of_inertia_each():
    run = gc.simulate(gc.build(two_islands(TIE=0.1)), t_end=0.3)
    machines = rotors(run)
    apart = run["TIE", "status"] == 0
    assert np.any(machines.relative[~apart] != 0)
    assert np.max(np.abs(machines.relative[apart])) < 1e-15
    assert np.all(machines.spread[apart] == 0)
    assert abs(run["G1", "delta"] - run["G2", "delta"])[-1] > abs(machines.spread[0])


def test_a_machine_out_of_service_has_no_angle():
    run = gc.simulate(gc.build(two_islands(G2=0.1)), t_end=0.3)
    machines = rotors(run)
    off = run["G2", "status"] == 0
    assert off.any()
    assert np.all(np.isnan(machines.relative[off, 1]))
    assert np.allclose(machines.reference[off, 0], run["G1", "delta"][off], rtol=1e-15)


def test_an_infinite_bus_is_the_reference_of_its_island():
    run = gc.simulate(gc.build("smib"), t_end=0.05)
    machines = rotors(run)
    angle = run["BUS3", "Va"][0]
    assert np.allclose(machines.relative[:, 0], run["GEN1", "delta"] - angle, rtol=1e-14)


# In words -------------------------------------------------------------------------------------------

def test_the_summary_tells_what_was_simulated_and_what_came_of_it(run):
    text = layout([*describe_system(run.system), *describe_run(run)])
    for part in ("9 buses, 20 devices", "48 unknowns, 21 of them differential", "power flow", "largest residual",
                 "limits at t0   all kept", "0.1830000 s  LINE5-7: opened", "in synchronism", "simulate"):
        assert part in text
    speed = run.of(["GEN1", "GEN2", "GEN3"], "omega")
    assert f"to {speed.max():.4f} pu (GEN2 at" in text


def test_the_summary_says_when_synchronism_is_lost():
    case = gc.load_case("wscc9")
    case.set("fault.clear", 0.45)
    case.set("trip.t", 0.45)
    run = gc.simulate(gc.build(case), t_end=1.5)
    spread = np.ptp(run.of(["GEN1", "GEN2", "GEN3"], "delta"), axis=1)
    lost = run.t[np.argmax(spread >= np.pi)]
    text = layout([*describe_run(run)])
    assert f"OUT OF SYNCHRONISM: rotor angles 180 degrees apart at {lost:.4g} s, at most" in text
    assert f"{np.degrees(spread[-1]):.1f} in the end" in text


@pytest.mark.parametrize(("degrees", "verdict"), [
    (0, "in synchronism"), (179, "in synchronism"), (181, "beyond 180 degrees"), (359, "beyond 180 degrees"),
    (361, "out of synchronism")])
def test_machines_are_out_of_step_once_one_has_slipped_a_pole(run, degrees, verdict):
    widened = dataclasses.replace(rotors(run), spread=np.radians([0.0, degrees, 10.0]))
    assert widened.verdict == verdict


def test_a_system_without_network_has_a_summary_too():
    run = gc.simulate(gc.build("hiskens_pai"), t_end=0.12, step=0.001)
    text = layout([*describe_system(run.system), *describe_run(run)])
    assert "1 device: 1 SwitchedLinear" in text
    assert "0.0957333 s" in text
    assert not {"voltage", "speed"} & set(text.split())


def test_xarray_is_imported_when_a_dataset_is_asked_for_and_not_before(run):
    modules = {name: sys.modules.pop(name) for name in [m for m in sys.modules if m.split(".")[0] == "xarray"]}
    try:
        run["GEN2", "omega"]
        assert "xarray" not in sys.modules
    finally:
        sys.modules.update(modules)


def test_a_stored_trajectory_takes_little_more_than_its_raw_numbers():
    system = gc.build("ieee118")
    gc.simulate(system, t_end=1.0, step=0.01)
    collect()
    tracemalloc.start()
    try:
        run = gc.simulate(system, t_end=1.0, step=0.01)
        collect()
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert taken < 1.5 * 8 * len(run.t) * system.n


def test_an_address_names_what_a_pair_names():
    run = gc.simulate("wscc9", 0.1)
    np.testing.assert_array_equal(run["GEN2.omega"], run["GEN2", "omega"])
    with pytest.raises(CaseError, match="no device"):
        run["GEN2"]
