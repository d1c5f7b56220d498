"""What a shell offers on the command line is what the verbs take; a case is read for it, and nothing is built."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete
from command_line import SMALL

import gridcore as gc
from gridcore.case import shipped
from gridcore.commands.main import gridcore
from gridcore.registry import REGISTRIES, commands, devices, integrators
from gridcore.results import select


def items(*words):
    """What click offers for the last of these words."""
    *before, begun = map(str, words)
    return ShellComplete(gridcore, {}, "gridcore", "_GRIDCORE_COMPLETE").get_completions(before, begun)


def offered(*words):
    return [item.value for item in items(*words) if item.type == "plain"]


@pytest.mark.parametrize("verb", ["run", "pf", "info", "eig", "sweep", "fit", "convert", "faults", "grad"])
def test_cases_are_offered_by_name_beside_files(verb):
    found = items(verb, "wscc9_")
    assert [item.type for item in found] == ["file"] + ["plain"] * (len(found) - 1)
    assert [item.value for item in found[1:]] == sorted(name for name in shipped() if name.startswith("wscc9_"))


@pytest.mark.parametrize(("words", "names"), [
    (("describe", "GEN"), devices), (("doctor", "GEN"), devices), (("run", "wscc9", "--drop", "GEN"), devices),
    (("run", "wscc9", "--method", ""), integrators)])
def test_what_plugins_registered_is_offered_by_name(words, names):
    assert offered(*words) == sorted(name for name in names if name.startswith(words[-1]))


def test_a_device_is_completed_first_and_then_what_it_has():
    assert offered("run", "wscc9", "--set", "GEN") == ["GEN1.", "GEN2.", "GEN3."]
    assert offered("run", "wscc9", "--set", "GEN2.X") == ["GEN2.Xd=", "GEN2.Xq=", "GEN2.Xdp=", "GEN2.Xqp="]
    assert offered("run", "wscc9", "--set", "fau") == [  # there is but one
        f"fault.{name}=" for name in ("bus", "t", "clear", "r", "x", "status")]
    assert offered("tsa", "wscc9", "--of", "GEN*.o") == ["GEN*.omega"]
    assert offered("tsa", "wscc9", "--joint", "fault.clear,trip.") == ["fault.clear,trip.t", "fault.clear,trip.reclose"]


@pytest.mark.parametrize("name", ["wscc9", "kundur_vsc", "microgrid"])
def test_all_that_is_offered_is_taken_and_all_that_is_taken_is_offered(name):
    system = gc.build(name)
    parameters = set(system.layout.parameter_names)
    parameters |= {f"{d}.{v}" for k, (d, v) in enumerate(system.variables) if system.base_differential[k]}
    wrt = set()
    for id in system.case.ids():
        for address in offered("run", name, "--set", f"{id}."):
            system.case.copy().set(address.removesuffix("="), 1)
        assert offered("run", name, "--record", f"{id}.") == [".".join(pair) for pair in select(system, f"{id}.*")]
        wrt |= set(offered("tsa", name, "--wrt", f"{id}."))
    assert wrt >= {address for address in parameters if address.partition(".")[0] in system.case.ids()}
    for address in wrt - parameters:  # whether an input is driven and a state has a time constant, only the system says
        id, _, key = address.partition(".")
        declares = system.case[id].device.declares
        assert key in {**declares.inputs, **declares.states} or address in ("trip.t", "islanded.t")  # of fault.clear


def test_unit_and_meaning_are_told():
    told = {item.value: item.help for item in items("run", "wscc9", "--set", "GEN2.")}
    assert told["GEN2.H="] == "s: inertia constant"


def test_devices_of_a_kind_are_offered_where_they_are_meant():
    assert offered("sweep", "wscc9", "--faults", "BUS") == [f"BUS{k}" for k in range(1, 10)]
    branches = offered("sweep", "wscc9", "--line-faults", "")
    assert {id.rstrip("0123456789-") for id in branches} == {"LINE", "TRANSFORMER"}
    assert set(offered("sweep", "wscc9", "--trips", "")) == set(gc.load_case("wscc9").ids())


def test_a_case_is_read_as_the_options_before_say(tmp_path):
    (tmp_path / "small.toml").write_text(SMALL)
    (tmp_path / "more.toml").write_text('BusFault = [{id = "late", bus = 2, t = 1, clear = 1.1}]\n')
    small = tmp_path / "small.toml"
    assert offered("run", small, "--set", "late.c") == []
    assert offered("run", small, "--with", tmp_path / "more.toml", "--set", "late.c") == ["late.clear="]
    assert offered("run", small, "--widen-limits", "--set", "GEN1.H") == ["GEN1.H="]


def test_quantities_of_a_run_are_offered(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    gc.simulate(gc.build("smib"), t_end=0.02).save("smib.nc")
    assert offered("plot", "smib.nc", "--of", "GEN1.om") == ["GEN1.omega"]
    assert offered("report", "smib.nc", "--wrt", "fault.c") == ["fault.clear"]


@pytest.mark.parametrize("words", [
    ("run", "--set", "GEN"), ("run", "nonsense", "--set", "GEN"), ("run", "wscc9", "--set", "NONE."), ("runn", "ws"),
    ("run", "wscc9", "--drop", "TwoAxis", "--set", "NONE.")])
def test_where_nothing_is_known_nothing_is_offered_and_nothing_said(words, capsys):
    assert offered(*words) == []
    assert capsys.readouterr() == ("", "")


def test_nothing_is_built(monkeypatch):
    monkeypatch.setattr(gc.System, "__init__", lambda *_: pytest.fail("a system was built"))
    assert offered("run", "wscc9", "--set", "GEN2.H")


def test_bash_is_answered(monkeypatch):
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    script = """
        eval "$(_GRIDCORE_COMPLETE=bash_source gridcore)"
        complete -p gridcore
        COMP_WORDS=(gridcore run wscc9 --set GEN2.X) COMP_CWORD=4
        _gridcore_completion gridcore
        printf '%s\\n' "${COMPREPLY[@]}"
    """
    told = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert told.stderr == ""
    assert told.stdout.splitlines() == ["complete -o nosort -F _gridcore_completion gridcore",
                                        "GEN2.Xd=", "GEN2.Xq=", "GEN2.Xdp=", "GEN2.Xqp="]


TAKES = ("PATTERN", "MODEL", "DEVICE.FIELD=VALUE", "NAME=VALUE", "NAME=LOW:HIGH", "PARAMETER=VALUES", "DEVICE|all",
         "BUS|all", "BRANCH|all")
PLACES = [(verb, parameter.opts[0]) for verb in sorted(commands) for parameter in commands[verb].command.params
          if parameter.metavar in TAKES and parameter.opts[0] not in ("--option", "model", "device")
          and any(other.name == "case" for other in commands[verb].command.params)]


@pytest.mark.parametrize(("verb", "option"), PLACES)
def test_every_option_that_takes_a_name_is_completed(verb, option):
    assert offered(verb, "wscc9", option, "")


def test_kinds_of_plugins_have_names_of_their_own():
    own = {"case", "field", "parameter", "quantity", "bus", "branch", "id"}
    assert {registry.kind for registry in REGISTRIES}.isdisjoint(own)
