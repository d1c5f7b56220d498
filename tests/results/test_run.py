"""Results by name, as a dataset, as a table."""

from __future__ import annotations

import fnmatch
import sys
import tracemalloc
from gc import collect

import numpy as np
import pytest

import gridcore as gc
from gridcore.errors import CaseError, DeviceError


@pytest.fixture(scope="module")
def run():
    """The 9-bus fault study, 0.4 s."""
    return gc.simulate(gc.build("wscc9"), t_end=0.4)


@pytest.fixture(scope="module")
def dataset(run):
    return run.to_xarray()


# By name --------------------------------------------------------------------------------------------

def test_a_variable_is_its_column_of_X(run):
    for column in (0, 7, run.system.n - 1):
        device, name = run.system.variables[column]
        assert np.array_equal(run[device, name], run.X[:, column])


def test_a_quantity_follows_from_the_variables(run):
    assert np.allclose(run["BUS7", "Vm"], np.hypot(run["BUS7", "Vr"], run["BUS7", "Vi"]), rtol=1e-15, atol=1e-20)
    angle = np.arctan2(run["BUS7", "Vi"], run["BUS7", "Vr"])
    assert np.allclose(run["BUS7", "Va"], angle, rtol=0, atol=1e-15)


def test_a_quantity_that_reads_nothing_is_that_number_at_each_point():
    class Rated(gc.Device):
        attaches = "bus"

        @gc.quantity("pu")
        def rating(s):
            return 2.5

    with gc.registered(Rated):
        case = gc.load_case("smib")
        case.add(Rated(id="here", bus=1))
        run = gc.simulate(gc.build(case), t_end=0.02)
        assert run["here.rating"].tolist() == [2.5] * len(run.t)


def test_times_and_states_of_a_run_are_not_written_to_by_accident(run):
    for array in (run.t, run.X):
        with pytest.raises(ValueError, match="read-only"):
            array *= 1000.0
    own = run["GEN2.omega"]
    own -= 1.0
    assert run["GEN2.omega"][0] == 1.0


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
    assert np.array_equal(run.of("GEN3", "Pe"), run.of(["GEN3"], "Pe"))


def test_a_quantity_that_follows_from_nothing_is_a_constant():
    run = gc.simulate("kundur", t_end=0.1)  # whose exciters have no rate feedback
    assert run["EXC_GEN1.feedback"].tolist() == [0.0] * len(run.t)
    assert run.of(["EXC_GEN1", "EXC_GEN2"], "feedback").shape == (len(run.t), 2)
    assert run.at([0.03, 0.05])["EXC_GEN1.feedback"].tolist() == [0.0, 0.0]
    assert "EXC_GEN1.feedback" in run["*"]["quantity"]


def test_an_unknown_name_is_answered_with_the_nearest(run):
    with pytest.raises(CaseError, match="no device 'GEN22'; did you mean GEN2"):
        run["GEN22", "omega"]
    with pytest.raises(DeviceError, match="no 'omege'; did you mean omega"):
        run["GEN2", "omege"]


def test_a_name_without_a_device_is_told_how_quantities_are_named(run):
    with pytest.raises(gc.GridcoreError, match="'omega' names no device and quantity"):
        run["omega"]


def test_events_say_where_and_what(run):
    assert [(e.t, e.words) for e in run.events] == [
        (0.1, "BUS7: fault"), (0.183, "BUS7: fault cleared"), (0.183, "LINE5-7: opened")]
    assert str(run.events[0]) == "0.1000000 s  BUS7: fault"


# Dataset --------------------------------------------------------------------------------------------

def test_the_dataset_has_every_variable_bit_for_bit(run, dataset):
    for device, name in run.system.variables:
        holder = next(v for v in dataset.data_vars.values()
                      if v.name in (name, f"{name}_Exciter") and device in v.coords.get(v.dims[-1], []))
        assert np.array_equal(holder.sel({holder.dims[1]: device}), run[device, name])


def test_the_dataset_carries_units_and_descriptions(dataset):
    assert dataset["omega"].attrs == {"units": "pu", "long_name": "rotor speed"}
    assert dataset["time"].attrs["units"] == "s"
    assert dataset["Vm"].dims == ("time", "bus")
    assert [*dataset["omega"]["TwoAxis"].values] == ["GEN1", "GEN2", "GEN3"]


def test_a_name_of_buses_and_of_exciters_stays_two_variables(run, dataset):
    assert np.array_equal(dataset["Vm"].sel(bus="BUS2"), run["BUS2", "Vm"])
    assert np.array_equal(dataset["Vm_Exciter"].sel(IEEEType1="EXC2"), run["EXC2", "Vm"])


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
    assert run.to_xarray("omega").identical(run.to_xarray(["omega"]))
    with pytest.raises(CaseError, match="no device has a quantity 'omeg'; did you mean omega"):
        run.to_xarray(["omeg"])


# Weight ---------------------------------------------------------------------------------------------

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


def test_what_is_named_in_full_is_not_looked_for_among_all_that_there_is(run, monkeypatch):
    def look(names, pattern):
        raise AssertionError(f"{pattern} was looked for")

    monkeypatch.setattr(fnmatch, "filter", look)
    names = ["GEN2.omega", "BUS7.Vm", "GEN2.H"]
    assert run[names]["quantity"].values.tolist() == names
