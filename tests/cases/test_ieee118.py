"""IEEE 118-bus, 54 machines: the figures of its source, its operating point, the fault study."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import gridcore as gc
from gridcore.case import matching

DATA = Path(__file__).parents[3] / "shared" / "data" / "ieee118"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the source figures (../shared/data/ieee118) are not here")
FREE = {"fault.t": np.inf, "fault.clear": np.inf}


def build(changes=None):
    case = gc.load_case("ieee118")
    for address, value in (changes or {}).items():
        case.set(address, value)
    return gc.build(case)


@pytest.fixture(scope="module")
def study():
    return gc.simulate(build(), t_end=1.0, step=0.01)


def matpower_table(name):
    text = (DATA / "case118solved.m").read_text()
    rows = re.search(rf"mpc\.{name} = \[(.*?)\];", text, re.S)[1].strip().splitlines()
    return np.array([row.strip().rstrip(";").split() for row in rows], dtype=float)


def column(case, model, *names):
    """(records, names) fields of the records of a model, in order; 0 where one has none."""
    return np.array([[r.fields.get(n, 0.0) for n in names] for r in case.records if r.model == model], dtype=float)


def machines(run):
    return [r.id for r in run.system.layout.instances if r.model == "TwoAxis"]


def test_884_unknowns_as_in_the_paper_and_344_parameters():
    system = build()
    assert system.n == 884 == 2 * 118 + 54 * 12
    wrt = [matching(pattern, system.layout.parameter_names, "parameter")
           for pattern in ("GEN*.P0", "GEN*.Q0", "BUS*.Vm0", "BUS*.Va0")]
    assert sum(map(len, wrt)) == 344 == 2 * 54 + 2 * 118


def test_power_flow_is_that_of_the_source():
    """Magnitudes and angles at all buses, with every digit given."""
    bus = np.array([(0.955, 10.97274), (0.971392795, 11.5125474), (0.967691944, 11.85619), (0.998, 15.5740898),
                    (1.00198464, 16.0191785), (0.99, 13.2918718), (0.989327888, 12.8473378), (1.015, 21.0405844)])
    flow = build().operating_point.power_flow
    assert_allclose(np.abs(flow.V[:8]), bus[:, 0], atol=6e-9)
    assert_allclose(np.degrees(np.angle(flow.V[:8])), bus[:, 1], atol=6e-7)


@needs_data
def test_power_flow_is_that_of_the_source_everywhere():
    bus, gen = matpower_table("bus"), matpower_table("gen")
    system = build()
    V = system.operating_point.power_flow.V
    assert_allclose(np.abs(V), bus[:, 7], atol=6e-9)
    assert_allclose(np.degrees(np.angle(V)), bus[:, 8], atol=6e-7)
    names = system.layout.parameter_names
    P0, Q0 = ([system.Z0[names[name]] for name in matching(f"GEN*.{n}", names, "parameter")] for n in ("P0", "Q0"))
    assert_allclose(P0, gen[:, 1] / 100, atol=6e-8)
    assert_allclose(Q0, gen[:, 2] / 100, atol=6e-8)


@needs_data
def test_case_holds_the_figures_of_its_source():
    """Network, dispatch and dynamics, but for what the case file says was filled in."""
    case, bus, gen, branch = gc.load_case("ieee118"), *map(matpower_table, ("bus", "gen", "branch"))
    assert_allclose(column(case, "Bus", "id", "kv"), bus[:, [0, 9]])
    plain = branch[:, 8] == 0
    assert_allclose(column(case, "Line", "bus1", "bus2", "r", "x", "b"), branch[plain][:, :5])
    assert_allclose(column(case, "Transformer", "bus1", "bus2", "r", "x", "b", "tap"),
                    branch[~plain][:, [0, 1, 2, 3, 4, 8]])
    assert_allclose(column(case, "ZIP", "bus", "P0", "Q0"), bus[bus[:, 2:4].any(axis=1)][:, [0, 2, 3]] / [1, 100, 100])
    assert_allclose(column(case, "Shunt", "bus", "b"), bus[bus[:, 5] != 0][:, [0, 5]] / [1, 100])
    assert_allclose(column(case, "TwoAxis", "bus", "V0", "Sn"), gen[:, [0, 5, 8]])
    dynamics = json.loads((DATA / "ieee118_dynamics.json").read_text())

    def published(kind, *names):
        columns = dynamics[f"exago_{kind}_columns"]
        return np.array(dynamics[f"exago_{kind}"])[:, [columns.index(n) for n in names]]

    names = ("bus", "H", "D", "Xd", "Xdp", "Xq", "Xqp", "Td0p", "Tq0p")
    assert_allclose(column(case, "TwoAxis", *names), published("genrou", *names))
    names = ("TR", "KA", "TA", "KE", "TE", "KF", "TF")
    assert_allclose(column(case, "IEEET1", *names), published("ieeet1", *names))
    assert_allclose(column(case, "IEEET1", "VRMAX", "VRMIN", "E1", "SE1", "E2", "SE2"),
                    published("ieeet1", "VRmax", "VRmin", "E2", "SE2", "E1", "SE1"))


def test_starts_at_an_equilibrium_with_every_limit_kept():
    point = build().operating_point
    assert point.residual <= 1e-10
    assert point.violations == []


def test_stays_at_rest_for_ten_seconds_without_the_fault():
    run = gc.simulate(build(FREE), t_end=10.0, step=0.01)
    assert np.abs(run.X - run.X[0]).max() <= 1e-8
    assert run.events == []


def test_equilibrium_is_stable():
    """All eigenvalues of the reduced Jacobian to the left, but for the zero that the free reference angle makes."""
    system = build(FREE)
    J, d = system.jacobian(system.Z0).toarray(), system.differential(system.Z0)
    A = J[np.ix_(d, d)] - J[np.ix_(d, ~d)] @ np.linalg.solve(J[np.ix_(~d, ~d)], J[np.ix_(~d, d)])
    real = np.sort(np.linalg.eigvals(A).real)[::-1]
    assert abs(real[0]) < 1e-6
    assert real[1] < -0.1


def test_fault_is_survived(study):
    delta = np.array([study[g, "delta"] for g in machines(study)])
    H = np.array([study[g, "H"][0] * study[g, "Sn"][0] for g in machines(study)])
    assert np.abs(delta - H @ delta / H.sum()).max() < np.radians(65)


def test_speeds_stay_within_60_mHz_so_that_only_a_narrow_band_is_violated(study):
    speeds = 60 * np.array([study[g, "omega"] for g in machines(study)])
    assert 59.94 < speeds.min() < 59.98
    assert 60.02 < speeds.max() < 60.06


def test_one_regulator_reaches_its_limit_and_leaves_it_as_the_fault_clears(study):
    told = [(round(e.t, 4), e.device, e.what) for e in study.events]
    assert told == [(0.1, "fault", "fault"), (0.1641, "EXC1", "VR reaches VRMAX"),
                    (0.2, "fault", "fault cleared"), (0.2, "EXC1", "VR leaves VRMAX")]
