import math
import pickle
import re

import pytest

import gridcore as gc
from gridcore.case import Base, convert
from gridcore.case.units import TABLE
from gridcore.contract import PerUnit
from gridcore.errors import CaseError
from gridcore.registry import devices
from gridcore.results import base_of
from gridcore.sensitivity import unit_of

SYSTEM = gc.build("wscc9")
WSCC = Base(mva=100.0, kv=230.0, frequency=60.0)


@pytest.mark.parametrize(("text", "unit", "value"), [
    ("100 ms", "s", 0.1), ("2 min", "s", 120.0),
    ("6 cycles", "s", 0.1), ("250us", "s", 250e-6), ("1.5 s", "s", 1.5),
    ("180 deg", "rad", math.pi), ("-30 deg", "rad", -math.pi / 6), ("1 rad", "rad", 1.0),
    ("60 Hz", "rad/s", 120 * math.pi), ("180 deg/s", "rad/s", math.pi),
    ("50 mHz", "Hz", 0.05), ("1.01 pu", "Hz", 60.6),
    ("0.5 GVA", "MVA", 500.0), ("192 MW", "MVA", 192.0), ("2 pu", "MVA", 200.0),
    ("16500 V", "kV", 16.5), ("1 pu", "kV", 230.0), ("6 1/min", "1/s", 0.1),
    ("163 MW", "pu", 1.63), ("-35 MVAr", "pu", -0.35), ("500 kW", "pu", 0.005), ("1.04 pu", "pu", 1.04),
    ("235.75 kV", "pu", 1.025), ("59.4 Hz", "pu", 0.99), ("5 %", "pu", 0.05), ("5%", "", 0.05),
    ("5 kHz", "Hz", 5e3), ("300 mrad", "rad", 0.3), ("2 GB", "B", 2e9), ("1 MiB", "B", 2.0**20),
    ("2 GiB", "B", 2.0**31), ("1 MV", "kV", 1e3), ("600 mHz", "pu", 0.01),
    ("529 mohm", "pu", 1e-3), ("2 kA", "pu", 2 * math.sqrt(3) * 230 / 100),
    ("2000 A", "pu", 2 * math.sqrt(3) * 230 / 100), ("1.9 uS", "pu", 1.9e-6 * 529), ("200 W", "MVA", 2e-4),
    ("529 ohm", "pu", 1.0), ("1 S", "pu", 529.0), (".5e1", "pu", 5.0), ("inf s", "s", math.inf),
])
def test_a_value_with_a_unit_is_the_number_in_the_declared_unit(text, unit, value):
    assert convert(text, unit, WSCC) == pytest.approx(value, rel=1e-15)


def test_rated_current_at_rated_voltage_is_rated_power():
    assert convert("1 kA", "pu", WSCC) == pytest.approx(math.sqrt(3) * 230 / 100, rel=1e-15)


def test_ohm_and_siemens_are_reciprocal_in_per_unit():
    assert convert("7 ohm", "pu", WSCC) * convert(f"{1 / 7!r} S", "pu", WSCC) == pytest.approx(1, rel=1e-14)


@pytest.mark.parametrize("unit", TABLE)
def test_every_declared_unit_accepts_itself_unchanged(unit):
    assert convert(f"0.1 {unit}", unit, WSCC) == 0.1


def test_an_unknown_unit_is_answered_with_those_accepted():
    with pytest.raises(CaseError, match=r"'furlong'.*: s, min, h, cycles, and with the prefixes u, m, k, M, G$"):
        convert("3 furlong", "s")


def test_a_unit_the_table_does_not_know_accepts_itself_alone():
    assert convert("3 m/s", "m/s") == 3.0
    with pytest.raises(CaseError, match="accepted: m/s"):
        convert("3 km/h", "m/s")


@pytest.mark.parametrize(("text", "unit"), [("5 Min", "s"), ("5 in", "s"), ("1 kiB", "B"), ("1 iB", "B")])
def test_the_first_letter_of_minutes_or_bytes_is_no_prefix_for_another(text, unit):
    with pytest.raises(CaseError, match=f"{text.split()[1]!r} is not understood here"):
        convert(text, unit)


@pytest.mark.parametrize("text", ["", "MW", "1,5 MW", "1e MW pu", "nan s", "__import__('os')", "1+1"])
def test_what_is_not_a_number_with_a_unit_is_refused(text):
    with pytest.raises(CaseError):
        convert(text, "pu", WSCC)


def test_kilovolts_without_a_nominal_voltage_say_what_is_missing():
    with pytest.raises(CaseError, match="nominal voltage"):
        convert("10 kV", "pu", Base())


@pytest.mark.parametrize(("unit", "taken", "refused"), [
    (PerUnit("Hz"), "59.4 Hz", "0.5 kV"), (PerUnit("kV"), "230 kV", "50 Hz"), (PerUnit("ohm"), "52.9 ohm", "1 S"),
    (PerUnit("MW", "MVA"), "163 MW", "35 MVAr")])
def test_per_unit_of_one_thing_takes_no_unit_of_another(unit, taken, refused):
    assert convert(taken, unit, WSCC) == convert(taken, "pu", WSCC)
    assert convert("5 %", unit, WSCC) == 0.05
    assert convert("1 pu", unit, WSCC) == convert("1", unit, WSCC) == 1.0
    (_, own), (_, other) = taken.split(), refused.split()
    with pytest.raises(CaseError, match=f"'{other}' is not understood here; accepted: pu, %, {own}"):
        convert(refused, unit, WSCC)


def test_per_unit_of_something_is_shown_as_pu_and_survives_a_pickle():
    again = pickle.loads(pickle.dumps(PerUnit("MW", "MVA")))
    assert (again, again.of, type(again)) == ("pu", ("MW", "MVA"), PerUnit)


@pytest.mark.parametrize(("address", "taken", "refused"), [
    ("GEN2.omega", "50 mHz", "0.5 kV"), ("BUS5.Vm", "5 kV", "1 Hz"), ("LINE4-5.x", "9 ohm", "5 MW"),
    ("GEN2.P0", "163 MW", "163 kV"), ("GEN2.Qmax", "50 MVAr", "50 Hz")])
def test_speeds_voltages_impedances_and_powers_take_their_own_units(address, taken, refused):
    device, name = address.split(".")
    unit = unit_of(SYSTEM, device, name)
    assert unit == "pu"
    assert convert(taken, unit, base_of(SYSTEM, device)) > 0
    with pytest.raises(CaseError, match="is not understood here"):
        convert(refused, unit, base_of(SYSTEM, device))


@pytest.mark.parametrize("device", ["VSC7", "BUS7"])
def test_the_nominal_voltage_is_that_of_the_bus_whatever_else_is_called_kv(device):
    system = gc.build("kundur_vsc")  # whose converters have a gain of this name, 2
    assert convert("115 kV", "pu", base_of(system, device)) == 0.5


def test_an_exciter_has_the_nominal_voltage_of_its_machines_bus_and_none_where_the_case_gives_none():
    assert base_of(SYSTEM, "EXC2").kv == base_of(SYSTEM, "GEN2").kv == base_of(SYSTEM, "BUS2").kv == 18.0
    case = gc.load_case("wscc9")
    del case["BUS2"].fields["kv"]
    system = gc.build(case)
    for device in ("EXC2", "GEN2", "BUS2"):
        with pytest.raises(CaseError, match="this unit needs the nominal voltage of the bus"):
            convert("18 kV", "pu", base_of(system, device))


def test_power_of_a_machine_is_of_its_rating_and_its_dispatch_of_the_systems():
    case = gc.load_case("wscc9")
    case.set("GEN2.Sn", 250.0)
    system = gc.build(case)
    P = gc.simulate(system, t_end=0.01)["GEN2.P"][0]
    assert convert("163 MW", "pu", base_of(system, "GEN2", "P")) == pytest.approx(P, rel=1e-12) == 0.652
    assert convert("163 MW", "pu", base_of(system, "GEN2", "P0")) == pytest.approx(1.63, rel=1e-15)
    assert base_of(system, "EXC2").mva == 250.0
    assert base_of(system, "BUS2").mva == base_of(system, "LINE4-5", "P1").mva == 100.0


PARAMETERS = [(name, parameter, param) for name in devices
              for parameter, param in devices[name].declares.params.items()]
KINDS = {"MW", "MVA", "MVAr", "kV", "kA", "ohm", "S", "Hz"}
OTHER = {"": "kV", "s": "kV", "rad": "kV", "deg": "kV", "rad/s": "kV", "Hz": "kV", "MVA": "kV", "kV": "MW", "1/s": "kV"}


@pytest.mark.parametrize("device", devices)
def test_every_parameter_refuses_a_unit_of_something_else_in_words(device):
    """What is in per unit takes the units of what it is of, and nothing else in place of them."""
    for param in devices[device].declares.params.values():
        own = getattr(param.unit, "of", ())
        for unit in KINDS - set(own) if param.unit == "pu" else {OTHER.get(param.unit, "kV"), "furlong"}:
            with pytest.raises(CaseError, match=f"unit '{unit}' is not understood here; accepted: "):
                convert(f"1 {unit}", param.unit, WSCC)
        for unit in own:
            assert convert(f"1 {unit}", param.unit, WSCC) > 0


#: What says of a parameter what it is, and the unit that it takes for it.
SAYS = {r"(synchronous|transient|leakage|magnetising|series|source) reactance": "ohm", r"stator resistance": "ohm",
        r"^(active|mechanical) power|^power drawn": "MW", r"reactive power (generated|drawn)": "MVAr",
        r"^voltage (below|above) which|^voltage magnitude": "kV", r"^(low|high) frequency at which": "Hz"}


@pytest.mark.parametrize("says", SAYS)
def test_what_is_physical_takes_its_own_unit(says):
    found = [(name, parameter, param) for name, parameter, param in PARAMETERS
             if param.unit == "pu" and re.search(says, param.doc)]
    assert found
    for name, parameter, param in found:
        assert convert(f"1 {SAYS[says]}", param.unit, WSCC) > 0, f"{name}.{parameter}: {param.doc}"


@pytest.mark.parametrize(("address", "text"), [
    ("LOAD5.P0", "50 kV"), ("LOAD5.Q0", "50 Hz"), ("GEN2.Xd", "5 MW"), ("EXC2.KA", "20 kV"), ("EXC2.TA", "0.2 Hz")])
def test_a_case_with_a_unit_of_something_else_is_refused_with_row_and_field(address, text):
    case = gc.load_case("wscc9")
    case.set(address, text)
    field, unit = address.split(".")[1], text.split()[1]
    with pytest.raises(CaseError, match=f"field '{field}': unit '{unit}' is not understood here; accepted: "):
        gc.build(case)
