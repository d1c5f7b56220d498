"""What is asked of a simulation: it works, or one sentence says what would."""

from __future__ import annotations

import math
from time import perf_counter

import numpy as np
import pytest
from devices_for_tests import system as small

import gridcore as gc
from gridcore.contract import Device, Param, State
from gridcore.errors import CaseError, PluginError
from gridcore.integrate import StepOperator, Stepper
from gridcore.registry import Integrator
from gridcore_theta import Theta


@pytest.fixture(scope="module")
def system():
    return gc.build("wscc9")


def test_a_case_or_its_name_stands_for_its_system(system):
    expected = gc.simulate(system, 0.2)
    for given in ("wscc9", gc.load_case("wscc9")):
        np.testing.assert_array_equal(gc.simulate(given, 0.2).X, expected.X)


def test_it_ends_where_the_case_recommends_and_on_a_mesh_where_that_ends(system):
    run = gc.simulate(system)
    assert run.t[-1] == 2.0
    np.testing.assert_array_equal(gc.simulate(system, mesh=run).X, run.X)
    case = gc.load_case("wscc9")
    del case.about["t_end"]
    with pytest.raises(CaseError, match=r"t_end = None must be a number of seconds, or a text such as '20 ms'"):
        gc.simulate(case)
    with pytest.raises(CaseError, match="t_end = None must be"):
        gc.simulate(run)


def test_times_may_have_units(system):
    plain = gc.simulate(system, 0.25, [(0.05, 0.01), (0.15, 0.05)], t0=0.05)
    units = gc.simulate(system, "250 ms", [("3 cycles", "10 ms"), (0.15, "50 ms")], t0="3 cycles")
    np.testing.assert_array_equal(units.t, plain.t)
    assert units.settings == plain.settings


def test_spacings_may_be_an_array(system):
    spacings = [(0.0, 0.01), (0.1, 0.05)]
    run, same = gc.simulate(system, 0.2, spacings), gc.simulate(system, 0.2, np.array(spacings))
    np.testing.assert_array_equal(run.t, same.t)
    assert run.settings == same.settings


def test_a_cycle_is_one_of_the_case():
    case = gc.load_case("smib")
    case.frequency = 50
    assert gc.simulate(case, "5 cycles").t[-1] == pytest.approx(0.1)


@pytest.mark.parametrize(("asked", "says"), [
    ({"t_end": "soon"}, r"t_end = 'soon' must be a number of seconds, or a text such as '20 ms'"),
    ({"t_end": "2 MW"}, r"t_end = '2 MW' must be a number of seconds"),
    ({"t_end": math.nan}, r"t_end = nan must be a number after t0 = 0"),
    ({"t_end": "inf"}, r"t_end = inf must be a number after t0 = 0"),
    ({"t0": "1 s"}, r"t_end = 0\.2 must be a number after t0 = 1"),
    ({"step": {}}, r"step = {} must be a number of seconds"),
    ({"step": [1]}, r"step = \[1\] must be a number of seconds, or pairs \(from time, step\)"),
    ({"step": [(0, 1, 2)]}, r"must be a number of seconds, or pairs"),
    ({"step": [(0, "x")]}, r"step = 'x' must be a number of seconds"),
    ({"step": 1e-12}, r"a grid from 0 to 0\.2 s has 2e\+11 points, of at most 50,000,000"),
    ({"step": 1e-320}, r"a grid from 0 to 0\.2 s has inf points"),
    ({"t_end": 1e8}, r"a grid from 0 to 1e\+08 s has 1e\+10 points"),
    ({"t_end": 1e300}, r"t_end = 1e\+300 must be a number after t0 = 0, and at most 1e\+08 s"),
    ({"t_end": 1e300, "step": "auto"}, r"t_end = 1e\+300 must be a number after t0 = 0, and at most 1e\+08 s"),
    ({"t0": -1e300, "step": "auto"}, r"must be a number after t0 = -1e\+300, and at most 1e\+08 s"),
    ({"step": np.ones(3)}, r"must be a number of seconds, or pairs"),
    ({"step": [(0, 0.1), (0.1, 1e-12)]}, r"step = 1e-12: a grid from 0\.1 to 0\.2 s has 1e\+11 points"),
    ({"memory": "much"}, r"memory = 'much' must be a number of bytes above 0"),
    ({"record": 3}, r"3 must be an address or a pattern"),
    ({"rtol": 1e-6}, r"method 'theta' has no option 'rtol'; there are: theta; step = 'auto' takes it$"),
])
def test_what_cannot_be_done_is_said_in_one_sentence(system, asked, says):
    with pytest.raises(CaseError, match=says):
        gc.simulate(system, **{"t_end": 0.2, **asked})


@pytest.mark.parametrize("given", [None, 3, {"Bus": []}])
def test_what_is_no_case_is_refused(given):
    for verb in (gc.load_case, gc.build, lambda case: gc.simulate(case, 0.1)):
        with pytest.raises(CaseError, match="is no case: give a Case, a system or a run, or the name or path of one"):
            verb(given)


@pytest.mark.parametrize("run", [3, None, "wscc9"])
def test_what_is_no_run_is_not_retraced(run):
    with pytest.raises(CaseError, match=r"is no run: gc\.simulate makes one of a system"):
        gc.retrace(run)


def test_the_time_that_a_simulation_took_is_part_of_the_time_around_it(system):
    before = perf_counter()
    run = gc.simulate(system, 0.1)
    assert 0 < run.timings["simulate"] <= perf_counter() - before


def test_where_there_are_no_guards_none_is_evaluated():
    class Rising(Device):
        x0 = Param("", 1.0)
        x = State("", start_at="x0", rate=lambda s: -s.x)

    with gc.registered(Rising):
        run = gc.simulate(small(Rising(id="R")), 1.0, 0.1)
    assert run.counters["steps"] == 10
    assert "guard_evaluations" not in run.counters


@pytest.mark.parametrize(("kind", "names"), [(Stepper, {"restart", "advance", "state_at"}),
                                             (StepOperator, {"forward", "transpose"})])
def test_a_method_that_lacks_what_it_is_asked_for_cannot_be_made(kind, names):
    for lacking in names:
        half = type("Half", (kind,), {name: lambda self, *args: None for name in names - {lacking}})
        with pytest.raises(TypeError, match=f"abstract method '?{lacking}"):
            half()


def test_an_option_that_a_method_does_not_take_is_told_and_an_error_of_its_own_stays_one(system):
    def make(step, size=1.0):
        if size > 2:
            raise ValueError("size is above 2")
        return Theta(step)

    def fails(step):
        return int("none")

    with gc.registered(Integrator("sized", make), Integrator("fails", fails), Integrator("none", lambda step: step)):
        for size, says in ((3.0, r"^method 'sized' with size = 3.0: size is above 2$"),
                           ("large", r"^method 'sized' with size = 'large': '>' not supported")):
            with pytest.raises(CaseError, match=says):
                gc.simulate(system, 0.1, method="sized", size=size)
        with pytest.raises(ValueError, match="invalid literal"):
            gc.simulate(system, 0.1, method="fails")
        with pytest.raises(PluginError, match=r"'none' is no gridcore\.integrate\.Stepper but a float"):
            gc.simulate(system, 0.1, method="none")
