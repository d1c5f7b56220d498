"""Data of a wrong order of magnitude, or in a wrong unit, are warned of; those of published systems are not."""

from __future__ import annotations

import contextlib
import re
import warnings
from pathlib import Path
from typing import Any

import pytest

import gridcore as gc
from gridcore.contract import Device, Param, PerUnit, State
from gridcore.errors import DataWarning
from gridcore.registry import devices
from gridcore_plausibility.orders import orders_of


def told(case: Any) -> list[str]:
    """The warnings of a build."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with contextlib.suppress(gc.errors.GridcoreError):  # what is hardly meant need not have a solution
            gc.build(case)
    return [str(warning.message) for warning in caught if issubclass(warning.category, DataWarning)]


def changed(name: str, address: str, value: float) -> gc.Case:
    case = gc.load_case(name)
    case.set(address, value)
    return case


@pytest.mark.parametrize("name", sorted(
    folder.name for folder in (Path(__file__).parents[2] / "cases").iterdir() if (folder / "case.toml").exists()))
def test_published_data_are_plausible(name: str) -> None:
    assert told(name) == []


@pytest.mark.parametrize(("case", "address", "value"), [
    ("wscc9", "GEN2.Td0p", 1e-6), ("wscc9", "GEN2.Td0p", 1e5), ("wscc9", "GEN2.H", 1e5), ("wscc9", "GEN2.D", 1e6),
    ("wscc9", "GEN2.Xq", 50.0), ("wscc9", "GEN2.Xd", 100.0), ("wscc9", "GEN2.Sn", 1e7), ("wscc9", "GEN2.Sn", 1e-5),
    ("wscc9", "EXC2.TA", 1e4), ("wscc9", "EXC2.KA", 1e9), ("wscc9", "EXC2.KE", -100.0), ("wscc9", "EXC2.TR", 100.0),
    ("wscc9", "EXC2.KF", 1e3), ("wscc9", "GEN2.Rs", 5.0),
    ("wscc9", "EXC2.TF", 1e-9), ("wscc9", "LINE5-7.x", 161.0), ("wscc9", "LINE5-7.r", 32.0),
    ("wscc9", "LINE5-7.b", 30.0), ("wscc9", "LINE5-7.x", 1e-12), ("wscc9", "BUS5.kv", 1e6),
    ("wscc9", "TRANSFORMER2-7.phase", 30.0),
    ("wscc9", "fault.x", 1e-12), ("wscc9", "GEN2.V0", 10.25),
    ("ieee39", "GEN30.Td0pp", 20.0), ("ieee39", "GEN30.Tq0pp", 3.0)])
def test_an_order_of_magnitude_that_nothing_has_is_told_with_its_range(case: str, address: str, value: float) -> None:
    field = address.rpartition(".")[2]
    text, = (text for text in told(changed(case, address, value)) if f"field '{field}'" in text)
    assert re.search(rf"case\.toml: \w+ row \d+ \(line \d+\): field '{field}': {re.escape(f'{value:g}')} (\w+ )?is "
                     r"hardly meant: plausible is \S+", text)


@pytest.mark.parametrize(("field", "value", "says"), [
    ("base_mva", 1e-6, "base_mva = 1e-06 MVA of the case is hardly meant: plausible is 0.0001 to 1e+06"),
    ("frequency", 1.0, "frequency = 1 Hz of the case is hardly meant: plausible is 10 to 1000")])
def test_a_base_that_no_grid_has_is_told(field: str, value: float, says: str) -> None:
    case = gc.load_case("wscc9")
    setattr(case, field, value)
    assert says in told(case)


@pytest.mark.parametrize(("value", "odd"), [(0.0, False), (12.0, False), (50.0, False), (12e3, True)])
def test_the_dashpot_of_a_hydro_governor_is_slower_than_a_transducer(value: float, odd: bool) -> None:
    case = gc.load_case("wscc9")
    case.add("IEEEG3", machine="GEN2", TG=0.2, UO=0.1, UC=-0.1, PMAX=2.0, PMIN=0.0, SIGMA=0.05, DELTA=0.3, TR=value)
    assert any("field 'TR'" in text for text in told(case)) == odd


@pytest.mark.parametrize(("value", "odd"), [(900.0, False), (14400.0, False), (1e10, False), (0.01, True)])
def test_a_battery_may_last_for_hours_or_for_ever(value: float, odd: bool) -> None:
    case = gc.load_case("ieee39_converters")
    control = next(record for record in case.records if record.model == "REECB1")
    control.model = "REECC1"
    control.fields["T"] = value
    assert any("field 'T'" in text for text in told(case)) == odd


class Boiler(Device):
    """A third party's device, which says nothing of what is plausible, but for one of its gains."""

    plausible = {"KF": (0.0, 1e9)}
    TB = Param("s", 100.0)
    Tslow = Param("s", 0.0)
    X = Param(PerUnit("ohm"), float("inf"))
    KB, KF = Param("", 1.0), Param("", 1.0)
    x = State("pu")

    def rates(s: Any) -> Any:
        return (s.KB * s.KF - s.x) / s.TB + 0 * s.Tslow


def test_third_parties_have_it_by_unit_and_name_and_overrule_it() -> None:
    with gc.registered(Boiler):
        case = gc.Case("test")
        case.add(gc.Record("Boiler", {"id": "b", "TB": 1e5, "KB": -1e8, "KF": 1e8}, file="b.toml", row="row 1"))
        assert told(case) == [
            "b.toml: row 1: field 'TB': 100000 s is hardly meant: plausible is 0, or in size 1e-05 to 3600",
            "b.toml: row 1: field 'KB': -1e+08 is hardly meant: plausible is in size 0 to 100000"]


@pytest.mark.parametrize("name", sorted(devices))
def test_every_device_has_a_range_for_each_reactance_rating_angle_inertia_and_time_constant(name: str) -> None:
    cls = devices[name]
    known = {*orders_of(cls), *cls.plausible}
    wanted = {field for field, param in cls.declares.params.items()
              if (param.unit == "s" and (field[0] in "TH")) or param.unit in ("MVA", "rad")
              or (isinstance(param.unit, PerUnit) and "ohm" in param.unit.of and field[0] in "XxRr")}
    assert wanted - known == set()
