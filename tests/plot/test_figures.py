"""Figures: what is in them is the run, nothing overlaps, nobody needs to tell red from green."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from command_line import invoke
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

import gridcore as gc
from gridcore.errors import CaseError
from gridcore.results import Event
from gridcore_plot.curves import COLOURS, GREY, MORE, spread
from gridcore_plot.events import ROWS, Instant, arrange, instants
from gridcore_plot.figures import in_lines, plot
from gridcore_plot.outstanding import ALL_LABELLED, STANDING_OUT, colour_numbers, extremes, standing_out, stray
from gridcore_plot.panels import Panel, named_alike, overlaid, panels


@pytest.fixture(scope="module")
def run():
    return gc.simulate(gc.build("wscc9"), t_end=1.0)


def machines(count: int) -> gc.Case:
    """So many machines in a star, with exciters, and a fault in the middle."""
    case = gc.Case("star", f"{count} machines")
    case.add(gc.Record("Bus", {"id": 0, "kv": 230}))
    case.add(gc.Record("ZIP", {"bus": 0, "P0": 0.5 * count, "pZ": 1, "pP": 0, "qZ": 1, "qP": 0}))
    for k in range(1, count + 1):
        case.add(gc.Record("Bus", {"id": k, "kv": 20}))
        case.add(gc.Record("Line", {"bus1": 0, "bus2": k, "x": 0.1 + 0.002 * k}))
        case.add(gc.Record("TwoAxis", {
            "id": f"GEN{k}", "bus": k, "control": "slack" if k == 1 else "PV", "P0": 0.5, "H": 2.0 + 0.1 * k, "Xd": 1.2,
            "Xq": 0.9, "Xdp": 0.25, "Xqp": 0.4, "Td0p": 6.0, "Tq0p": 0.5}))
        case.add(gc.Record("IEEEType1", {
            "id": f"EXC{k}", "machine": f"GEN{k}", "KA": 20, "TA": 0.2, "KE": 1.0, "TE": 0.314, "KF": 0.063, "TF": 0.35,
            "VRMIN": -4, "VRMAX": 2.2}))
    case.add_event(gc.BusFault(bus=0, t=0.1, clear=0.2, x=0.01))
    return case


def words(figure) -> list[str]:
    return [t.get_text() for t in figure.texts]


def boxes(figure) -> dict[str, Bbox]:
    """Where each text of the figure stands, in pixels."""
    figure.canvas.draw()
    return {f"{k} {t.get_text()}": t.get_window_extent() for k, t in enumerate(figure.texts)}


def overlapping(figure) -> list[tuple[str, str]]:
    return [(a, b) for (a, x), (b, y) in combinations(boxes(figure).items(), 2)
            if (cut := Bbox.intersection(x, y)) is not None and cut.width > 1 and cut.height > 1]


# What is shown ----------------------------------------------------------------------------------------

def test_the_panels_are_those_of_a_stability_study_with_their_units(run):
    assert [p.heading.replace("\n", " ") for p in panels(run)] == [
        "rotor speed (pu)", "rotor angle to centre of inertia (degrees)", "bus voltage (pu)", "field voltage (pu)"]


def test_the_curves_are_the_numbers_of_the_run(run, tmp_path):
    figure = plot(run, tmp_path / "f.png")
    speed, angle, voltage, field = figure.axes
    assert np.array_equal(speed.lines[1].get_ydata(), run["GEN2", "omega"])
    assert np.array_equal(speed.lines[1].get_xdata(), run.t)
    assert np.array_equal(angle.lines[1].get_ydata(), np.degrees(gc.analyses.rotors(run).relative[:, 1]))
    assert np.array_equal(voltage.lines[6].get_ydata(), run["BUS7", "Vm"])
    assert np.array_equal(field.lines[2].get_ydata(), run["EXC3", "Efd"])
    assert figure.axes[-1].get_xlabel() == "time (s)"


def test_a_switching_is_a_vertical_jump(run, tmp_path):
    line = plot(run, tmp_path / "f.png").axes[2].lines[6]
    t, volts = line.get_data()
    before, after, _ = np.flatnonzero(t == 0.1)
    assert after == before + 1
    assert volts[before] > 1.0
    assert volts[after] < 0.01
    assert line.get_drawstyle() == "default"


def test_a_machine_with_constant_field_has_no_panel_of_it():
    assert [p.heading.replace("\n", " ") for p in panels(gc.simulate(gc.build("smib"), t_end=0.02))] == [
        "rotor speed (pu)", "rotor angle to infinite bus (degrees)", "bus voltage (pu)"]


def test_a_system_without_network_shows_its_states():
    run = gc.simulate(gc.build("hiskens_pai"), t_end=0.02, step=0.001)
    shown = panels(run)
    assert np.array_equal(np.column_stack([p.values for p in shown]), run.X)


def test_what_is_out_of_service_is_not_drawn():
    case = machines(3)
    case.add_event(gc.Trip(device="GEN3", t=0.3))
    run = gc.simulate(gc.build(case), t_end=0.5)
    off = run["GEN3", "status"] == 0
    assert off.any()
    for panel in (p for p in panels(run) if "GEN3" in p.devices):
        assert np.array_equal(np.isnan(panel.values[:, panel.devices.index("GEN3")]), off)


# Legible ----------------------------------------------------------------------------------------------

@pytest.mark.parametrize("count", [3, 12, 50])
def test_labels_do_not_overlap_and_stay_on_the_page(count, tmp_path):
    figure = plot(gc.simulate(gc.build(machines(count)), t_end=0.5), tmp_path / "f.png")
    assert overlapping(figure) == []
    page = figure.bbox
    for text, box in boxes(figure).items():
        assert page.x0 <= box.x0, text
        assert box.x1 <= page.x1, text
        assert page.y0 <= box.y0, text
        assert box.y1 <= page.y1, text


def test_few_curves_are_all_labelled(tmp_path):
    figure = plot(gc.simulate(gc.build(machines(3)), t_end=0.2), tmp_path / "f.png")
    assert [words(figure).count(f"GEN{k}") for k in (1, 2, 3)] == [3, 3, 3]
    assert "others" not in " ".join(words(figure))


def shown_of(axes, values) -> set[int]:
    """The columns of values that a panel shows in colour."""
    coloured = [line.get_ydata() for line in axes.lines if line.get_color() != GREY]
    return {int(np.flatnonzero([np.array_equal(column, y, equal_nan=True) for column in values.T])[0])
            for y in coloured}


def highest(values) -> np.ndarray:
    return np.array([column[np.isfinite(column)].max() if np.isfinite(column).any() else np.nan for column in values.T])


def never_grey(values) -> set[int]:
    """The columns of values that stray, rise, dip and move most, by definition."""
    away = np.abs(values - np.nanmedian(values, axis=1, keepdims=True))
    high, low = highest(values), -highest(-values)
    return {int(np.nanargmax(of)) for of in (highest(away), high, -low, high - low)}


@pytest.fixture(scope="module")
def many() -> gc.Run:
    return gc.simulate(gc.build(machines(50)), t_end=0.5)


def test_of_many_curves_those_that_part_most_are_labelled(many, tmp_path):
    figure = plot(many, tmp_path / "f.png")
    devices = [f"GEN{k}" for k in range(1, 51)]
    speed, angle = many.of(devices, "omega"), np.degrees(gc.analyses.rotors(many).relative)
    field = many.of(devices, "Efd")
    shown = [shown_of(figure.axes[k], values) for k, values in ((0, speed), (1, angle), (-1, field))]
    assert STANDING_OUT <= len(shown[0]) <= ALL_LABELLED
    assert shown[0] == shown[1] == shown[2]
    assert {np.abs(angle).max(axis=0).argmax(), *never_grey(speed), *never_grey(angle), *never_grey(field)} <= shown[0]
    assert words(figure).count(f"{50 - len(shown[0])} others") == 3


def drawn_in(panel: Panel) -> set[int]:
    return {panel.devices.index(device) for device in panel.named}


def stepped(seed: int, count: int, points: int = 30) -> np.ndarray:
    """Curves that wander from levels of their own, some of them out of service for a while or for good."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=count) + np.cumsum(rng.normal(size=(points, count)) * rng.exponential(size=count), axis=0)
    values[:10, rng.integers(count, size=2)] = values[:, rng.integers(count)] = np.nan
    return values


@pytest.mark.parametrize("seed", range(30))
def test_who_parts_rises_dips_or_moves_most_in_a_panel_is_never_grey_there(seed):
    """Whatever the other panels show, of one run and of several over each other."""
    rng = np.random.default_rng([seed, 1])
    names = [f"GEN{k}" for k in range(int(rng.integers(13, 60)))]
    shown = []
    for k in range(int(rng.integers(1, 6))):
        devices = [d for d in names if rng.uniform() < 0.8]
        shown.append(Panel(f"quantity {k}", devices, stepped(seed + 100 * k, len(devices))))
    for panel in named_alike(shown):
        assert len(panel.devices) <= ALL_LABELLED or never_grey(panel.values) <= drawn_in(panel)
        assert len(panel.named) <= ALL_LABELLED
    again = [Panel(panel.heading, panel.devices, panel.values + stepped(seed + 7, len(panel.devices)))
             for panel in shown]
    for members in overlaid([shown, again]):
        both = Panel("both", members[0].devices, np.concatenate([members[0].values, members[1].values]))
        extreme = {int(np.nanargmax(highest(both.values))), int(np.nanargmax(highest(-both.values)))}
        assert extreme <= drawn_in(members[0])
        assert members[0].named == members[1].named


def test_panels_of_one_set_of_devices_name_the_same():
    names = [f"GEN{k}" for k in range(40)]
    shown = named_alike([Panel(str(k), names, stepped(k, 40)) for k in range(3)])
    assert shown[0].named == shown[1].named == shown[2].named


def test_a_shipped_case_of_many_machines_has_no_grey_extreme():
    """Of npcc140 the highest field voltage is of a machine whose angle and speed do not stand out."""
    shown = panels(gc.simulate(gc.build("npcc140"), t_end=3.0))
    assert [panel.heading.split(" (")[0] for panel in shown][-1] == "field voltage"
    for panel in shown:
        assert never_grey(panel.values) <= drawn_in(panel)


def test_who_dips_most_is_never_grey():
    """Seven of fifty voltages rise far, so that the one that dips is not among the six that stray farthest."""
    volts = np.ones((10, 50))
    volts[5:, 1:8] = np.linspace(1.3, 1.5, 7)
    volts[5:, 20] = 0.9
    buses = [f"BUS{k}" for k in range(50)]
    assert "BUS20" not in standing_out(buses, stray(volts))
    assert "BUS20" in standing_out(buses, *extremes(volts))
    assert "BUS20" in Panel("bus voltage (pu)", buses, volts).named


def test_a_machine_has_one_colour_in_all_panels(many, tmp_path):
    """Also where some machines have no exciter."""
    case = machines(9)
    del case.records[next(k for k, record in enumerate(case.records) if record.fields.get("id") == "EXC2")]
    for run in (many, gc.simulate(gc.build(case), t_end=0.3)):
        figure = plot(run, tmp_path / "f.png")
        colour_of: dict[str, set[str]] = {}
        for text in figure.texts:
            if text.get_text().startswith("GEN"):
                colour_of.setdefault(text.get_text(), set()).add(text.get_color())
        assert STANDING_OUT <= len(colour_of) <= ALL_LABELLED
        assert all(len(colours) == 1 for colours in colour_of.values())


def test_panels_that_share_devices_share_numbers_of_colours():
    assert colour_numbers([["a", "b"], ["b", "c"], ["x"]]) == [{"a": 0, "b": 1, "c": 2}] * 2 + [{"x": 0}]


def test_no_two_curves_of_a_panel_look_alike(tmp_path):
    axes = plot(gc.simulate(gc.build(machines(ALL_LABELLED)), t_end=0.2), tmp_path / "f.png").axes[0]
    assert len({(line.get_color(), line.is_dashed()) for line in axes.lines}) == ALL_LABELLED


# Colours seen by somebody without red or green cones: the linear transforms of Vienot, Brettel and Mollon,
# "Digital video colourmaps for checking the legibility of displays by dichromats" (1999).
_TO_LMS = np.array([[17.8824, 43.5161, 4.11935], [3.45565, 27.1554, 3.86714], [0.0299566, 0.184309, 1.46709]])
_SEEN = {"protanope": np.array([[0, 2.02344, -2.52581], [0, 1, 0], [0, 0, 1]]),
         "deuteranope": np.array([[1, 0, 0], [0.494207, 0, 1.24827], [0, 0, 1]])}


@pytest.mark.parametrize("who", _SEEN)
def test_colours_stay_apart_without_red_or_green_cones(who):
    rgb = np.array([[int(c[k:k + 2], 16) / 255 for k in (1, 3, 5)] for c in COLOURS + MORE]) ** 2.2
    seen = np.clip(rgb @ (np.linalg.inv(_TO_LMS) @ _SEEN[who] @ _TO_LMS).T, 0, 1) ** (1 / 2.2)
    closest = min(np.linalg.norm(a - b) for a, b in combinations(seen, 2))
    naive = np.array([[1.0, 0, 0], [0, 0.5, 0]]) @ (np.linalg.inv(_TO_LMS) @ _SEEN[who] @ _TO_LMS).T
    assert closest > 0.1
    assert closest > 0.3 * np.linalg.norm(np.diff(np.clip(naive, 0, 1) ** (1 / 2.2), axis=0))


# Events -----------------------------------------------------------------------------------------------

def test_the_label_of_a_late_event_stays_on_the_page(tmp_path):
    case = machines(3)
    case.add_event(gc.ParameterStep(parameter="ZIP0_with_a_long_name.P0", t=0.295, scale=1.1))
    case.set("LOAD0.id", "ZIP0_with_a_long_name")
    figure = plot(gc.simulate(gc.build(case), t_end=0.3), tmp_path / "f.png")
    late = next(t for t in figure.texts if "long_name" in t.get_text())
    assert late.get_window_extent().x1 <= figure.bbox.x1
    assert overlapping(figure) == []


def test_every_event_is_marked_through_all_panels(run, tmp_path):
    figure = plot(run, tmp_path / "f.png")
    for text in ("BUS7: fault", "BUS7: fault cleared", "LINE5-7: opened"):
        assert words(figure).count(text) == 1
    left, right = (figure.axes[0].get_position().x0, figure.axes[0].get_position().x1)
    upright = [line for line in figure.artists if len({*line.get_xdata()}) == 1]
    assert np.allclose(sorted(line.get_xdata()[0] for line in upright),
                       [left + t * (right - left) for t in (0.1, 0.183)])
    for line in upright:
        assert min(line.get_ydata()) == figure.axes[-1].get_position().y0
        assert max(line.get_ydata()) > figure.axes[0].get_position().y1


def test_what_happens_at_one_instant_is_one_label(run):
    assert instants(run) == [Instant(0.1, ("BUS7: fault",), True),
                             Instant(0.183, ("BUS7: fault cleared", "LINE5-7: opened"), True)]


def switched(times, devices, what="VR reaches VRMAX") -> gc.Run:
    """A run of three machines with these switchings in place of its events."""
    run = gc.simulate(gc.build(machines(3)), t_end=0.05)
    run.__dict__["events"] = [Event(t, d, "x", "switch", what, d) for t, d in zip(times, devices)]
    return run


def test_what_happens_to_many_at_one_instant_is_counted():
    run = switched([1.0] * 5, [f"EXC{k}" for k in range(5)])
    assert instants(run) == [Instant(1.0, ("5 devices: VR reaches VRMAX",), False)]


def test_many_instants_of_limits_between_two_events_of_the_study_are_one_line():
    times = [1.0, 1.25, 1.5, 1.75]
    run = switched(times, ["EXC1", "EXC2", "EXC3", "EXC3"])
    folded = Instant(1.0, ("3 devices: VR reaches VRMAX, 4 times (until 1.75 s)",), False, (1.25, 1.5, 1.75))
    assert instants(run) == [folded]
    assert [mark.t for mark in instants(run, fold=False)] == times
    fault = gc.simulate(gc.build(machines(3)), t_end=0.15).events[0]
    run.__dict__["events"] = [*run.events[:2], fault, *run.events[2:]]  # two on each side stay apart
    assert [(mark.planned, mark.also) for mark in instants(run)] == [(k == 2, ()) for k in range(5)]


def test_many_kinds_of_limits_are_counted_in_one_line():
    run = switched([1.0, 1.1, 1.2], ["EXC1", "EXC2", "EXC1"])
    run.__dict__["events"] = [replace(event, what=f"kind {k}") for k, event in enumerate(run.events)]
    assert instants(run)[0].lines == ("EXC1, EXC2: 3 switchings of limits and relays (until 1.2 s)",)


@pytest.mark.parametrize("seed", range(20))
def test_no_line_of_an_event_crosses_a_label_and_no_labels_meet(seed):
    rng = np.random.default_rng(seed)
    starts = np.sort(rng.uniform(0, 6, 40)).tolist()
    widths = rng.uniform(0.3, 2.0, 40).tolist()
    found = [Instant(t, ("x",) * int(rng.integers(1, 4)), bool(rng.random() < 0.2)) for t in starts]
    rows = arrange(found, starts, widths)
    said = [(s, s + w, r, r + len(f.lines)) for s, w, r, f in zip(starts, widths, rows, found) if r is not None]
    for (s1, e1, _, low1), (s2, _, top2, low2) in combinations(said, 2):
        if s2 < e1:  # the later begins under or over the earlier
            assert top2 >= low1  # below it: its line goes down from there
        assert s2 >= s1
        assert low2 > top2
    assert all(r is None or r + len(f.lines) <= ROWS or f.planned for r, f in zip(rows, found))
    assert len(said) > 5


def test_every_folded_instant_is_dotted(tmp_path):
    run = gc.simulate(gc.build("hiskens_pai"), t_end=1.0)
    figure = plot(run, tmp_path / "f.png")
    upright = [line for line in figure.artists if len({*line.get_xdata()}) == 1]
    left, right = (figure.axes[0].get_position().x0, figure.axes[0].get_position().x1)
    assert len(run.events) == 47
    assert np.allclose(sorted(line.get_xdata()[0] for line in upright),
                       [left + event.t * (right - left) for event in run.events])
    assert [text for text in words(figure) if text.startswith("HP: ")] == [
        "HP: A1 to A2, 24 times", f"HP: A2 to A1, 23 times (until {run.events[-1].t:.4g} s)"]


def test_instants_without_room_are_marked_and_counted(tmp_path):
    case = machines(3)
    for k in range(40):
        case.add_event(gc.ParameterStep(parameter="LOAD0.P0", t=0.11 + 0.001 * k, by=1e-6))
    run = gc.simulate(gc.build(case), t_end=0.3)
    figure = plot(run, tmp_path / "f.png")
    upright = [line for line in figure.artists if len({*line.get_xdata()}) == 1]
    assert len({round(line.get_xdata()[0], 9) for line in upright}) == len({event.t for event in run.events})
    said = sum(text.startswith("LOAD0.P0: ") for text in words(figure))
    [told] = [text for text in words(figure) if text.startswith("dotted without words: ")]
    assert int(told.split()[3]) >= 40 - said > 10
    assert overlapping(figure) == []


# Quantities that are asked for, and several runs -------------------------------------------------------

def test_quantities_that_are_asked_for_have_a_panel_each_with_their_units(run, tmp_path):
    figure = plot(run, tmp_path / "f.png", of=["GEN*.Pe", "BUS[57].Vm"])
    assert [" ".join(axes.get_ylabel().split()) for axes in figure.axes] == [
        "Pe: air-gap power (pu)", "Vm: voltage magnitude (pu)"]
    assert np.array_equal(figure.axes[0].lines[2].get_ydata(), run["GEN3.Pe"])
    assert np.array_equal(figure.axes[1].lines[1].get_ydata(), run["BUS7.Vm"])
    with pytest.raises(CaseError, match=r"no quantity matches 'GEN2\.omeg'"):
        plot(run, tmp_path / "f.png", of="GEN2.omeg")


@pytest.fixture(scope="module")
def late():
    case = gc.load_case("wscc9")
    for address in ("fault.clear", "trip.t"):
        case.set(address, 0.25)
    return gc.simulate(gc.build(case), t_end=1.5)


def test_runs_lie_over_each_other_each_device_in_its_colour_each_run_in_its_line(run, late, tmp_path):
    figure = plot({"early": run, "late": late}, tmp_path / "f.png")
    speed = figure.axes[0]
    first, second = speed.lines[:3], speed.lines[3:]
    for k, (one, other) in enumerate(zip(first, second)):
        assert np.array_equal(one.get_ydata(), run[f"GEN{k + 1}", "omega"])
        assert np.array_equal(other.get_ydata(), late[f"GEN{k + 1}", "omega"])
        assert one.get_color() == other.get_color()
        assert (one.is_dashed(), other.is_dashed()) == (False, True)
    assert speed.get_xlim() == (0.0, 1.5)
    assert [words(figure).count(word) for word in ("early", "late", "GEN2")] == [1, 1, 3]
    assert "BUS7: fault" in words(figure)  # of both
    assert {"BUS7: fault cleared (early)", "BUS7: fault cleared (late)"} <= {*words(figure)}
    assert overlapping(figure) == []


def test_the_named_devices_of_runs_are_no_more_than_there_are_colours():
    assert len(COLOURS + MORE) == ALL_LABELLED
    few = [Panel("v (pu)", [f"B{k}" for k in range(20)], np.ones((4, 20))) for _ in range(2)]
    few[1].values[2, 19] = 0.1
    dipped = Panel("v (pu)", few[1].devices, few[1].values)
    [both] = overlaid([[few[0]], [dipped]])
    assert both[0].named == both[1].named
    assert len(both[0].named) == STANDING_OUT
    assert "B19" in both[0].named


@pytest.mark.parametrize("name", ["x", "x.txt", "x."])
def test_a_figure_of_an_unknown_kind_is_refused_with_those_there_are(run, tmp_path, name):
    with pytest.raises(CaseError, match=rf"{name}: a figure ends in \.avif, .*\.png, .*\.svg"):
        plot(run, tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_there_is_a_line_for_each_of_four_runs_and_no_more(run, tmp_path):
    plot({str(k): run for k in range(4)}, tmp_path / "f.png")
    with pytest.raises(CaseError, match="5 runs: a figure has one to 4"):
        plot({str(k): run for k in range(5)}, tmp_path / "f.png")


def test_the_verb_draws_runs_of_files(run, late, tmp_path):
    run.save(tmp_path / "early.nc")
    late.save(tmp_path / "late.nc")
    target = tmp_path / "o.svg"
    found = invoke("plot", tmp_path / "early.nc", tmp_path / "late.nc", "--of", "GEN*.omega", "--to", target)
    assert found.exit_code == 0, found.output
    drawn = target.read_text()
    assert all(f">{word}</text>" in drawn for word in ("early", "late", "GEN2"))
    assert "bus voltage" not in drawn


# Small parts ------------------------------------------------------------------------------------------

@pytest.mark.parametrize("seed", range(20))
def test_spread_keeps_labels_apart_in_order_and_near(seed):
    rng = np.random.default_rng(seed)
    heights = rng.uniform(0, 100, 8)
    out = np.array(spread(heights.tolist(), 9.0, 0.0, 100.0))
    assert np.array_equal(np.argsort(out), np.argsort(heights))
    assert np.diff(np.sort(out)).min() >= 9.0 - 1e-9
    assert out.min() >= -1e-9
    assert out.max() <= 100 + 1e-9
    assert np.allclose(spread(np.arange(0, 100, 10.0).tolist(), 9.0, 0.0, 100.0), np.arange(0, 100, 10.0))


def test_who_is_out_of_service_strays_from_nobody():
    values = np.array([[1.0, 1.0, 1.0, 5.0], [1.0, np.nan, 1.2, 1.0], [np.nan] * 4])
    assert np.allclose(stray(values), [0.0, 0.0, 0.2, 4.0])


def test_a_figure_needs_no_display_and_gridcore_alone_no_matplotlib(tmp_path):
    code = ("import sys, gridcore as gc; run = gc.simulate(gc.build('smib'), t_end=0.02); gc.analyses['plot']\n"
            "assert 'matplotlib' not in sys.modules\n"
            f"gc.analyses.plot(run, {str(tmp_path / 'f.png')!r}); print(type(gc.analyses.plot(run).canvas).__name__)")
    env = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY", "MPLBACKEND")}
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env)
    assert shown.stdout.strip() == "FigureCanvasAgg"
    assert (tmp_path / "f.png").read_bytes().startswith(b"\x89PNG")


def test_no_line_of_a_heading_begins_with_a_number():
    heading = "WSCC 3 machines, 9 buses (Sauer and Pai): fault at bus 7, cleared by tripping line 5-7: sensitivities"
    for width in range(20, 100):
        lines = in_lines(heading, width)
        assert " ".join(lines) == heading
        assert not any(line[0].isdigit() for line in lines)


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_a_dollar_sign_in_a_name_or_title_is_one_and_begins_no_formula(tmp_path, suffix):
    case = gc.load_case("smib")
    case.title = r"costs $5_{ and $\frac"
    case.add("Classical", id="G$x$", bus=2, P0=0.1, V0=1.0, H=3, Xdp=0.3, control="PQ")
    figure = plot(gc.simulate(case, t_end=0.01), tmp_path / f"x.{suffix}")
    words = [text.get_text() for text in figure.findobj(Text) if "$" in text.get_text()]
    assert {case.title, "G$x$"} <= set(words)
    if suffix == "svg":
        assert all(word in (tmp_path / "x.svg").read_text() for word in words)


def test_a_figure_that_cannot_be_written_whole_leaves_the_file_that_was_there(run, tmp_path, monkeypatch):
    def full(figure, path, **more):
        path.write_bytes(b"half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    (tmp_path / "x.png").write_text("of before")
    monkeypatch.setattr(Figure, "savefig", full)
    with pytest.raises(CaseError, match=r"x\.png: cannot be written: No space left on device"):
        plot(run, tmp_path / "x.png")
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("x.png", "of before")]
