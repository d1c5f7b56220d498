import math
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gridcore.case import Case, validate
from gridcore.case.records import identify
from gridcore.contract import Bus, Device, Field, Input, Load, Param, PerUnit, Record, Reference, Source, State, timer
from gridcore.errors import CaseError, PluginError
from gridcore.registry import registered


class Machine(Source):
    H = Param("s", gt=0, doc="inertia constant")
    X = Param(PerUnit("ohm"), gt=0)
    delta = State("rad")
    Efd = Input("pu")

    def rates(s):
        return (0 * s.delta,)


class Exciter(Device):
    attaches = "machine"
    naming = "EXC_{machine}"
    KA = Param("", 20.0)
    VMAX = Param(PerUnit("MW", "MVA"), math.inf)
    E = State("pu", drives="machine.Efd")


class Branch(Device):
    attaches = ("bus1", "bus2")
    naming = "LINE{bus1}-{bus2}"
    r = Param(PerUnit("ohm"), 0.0)
    x = Param(PerUnit("ohm"), doc="series reactance")

    def check(values):
        return "r and x are both zero" if values["r"] == values["x"] == 0 else None


class Fault(Device):
    attaches = "bus"
    naming = "fault"
    strike = Param("s", ge=0)
    clear = Param("s")
    start = timer("strike", then={"status": 1})
    end = timer("clear", then={"status": 0})


class Step(Device):
    naming = "step"
    parameter = Reference()
    by = Param()


class Demand(Load):
    kind = Field("pq", choices=("pq", "z"))
    Vlow = Param(PerUnit("kV"), 0.7)


@pytest.fixture(autouse=True)
def devices():
    with registered(Bus, Machine, Exciter, Branch, Fault, Demand, Step):
        yield


@pytest.fixture
def case():
    c = Case("two", base_mva=100.0, frequency=60.0)
    c.add(Record("Bus", {"id": 1, "kv": 20.0}, "two.toml", "Bus row 1 (line 4)"))
    c.add(Record("Bus", {"id": 2}, "two.toml", "Bus row 2 (line 5)"))
    c.add(Record("Branch", {"bus1": 1, "bus2": 2, "x": 0.1}, "two.toml", "Branch row 1 (line 8)"))
    c.add(Record("Machine", {"id": "GEN1", "bus": 1, "H": 5.0, "X": 0.2},
                 "two.toml", "Machine row 1 (line 11)"))
    c.add(Record("Demand", {"bus": 2, "P0": "50 MW"}, "two.toml", "Demand row 1 (line 14)"))
    return c


def wrong(case, *parts):
    """The one-line error that validation gives, which must hold these parts in order."""
    with pytest.raises(CaseError) as caught:
        validate(case)
    text = str(caught.value)
    assert "\n" not in text
    assert re.search(".*".join(map(re.escape, parts)), text), text
    return caught.value


# -------------------------------------------------- the container


def test_calling_a_device_class_makes_a_record_of_it(case):
    record = case.add_event(Fault(bus=1, strike=0.1, clear=0.183))
    assert record == Record("Fault", {"bus": 1, "strike": 0.1, "clear": 0.183})
    assert case["fault"] is record
    assert case.of("Fault") == [record]


def test_ids_are_given_or_follow_the_naming_with_a_suffix_where_taken(case):
    case.add(Branch(bus1=1, bus2="BUS2", x=0.1))
    case.add(Branch(bus1="BUS1", bus2=2, x=0.1))
    case.add(Machine(bus=1, H=1, X=1))
    assert case.ids() == ["BUS1", "BUS2", "LINE1-2", "GEN1", "LOAD2", "LINE1-2_2", "LINE1-2_3", "GEN1_2"]


def test_a_number_of_numpy_names_a_bus_as_one_of_python_does(case):
    one, two, three = np.arange(1, 4)
    case.add(Record("Bus", {"id": three, "kv": 20.0}))
    case.add(Branch(bus1=two, bus2=3, x=0.1))
    case.add(Branch(bus1=one, bus2=three, x=0.1))
    assert case.ids()[-3:] == ["BUS3", "LINE2-3", "LINE1-3"]
    assert validate(case).records[-1].ports == {"bus1": "BUS1", "bus2": "BUS3"}


def test_a_given_id_beats_a_default_one_that_stands_before_it():
    assert identify([Fault(bus=1), Record("Fault", {"id": "fault", "bus": 1})]) == ["fault_2", "fault"]


def test_names_not_found_are_answered_with_the_nearest(case):
    with pytest.raises(CaseError, match="no 'GEN2'; did you mean GEN1"):
        case["GEN2"]
    with pytest.raises(PluginError, match=r"did you mean Branch"):
        case.of("Brnch")
    with pytest.raises(CaseError, match=r"two.toml: Machine row 1 \(line 11\): field 'Sm'.*Sn"):
        case.set("GEN1.Sm", 1)


def test_set_remove_and_copy_leave_the_original_alone(case):
    case.note("read by hand")
    other = case.copy()
    other.note("copied")
    assert (case.notes, other.notes) == (["read by hand"], ["read by hand", "copied"])
    other.set("GEN1.H", "6400 ms")
    other.remove("LOAD2")
    assert validate(other).of("Machine")[0].values["H"] == 6.4
    assert case["GEN1"].fields["H"] == 5.0
    assert "LOAD2" in case
    assert "LOAD2" not in other
    assert len(case) == 5


def test_repr_tells_what_is_in_it(case):
    assert repr(case) == "<Case 'two': 2 Bus, 1 Branch, 1 Machine, 1 Demand; 100 MVA, 60 Hz>"
    assert repr(case["LOAD2"]) == "Demand(bus=2, P0='50 MW')"


# -------------------------------------------------- validation


anything = st.one_of(st.sampled_from(["GEN1", "BUS1", "GEN1.P0", "5 MW", 10**400, None, True, [1], {"a": 1}]),
                     st.integers(), st.floats(), st.text(max_size=8))


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(model=st.sampled_from(["Bus", "Machine", "Exciter", "Branch", "Fault", "Demand", "Step"]),
       keys=st.lists(st.sampled_from(["id", "bus", "bus1", "bus2", "machine", "parameter", "H", "X", "x", "Sn",
                                      "kv", "P0", "control", "kind", "clear", "by"]), unique=True),
       values=st.lists(anything, max_size=8))
def test_whatever_a_row_holds_the_answer_is_a_valid_case_or_one_line(model, keys, values):
    rows = [Record("Bus", {"id": 1, "kv": 20}), Record("Machine", {"id": "GEN1", "bus": 1, "H": 5.0, "X": 0.2})]
    said = ""
    try:
        validate(Case("any", records=[*rows, Record(model, dict(zip(keys, values)))]))
    except CaseError as error:
        said = str(error)
    assert "\n" not in said


def test_a_valid_case_has_numbers_in_declared_units_words_and_ports(case):
    case.set("GEN1.Sn", "0.5 GVA")
    case.add(Exciter(machine="GEN1", KA=50))
    valid = validate(case)
    machine, exciter, load = valid.of("Machine")[0], valid.of("Exciter")[0], valid.of("Demand")[0]
    assert machine.ports == {"bus": "BUS1"}
    assert machine.device is Machine
    assert machine.words == {"control": "PV"}
    assert machine.values["Sn"] == 500.0
    assert machine.values["Qmax"] == math.inf
    assert exciter.id == "EXC_GEN1"
    assert exciter.ports == {"machine": "GEN1"}
    assert load.values == {"P0": 0.5, "Q0": 0.0, "k": 1.0, "Vlow": 0.7}
    assert load.words == {"kind": "pq"}
    assert all(type(v) is float for i in valid.records for v in i.values.values())


def test_the_rating_defaults_to_the_systems_base(case):
    assert validate(case).of("Machine")[0].values["Sn"] == 100.0


def test_per_unit_is_on_the_rating_except_for_dispatch(case):
    """0.8 ohm at 20 kV on 500 MVA is 1 pu; dispatch stays on the system's 100 MVA."""
    for name, value in {"Sn": 500, "X": "0.8 ohm", "P0": "200 MW", "V0": "21 kV"}.items():
        case.set(f"GEN1.{name}", value)
    case.add(Exciter(machine="GEN1", VMAX="1000 MVA"))
    valid = validate(case)
    values = valid.of("Machine")[0].values
    assert values["X"] == pytest.approx(1.0, rel=1e-15)
    assert values["P0"] == 2.0
    assert values["V0"] == 1.05
    assert valid.of("Exciter")[0].values["VMAX"] == 2.0


@pytest.mark.parametrize(("name", "value", "says"), [
    ("GEN1.H", -5.0, ("Machine row 1 (line 11)", "field 'H'", "-5.0 must be greater than 0")),
    ("GEN1.H", 0, ("field 'H'", "greater than 0")),
    ("GEN1.H", math.inf, ("field 'H'", "finite")),
    ("GEN1.H", math.nan, ("field 'H'", "finite")),
    ("GEN1.H", True, ("field 'H'", "must be a number")),
    ("GEN1.H", [1], ("field 'H'", "must be a number")),
    ("GEN1.H", "five", ("field 'H'", "'five' is not a number")),
    ("GEN1.H", "5 MW", ("field 'H'", "'MW'", "accepted: s, min")),
    ("GEN1.control", "pv", ("field 'control'", "'pv' must be slack or PV or PQ")),
    ("GEN1.bus", 3, ("field 'bus'", "no bus 'BUS3'", "BUS1")),
    ("GEN1.bus", "GEN1", ("field 'bus'", "no bus 'GEN1'")),
    ("LINE1-2.bus2", 1, ("Branch row 1 (line 8)", "field 'bus2'", "'BUS1' is bus1 too")),
    ("LINE1-2.x", 0.0, ("Branch row 1 (line 8)", "r and x are both zero")),
    ("LOAD2.Vlow", "50 kV", ("Demand row 1 (line 14)", "field 'Vlow'", "nominal voltage")),
    ("LOAD2.k", "50 kV", ("Demand row 1 (line 14)", "field 'k'", "'kV'", "accepted: pu, %, and")),
    ("LOAD2.P0", "50 kV", ("Demand row 1 (line 14)", "field 'P0'", "accepted: pu, %, MW, MVA")),
    ("BUS2.id", 1, ("Bus row 2 (line 5)", "field 'id'", "'BUS1' is already the id of Bus row 1 (line 4)")),
    ("BUS2.id", "a.b", ("Bus row 2 (line 5)", "field 'id'", "one word")),
])
def test_a_wrong_value_is_told_with_file_row_field_and_what_would_be_right(case, name, value, says):
    case.set(name, value)
    wrong(case, "two.toml", *says)


@pytest.mark.parametrize(("id", "key", "says"), [
    ("GEN1", "H", "missing: inertia constant (s)"), ("GEN1", "bus", "missing: a bus is wanted"),
    ("LINE1-2", "x", "missing: series reactance (pu)"), ("BUS2", "id", "a bus needs a number or a name"),
])
def test_a_missing_field_is_told_with_its_meaning_and_unit(case, id, key, says):
    del case[id].fields[key]
    wrong(case, "two.toml", f"field '{key}'", says)


def test_an_unknown_field_or_device_is_answered_with_the_nearest(case):
    case["LINE1-2"].fields["X"] = 0.1
    wrong(case, "field 'X'", "a Branch has no such field; did you mean x?")
    del case["LINE1-2"].fields["X"]
    case.add(Record("Machin", {}, "two.toml", "Machin row 1 (line 20)"))
    wrong(case, "two.toml: Machin row 1 (line 20): unknown device 'Machin'; did you mean Machine")


def test_what_initialisation_finds_is_not_given(case):
    case["GEN1"].fields["Efd"] = 1.2
    wrong(case, "field 'Efd'", "found at initialisation")


def test_infinity_is_no_limit_where_that_is_the_default_and_never_for_an_event(case):
    case.set("GEN1.Qmin", -math.inf)
    case.add_event(Fault(bus=1, strike=0.1, clear=math.inf))
    assert validate(case).of("Fault")[0].values["clear"] == math.inf
    case.set("fault.clear", -math.inf)
    wrong(case, "field 'clear'", "finite")


def test_two_rows_with_one_given_id_are_both_named(case):
    case.add(Record("Machine", {"id": "GEN1", "bus": 2, "H": 1, "X": 1},
                    "two.toml", "Machine row 2 (line 12)"))
    wrong(case, "Machine row 2 (line 12)", "field 'id'", "Machine row 1 (line 11)")


def test_a_device_that_drives_needs_a_host_with_that_input(case):
    case.add(Exciter(machine="LOAD2"))
    wrong(case, "field 'machine'", "'LOAD2' is a Demand, which has no input Efd")


def test_a_reference_is_the_address_of_a_parameter(case):
    case.add(Step(parameter="GEN1.P0", by=0.1))
    assert validate(case).of("Step")[0].words == {"parameter": "GEN1.P0"}
    case.set("step.parameter", "GEN1.PO")
    wrong(case, "field 'parameter'", "'GEN1' is a Machine, which has no parameter 'PO'; did you mean P0")
    case.set("step.parameter", "GEN2.P0")
    wrong(case, "field 'parameter'", "no device 'GEN2'; did you mean GEN1")
    del case["step"].fields["parameter"]
    wrong(case, "field 'parameter'", "a parameter is wanted")


def test_the_first_of_several_errors_is_told_and_how_many_follow(case):
    case.set("GEN1.H", -1)
    case.set("LINE1-2.x", "much")
    wrong(case, "Branch row 1", "(and 1 more)")


@pytest.mark.parametrize(("name", "value"), [("base_mva", 0), ("frequency", -60), ("base_mva", "100"),
                                              ("frequency", math.nan)])
def test_base_quantities_are_positive_numbers(case, name, value):
    setattr(case, name, value)
    wrong(case, "case 'two'", f"field '{name}'")


def test_a_record_is_added_by_model_and_fields():
    case = Case("x")
    assert case.add("Line", bus1=1, bus2=2, x=0.1) is case.records[0]
    assert case.records[0] == Record("Line", {"bus1": 1, "bus2": 2, "x": 0.1})


@pytest.mark.parametrize("given", [{"id": 1}, None, 3])
def test_what_is_no_record_is_not_added(given):
    with pytest.raises(CaseError, match=r"is no model: write add\('Line', bus1=1, bus2=2, x=0\.1\)"):
        Case("x").add(given)


@pytest.mark.parametrize("name", [3, None, ["GEN1.H"]])
def test_an_address_that_is_no_text_is_one_sentence(name):
    with pytest.raises(CaseError, match=r"must be an address or a pattern, such as 'GEN\*\.H'"):
        Case("c").set(name, 1.0)


def test_a_field_is_set_by_pattern_and_by_device_and_name():
    case = Case("c")
    for bus in (1, 2):
        case.add("Bus", id=bus, kv=20)
        case.add("ZIP", bus=bus, P0=0.1)
    case.set("LOAD*.P0", "30 MW")
    case.set(("LOAD2", "Q0"), 0.05)
    assert [record.fields for record in case.of("ZIP")] == [
        {"bus": 1, "P0": "30 MW"}, {"bus": 2, "P0": "30 MW", "Q0": 0.05}]
    with pytest.raises(CaseError, match=r"no field matches 'LOAD\*\.P'; did you mean"):
        case.set("LOAD*.P", 1.0)
