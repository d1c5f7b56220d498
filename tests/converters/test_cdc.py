"""Lines of the records CDC4T and CDC6T: steady state, characteristics and interruptions, against other equations."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq

import gridcore as gc
from gridcore.errors import CaseError

LINE = {"Pset": 500.0, "VSCHD": 500.0, "RCOMP": 2.0, "RDC": 8.0, "DELTI": 0.1, "XCR": 13.6, "ER": 208.0, "XCI": 13.3,
        "EI": 205.0, "C0": 0.1, "V1": 150.0, "C1": 0.5, "V2": 300.0, "C2": 0.8, "V3": 420.0, "C3": 1.3, "RSCUR": 0.2,
        "RSVOLT": 120.0, "VBYPAS": 180.0, "VRAMP": 8.0, "CRAMP": 9.0}
BRIDGES = 2 * 3 * np.sqrt(2) / np.pi


def link(*disturbance: gc.Record, model: str = "CDC4T", x: float = 0.0, **line: float) -> gc.Case:
    """500 MW between infinite buses, beside them or behind lines with capacitors at both converters."""
    case = gc.Case("line-commutated", base_mva=100)
    for bus in (1, 2):
        case.add("Bus", id=bus)
        if x:
            case.add("Bus", id=bus + 2)
            case.add("Line", bus1=bus + 2, bus2=bus, r=0.1 * x, x=x)
            case.add("Shunt", bus=bus, b=2.5)
        case.add("InfiniteBus", bus=bus + 2 if x else bus, id=f"GRID{bus}", control="slack")
    case.add(model, bus=1, **LINE | line)
    case.add("CDCInverter", bus=2, line="CDC1")
    for item in disturbance:
        case.add(item)
    return case


def dips(*steps: tuple[int, float, float]) -> list[gc.Record]:
    """Steps of the voltages of infinite buses: which, when, by how much."""
    return [gc.Record("ParameterStep", {"id": f"dip{k}", "parameter": f"GRID{bus}.E", "t": t, "by": by})
            for k, (bus, t, by) in enumerate(steps)]


def fundamental(volts: float, x: float, alpha: float, current: float) -> complex:
    """P + j Q (MVA) that a bridge draws: of its line-to-line voltage the current's fundamental, from its waveform.

    A valve takes the current over from the angle alpha on after the voltage between two phases is zero, and gives it
    on a third of a period later; meanwhile that voltage drives the current through the reactances of both.
    """
    delta = np.arccos(np.cos(alpha) - np.sqrt(2) * x * current / volts)
    rise = lambda a: current * (np.cos(alpha) - np.cos(a)) / (np.cos(alpha) - np.cos(delta))  # noqa: E731

    def wave(a: float) -> float:
        third = 2 * np.pi / 3
        if alpha <= a < delta:
            return rise(a)
        if delta <= a < alpha + third:
            return current
        return current - rise(a - third) if alpha + third <= a < delta + third else 0.0

    # the phase's voltage is largest a third of a period after where it begins to be larger than the other
    ends = [alpha, delta, alpha + 2 * np.pi / 3, delta + 2 * np.pi / 3]

    def component(f: Callable[[float], float]) -> float:
        parts = (quad(lambda a: wave(a) * f(a - np.pi / 3), *pair, epsabs=1e-13)[0] for pair in pairwise(ends))
        return 2.0 * sum(parts) / np.pi  # of both halves of a period

    return np.sqrt(1.5) * volts * complex(component(np.cos), component(np.sin))


@pytest.mark.parametrize("line", [{}, {"RCOMP": 0.0}, {"Pset": -480.0}, {"Pset": 0.0, "Iset": 0.9}])
def test_at_rest_it_is_what_the_row_says_and_its_powers_are_those_of_the_waveforms(line):
    run = gc.simulate(gc.build(link(x=0.03, **line)), 1.0)
    assert run.events == []
    assert np.abs(run.X - run.X[0]).max() < 1e-9
    current, V1, V2 = (run["CDC1", name][0] for name in ("I", "Vd1", "Vd2"))
    values = LINE | line
    assert V2 + values["RCOMP"] * current == pytest.approx(500.0, rel=1e-12)
    assert V1 - V2 == pytest.approx(values["RDC"] * current, rel=1e-12)
    assert {500.0: V1 * current, -480.0: -V2 * current, 0.0: current - 0.9}[values["Pset"]] == pytest.approx(
        values["Pset"], rel=1e-12, abs=1e-12)
    for id, V, end, angle in (("CDC1", V1, "R", "alpha"), ("INV_CDC1", V2, "I", "gamma")):
        a = run[id, angle][0]
        ideal, drop = BRIDGES * values[f"E{end}"], 6 / np.pi * values[f"XC{end}"] * current
        assert ideal * np.cos(a) - drop == pytest.approx(V, rel=1e-12)
        S = 2 * fundamental(values[f"E{end}"], values[f"XC{end}"], a, current) / 100
        assert run[id, "P"][0] + 1j * run[id, "Q"][0] == pytest.approx(S, rel=1e-9)


#: What the functions of GridPACK's ``pf_hvdc.hpp`` (Battelle, modified BSD licence) gave for this line with fixed taps:
#: AC voltages, then I (kA), Vd1, Vd2 (kV), alpha (degrees) and Q (Mvar) of the rectifier, gamma and Q of the inverter.
POWER: dict[str, float] = {}
OTHER, CURRENT = {"Pset": -480.0}, {"Pset": 0.0, "Iset": 0.9, "RCOMP": 0.0}
GRIDPACK = [
    (POWER, 1.02, 1.05, 0.988279640232, 505.929677841, 498.02344072, 21.9219065374, 264.044438297, 25.8678028277,
     295.121007945),
    (OTHER, 0.96, 0.98, 0.963714986299, 505.782289918, 498.072570027, 10.1927192939, 175.399094193, 15.6313314569,
     204.490909643),
    (POWER, 1.0, 0.85, 1.12639924793, 443.892341829, 434.881147846, 32.626116592, 386.618930041, 9.99811352503,
     195.936678472),
    (OTHER, 1.05, 0.9, 1.03334915444, 472.775810287, 464.509017052, 32.1165032616, 363.5473958, 9.99811352503,
     180.720547842),
    (CURRENT, 1.0, 0.85, 0.9, 447.831944329, 440.631944329, 32.9914426575, 304.620726821, 9.99811352503, 144.461587623),
    (CURRENT, 0.75, 1.0, 0.81, 398.704437412, 392.224437412, 5.00192155149, 105.111333428, 41.7948197881,
     316.267203173),
    (CURRENT, 0.7875, 0.9, 0.81, 419.691609795, 413.211609795, 5.00192155149, 108.027490942, 29.484480414,
     224.953391939)]


@pytest.mark.parametrize(("line", "V1", "V2", *"abcdefg"), GRIDPACK)
def test_at_other_voltages_it_comes_to_rest_where_gridpacks_power_flow_has_it(line, V1, V2, a, b, c, d, e, f, g):
    steps = dips((1, 0.1, V1 - 1.0), (2, 0.1, V2 - 1.0))
    run = gc.simulate(gc.build(link(*steps, VBYPAS=1.0, VBLOCK=0.1, **line)), 3.0, 0.01)
    end = {(id, name): run[id, name][-1] for id, names in (("CDC1", "I Vd1 Vd2 alpha Q P"), ("INV_CDC1", "gamma Q P"))
           for name in names.split()}
    found = [end["CDC1", "I"], end["CDC1", "Vd1"], end["CDC1", "Vd2"], np.degrees(end["CDC1", "alpha"]),
             100 * end["CDC1", "Q"], np.degrees(end["INV_CDC1", "gamma"]), 100 * end["INV_CDC1", "Q"]]
    assert found == pytest.approx([a, b, c, d, e, f, g], rel=1e-10)
    assert [100 * end["CDC1", "P"], 100 * end["INV_CDC1", "P"]] == pytest.approx([a * b, a * c], rel=1e-10)


class Alone:
    """The line between given AC voltages: where both characteristics meet, found by bisection, and two measurements."""

    def __init__(self, **line: float):
        case = link(**line)
        self.v = {name: p.default for name, p in case["CDC1"].device.declares.params.items()} | LINE | line
        self.R1, self.R2 = (6 / np.pi * self.v[f"XC{end}"] for end in "RI")
        self.most = {end: BRIDGES * self.v[f"E{end}"] * np.cos(self.v[least])
                     for end, least in (("R", "ALFDY"), ("I", "GAMDY"))}

    def order(self, Vm: float, Im: float) -> float:
        v = self.v
        curve = np.interp(Vm, [v["V1"], v["V2"], v["V3"]], [v["C1"], v["C2"], v["C3"]])
        return max(v["C0"], min(v["Pset"] / (Vm + v["RDC"] * Im), curve))

    def meet(self, order: float, at: tuple[float, float], scheduled: float = 500.0) -> tuple[float, float]:
        """Current and DC voltage of the inverter."""
        v, (Er, Ei) = self.v, at

        def rectifier(current: float) -> float:
            return -1e4 if current >= order else self.most["R"] * Er - (self.R1 + v["RDC"]) * current

        def inverter(current: float) -> float:
            if current < (1 - v["DELTI"]) * order:
                return 0.0
            return max(min(scheduled - v["RCOMP"] * current, self.most["I"] * Ei - self.R2 * current), 0.0)

        current = brentq(lambda x: rectifier(x) - inverter(x), 0.0, 5.0, xtol=1e-14)
        return current, max(0.0, min(inverter(current + 1e-12), self.most["R"] * Er - (self.R1 + v["RDC"]) * current))

    def run(self, t_end: float, at: tuple[float, float], before: tuple[float, float]) -> np.ndarray:
        """Both measurements at the end, from given ones."""
        def rates(_: float, y: np.ndarray) -> list[float]:
            current, V = self.meet(self.order(*y), at)
            return [(V - y[0]) / self.v["TVDC"], (current - y[1]) / self.v["TIDC"]]

        return solve_ivp(rates, (0.0, t_end), before, "LSODA", rtol=1e-9, atol=1e-10).y[:, -1]


@pytest.mark.parametrize(("bus", "by", "held"), [
    (2, -0.03, "voltage"), (2, -0.2, "extinction angle"), (1, -0.03, "current"), (1, -0.055, "delay angle, between"),
    (1, -0.25, "current, less the margin"), (2, 0.05, "voltage")])
def test_in_a_dip_it_is_where_the_characteristics_meet(bus, by, held):
    alone, at = Alone(VBYPAS=1.0), tuple(1.0 + by * (bus == k) for k in (1, 2))
    run = gc.simulate(gc.build(link(*dips((bus, 0.1, by)), VBYPAS=1.0)), 0.3, 0.0002, "trbdf2")
    before = run["CDC1", "Vm"][0], run["CDC1", "Im"][0]
    for t in (0.1, 0.14, 0.3):
        y = alone.run(t - 0.1, at, before) if t > 0.1 else before
        k = np.flatnonzero(run.t <= t + 1e-12)[-1]
        assert run["CDC1", "Vm"][k] == pytest.approx(y[0], rel=2e-6)
        assert run["CDC1", "Im"][k] == pytest.approx(y[1], rel=2e-6)
        current, V = alone.meet(alone.order(run["CDC1", "Vm"][k], run["CDC1", "Im"][k]), at)
        assert run["CDC1", "I"][k] == pytest.approx(current, rel=1e-9)
        assert run["CDC1", "Vd2"][k] == pytest.approx(V, rel=1e-9)
    order, current, alpha, gamma = (run[id, name][-1] for id, name in (
        ("CDC1", "order"), ("CDC1", "I"), ("CDC1", "alpha"), ("INV_CDC1", "gamma")))
    least = run["CDC1", "Vd2"][-1] < 500.0 - 2.0 * current - 1e-6
    assert (alpha == pytest.approx(0.0873, abs=1e-9), gamma == pytest.approx(0.1745, abs=1e-9)) == (
        held.startswith("delay") or held.endswith("margin"), held == "extinction angle")
    assert least == (held in ("extinction angle", "current, less the margin"))
    if held.endswith("margin"):
        assert current == pytest.approx(0.9 * order, rel=1e-12)
    elif held.startswith("delay"):
        assert 0.9 * order < current < order
    else:
        assert current == pytest.approx(order, rel=1e-12)


def switched(run) -> dict[str, float]:
    """When each guard fired last."""
    return {event.item: event.t for event in run.events if event.kind == "switch" and event.device == "CDC1"}


def test_a_blocked_line_carries_nothing_and_its_orders_rise_by_their_ramps():
    """VBLOCK, TBLOCK, VUNBL; then the current from RSCUR by CRAMP, the voltage from RSVOLT by VRAMP."""
    steps = dips((1, 0.1, -0.7), (1, 0.15, 0.35), (1, 0.3, 0.35))
    case = link(*steps, VBLOCK=0.4, VUNBL=0.8, TBLOCK=0.1, C1=1.3, C2=1.3)
    run = gc.simulate(gc.build(case), 3.0, 0.0005)
    at = switched(run)
    assert (at["blocks"], at["blocked_long_enough"], at["releases"]) == pytest.approx((0.1, 0.2, 0.3), abs=1e-12)
    blocked = (run.t > 0.1) & (run.t < 0.3)
    for id, name in (("CDC1", "I"), ("CDC1", "P"), ("CDC1", "Q"), ("INV_CDC1", "P"), ("INV_CDC1", "Q")):
        assert np.abs(run[id, name][blocked]).max() == 0.0
    I0 = run["CDC1", "I0"][0]
    assert at["current_is_back"] == pytest.approx(0.3 + (1.0 - 0.2 / I0) / 9.0, abs=1e-9)
    assert at["voltage_is_back"] == pytest.approx(0.3 + (1.0 - 120.0 / 500.0) / 8.0, abs=1e-9)
    assert at["is_as_before"] == max(at["current_is_back"], at["voltage_is_back"])
    rises = (run.t > 0.3) & (run.t < at["current_is_back"])
    np.testing.assert_allclose(run["CDC1", "I"][rises], 0.2 + 9.0 * I0 * (run.t[rises] - 0.3), rtol=1e-9)
    np.testing.assert_allclose((run["CDC1", "Vd2"] + 2.0 * run["CDC1", "I"])[rises],
                               np.minimum(120.0 + 8.0 * 500.0 * (run.t[rises] - 0.3), 500.0), rtol=1e-9)
    np.testing.assert_allclose(run.X[-1], run.X[0], rtol=0, atol=1e-6)


def test_without_ramps_a_released_line_is_at_its_orders_at_once():
    case = link(*dips((1, 0.1, -0.7), (1, 0.15, 0.7)), VBLOCK=0.4, TBLOCK=0.02, VRAMP=0.0, CRAMP=-1.0, C1=1.3, C2=1.3)
    run = gc.simulate(gc.build(case), 0.3, 0.001)
    at = switched(run)
    assert at["releases"] == at["current_is_back"] == at["voltage_is_back"] == at["is_as_before"] == pytest.approx(0.15)
    assert run["CDC1", "I"][run.t > 0.15].min() > 0.9


def test_a_bypassed_inverter_is_shorted_while_the_rectifier_holds_the_current():
    """VBYPAS at once, TBYPAS, VUNBY; then the voltage rises from RSVOLT; meanwhile it is not bypassed again."""
    case = link(*dips((2, 0.1, -0.75), (2, 0.25, 0.75)), VUNBY=0.8, TBYPAS=0.1)
    run = gc.simulate(gc.build(case), 3.0, 0.0005)
    at = switched(run)
    assert (at["bypasses"], at["bypassed_long_enough"], at["opens"]) == pytest.approx((0.1, 0.2, 0.25), abs=1e-12)
    shut = (run.t > 0.1) & (run.t < 0.25)
    assert np.abs(run["INV_CDC1", "P"][shut]).max() == np.abs(run["INV_CDC1", "Q"][shut]).max() == 0.0
    I0 = run["CDC1", "I0"][0]
    np.testing.assert_allclose(run["CDC1", "I"][shut], I0, rtol=1e-12)
    np.testing.assert_allclose(run["CDC1", "P"][shut], 8.0 * I0 ** 2 / 100, rtol=1e-12)
    assert run["CDC1", "Vd2"][run.t > 0.25][0] < 180.0
    assert [event.item for event in run.events].count("bypasses") == 1
    np.testing.assert_allclose(run.X[-1], run.X[0], rtol=0, atol=1e-6)


def test_a_line_that_is_blocked_and_would_be_bypassed_at_one_instant_is_blocked():
    case = link(*dips((1, 0.1, -0.75)), VBLOCK=0.4)
    run = gc.simulate(gc.build(case), 0.2, 0.001)
    assert "bypasses" not in switched(run)
    assert (run["CDC1", "blocked"][-1], run["CDC1", "bypassed"][-1]) == (1, 0)


def test_below_vcmod_the_current_is_held_and_for_tcmode_at_least():
    case = link(*dips((2, 0.1, -0.2), (2, 0.15, 0.2)), VCMOD=460.0, TCMODE=0.12, V3=300.0, V2=200.0, C3=2.0)
    run = gc.simulate(gc.build(case), 1.0, 0.0005)
    at = switched(run)
    assert at["holds_the_current"] == pytest.approx(0.1, abs=1e-12)
    assert at["holds_the_power"] == pytest.approx(0.22, abs=1e-12)
    forced = (run.t > 0.1) & (run.t < 0.22)
    np.testing.assert_allclose(run["CDC1", "I"][forced], run["CDC1", "I0"][0], rtol=1e-12)
    free = gc.simulate(gc.build(link(*dips((2, 0.1, -0.2)), V3=300.0, V2=200.0, C3=2.0)), 2.0, 0.005)
    assert free["CDC1", "P"][-1] == pytest.approx(5.0, rel=1e-9)  # by more current at less voltage


LATE = {"model": "CDC6T", "VDEBLK": 0.6, "TDEBLK": 0.05, "TREBLK": 0.04, "VINBLK": 0.35, "TCOMB": 0.02, "VACBYP": 0.6,
        "TDEBYP": 0.03, "TINBLK": 0.06, "TINBYP": 0.05, "VBYPAS": 0.0, "VBLOCK": 0.2, "VUNBL": 0.8, "VUNBY": 0.8,
        "TBLOCK": 0.01, "TBYPAS": 0.01}


@pytest.mark.parametrize(("dip", "happens"), [
    ((1, -0.5), {"blocks_late": 0.15, "comes_back": 0.34, "hears_the_answer": 0.15 + 0.06 + 0.02, "releases": 0.34}),
    ((1, -0.9), {"blocks": 0.1, "comes_back": 0.34, "hears_the_answer": 0.18, "releases": 0.34}),
    ((2, -0.7), {"calls": 0.1, "hears": 0.12, "comes_back": 0.16, "answers": 0.36, "hears_the_answer": 0.38,
                 "releases": 0.38}),
    ((2, -0.5), {"bypasses_late": 0.13, "bypassed_long_enough": 0.14, "opens": 0.35})])
def test_a_line_of_cdc6t_is_blocked_bypassed_and_released_when_its_delays_say(dip, happens):
    bus, by = dip
    run = gc.simulate(gc.build(link(*dips((bus, 0.1, by), (bus, 0.3, -by)), **LATE)), 0.5, 0.001)
    at = switched(run)
    actions = {"blocks", "blocks_late", "calls", "hears", "bypasses", "bypasses_late", "opens", "releases"}
    assert actions & at.keys() == actions & happens.keys()
    assert {name: at[name] for name in happens} == pytest.approx(happens, abs=1e-9)


def test_a_dip_that_does_not_last_blocks_and_bypasses_nothing():
    for bus, lasts in ((1, 0.049), (2, 0.029)):
        run = gc.simulate(gc.build(link(*dips((bus, 0.1, -0.5), (bus, 0.1 + lasts, 0.5)), **LATE)), 0.5, 0.001)
        assert not {"blocks_late", "bypasses_late"} & switched(run).keys()


def test_cdc6t_measures_the_rectifiers_voltage_itself():
    """Its time constant moves what is carried in a dip; with that of the inverter's voltage it is CDC4T."""
    runs = [gc.simulate(gc.build(link(*dips((2, 0.1, -0.1)), model=model, **more)), 0.2, 0.001)["CDC1", "P"]
            for model, more in (("CDC4T", {}), ("CDC6T", {"TVRDC": 0.05}), ("CDC6T", {"TVRDC": 0.2}))]
    np.testing.assert_allclose(runs[1], runs[0], rtol=1e-12)
    assert np.abs(runs[2] - runs[0]).max() > 0.05


@pytest.mark.parametrize("model", ["CDC4T", "CDC6T"])
@pytest.mark.parametrize("bus", [1, 2])
def test_a_fault_by_all_methods_is_one_trajectory(model, bus):
    pytest.importorskip("scikits_odes_sundials.ida", reason="run ./setup.sh ida")
    fault = gc.BusFault(id="fault", bus=bus, t=0.05, clear=0.12, x=0.01)
    system = gc.build(link(fault, model=model, x=0.03, TBYPAS=0.02, TBLOCK=0.02))
    exact = gc.simulate(system, 0.4, 0.005, "ida", rtol=1e-9, atol=1e-11)
    assert {"bypasses", "blocks"} & switched(exact).keys()
    for method in ("theta", "trbdf2"):
        run = gc.simulate(system, 0.4, 0.0002, method)
        assert [e.words for e in run.events] == [e.words for e in exact.events]
        np.testing.assert_allclose(run.X[-1], exact.X[-1], rtol=2e-5, atol=2e-5)


def test_a_line_without_a_margin_holds_its_order_with_either_end():
    run = gc.simulate(gc.build(link(*dips((1, 0.1, -0.2), (1, 0.3, 0.2)), DELTI=0.0, VBYPAS=1.0)), 2.0, 0.001)
    settled = np.diff(run.t, append=np.inf) > 0  # all of an instant has happened
    np.testing.assert_allclose(run["CDC1", "I"][settled], run["CDC1", "order"][settled], rtol=1e-9)
    assert run["CDC1", "alpha"][run.t < 0.3][-1] == pytest.approx(0.0873, abs=1e-9)
    np.testing.assert_allclose(run.X[-1], run.X[0], rtol=0, atol=1e-6)


@pytest.mark.parametrize(("line", "says"), [
    ({"Pset": 0.0}, "Pset and Iset are both zero"), ({"ER": 160.0}, "the delay angle at t0 cannot be"),
    ({"GAMDY": 0.6}, "the extinction angle at t0 is .* must not be below GAMDY, 34.38 degrees"),
    ({"V1": 350.0}, "V1, V2, V3 must rise"), ({"C0": 1.1}, "the current at t0, 0.98.* must be between C0 and"),
    ({"C3": 0.9}, "what the curve allows, 0.9 kA"), ({"VBYPAS": 499.0}, "VBYPAS must be below the DC voltage"),
    ({"VCMOD": 500.0}, "VCMOD must be below"), ({"VBLOCK": 0.9}, "VBLOCK must be below VUNBL"),
    ({"Pset": -70000.0}, "the line cannot carry Pset"),
    ({"XCR": 3.0}, "must be more than commutation at the inverter")])
def test_data_that_make_no_line_are_refused_in_words(line, says):
    with pytest.raises(CaseError, match=says):
        gc.build(link(**line))
