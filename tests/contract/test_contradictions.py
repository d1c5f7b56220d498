"""Declarations that contradict themselves or each other are refused where the class is."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import gridcore as gc
from gridcore.errors import DeviceError
from gridcore_blocks import LeadLag


def declared(**attributes: Any) -> type[gc.Device]:
    return type("Mine", (gc.Device,), attributes)


def test_one_name_stands_for_one_thing() -> None:
    with pytest.raises(DeviceError, match="lead_in is declared twice: among the "):
        declared(T1=gc.Param("s", 1.0), T2=gc.Param("s", 2.0), lead=LeadLag(lambda s: s.time, T1="T1", T2="T2"),
                 lead_in=gc.Param("pu", 0.3))
    with pytest.raises(DeviceError, match="status is declared twice: among the modes and the params"):
        declared(status=gc.Param("", 1.0))
    with pytest.raises(DeviceError, match="x_limit is declared twice: among the "):
        declared(x=gc.State("", limits=(0.0, 1.0), rate=lambda s: 1.0), x_limit=gc.Param("", 1.0))


def test_a_subclass_may_declare_a_name_anew_and_otherwise() -> None:
    class Base(gc.Device):
        a = gc.Param("", 1.0)

    class Other(Base):
        a = gc.Setpoint("", equals=lambda s: 2.0)  # type: ignore[assignment]

    assert "a" in Other.declares.setpoints
    assert "a" not in Other.declares.params


@pytest.mark.parametrize(("param", "said"), [
    (gc.Param("pu", -2.0, gt=0), r"a: its default -2\.0 must be greater than 0"),
    (gc.Param("pu", 1.5, ge=2, le=1), r"a: its default 1\.5 must be at least 2 and at most 1"),
    (gc.Param("pu", math.nan), "a: its default nan is no number"),
    (gc.Param("s", "100 ms"), "a: its default '100 ms' is no number"),
    (gc.Param("s", None), "a: its default None is no number")])
def test_a_default_is_a_number_that_a_row_might_give(param: gc.Param, said: str) -> None:
    with pytest.raises(DeviceError, match=said):
        declared(a=param)


@pytest.mark.parametrize("limits", [(1.0, -1.0), (0.0, math.nan), (1.0, 1.0)])
def test_limits_that_are_numbers_are_in_order(limits: tuple[float, float]) -> None:
    with pytest.raises(DeviceError, match="state x: limits "):
        declared(x=gc.State("", limits=limits, rate=lambda s: 1.0))


@pytest.mark.parametrize("rate", [lambda s: (1.0 if float(s.z) > 1 else 2.0) - s.x, lambda s: math.sqrt(s.z) - s.x])
def test_an_expression_is_no_number(rate: Any) -> None:
    device = declared(z=gc.Param("", 4.0), x=gc.State("", rate=rate))
    with gc.registered(device), pytest.raises(DeviceError, match=r"Mine: .* a number is asked for, .* of numpy"):
        gc.build(case_of(device))


def test_a_number_is_one() -> None:
    import casadi

    assert float(casadi.SX(2.5)) == math.sqrt(casadi.SX(6.25)) == 2.5


@pytest.mark.parametrize(("start", "said"), [
    ({"z": 1.0, "base_mva": 50.0, "x": 0.0}, r"\['base_mva', 'z'\]"), ({"status": 0.0}, r"\['status'\]"),
    (None, "None")])
def test_what_a_device_starts_with_are_guesses_of_what_is_to_be_found(start: Any, said: str) -> None:
    device = declared(z=gc.Param("", 4.0), x=gc.State("", rate=lambda s: s.z - s.x), start=lambda s: start)
    with gc.registered(device), pytest.raises(DeviceError, match=rf"Mine\.start must return .* inputs, not {said}"):
        gc.build(case_of(device))


def case_of(device: type[gc.Device]) -> gc.Case:
    case = gc.Case("contradictions")
    case.add(device(id="D"))
    return case


def test_guesses_may_be_of_variables_and_set_points() -> None:
    device = declared(z=gc.Setpoint("", equals=lambda s: 3.0), x=gc.State("", rate=lambda s: s.z - s.x),
                      start=lambda s: {"x": 1.0, "z": 2.0})
    with gc.registered(device):
        np.testing.assert_allclose(gc.simulate(case_of(device), 0.1)["D", "x"], 3.0, atol=1e-12)


@pytest.mark.parametrize("missing", ["control", "P0", "Q0", "V0", "Qmin", "Qmax", "Sn"])
def test_what_regulates_has_all_that_the_power_flow_asks_of_it(missing: str) -> None:
    has = {name: value for name, value in vars(gc.Source).items() if isinstance(value, gc.Param | gc.Field)}
    del has[missing]
    with pytest.raises(DeviceError, match=f"Mine: regulates=True needs {missing}: derive it from Source"):
        declared(regulates=True, **has)


def test_bounds_of_one_name_have_guards_of_their_own() -> None:
    for bounds, names in (((-1.0, 1.0), ("Vmax", "Vmax")), (("a", "a"), None)):
        made = declared(a=gc.Param("", 1.0), x=gc.State("", limits=bounds, limit_names=names, rate=lambda s: 1.0))
        assert list(made.declares.guards) == ["x_at_max", "x_off_max", "x_at_min", "x_off_min"]


def test_an_event_that_changes_nothing_is_refused() -> None:
    with pytest.raises(DeviceError, match="Mine: go: then is empty: it says what changes"):
        declared(t=gc.Param("s", 1.0), go=gc.timer("t", then={}))


def test_a_kind_of_parameter_is_a_parameter() -> None:
    class Percent(gc.Param):
        """One with bounds that all of its kind have."""

        def __init__(self, default: float):
            super().__init__("", default, ge=0.0, le=100.0)

    made = declared(a=Percent(5.0), x=gc.State("", rate=lambda s: s.a))
    assert list(made.declares.params) == ["a"]
    with pytest.raises(DeviceError, match=r"a: its default 101\.0 must be at least 0 and at most 100"):
        declared(a=Percent(101.0))
