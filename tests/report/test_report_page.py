"""The report: what its figures are of, that it stands alone, and what is said where it cannot be made."""

from __future__ import annotations

import re
import subprocess
import sys

import numpy as np
import pytest
from command_line import invoke, refused

import gridcore as gc
from gridcore_report import layers
from gridcore_report.diagram import diagram
from gridcore_report.layers import thinned


@pytest.fixture(scope="module")
def run():
    return gc.simulate(gc.build("wscc9"), t_end=0.5)


@pytest.fixture(scope="module")
def drawn(run):
    return diagram(run.system)


# The diagram ------------------------------------------------------------------------------------------

def test_every_node_branch_source_and_load_is_drawn_once(run, drawn):
    assert drawn.nodes == [f"BUS{k}" for k in range(1, 10)]
    network = run.system.network
    assert sorted(drawn.branches) == sorted(i.id for i in run.system.instances if len(network.terminals(i.id)) == 2)
    assert [item.devices for item in drawn.attached if item.source] == [("GEN1",), ("GEN2",), ("GEN3",)]
    loads = {drawn.nodes[item.node]: item.devices for item in drawn.attached if not item.source}
    assert loads == {f"BUS{k}": (id,) for k, id in ((5, "LOAD5"), (6, "LOAD6"), (8, "LOAD8"))}  # the fault is none


def test_a_branch_goes_from_its_first_port_to_its_second(run, drawn):
    for branch, ends in zip(drawn.branches, drawn.ends):
        nodes = run.system.network.terminals(branch).values()
        assert np.allclose(ends, [drawn.at[drawn.nodes.index(node)] for node in nodes])


def test_positions_of_the_case_are_kept():
    case = gc.load_case("smib")
    given = [(3.0 * k, -1.0) for k in range(len(case.ids())) if case.records[k].model == "Bus"]
    for (x, y), record in zip(given, (r for r in case if r.model == "Bus")):
        record.fields["position"] = f"{x} {y}"
    assert np.allclose(diagram(gc.build(case)).at, given)


def test_circuits_between_the_same_buses_stand_apart():
    case = gc.load_case("kundur")
    drawn = diagram(gc.build(case))
    keys = [tuple(np.round(end.ravel(), 9)) for end in drawn.ends]
    assert len(set(keys)) == len(keys)
    by_nodes = [tuple(sorted(case.records[case.ids().index(b)].fields[port] for port in ("bus1", "bus2")))
                for b in drawn.branches]
    assert len(set(by_nodes)) < len(by_nodes)  # there are some


def test_no_two_nodes_of_the_new_england_system_meet():
    at = diagram(gc.build("ieee39")).at
    distances = np.linalg.norm(at[:, None] - at[None], axis=2)[np.triu_indices(len(at), 1)]
    assert distances.min() > 0.02 * distances.max()


# What its colours are of ------------------------------------------------------------------------------

def test_frames_are_the_run(run, drawn):
    frames = layers.frames(run, drawn)
    assert np.array_equal(frames.voltage, run.of(drawn.nodes, "Vm")[frames.points])
    assert np.array_equal(frames.flow, 100 * run.of(drawn.branches, "P1")[frames.points])  # MW, of 100 MVA
    assert np.nanmin(frames.voltage) < 0.01  # the fault is among them


def test_a_flow_is_in_megawatts_and_positive_from_the_first_port(run, drawn):
    flow = layers.frames(run, drawn).flow[0]
    k = drawn.branches.index("TRANSFORMER2-7")
    assert flow[k] == pytest.approx(163.0, rel=1e-9)  # of generator 2: Sauer & Pai (1998), figure 7.4


def test_participation_of_a_place_is_that_of_all_that_hangs_there(run, drawn):
    modes = gc.analyses.small_signal(run.system)
    for layer in layers.participation(modes, drawn, run.system):
        values = np.concatenate([layer.nodes, layer.branches, layer.attached])
        assert np.nansum(values) == pytest.approx(1.0, abs=1e-12)  # all states of wscc9 are of machines and exciters
        number = int(re.search(r"mode (\d+)", layer.name)[1])
        of_gen2 = sum(p for (device, _), p in zip(modes.states, modes.participation[:, number])
                      if device in ("GEN2", "EXC2"))
        [place] = [k for k, item in enumerate(drawn.attached) if item.devices == ("GEN2",)]
        assert layer.attached[place] == pytest.approx(of_gen2, rel=1e-12)


def test_a_sensitivity_is_drawn_where_its_parameter_is(run, drawn):
    objective = gc.Terminal(lambda v: v["GEN2", "omega"], name="speed")
    gradient = gc.adjoint(run, [objective], wrt=["GEN2.H", "EXC1.KA", "fault.clear", "LINE8-9.x"])
    [layer] = layers.sensitivity(gradient, drawn, run.system)
    products = (gradient.values * gradient["at"].values)[0]
    sources = {item.devices[0]: k for k, item in enumerate(drawn.attached)}
    assert layer.attached[sources["GEN2"]] == products[0]
    assert layer.attached[sources["GEN1"]] == products[1]  # of its exciter
    assert layer.nodes[drawn.nodes.index("BUS7")] == products[2]  # of the fault
    assert layer.branches[drawn.branches.index("LINE8-9")] == products[3]
    assert np.isnan(layer.attached[sources["GEN3"]])


def test_of_many_points_both_sides_of_every_switching_are_kept(run):
    points = thinned(run, 10)
    assert len(points) < 20 < len(run.t)
    switched = np.flatnonzero(np.diff(run.point_settings))
    assert {*switched, *(switched + 1), 0, len(run.t) - 1} <= {*points}


# The file ---------------------------------------------------------------------------------------------

def test_the_file_of_the_new_england_system_is_below_five_megabytes_and_names_no_address(tmp_path):
    run = gc.simulate(gc.build("ieee39"), t_end=5.0)
    run.save(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert (tmp_path / "r.html").stat().st_size < 5e6
    assert not re.findall(r"<(?:script|link|img|iframe)[^>]*(?:src|href)=[\"']?(?!data:)[a-z./]", page)
    assert "default-src 'none'" in page


def test_the_verb_writes_what_save_writes_with_sensitivities(tmp_path, run):
    run.save(tmp_path / "r.nc")
    objectives = tmp_path / "o.toml"
    objectives.write_text('[[objective]]\nname = "end"\nkind = "terminal"\nof = "GEN2.omega"\n')
    found = invoke("report", tmp_path / "r.nc", "--objective", objectives, wrt=["GEN*.H"])
    assert found.exit_code == 0
    assert found.stdout == f"{tmp_path / 'r.html'}\n"
    page = (tmp_path / "r.html").read_text()
    for told in ("sensitivities", "GEN2.H", "sensitivity of end", "participation in mode", "one-line diagram"):
        assert told in page


def test_words_of_a_case_are_no_html(tmp_path):
    case = gc.load_case("smib")
    case.title = "<script>alert(1)</script> & more"
    gc.simulate(gc.build(case), t_end=0.02).save(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; more" in page


def test_a_system_without_network_and_equilibrium_has_a_report_that_says_so(tmp_path):
    gc.simulate(gc.build("hiskens_pai"), t_end=0.1).save(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert "this is no equilibrium" in page
    assert "one-line diagram" not in page


def test_without_bokeh_it_is_said_what_to_install(run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "bokeh.document", None)
    with pytest.raises(gc.GridcoreError, match=r"Bokeh, which is not installed: pip install 'gridcore\[report\]'"):
        run.save(tmp_path / "r.html")
    assert not list(tmp_path.iterdir())


def test_objectives_and_parameters_go_together(run, tmp_path):
    with pytest.raises(gc.GridcoreError, match="needs both"):
        run.save(tmp_path / "r.html", wrt="GEN*.H")
    run.save(tmp_path / "r.nc")
    assert "go together" in refused(invoke("report", tmp_path / "r.nc", wrt=["GEN*.H"]))


def test_without_a_home_directory_it_says_what_to_do(run, tmp_path):
    run.save(tmp_path / "x.nc")
    code = ("import os, pwd; os.environ.pop('HOME', None); pwd.getpwuid = lambda uid: {}[uid]\n"
            "from gridcore.commands.main import main; main()")
    done = subprocess.run([sys.executable, "-c", code, "report", "x.nc"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == ("error: x.html: Bokeh does not start (Could not determine home directory.): set HOME to a "
                           "folder, and try again\n")
