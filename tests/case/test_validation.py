"""Values of one record that have an order among themselves."""

from __future__ import annotations

import difflib
from typing import Any

import pytest

import gridcore as gc
from gridcore.contract import Device, Mode, Param, State, guard
from gridcore.errors import CaseError, DeviceError


class Valve(Device):
    """A limited state; its author wrote no ``check``."""

    low = Param("pu", 0.0)
    high = Param("pu", 1.0)
    x = State("pu", init=0.5, limits=("low", "high"))

    def rates(s: Any) -> Any:
        return 0.5 - s.x


@pytest.mark.parametrize("fields", [{"low": 2.0}, {"high": -1.0}])
def test_limits_of_a_state_in_the_wrong_order_name_the_field_and_the_other_one(fields: dict[str, float]) -> None:
    case = gc.Case("test")
    case.add(gc.Record("Valve", {"id": "v", **fields}))
    with gc.registered(Valve), pytest.raises(CaseError, match=r"field 'low': .* must be at most high = ") as caught:
        gc.build(case)
    assert caught.value.field == "low"


def test_reactive_limits_in_the_wrong_order_name_the_field_and_the_other_one() -> None:
    case = gc.load_case("wscc9")
    case.set("GEN2.Qmin", 1.0)
    case.set("GEN2.Qmax", -1.0)
    with pytest.raises(CaseError, match=r"field 'Qmin': 1 must be at most Qmax = -1"):
        gc.build(case)


class Lag(Device):
    """A state with a time constant, and a relay that is late."""

    T, delay = Param("s", 1.0), Param("s", 0.1)
    x = State("pu", T="T")
    tripped = Mode(0)

    def rates(s: Any) -> Any:
        return 1.0 - s.x

    @guard("up", when={"tripped": 0}, then={"tripped": 1}, delay="delay")
    def rises(s: Any) -> Any:
        return s.x - 2.0


@pytest.mark.parametrize("field", ["T", "delay"])
def test_a_time_constant_or_a_delay_below_zero_is_refused(field: str) -> None:
    case = gc.Case("test")
    case.add(gc.Record("Lag", {"id": "lag", field: 0.0}))
    with gc.registered(Lag):
        system = gc.build(case)
        with pytest.raises(CaseError, match=rf"field '{field}': -0.5 is a .* and must be at least 0"):
            system.with_values({f"lag.{field}": -0.5})


def test_a_guard_is_watched_under_modes_only() -> None:
    with pytest.raises(DeviceError, match=r"Wrong: rises: when has 'x', which is not a Mode"):
        class Wrong(Lag):
            rises = guard("up", when={"x": 0}, then={"tripped": 1})(lambda s: s.x - 2.0)


def test_a_limit_that_no_value_can_keep_is_refused() -> None:
    case = gc.load_case("wscc9")
    case.set("GEN2.Qmin", float("inf"))
    with pytest.raises(CaseError, match=r"GEN2|TwoAxis row 2.*field 'Qmin': inf must be finite"):
        gc.build(case)


def test_a_voltage_or_rating_that_cannot_be_read_is_told_where_it_stands() -> None:
    case = gc.load_case("wscc9")
    case.records.sort(key=lambda record: record.model == "Bus")  # the devices first
    case.set("BUS2.kv", "abc")
    case.set("GEN2.P0", "163 MW")
    with pytest.raises(CaseError, match=r"'abc' is not a number") as caught:
        gc.build(case)
    assert caught.value.field == "kv"


class Number(Device):
    """A device without a variable."""

    a = Param("", 1.0)


def test_a_case_without_devices_or_variables_is_refused() -> None:
    case = gc.Case("test")
    with pytest.raises(CaseError, match=r"case 'test' has no devices"):
        gc.build(case)
    case.add(gc.Record("Number", {"id": "one"}))
    with gc.registered(Number), pytest.raises(CaseError, match=r"case 'test' has no variables"):
        gc.build(case)


def test_of_many_wrong_rows_the_nearest_names_are_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []
    near, case = difflib.get_close_matches, gc.load_case("wscc9")
    monkeypatch.setattr(difflib, "get_close_matches", lambda word, *more: looked.append(word) or near(word, *more))
    for record in case.of("Line"):
        record.fields["bus1"] = f"BUSS{record.fields['bus1']}"
    case.of("ZIP")[0].fields["P"] = 1.0
    with pytest.raises(CaseError, match=r"no bus 'BUSS4'; did you mean BUS4\? \(and 7 more\)"):
        gc.build(case)
    assert set(looked) == {"buss4"}
