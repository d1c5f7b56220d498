"""Networks of pandapower have the power flow here that they have there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gridcore as gc
from gridcore.errors import CaseError

pp = pytest.importorskip("pandapower")
networks = pytest.importorskip("pandapower.networks")


def solved(name):
    """A network that pandapower brings, solved there."""
    net = getattr(networks, name)()
    pp.runpp(net, init="dc", calculate_voltage_angles=True, numba=False)
    return net


def voltages(net, system):
    """Of each bus that pandapower has a result for, and is here: there and here."""
    flow, found = system.power_flow.buses, net.res_bus.dropna(subset="vm_pu")
    flow = flow["Vm_pu"] * np.exp(1j * np.radians(flow["Va_deg"]))
    found = found.vm_pu * np.exp(1j * np.radians(found.va_degree))
    own = [index for index in found.index if f"BUS{index}" in flow.index]
    # a bus that switches join with others has the voltage of one that is here
    assert all(np.abs(V - found[own]).min() < 1e-12 for V in found)
    return found[own].values, flow[[f"BUS{index}" for index in own]].values


# What each has: two and three windings with tap changers and shifts, wards, impedances, and switches that join and open
# (multivoltage); static generators (Oberrhein); PYPOWER's cases; many transformers (Iceland).
@pytest.mark.parametrize("name", [
    "case9", "case39", "case118", "case300", "example_simple", "example_multivoltage", "iceland",
    "create_cigre_network_mv", "create_cigre_network_lv", "panda_four_load_branch"])
def test_voltages_and_flows_are_those_of_pandapower(name):
    net = solved(name)
    system = gc.build(gc.analyses.from_pandapower(net))
    there, here = voltages(net, system)
    assert len(there) >= 0.4 * len(net.bus)
    assert np.abs(there - here).max() < 1e-8
    flows = system.power_flow.branches
    for kind, names, results in (
            ("LINE", ("p_from_mw", "q_from_mvar", "p_to_mw", "q_to_mvar"), net.res_line),
            ("TRAFO", ("p_hv_mw", "q_hv_mvar", "p_lv_mw", "q_lv_mvar"), net.res_trafo)):
        index = [k for k in results.index if f"{kind}{k}" in flows.index]
        mine = flows.loc[[f"{kind}{k}" for k in index], ["P1_MW", "Q1_MVAr", "P2_MW", "Q2_MVAr"]]
        expected = results.loc[index, list(names)].fillna(0.0)
        largest = np.abs(expected.values).max(initial=1.0)
        assert np.abs(mine.values - expected.values).max(initial=0.0) < 1e-5 * largest


def test_buses_that_switches_join_are_one_and_said_to_be():
    net = networks.example_multivoltage()
    case = gc.analyses.from_pandapower(net)
    assert any(note.startswith("joined with bus 0 by closed switches: 1, 2, ") for note in case.notes)
    assert "BUS1" not in case
    assert case["BUS0"].fields["label"] == net.bus.name[0]


def test_a_network_is_taken_as_it_is_now_and_left_as_it_was():
    net = solved("case9")
    before = net.res_bus.copy()
    net.load.loc[0, "p_mw"] += 30.0
    case = gc.analyses.from_pandapower(net)
    assert case["LOAD0"].fields["P0"] * case.base_mva == net.load.p_mw[0]
    assert net.res_bus.equals(before)
    pp.runpp(net, calculate_voltage_angles=True, numba=False)
    there, here = voltages(net, gc.build(case))
    assert np.abs(there - here).max() < 1e-8


def test_loads_that_depend_on_the_voltage_have_the_parts_of_what_they_draw():
    net = networks.case9()
    net.load.loc[0, ["const_z_p_percent", "const_i_p_percent", "const_z_q_percent"]] = 30.0, 20.0, 100.0
    pp.runpp(net, calculate_voltage_angles=True, numba=False)
    case = gc.analyses.from_pandapower(net)
    system = gc.build(case)
    there, here = voltages(net, system)
    assert np.abs(there - here).max() < 1e-8
    load, V = case.table("ZIP").loc["LOAD0"], net.res_bus.vm_pu[net.load.bus[0]]
    nominal = net.load.p_mw[0] / case.base_mva
    assert load["P0"] * load["pZ"] == pytest.approx(0.3 * nominal * V**2, rel=1e-9)
    assert load["P0"] * load["pI"] == pytest.approx(0.2 * nominal * V, rel=1e-9)
    assert load["P0"] * load["pP"] == pytest.approx(0.5 * nominal, rel=1e-9)
    assert (load["qZ"], load["qI"], load["qP"]) == (1.0, 0.0, 0.0)


def test_other_loads_are_what_is_asked_for():
    net = networks.case9()
    assert gc.analyses.from_pandapower(net, loads="P").table("ZIP")["pP"].tolist() == [1.0, 1.0, 1.0]
    assert gc.analyses.from_pandapower(net).table("ZIP")["pZ"].tolist() == [1.0, 1.0, 1.0]
    with pytest.raises(CaseError, match="loads = 'X'"):
        gc.analyses.from_pandapower(net, loads="X")


def test_a_machine_takes_the_place_of_a_generator():
    case = gc.analyses.from_pandapower(networks.case9())
    for id, H in (("EXT_GRID0", 23.64), ("GEN0", 6.4), ("GEN1", 3.01)):
        generator = case[id]
        case.remove(id)
        kept = {name: generator.fields[name] for name in ("bus", "control", "P0", "V0")}
        case.add("Classical", id=id, **kept, H=H, Xdp=0.1)
    case.add("BusFault", bus=6, t=0.1, clear=0.2)
    found = gc.simulate(case, 1.0).summary()
    assert found.stable
    assert len(found.lines) > 3


def test_what_has_no_counterpart_is_refused():
    net = networks.case9()
    pp.create_dcline(net, 4, 5, p_mw=1.0, loss_percent=0.0, loss_mw=0.0, vm_from_pu=1.0, vm_to_pu=1.0)
    with pytest.raises(CaseError, match="the net has 1 dcline, which have no counterpart"):
        gc.analyses.from_pandapower(net)
    with pytest.raises(CaseError, match="type dict is no network of pandapower"):
        gc.analyses.from_pandapower({})
    heavy = networks.case9()
    heavy.load["p_mw"] *= 100
    with pytest.raises(CaseError, match="pandapower finds no power flow of the net"):
        gc.analyses.from_pandapower(heavy)
    unlike = networks.case9()
    pp.create_impedance(unlike, 4, 5, rft_pu=0.01, xft_pu=0.1, rtf_pu=0.02, xtf_pu=0.1, sn_mva=100)
    with pytest.raises(CaseError, match="impedance 0 has other values at its one end"):
        gc.analyses.from_pandapower(unlike)


def test_the_example_of_the_page_runs():
    page = (Path(__file__).parents[2] / "docs" / "formats.md").read_text()
    section = page.partition("## Networks of pandapower and PyPSA")[2].partition("\n## ")[0]
    lines = [line[4:] for line in section.splitlines() if line.startswith("    ")]
    names = {"gc": gc}
    exec("\n".join(lines), names)
    assert names["case"]["GEN0"].model == "Classical"
    assert gc.build(names["case"]).power_flow.buses.loc["BUS1", "P_MW"] == pytest.approx(163.0)
