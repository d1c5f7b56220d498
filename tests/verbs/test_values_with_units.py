"""Values with units on the command line."""

from __future__ import annotations

import numpy as np
import pytest
from command_line import invoke, refused

import gridcore as gc
from gridcore.errors import CaseError
from gridcore_verbs.units import number


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_a_number_is_in_the_parameters_own_unit_whatever_unit_it_was_given_in():
    case = gc.load_case("wscc9")
    assert number(case, "fault.clear", "200ms") == 0.2
    assert number(case, "fault.clear", "0.2") == 0.2
    assert number(case, "LINE4-5.x", "52.9 ohm") == 0.1  # 230 kV, 100 MVA
    assert number(case, "nothing.at_all", "3") == 3.0
    with pytest.raises(CaseError, match="unit 'ms' is not understood"):
        number(case, "EXC1.KA", "3 ms")
    with pytest.raises(CaseError, match="by different bases"):
        number(case, "GEN*.Xd", "1 ohm")


def test_times_of_a_run_may_have_units():
    runs = []
    for out, t_end, step in (("units", "100ms", "10 ms,50ms:20ms"), ("seconds", "0.1", "0.01,0.05:0.02")):
        asked = invoke("run", "wscc9", "--t-end", t_end, "--step", step, "--quiet", "--out", out)
        assert asked.exit_code == 0
        runs.append(gc.load_run(f"{out}/wscc9.nc"))
    assert np.array_equal(runs[0].t, runs[1].t)
    assert np.array_equal(runs[0].X, runs[1].X)


@pytest.mark.parametrize("arguments", [
    ("sweep", "wscc9", "--faults", "7", "--at", "soon"),
    ("fit", "wscc9", "--data", "x.csv", "--wrt", "x", "--shift", "?"),
    ("run", "wscc9", "--step", "5 minuets")])
def test_what_is_no_time_is_refused_on_one_line(arguments):
    assert "neither a number of seconds nor" in refused(invoke(*arguments))


def test_values_along_a_locus_may_have_units():
    texts = [invoke("locus", "wscc9", "--vary", vary, "--top", 2).stdout
             for vary in ("EXC1.TA=100ms:300ms:3", "EXC1.TA=100 ms,0.2,300ms", "EXC1.TA=0.1:0.3:3")]
    assert texts[0] == texts[1] == texts[2] != ""


@pytest.mark.parametrize("given", ["0.002", "2kB", "2 kB", "2000 B"])
def test_memory_may_have_a_unit(given, monkeypatch):
    from gridcore.tape import checkpoints

    budgets, made = [], checkpoints.OnDisk
    monkeypatch.setattr(checkpoints, "OnDisk",
                        lambda *given, budget: budgets.append(budget) or made(*given, budget=budget))
    assert invoke("run", "wscc9", "--t-end", "0.1", "--quiet", "--memory", given).exit_code == 0
    gc.simulate("wscc9", 0.05, memory="2 kB")
    assert budgets == [2000, 2000]


@pytest.mark.parametrize("given", ["0", "-1", "much", "5 s", "inf"])
def test_what_is_no_memory_is_refused_on_one_line(given):
    assert "must be a number of MB above 0, or a size such as 2GB" in refused(invoke("run", "wscc9", "--memory", given))


@pytest.mark.parametrize("given", [0, "2 s", "2 gb", float("inf")])
def test_memory_in_python_is_checked_too(given):
    with pytest.raises(CaseError, match=r"bytes above 0|accepted: B, MiB"):
        gc.simulate("swing", 0.01, memory=given)
