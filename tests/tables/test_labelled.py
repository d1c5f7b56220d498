"""Patterns on a run, as labelled data and as tables."""

from __future__ import annotations

import numpy as np
import pytest

import gridcore as gc
from gridcore.errors import CaseError, NotRecorded


@pytest.fixture(scope="module")
def run():
    """The 9-bus fault study, 0.4 s."""
    return gc.simulate("wscc9", t_end=0.4)


def test_a_pattern_gives_what_each_address_does_with_its_label(run):
    speeds = run["GEN*.omega"]
    assert speeds.dims == ("time", "quantity")
    assert speeds["quantity"].values.tolist() == ["GEN1.omega", "GEN2.omega", "GEN3.omega"]
    for device in ("GEN1", "GEN2", "GEN3"):
        assert np.array_equal(speeds.sel(quantity=f"{device}.omega"), run[device, "omega"])
    assert np.array_equal(speeds["time"], run.t)
    assert set(speeds["quantity_unit"].values) == {"pu"}


def test_a_list_has_addresses_pairs_and_patterns_of_any_kind_in_their_order(run):
    found = run[["BUS7.Vm", ("GEN2", "delta"), "GEN[12].H", "BUS7.Vm"]]
    assert found["quantity"].values.tolist() == ["BUS7.Vm", "GEN2.delta", "GEN1.H", "GEN2.H"]
    assert found["quantity_unit"].values.tolist() == ["pu", "rad", "s", "s"]
    assert np.array_equal(found[:, 0], run["BUS7.Vm"])
    assert np.array_equal(found[0, 2:], [23.64, 6.40])


def test_a_pattern_may_be_a_pair(run):
    assert run["EXC*", "Efd"].identical(run["EXC*.Efd"])


def test_a_pattern_means_parameters_only_where_it_matches_no_quantity(run):
    assert "GEN2.omega" in run["GEN2.*"]["quantity"]
    assert "GEN2.H" not in run["GEN2.*"]["quantity"]
    assert run["EXC*.Vref"].sizes["quantity"] == 3


def test_what_matches_nothing_is_answered_with_the_nearest(run):
    with pytest.raises(CaseError, match=r"no quantity matches 'GEN\*\.omege'; did you mean GEN"):
        run["GEN*.omege"]
    with pytest.raises(CaseError, match=r"3 must be an address or a pattern"):
        run[3]


def test_between_points_patterns_have_labels_too(run):
    at = run.at([0.05, 0.2345])
    assert np.array_equal(at["GEN*.omega"][:, 1], at["GEN2.omega"])
    one = run.at(0.2345)["GEN*.omega"]
    assert one.dims == ("quantity",)
    assert float(one[1]) == run.at(0.2345)["GEN2.omega"]


def test_of_what_was_not_recorded_there_is_nothing(run):
    part = gc.simulate(run.system, 0.02, record=[("GEN2", "omega")])
    assert np.array_equal(part["GEN2.omega"], run["GEN2.omega"][run.t <= 0.02])
    with pytest.raises(NotRecorded, match=r"GEN1\.omega was not recorded"):
        part["GEN*.omega"]


# Tables ---------------------------------------------------------------------------------------------

def test_no_time_of_a_table_stands_twice_and_either_side_of_an_event_is_there(run):
    assert len(np.unique(run.t)) < len(run.t)
    after, before = run.to_pandas("BUS7.Vm"), run.to_pandas("BUS7.Vm", side="left")
    for table in (after, before):
        assert table.index.is_unique
        assert np.array_equal(table.index, np.unique(run.t))
    assert after.loc[0.1, "BUS7.Vm"] < 0.01 < 1.0 < before.loc[0.1, "BUS7.Vm"]
    assert after.loc[0.1, "BUS7.Vm"] == run["BUS7.Vm"][run.t == 0.1][-1]
    assert before.loc[0.1, "BUS7.Vm"] == run["BUS7.Vm"][run.t == 0.1][0]
    assert after.attrs["units"] == {"BUS7.Vm": "pu"}
    with pytest.raises(CaseError, match="side = 'up' must be 'left' or 'right'"):
        run.to_pandas("BUS7.Vm", side="up")


def test_a_table_of_everything_has_what_the_dataset_has(run):
    table, dataset = run.to_pandas(), run.to_xarray()
    count = sum(int(np.prod([dataset.sizes[d] for d in of.dims if d != "time"]))
                for of in dataset.values() if "time" in of.dims)
    assert table.shape == (len(np.unique(run.t)), count)
    assert table.loc[0.3, "EXC2.Efd"] == run["EXC2.Efd"][run.t == 0.3][-1]


def test_peaks_are_the_extremes_and_their_times(run):
    found = run.peaks(["GEN*.omega", "BUS7.Vm"])
    for name, row in found.iterrows():
        values = run[name]
        assert (row["min"], row["max"]) == (values.min(), values.max())
        assert values[run.t == row["t_min"]].min() == row["min"]
        assert values[run.t == row["t_max"]].max() == row["max"]
        assert row["t_min"] == run.t[np.flatnonzero(values == values.min())[0]]
    assert found.loc["BUS7.Vm", "t_max"] < 0.1 <= found.loc["BUS7.Vm", "t_min"] <= 0.183
