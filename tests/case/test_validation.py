"""Values of one record that have an order among themselves."""

from __future__ import annotations

from typing import Any

import pytest

import gridcore as gc
from gridcore.contract import Device, Param, State
from gridcore.errors import CaseError


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
