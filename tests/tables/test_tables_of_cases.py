"""Records of a case and the power flow of a system as tables."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import gridcore as gc
from gridcore.errors import CaseError, GridcoreError, PluginError


def test_a_table_has_every_record_in_declared_units_with_defaults():
    case = gc.Case("two", base_mva=50)
    for bus in (1, 2):
        case.add("Bus", id=bus, kv="20000 V")
    case.add("Line", bus1=1, bus2=2, x="16 ohm")
    case.add("ZIP", bus=2, P0="25 MW", status=0)
    assert case.buses["kv"].tolist() == [20.0, 20.0]
    assert case.buses.index.tolist() == ["BUS1", "BUS2"]
    line = case.table("Line").loc["LINE1-2"]
    assert (line["bus1"], line["bus2"], line["x"], line["r"]) == ("BUS1", "BUS2", 2.0, 0.0)
    load = case.table("ZIP").loc["LOAD2"]
    assert (load["P0"], load["status"]) == (0.5, 0)
    assert case.table("Line").attrs["units"]["x"] == "pu"
    assert case.table("GENROU").empty
    assert "Xdpp" in case.table("GENROU")


def test_a_table_is_a_copy():
    case = gc.load_case("wscc9")
    table = case.table("TwoAxis")
    table.loc["GEN2", "H"] = 0.0
    assert case.table("TwoAxis").loc["GEN2", "H"] == 6.4


def test_what_is_wrong_with_a_case_is_told_and_a_model_that_is_not_there():
    case = gc.Case("wrong")
    case.add("Bus", id=1, kv="much")
    with pytest.raises(CaseError, match="'kv': 'much' is not a number"):
        _ = case.buses
    with pytest.raises(PluginError, match="unknown device 'GENRO'; did you mean GENROU"):
        case.table("GENRO")


@pytest.mark.parametrize("case", ["ieee39", "ieee118"])
def test_what_is_injected_at_a_bus_flows_into_its_branches_and_shunts(case):
    system = gc.build(case)
    flow = system.power_flow
    left = (flow.buses["P_MW"] + 1j * flow.buses["Q_MVAr"]).copy()
    for end in "12":
        S = flow.branches[f"P{end}_MW"] + 1j * flow.branches[f"Q{end}_MVAr"]
        left = left.sub(S.groupby(flow.branches[f"bus{end}"]).sum(), fill_value=0)
    shunts = system.case.table("Shunt")
    expected = (shunts["g"] - 1j * shunts["b"]).groupby(shunts["bus"]).sum() * system.case.base_mva
    expected = expected.reindex(left.index, fill_value=0) * flow.buses["Vm_pu"] ** 2
    assert_allclose(left, expected, atol=1e-6)
    losses = flow.branches["P_loss_MW"].sum() + np.real(expected).sum()
    assert_allclose(losses, flow.loss.real, rtol=1e-9)
    assert_allclose(flow.branches["P1_MW"] + flow.branches["P2_MW"], flow.branches["P_loss_MW"], atol=1e-12)


def test_a_branch_out_of_service_carries_nothing():
    case = gc.load_case("wscc9")
    case.set("LINE8-9.status", 0)
    row = gc.build(case).power_flow.branches.loc["LINE8-9"]
    assert not row.drop(["bus1", "bus2"]).any()


def test_without_an_operating_point_or_buses_there_is_no_power_flow():
    with pytest.raises(GridcoreError, match="initialise=False"):
        _ = gc.build("wscc9", initialise=False).power_flow
    with pytest.raises(GridcoreError, match="'swing' has no power flow: it has no AC bus in service"):
        _ = gc.build("swing").power_flow
