"""A third party's integrator: found, driven through events, differentiated exactly."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import gridcore as gc
from gridcore.commands.main import gridcore
from gridcore.registry import integrators
from gridcore.testing import integrator_checks

PACKAGE = Path(__file__).parents[1] / "gridcore_example_integrator"


def test_it_is_found_by_its_entry_point():
    assert "sdirk2" in integrators
    assert integrators.origin("sdirk2") == "example_integrator (gridcore-example-integrator 0.1.0)"


@pytest.mark.parametrize(("options", "order"), [({}, 2), ({"gamma": 1.0}, 1)])
def test_it_is_what_an_integrator_should_be(options, order):
    from gridcore_example_integrator.sdirk2 import Sdirk2

    report = integrator_checks.report(Sdirk2, order=order, **options)
    assert report.ok, report
    assert any(line.startswith("derivatives") for line in report.passed)


def test_it_takes_at_most_120_lines():
    assert sum(len(path.read_text().splitlines()) for path in PACKAGE.glob("*.py")) <= 120


def test_it_simulates_a_grid_through_its_events():
    system = gc.build("wscc9")
    theirs, ours = (gc.simulate(system, 1.0, 2e-3, method=method) for method in ("sdirk2", "theta"))
    assert [e.item for e in theirs.events] == [e.item for e in ours.events]
    np.testing.assert_allclose(theirs["GEN2", "omega"][-1], ours["GEN2", "omega"][-1], atol=1e-6)


@pytest.mark.parametrize(("name", "wrt", "quantities", "t_end", "step"), [
    ("hiskens_pai", ["HP.p1", "HP.p2", "HP.a12"], [("HP", "x1"), ("HP", "x2")], 0.2, 1e-3),
    ("wscc9", ["fault.x", "GEN2.H", "EXC3.KA", "LOAD5.P0"], [("GEN2", "omega"), ("BUS5", "Vm")], 0.5, 0.01)])
def test_its_runs_are_differentiated_exactly(name, wrt, quantities, t_end, step):
    run = gc.simulate(gc.build(name), t_end, step, method="sdirk2")
    assert run.events
    ends = [gc.Terminal(lambda v, q=q: v[q]) for q in quantities]
    adjoint, forward = gc.adjoint(run, ends, wrt).values, gc.analyses.tsa(run, wrt, quantities).values[-1]
    size = np.abs(adjoint).max(axis=1, keepdims=True)
    assert (np.abs(adjoint - forward) <= 5e-12 * size).all()
    assert (np.abs(adjoint - gc.differences(run, ends, wrt, relative_step=1e-5).values) <= 1e-7 * size).all()


@pytest.fixture
def call(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda *words: CliRunner().invoke(gridcore, words)


def test_the_command_line_runs_it_with_its_options(call):
    result = call("run", "wscc9", "--method", "sdirk2", "--option", "gamma=0.3", "--t-end", "0.3")
    assert result.exit_code == 0, result.output
    kept = gc.load_run("wscc9.nc")
    assert (kept.settings["method"], kept.settings["gamma"]) == ("sdirk2", 0.3)
    again = gc.simulate(kept.system, 0.3, method="sdirk2", gamma=0.3)
    np.testing.assert_array_equal(kept["GEN2", "omega"], again["GEN2", "omega"])


def test_the_command_line_offers_the_nearest_option(call):
    result = call("run", "wscc9", "--method", "sdirk2", "--option", "gama=0.3")
    assert result.exit_code == 2
    assert "method 'sdirk2' has no option 'gama'; did you mean gamma?" in result.stderr
    result = call("run", "wscc9", "--method", "sdirk2", "--option", "gamma=much")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: method 'sdirk2' with gamma = 'much': ")
    assert "NAME=VALUE" in call("run", "wscc9", "--option", "gamma").stderr


def test_the_command_line_differentiates_it(call):
    Path("end.toml").write_text('[[objective]]\nkind = "terminal"\nof = "GEN2.omega"\n')
    result = call("grad", "wscc9", "--method", "sdirk2", "--objective", "end.toml", "--wrt", "GEN*.H", "--t-end", "0.3")
    assert result.exit_code == 0, result.output


def test_between_its_points_a_run_is_on_the_cubic_with_the_slopes_of_both_ends():
    system, times = gc.build("wscc9"), np.linspace(0.0, 0.5, 77)
    errors = []
    fine = gc.simulate(system, 0.5, 1e-3, method="sdirk2").at(times)
    for step in (0.01, 0.005):
        found = gc.simulate(system, 0.5, step, method="sdirk2").at(times)
        errors.append([np.abs(found[name] - fine[name]).max() for name in ("GEN2.omega", "BUS7.Vm")])
    assert (np.array(errors[0]) > 3 * np.array(errors[1])).all()
