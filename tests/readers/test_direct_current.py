"""Lines for direct current: terminals have the power that their controls ask for, and nothing is lost on the way."""

import math

import pytest
from fuzz.power_flows import RAW_30

from gridcore.errors import CaseError
from gridcore_readers import raw
from gridcore_readers.direct_current import two_terminal, voltage_source
from gridcore_readers.multi_terminal import multi_terminal
from gridcore_readers.psse import Row
from gridcore_readers.raw_tables import COLUMNS, DC_TERMINAL, MULTI_TERMINAL, VSC_TERMINAL, layout

VOLTS = {1: 1.02, 2: 0.99}


def line(text, *ends, section="two-terminal dc", terminal=DC_TERMINAL):
    return [Row(text.split(), layout(columns, 33), "x.raw", "dc row 1")
            for text, columns in ((text, COLUMNS[section]), *((end, terminal) for end in ends))]


def commutated(setting, mode=1, compounding=0.0, x=6.0):
    row, *ends = line(f"L {mode} 5.0 {setting} 400.0 0 {compounding}", f"1 2 90 5 0.0 {x} 230.0 0.8 1.0",
                      f"2 2 90 15 0.0 {x} 230.0 0.8 1.0")
    return two_terminal(row, ends, VOLTS)


@pytest.mark.parametrize(("setting", "mode"), [(300.0, 1), (-300.0, 1), (700.0, 2)])
@pytest.mark.parametrize("compounding", [0.0, 2.5])
def test_a_commutated_line_has_its_set_point_and_loses_what_its_resistance_takes(setting, mode, compounding):
    rectifier, inverter = (terminal.power for terminal in commutated(setting, mode, compounding))
    lost = -(rectifier.real + inverter.real)
    current = math.sqrt(lost / 5.0)
    if mode == 1:
        assert (-rectifier if setting > 0 else inverter).real == pytest.approx(abs(setting), rel=1e-12)
    else:
        assert current == pytest.approx(0.7, rel=1e-12)
    assert inverter.real / current + compounding * current == pytest.approx(400.0, rel=1e-12)  # VSCHD
    for power, V in ((rectifier, 1.02), (inverter, 0.99)):
        assert power.imag < 0
        fundamental = 3 * math.sqrt(2) / math.pi * 2 * V * 230 * 0.8 * current
        assert abs(power) == pytest.approx(fundamental, rel=0.02)  # that of a current without harmonics


def test_a_blocked_line_has_no_terminals_and_one_without_commutation_no_reactive_power():
    assert commutated(300.0, 0) == []
    assert [terminal.power.imag for terminal in commutated(300.0, x=0.0)] == [0.0, 0.0]


def sources(first, second):
    row, *ends = line("V 1 2.0", *(f"{bus} {rest} 100.0 0.1 0.0 400 1000 0.5 90 -80" for bus, rest in (
        (1, first), (2, second))), section="VSC dc", terminal=VSC_TERMINAL)
    return voltage_source(row, ends, VOLTS)


@pytest.mark.parametrize("power", [-80.0, 60.0])
def test_a_line_with_voltage_sources_loses_what_its_converters_and_its_resistance_take(power):
    holds, other = sources("1 1 150.0 1.02", f"2 2 {power} 0.95")
    loss = lambda current: 0.1 + 0.1 * abs(current)  # noqa: E731  (MW, of kA)
    assert other.power == pytest.approx(power * (1 + 1j * math.tan(math.acos(0.95))), rel=1e-12)
    current = (-holds.power.real - loss(0.0)) / 150.0
    for _ in range(20):
        current = (-holds.power.real - loss(current)) / 150.0
    assert power + loss(current) == pytest.approx((150.0 - 2.0 * current) * current, rel=1e-9)
    assert (holds.V0, holds.Q) == (1.02, (-80.0, 90.0))


def test_a_converter_says_which_other_bus_it_regulates():
    row, *ends = line("V 1 2.0", *(f"{bus} {kind} 1 100.0 1.02 0 0 0 400 1000 0.5 90 -80 {remote}" for bus, kind, remote
                                   in ((1, 1, 5), (2, 2, 0))), section="VSC dc", terminal=VSC_TERMINAL)
    assert [terminal.regulates for terminal in voltage_source(row, ends, VOLTS)] == [5, 0]


@pytest.mark.parametrize(("ends", "says"), [
    (("1 1 150.0 1.02", "1 1 150.0 1.0"), "one converter of a line holds the direct voltage"),
    (("1 1 150.0 1.02", "2 2 5000.0 0.95"), "the line cannot carry this power"),
    (("1 1 150.0 1.02", "2 2 50.0 1.5"), "field 'ACSET': a power factor is from -1 to 1"),
    (("1 1 0.0 1.02", "2 2 50.0 1.0"), "field 'DCSET': must be above 0"),
])
def test_a_line_that_cannot_be_is_told(ends, says):
    with pytest.raises(CaseError, match=says):
        sources(*ends)


def grid(converters, nodes, links, mode=1, holding="1 0 0"):
    """A multi-terminal line; of a converter its bus, set-point and pole, of a node and a link its row."""
    rows = [[f"{bus} 2 90 {'5' if setting > 0 else '15'} 0.0 6.0 230.0 0.8 1.0 1.5 0.5 0.00625 {setting} 1.0 0.1 {pole}"
             for bus, setting, pole in converters], nodes, links]
    texts = [f"M {' '.join(str(len(part)) for part in rows)} {mode} {holding}", *(row for part in rows for row in part)]
    columns = [COLUMNS["multi-terminal dc"], *(text for part, (*_, text) in zip(rows, MULTI_TERMINAL) for _ in part)]
    row, *further = (Row(text.split(), layout(each, 33), "x.raw", "dc row 1") for text, each in zip(texts, columns))
    return multi_terminal(row, further, dict.fromkeys(range(9), 1.0) | VOLTS)


@pytest.mark.parametrize("mode", [1, 2])
def test_a_multi_terminal_line_of_two_terminals_is_a_two_terminal_line(mode):
    """The inverter holds the voltage in both; the two programs' records name other minimum angles only."""
    found = grid([(2, 400.0, 1), (1, 300.0, 1)], ["1 1", "2 2"], ["1 2 1 1 5.0"], mode, holding="2 0 0")
    same = {terminal.bus: terminal.power for terminal in commutated(300.0, mode)}
    assert {terminal.bus: terminal.power.real for terminal in found} == pytest.approx(
        {bus: power.real for bus, power in same.items()}, rel=1e-12)
    assert found[1].power == pytest.approx(same[1], rel=1e-12)


STAR = ["1 5 1 1 9.0", "2 5 1 1 7.0", "3 5 1 1 8.0"]


def test_a_multi_terminal_line_has_its_set_points_and_loses_what_its_resistances_take():
    found = grid([(1, 500.0, 1), (2, 350.0, 1), (3, -200.0, 1)], ["1 1", "2 2", "3 3", "5 0"], STAR)
    power = [-terminal.power.real for terminal in found]
    assert power[1:] == pytest.approx([350.0, -200.0], rel=1e-9)
    held = power[0] / 500.0
    middle = 500.0 - 9.0 * held
    currents = [held, *((-middle + math.sqrt(middle ** 2 + 4 * r * P)) / (2 * r)
                        for r, P in ((7.0, 350.0), (8.0, -200.0)))]
    assert sum(currents) == pytest.approx(0.0, abs=1e-9)
    assert sum(power) == pytest.approx(sum(r * i * i for r, i in zip((9.0, 7.0, 8.0), currents)), rel=1e-9)
    assert all(terminal.power.imag < 0 for terminal in found)


@pytest.mark.parametrize("earth", [0.0, 0.5])
def test_two_equal_poles_carry_twice_the_power_of_one_and_nothing_through_earth(earth):
    one = grid([(1, 500.0, 1), (2, 350.0, 1)], ["1 1", "2 2"], ["1 2 1 1 9.0"])
    both = grid([(1, 500.0, 1), (2, 350.0, 1), (3, 500.0, -1), (4, 350.0, -1)],
                [f"1 1 1 1 A 9 {earth}", f"2 2 1 1 B 9 {earth}", f"3 3 1 1 C 9 {earth}", f"4 4 1 1 D 9 {earth}",
                 f"9 0 1 1 E 0 {earth}"], ["1 2 1 1 9.0", "3 4 1 1 9.0"], holding="1 0 3")
    assert [terminal.power.real for terminal in both] == pytest.approx(2 * [end.power.real for end in one], rel=1e-9)


@pytest.mark.parametrize(("change", "says"), [
    ({"holding": "7 0 0"}, "field 'VCONV': none of its converters is at this bus"),
    ({"links": ["1 2 1 1 0.0"]}, "field 'RDC': must be above 0"),
    ({"links": ["1 8 1 1 5.0"]}, "field 'JDC': there is no direct-current bus 8"),
    ({"links": []}, "not connected with a converter that holds the voltage"),
    ({"nodes": ["1 1", "2 7"]}, "field 'IB': no direct-current bus of the line is that of this converter"),
    ({"converters": [(1, 500.0, 1), (2, -2e5, 1)]}, "the line cannot carry this power"),
    ({"converters": [(1, 500.0, 1), (2, 0.0, 1)]}, "field 'SETVL': must not be 0"),
])
def test_a_multi_terminal_line_that_cannot_be_is_told(change, says):
    with pytest.raises(CaseError, match=says):
        grid(**{"converters": [(1, 500.0, 1), (2, 350.0, 1)], "nodes": ["1 1", "2 2"], "links": ["1 2 1 1 5.0"],
                **change})


def test_a_blocked_multi_terminal_line_has_no_terminals():
    assert grid([(1, 500.0, 1), (2, 350.0, 1)], ["1 1", "2 2"], ["1 2 1 1 5.0"], mode=0) == []


def test_terminals_are_sources_of_constant_power_with_a_note(tmp_path):
    path = tmp_path / "x.raw"
    path.write_text(RAW_30)
    case = raw.read(path)
    found = {record.fields["id"]: record.fields for record in case.of("StaticGenerator") if "id" in record.fields}
    assert found.keys() == {"DC_1_1", "DC_1_2", "VSC_VSC_1", "VSC_VSC_3", "MTDC_1_1", "MTDC_1_2"}
    assert [found[id]["control"] for id in found] == ["PQ", "PQ", "PV", "PQ", "PQ", "PQ"]
    assert found["DC_1_1"]["P0"] == pytest.approx(-0.5)
    assert any(note == "lines for direct current are constant power at their terminals: 1, VSC" for note in case.notes)
    without = raw.read(path, drop=["VSC dc", "two-terminal dc", "multi-terminal dc"])
    assert not [record for record in without.of("StaticGenerator") if "id" in record.fields]
    assert "VSC dc data left out, as asked for: 1 lines" in without.notes


def test_lines_that_are_blocked_are_said_to_be_left_out(tmp_path):
    path = tmp_path / "x.raw"
    path.write_text(RAW_30.replace("\n1,1,5.0,50.0", "\n1,0,5.0,50.0").replace("'VSC',1,", "'VSC',0,"))
    case = raw.read(path)
    assert "lines for direct current that are blocked, left out: 1, VSC" in case.notes
    assert not any("constant power at their terminals" in note and "VSC" in note for note in case.notes)


def test_impedances_are_those_of_the_correction_tables(tmp_path):
    """Table 1 is one of angles, 1.1 at 30 degrees and 1 at 0; table 2 of turns ratios, 1 at 1.0."""
    path = tmp_path / "x.raw"
    third = "1.0,0,0.0,0,0,0,0,0,1.1,0.9,1.1,0.9,33,2"
    path.write_text(RAW_30.replace(third, third.replace("1.0", "1.05", 1)))
    legs = [record.fields for record in raw.read(path).of("Transformer")]
    assert [leg["x"] / 0.05 for leg in legs] == pytest.approx([1 + 2.0 / 30 * 0.1, 1.0, 0.95])
    path.write_text(RAW_30.replace("0.9,33,2", "0.9,33,7"))
    with pytest.raises(CaseError, match="field 'TAB': there is no impedance correction table 7"):
        raw.read(path)


@pytest.mark.parametrize("impedance", ["0,0", "0,1e-12", "-2.8e-17,1e-9"])
def test_an_impedance_next_to_nothing_joins_the_ends_of_a_line_and_is_the_smallest_in_a_star(tmp_path, impedance):
    path = tmp_path / "x.raw"
    path.write_text(RAW_30.replace("2,3,'1',0.01,0.1", f"2,3,'1',{impedance}").replace(
        "0.001,0.1,100,0.001,0.1,100,0.001,0.1,100", "0.0,0.1,100,0.0,0.3,100,0.0,0.2,100"))
    case = raw.read(path)
    assert "LINE2-3" not in case
    assert case["BUS2"].fields["bus"] == 3
    assert case["TRANSFORMER1-2-3_w1"].fields["x"] == 1e-4  # (0.1 + 0.2 - 0.3) / 2 is 2.8e-17
    assert any(note.startswith("branches without impedance are given x = 0.0001") for note in case.notes)
