"""Networks of PyPSA have the power flow here that they have there."""

from __future__ import annotations

import math

import numpy as np
import pytest

import gridcore as gc
from gridcore.errors import CaseError

pypsa = pytest.importorskip("pypsa")


def network():
    """Two voltages, every kind of branch and of what is at a bus, and two snapshots."""
    n = pypsa.Network()
    n.set_snapshots(["day", "night"])
    n.add("Bus", "North", v_nom=380, v_mag_pu_set=1.03)
    n.add("Bus", "South", v_nom=380)
    n.add("Bus", "7", v_nom=110)
    n.add("Bus", "low 1.2", v_nom=20)
    n.add("Line", "a", bus0="North", bus1="South", r=2.0, x=30.0, b=3e-4, g=1e-6)
    n.add("Line", "typed", bus0="North", bus1="South", type="Al/St 240/40 4-bundle 380.0", length=120.0)
    n.add("Transformer", "T", bus0="South", bus1="7", s_nom=500, x=0.12, r=0.004, b=-0.01, g=0.002, tap_ratio=1.04,
          tap_side=0, phase_shift=5.0, model="t")
    n.add("Transformer", "pi", bus0="South", bus1="7", s_nom=400, x=0.11, r=0.003, tap_ratio=1.03, tap_side=1,
          phase_shift=4.0, model="pi", b=-0.02)
    n.add("Transformer", "typed", bus0="7", bus1="low 1.2", type="63 MVA 110/20 kV", tap_position=2)
    n.add("Generator", "slack", bus="North", control="Slack")
    n.add("Generator", "held", bus="7", control="PV", p_set=[120.0, 80.0])
    n.add("Generator", "wind", bus="low 1.2", p_set=20.0, q_set=3.0)
    n.add("Generator", "off", bus="7", p_set=500.0, active=False)
    n.add("Load", "town", bus="low 1.2", p_set=[40.0, 50.0], q_set=10.0)
    n.add("Load", "slack", bus="South", p_set=300.0, q_set=60.0)
    n.add("StorageUnit", "battery", bus="South", p_set=15.0)
    n.add("Store", "tank", bus="South", p_set=-5.0)
    n.add("ShuntImpedance", "coil", bus="7", b=2e-3, g=1e-4)
    n.add("Link", "dc", bus0="North", bus1="7", p_set=50.0, efficiency=0.97)
    return n


def solve(n):
    """The power flow of all snapshots there, from the angles of the linear one."""
    n.lpf()
    assert np.asarray(n.pf(use_seed=True)["converged"]).all()


def compare(n, system, snapshot, ids):
    """Voltages and flows of lines, there and here."""
    flow = system.power_flow
    here = flow.buses.loc[ids]
    there = n.buses_t.v_mag_pu.loc[snapshot].values * np.exp(1j * n.buses_t.v_ang.loc[snapshot].values)
    assert np.abs(here.Vm_pu.values * np.exp(1j * np.radians(here.Va_deg.values)) - there).max() < 1e-8
    mine = flow.branches.loc[n.lines.index, ["P1_MW", "Q1_MVAr", "P2_MW", "Q2_MVAr"]].values.T
    expected = [getattr(n.lines_t, name).loc[snapshot, n.lines.index].values for name in ("p0", "q0", "p1", "q1")]
    np.testing.assert_allclose(mine, expected, atol=1e-5)


@pytest.mark.parametrize("snapshot", ["day", "night"])
def test_voltages_and_flows_are_those_of_pypsa(snapshot):
    n = network()
    solve(n)
    case = gc.analyses.from_pypsa(n, snapshot)
    compare(n, gc.build(case), snapshot, ["North", "South", "BUS7", "low_1_2"])
    assert case["held"].fields["P0"] * case.base_mva == {"day": 120.0, "night": 80.0}[snapshot]
    assert "off" not in case


def test_a_system_of_39_buses_is_the_same_there_and_back():
    """Our own case, written with PyPSA's components in ohm and MW."""
    own = gc.load_case("ieee39")
    buses, lines, transformers = own.buses, own.table("Line"), own.table("Transformer")
    n, base = pypsa.Network(), own.base_mva
    system = gc.build(own)
    for name, row in buses.iterrows():
        n.add("Bus", name, v_nom=row["kv"])
    for name, row in lines.iterrows():
        z = buses["kv"][row["bus1"]] ** 2 / base
        n.add("Line", name, bus0=row["bus1"], bus1=row["bus2"], r=row["r"] * z, x=row["x"] * z, b=row["b"] / z,
              g=row["g"] / z)
    for name, row in transformers.iterrows():
        n.add("Transformer", name, bus0=row["bus1"], bus1=row["bus2"], s_nom=base, r=row["r"], x=row["x"], b=row["b"],
              g=row["g"], tap_ratio=row["tap"], phase_shift=math.degrees(row["phase"]), model="pi")
    for name, row in own.table("GENROU").iterrows():
        n.add("Generator", name, bus=row["bus"], control="Slack" if row["control"] == "slack" else "PV",
              p_set=row["P0"] * base)
        n.buses.loc[row["bus"], "v_mag_pu_set"] = row["V0"]
    for name, row in own.table("ZIP").iterrows():
        n.add("Load", name, bus=row["bus"], p_set=row["P0"] * base, q_set=row["Q0"] * base)
    for name, row in own.table("Shunt").iterrows():
        z = buses["kv"][row["bus"]] ** 2 / base
        n.add("ShuntImpedance", name, bus=row["bus"], g=row["g"] / z, b=row["b"] / z)
    solve(n)
    back = gc.build(gc.analyses.from_pypsa(n, frequency=own.frequency))
    compare(n, back, n.snapshots[0], list(buses.index))
    angle = system.power_flow.buses["Va_deg"] - back.power_flow.buses["Va_deg"]
    np.testing.assert_allclose(angle - angle.iloc[0], 0, atol=1e-6)
    np.testing.assert_allclose(system.power_flow.buses["Vm_pu"], back.power_flow.buses["Vm_pu"], atol=1e-8)


def test_a_network_is_left_as_it_was_and_runs_with_machines_in_it():
    n = network()
    columns = list(n.lines.columns), n.lines["r"].tolist()
    case = gc.analyses.from_pypsa(n, frequency=60.0, loads="I/Z")
    assert (list(n.lines.columns), n.lines["r"].tolist()) == columns
    assert case.frequency == 60.0
    assert set(case.table("ZIP")["pI"]) == {1.0}
    for id in ("slack", "held"):
        generator = case[id]
        case.remove(id)
        case.add("Classical", id=id, **{name: generator.fields[name] for name in ("bus", "control", "P0", "V0")}, H=20,
                 Xdp=0.1)
    assert np.ptp(gc.simulate(case, 0.5)["held.omega"]) < 1e-9


def test_what_has_no_counterpart_is_refused():
    n = network()
    with pytest.raises(CaseError, match="the network has no snapshot 'noon': there are day to night"):
        gc.analyses.from_pypsa(n, "noon")
    with pytest.raises(CaseError, match="type list is no network of PyPSA"):
        gc.analyses.from_pypsa([])
    n.add("Bus", "gas", carrier="gas")
    with pytest.raises(CaseError, match="bus 'gas' is of carrier gas"):
        gc.analyses.from_pypsa(n)
    alone = network()
    alone.add("Bus", "island", v_nom=20)
    with pytest.raises(CaseError, match="bus 'island' has no generator to be its slack"):
        gc.analyses.from_pypsa(alone)
