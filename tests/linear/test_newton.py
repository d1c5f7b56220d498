"""What Newton's iteration learns of round-off."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gridcore as gc
from gridcore import numerics
from gridcore.contract import Algebraic, Device, Param, State
from gridcore.linear import Newton


class Blurred(Device):
    """``dx/dt = -x y``, ``y = cos x`` with the digits that are left beside a `large` number; `z` has all of its own."""

    x0, large, one = Param("", 1.0), Param("", 0.0), Param("", 1.0)
    x = State("", start_at="x0")
    y, z = Algebraic(""), Algebraic("")

    def rates(s: Any) -> Any:
        return -s.x * s.y

    def residuals(s: Any) -> Any:
        return s.one * (s.y + s.large) - s.large - np.cos(s.x), s.z - s.x * s.z**2 - 0.1 * s.x


def solved(large: float) -> tuple[Newton, dict[str, float]]:
    """An iteration that has solved the equations at some x, and the round-off that it found, of each variable."""
    with gc.registered(Blurred):
        case = gc.Case("blurred")
        case.add("Blurred", id="B", large=large)
        system = gc.build(case)
    ws = system.workspace()
    newton = Newton(ws)
    newton.hold(ws.differential | (np.arange(3) == 0))
    for x in np.linspace(1.0, 0.5, 50):
        ws.base[0] = ws.X[0] = x
        newton.solve()
    return newton, dict(zip("xyz", numerics.NEWTON_REMAINS * (ws.size - ws.scale), strict=True))


@pytest.mark.parametrize("large", [3e4, 1e5])
def test_round_off_is_learned_of_the_variable_that_has_it(large: float) -> None:
    _, found = solved(large)
    spacing = np.spacing(large)  # of what y is read from
    assert 0.1 * spacing < found["y"] < 10 * spacing
    assert max(found["x"], found["z"]) < 1e-3 * spacing


def test_of_no_variable_more_is_taken_for_round_off_than_its_part() -> None:
    newton, found = solved(7e5)
    most = numerics.NEWTON_ROUND_OFF * (newton.ws.scale + 1.0)[1]
    assert 0.1 * most < found["y"] <= most


def test_it_is_known_after_a_switch_and_forgotten_with_all_else() -> None:
    newton, found = solved(1e5)
    newton.switched(jumped=True)
    assert numerics.NEWTON_REMAINS * (newton.ws.size - newton.ws.scale)[1] == found["y"]
    newton.renew()
    np.testing.assert_array_equal(newton.ws.size, newton.ws.scale)
