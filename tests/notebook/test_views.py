"""A notebook shows cases, systems, runs and modes as tables."""

from __future__ import annotations

import importlib
from html.parser import HTMLParser

import numpy as np
import pytest

import gridcore as gc
import gridcore_notebook
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


@pytest.mark.parametrize(("module", "name"), gridcore_notebook.SHOWN)
def test_every_class_that_is_shown_is_where_it_is_said_to_be(module, name):
    cls = getattr(importlib.import_module(module), name)
    assert cls.__module__ == module
    assert cls._repr_html_
