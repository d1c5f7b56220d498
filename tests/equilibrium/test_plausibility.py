"""Data and initial states that are allowed and hardly meant are warned of, with the place where they stand."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest

import gridcore as gc
from gridcore.contract import Device, Param, State
from gridcore.errors import DataWarning, DeviceError, PowerFlowError
from gridcore.registry import devices
from gridcore.testing import device_checks


class Tank(Device):
    """A third party's device, with a range of its own."""

    plausible = {"level": (0.1, "height"), "x": (0.0, 1.0)}
    level = Param("m", 0.5)
    height = Param("m", 1.0)
    x = State("m", init=0.5)

    def rates(s: Any) -> Any:
        return s.level - s.x


def told(case: Any) -> list[str]:
    """The warnings of a build."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        gc.build(case)
    return [str(warning.message) for warning in caught if issubclass(warning.category, DataWarning)]


def changed(**values: Any) -> gc.Case:
    case = gc.load_case("wscc9")
    for name, value in values.items():
        case.set(name.replace("__", "."), value)
    return case


@pytest.mark.parametrize("name", ["wscc9", "kundur", "ieee39", "npcc140", "ieee118", "ieee145", "smib"])
def test_shipped_cases_are_plausible(name: str) -> None:
    assert told(name) == []


@pytest.mark.parametrize(("name", "value", "says"), [
    ("GEN3__H", 1e-6, r"case\.toml: TwoAxis row 3 \(line \d+\): field 'H': 1e-06 s is hardly meant: plausible is 0"),
    ("GEN2__Xdp", 2.0, r"TwoAxis row 2 .*: field 'Xdp': 2 pu is hardly meant: plausible is 0\.0 to Xd$")])
def test_a_parameter_that_is_hardly_meant_is_told_with_file_row_and_field(name: str, value: float, says: str) -> None:
    texts = told(changed(**{name: value}))
    assert len(texts) == 1
    assert re.search(says, texts[0])


def test_several_of_a_kind_are_one_warning() -> None:
    assert told(changed(GEN1__H=1e-6, GEN2__H=1e-6, GEN3__H=1e-6))[0].endswith("(and 2 more)")


def test_power_that_no_branch_carries_is_told_where_the_power_flow_fails() -> None:
    with pytest.raises(PowerFlowError, match=r"151 pu of P at BUS2, whose branches carry about 16 pu at most"):
        gc.build(changed(GEN2__P0=163.0))


def test_two_slacks_of_one_island_are_told() -> None:
    texts = told(changed(GEN2__control="slack"))
    assert any("field 'control': GEN1 and GEN2 are slack in one island" in text for text in texts)


def test_third_parties_say_what_is_plausible_and_a_wrong_name_is_refused() -> None:
    with gc.registered(Tank):
        case = gc.Case("test")
        case.add(gc.Record("Tank", {"id": "t", "level": 3.0}, file="tanks.toml", row="Tank row 1"))
        assert told(case) == [
            "tanks.toml: Tank row 1: field 'level': 3 m is hardly meant: plausible is 0.1 to height",
            "tanks.toml: Tank row 1: field 'x': 3 m is hardly meant: plausible is 0.0 to 1.0"]
    with pytest.raises(DeviceError, match=r"plausible: 'levle' is not a parameter"):
        type("Odd", (Tank,), {"plausible": {"levle": (0, 1)}})


def without_start(init: float, plausible: dict[str, Any]) -> type[Device]:
    """The two-axis machine of a third party who wrote no ``start``; `init` is its first guess of the angle."""
    return type("NoStart", (devices["TwoAxis"],), {
        "start": None, "__doc__": "Kundur (1994).", "plausible": plausible,
        "delta": State("rad", init=init, doc="rotor angle"), "Eqp": State("pu", T="Td0p", doc="voltage")})


def bare(cls: type[Device]) -> gc.Case:
    """The 9-bus case without exciters, its machines of another class."""
    case = gc.load_case("wscc9")
    for exciter in ("EXC1", "EXC2", "EXC3"):
        case.remove(exciter)
    for record in case.records:
        if record.model == "TwoAxis":
            record.model = cls.__name__
    return case


def test_a_machine_without_start_at_a_negative_field_voltage_is_told_by_build() -> None:
    cls = without_start(3.5, {})
    with gc.registered(cls):
        texts = told(bare(cls))
    assert re.search(r"field 'Efd': -1\.\d+ pu is hardly meant: plausible is 0.0 to 10.0", texts[0])


def test_an_initial_state_that_luck_decides_is_told_by_build_and_by_the_doctor() -> None:
    """Nothing is said to be plausible; nor need it be, where there is a `start`."""
    anything = {"Efd": (-np.inf, np.inf)}
    cls = without_start(1.6, anything)
    with gc.registered(cls):
        texts = told(bare(cls))
    assert re.search(r"GEN1\.Efd = -1\.08.* is one solution, 1\.08.* another, .*: say by .* of NoStart which", texts[0])
    report = device_checks.report(cls)
    assert not report.ok
    assert "is one solution" in str(report)
    chosen = type("Chosen", (devices["TwoAxis"],), {"__doc__": "Kundur (1994).", "plausible": anything})
    assert device_checks.report(chosen).ok


def test_the_command_line_shows_each_once() -> None:
    done = subprocess.run([sys.executable, "-m", "gridcore", "pf", "wscc9", "--set", "GEN3.H=1e-6"],
                          capture_output=True, text=True, timeout=120, check=True)
    assert re.fullmatch(r"warning: .*case\.toml: TwoAxis row 3 \(line \d+\): field 'H': .*\n", done.stderr)


@pytest.mark.parametrize("power", [163.0, -163.0, 1.63, 99.0])
def test_a_power_that_is_larger_than_all_others_and_than_any_plant_is_told(power: float) -> None:
    """163 pu for 163 MW, behind a branch that could carry it; where several share as much, it is a system."""
    case = gc.Case("two")
    for model, fields in (("Bus", {"id": 1, "kv": 230}), ("Bus", {"id": 2, "kv": 230}),
                          ("Line", {"bus1": 1, "bus2": 2, "x": 1e-5}),
                          ("InfiniteBus", {"bus": 1, "control": "slack", "V0": 1.0}),
                          ("ZIP", {"id": "L", "bus": 2, "P0": power, "Q0": 0.0})):
        case.add(gc.Record(model, fields))
    found = told(case)
    assert len(found) == (abs(power) > 100)
    assert all(re.search(rf"field 'P0': {power:g} pu, {100 * power:g} MW, is hardly meant", text) for text in found)
    case.add(gc.Record("ZIP", {"id": "M", "bus": 2, "P0": 170.0, "Q0": 0.0}))
    case.add(gc.Record("ZIP", {"id": "N", "bus": 2, "P0": 170.0, "Q0": 0.0}))
    assert told(case) == []
