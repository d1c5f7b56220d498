"""A notebook shows cases, systems, runs and modes as tables."""

from __future__ import annotations

import ast
import builtins
import importlib
import inspect
from html.parser import HTMLParser

import numpy as np
import pytest

import gridcore as gc
import gridcore_notebook
from gridcore.registry import analyses
from gridcore_estimation import Measurements


class Shell:
    """What a notebook, or another that shows HTML, asks of a thing."""

    @staticmethod
    def html(thing):
        """What it shows."""
        return thing._repr_html_()


@pytest.fixture
def shell():
    return Shell()


class Whole(HTMLParser):
    """Every tag that is opened is closed, in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.words = [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        """It is open."""
        self.open.append(tag)

    def handle_endtag(self, tag):
        """It is closed."""
        assert self.open.pop() == tag

    def handle_data(self, data):
        """What is read."""
        self.words.append(data)


def words(html):
    return Whole(html).words


def test_a_case_shows_its_models_and_what_happens(shell):
    shown = words(shell.html(gc.load_case("wscc9")))
    assert "wscc9: WSCC 3 machines, 9 buses (Sauer and Pai): fault at bus 7, cleared by tripping line 5-7" in shown
    assert {"TwoAxis", "BusFault", "bus = 7, t = 0.1, clear = 0.183"} <= set(shown)


def test_what_a_case_says_is_text_and_not_html(shell):
    case = gc.load_case("wscc9")
    case.title = "<script>alert('x')</script>"
    assert f"wscc9: {case.title}" in words(shell.html(case))


def test_a_system_and_a_run_show_their_summary(shell):
    system = gc.build("smib")
    assert {"power flow", "initial state", "all kept"} <= set(words(shell.html(system)))
    shown = words(shell.html(gc.simulate(system, t_end=0.2)))
    assert {"events", "0.1000000 s  BUS2: fault", "machines", "integration"} <= set(shown)


def test_a_summary_shows_what_its_text_says(shell):
    found = gc.simulate("smib", 0.2).summary()
    assert [text for text in Whole(shell.html(found)).words if text.strip()] == [
        text for line in found.lines for text in line if text]


def test_modes_show_the_least_damped(shell):
    modes = gc.analyses.small_signal(gc.build("smib"))
    shown = words(shell.html(modes))
    assert f"{modes.eigenvalues[0].real:.4f} ± {abs(modes.eigenvalues[0].imag):.4f}j" in shown


@pytest.fixture(scope="module")
def run():
    return gc.simulate(gc.build("swing"), t_end=0.2)


def test_a_fit_shows_its_parameters_with_intervals(shell, run):
    data = Measurements.of(run.t, {"SWING.delta": run["SWING.delta"] + 1e-4 * np.cos(1e3 * run.t)})
    fit = gc.analyses.estimate("swing", data, ["SWING.H"], start={"SWING.H": 4.8})
    found = words(shell.html(fit))
    first = 1 + len(fit.table().columns)
    assert found[1:] == [*fit.table().columns, *fit.table().cells()[0], *fit.remarks()]
    assert found[first] == "SWING.H"


def test_an_optimum_shows_where_it_is_and_what_it_is_worth(shell):
    end = gc.Terminal(lambda v: v["SWING", "delta"])
    best = gc.analyses.optimise("swing", end, "SWING.Pm", t_end=0.2, bounds={"*": (0.9, 1.1)})
    found = words(shell.html(best))
    assert f"objective {best.start:.9g} to {best.value:.9g}" in found[0]
    assert "SWING.Pm" in found


def test_a_critical_value_shows_how_it_was_found(shell):
    critical = gc.analyses.critical_value("smib", "fault.clear", between=(0.15, 0.3), t_end=1.5, tolerance=3e-2)
    found = words(shell.html(critical))
    assert found[0] == repr(critical)
    assert sum(word in ("stable", "unstable") for word in found) >= len(critical.attempts)


def test_a_sweep_shows_the_worst_scenarios(shell):
    table = gc.analyses.sweep("swing", vary={"SWING.Pm": [0.9, 1.0, 1.1]}, t_end=0.1, processes=1)
    found = words(shell.html(table))
    assert found[0].endswith("3 scenarios")
    assert {"0.9", "1", "1.1"} <= {word.strip() for word in found}


def test_a_power_flow_shows_buses_and_branches(shell):
    flow = gc.build("wscc9").power_flow
    found = words(shell.html(flow))
    assert found[0] == repr(flow)
    for name, row in [*flow.buses.iterrows(), *flow.branches.iterrows()]:
        at = found.index(name)
        assert all(cell == (f"{value:.6g}" if isinstance(value, float) else str(value))
                   for cell, value in zip(found[at + 1:], row))
    many = words(shell.html(gc.build("ieee39").power_flow))
    assert {"39 buses, the first 20 shown", "46 branches, the first 20 shown"} <= set(many)


def test_a_locus_shows_where_each_mode_is_damped_least(shell):
    locus = gc.analyses.root_locus("smib", "GEN1.H", [3.0, 3.5, 4.0])
    found = words(shell.html(locus))
    assert found[0] == repr(locus)
    assert "GEN1.H [s]" in found
    ratio = locus.damping_ratio
    for mode, state in enumerate(locus.dominant):
        where = int(ratio[:, mode].argmin())
        assert [state, f"{ratio[where, mode]:.4f}", f"{locus.eigenvalues[where, mode]:.4f}",
                f"{locus.values[0][where]:g}"] in [found[k:k + 4] for k in range(len(found))]
    both = gc.analyses.damping_map("smib", {"GEN1.H": [3.0, 4.0], "GEN1.D": [0.0, 2.0]})
    assert {"GEN1.H [s]", "GEN1.D [pu]"} <= set(words(shell.html(both)))


def test_rotors_show_whether_they_stay_together_and_how_far_they_go(shell):
    for clear, verdict in ((0.183, "3 rotors: in synchronism"), (0.5, "3 rotors: out of synchronism")):
        case = gc.load_case("wscc9")
        for address in ("fault.clear", "trip.t"):
            case.set(address, clear)
        rotors = gc.analyses.rotors(gc.simulate(case, t_end=2.0))
        found = words(shell.html(rotors))
        assert found[0] == verdict
        for k, device in enumerate(rotors.devices):
            at = found.index(device) if not rotors.parted else len(found) - 1 - found[::-1].index(device)
            angle, speed = np.degrees(rotors.relative[:, k]), rotors.omega[:, k]
            assert found[at + 1:at + 5] == [f"{angle.min():.1f}", f"{angle.max():.1f}", f"{speed.min():.5f}",
                                            f"{speed.max():.5f}"]
        assert ("parted" in found) == bool(rotors.parted)


def test_what_samples_tell_of_parameters_shows_what_they_do_not(shell):
    run = gc.simulate("swing", t_end=0.5)
    data = Measurements(run.t[::20], np.array(["SWING.omega"] * len(run.t[::20])), run["SWING.omega"][::20],
                        np.ones(len(run.t[::20])))
    told = gc.analyses.identifiability("swing", data, ["SWING.Pm", "SWING.H"])
    found = words(shell.html(told))
    assert found[0] == repr(told)
    assert {"SWING.Pm", "SWING.H"} <= set(found)
    assert set(told.unidentifiable()) <= set(found)


def test_a_linearisation_shows_its_states_by_device(shell):
    found = words(shell.html(gc.analyses.linearise("smib")))
    assert "delta, omega" in " ".join(found)
    assert "GEN1" in found


def test_instants_of_a_run_show_when_and_what(shell):
    run = gc.simulate("swing", t_end=0.2)
    found = words(shell.html(run.at([0.05, 0.1])))
    assert "0.05 to 0.1 s" in found
    assert any("omega" in word for word in found)
    assert "SWING" in found


def test_addresses_are_completed_by_the_tab_key(run):
    pytest.importorskip("IPython")
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell(user_ns={"run": run, "case": run.system.case})
    for text, expected in (('run["SWING.om', 'run["SWING.omega'), ('case["SW', 'case["SWING')):
        _, matches = shell.complete(text)
        assert expected in matches, text
    assert set(gc.analyses.addresses(run)) >= {"SWING.omega", "SWING.delta", "SWING.Pm"}
    for address in gc.analyses.addresses(run):
        assert len(run[address]) == len(run.t)


def test_progress_is_a_bar_that_grows(capsys):
    pytest.importorskip("IPython")
    told = []
    tell = gc.analyses.progress(0.1)
    gc.simulate(gc.build("swing"), t_end=0.1, progress=lambda t: (told.append(t), tell(t)))
    assert told[-1] == 0.1
    shown = capsys.readouterr().out
    assert "200/200" in shown


def test_a_front_end_of_ipython_shows_tables_in_place_of_text():
    formatters = pytest.importorskip("IPython.core.formatters")
    shown, _ = formatters.DisplayFormatter().format(gc.load_case("smib"))
    assert shown["text/html"] == gc.load_case("smib")._repr_html_()
    assert shown["text/plain"].startswith("<Case 'smib'")


def returned(function):
    """The class that a function says it returns, found as its module imports it; None where there is none to show."""
    said = str(function.__annotations__["return"]).partition("[")[0]
    head, _, rest = said.partition(".")
    if hasattr(builtins, said) or said in ("None", "Callable"):
        return None
    module = importlib.import_module(function.__module__)
    if not hasattr(module, head):  # imported for its type alone
        for node in ast.walk(ast.parse(inspect.getsource(module))):
            for alias in node.names if isinstance(node, ast.Import | ast.ImportFrom) else ():
                if (alias.asname or alias.name) == head:
                    parts = [alias.name] if isinstance(node, ast.Import) else ["." * node.level + (node.module or ""),
                                                                                alias.name]
                    found = importlib.import_module(parts[0], module.__package__)
                    return getattr(found, rest or parts[-1])
    found = getattr(module, head)
    return getattr(found, rest) if rest else found


def test_whatever_an_analysis_returns_shows_itself_as_a_table():
    """What pandas and xarray return does; each class of our own has a view, and no view is without a class."""
    functions = {name: analyses[name].function for name in analyses if not name.endswith("_checks")}
    functions |= {name: getattr(gc, name) for name in ("adjoint", "build", "differences", "load_case", "load_run",
                                                       "retrace", "simulate")}
    shown = set()
    for name, function in functions.items():
        if inspect.signature(function).return_annotation is not inspect.Signature.empty \
                and (cls := returned(function)) is not None and cls.__module__.split(".")[0] != "matplotlib":
            assert getattr(cls, "_repr_html_", None), f"{name} returns {cls}, which shows text alone"
            shown.add((cls.__module__, cls.__name__))
    ours = {place for place in shown if place[0].startswith("gridcore")}
    assert ours | {("gridcore_verbs.tables", "Table")} == set(gridcore_notebook.SHOWN)


@pytest.mark.parametrize(("module", "name"), gridcore_notebook.SHOWN)
def test_every_class_that_is_shown_is_where_it_is_said_to_be(module, name):
    cls = getattr(importlib.import_module(module), name)
    assert cls.__module__ == module
    assert cls._repr_html_
