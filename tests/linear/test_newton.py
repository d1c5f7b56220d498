"""What Newton's iteration learns of round-off, and what it takes for a solution."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gridcore as gc
from gridcore import numerics
from gridcore.contract import Algebraic, Device, Param, State
from gridcore.equations import Workspace
from gridcore.equilibrium import Equilibrium
from gridcore.errors import ConvergenceError
from gridcore.linear import Newton


def built(device: type[Device], **values: float) -> Equilibrium:
    """A system of one device."""
    with gc.registered(device):
        case = gc.Case(device.__name__)
        case.add(device.__name__, id=device.__name__[0], **values)
        return gc.build(case)


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
    ws = built(Blurred, large=large).workspace()
    newton = Newton(ws)
    newton.hold(ws.differential | (np.arange(3) == 0))
    for x in np.linspace(1.0, 0.5, 50):
        ws.base[0] = ws.X[0] = x
        newton.solve()
    return newton, dict(zip("xyz", ws.noise, strict=True))


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


def test_it_is_known_after_a_switch_and_where_all_else_is_forgotten() -> None:
    newton, found = solved(1e5)
    newton.jumped()
    newton.renew()
    assert newton.ws.noise[1] == found["y"]


def test_the_last_correction_leaves_round_off_however_long_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """``x z² - z + x/10 = 0`` in closed form, from far and near, with new factors and with those of another x."""
    newton, _ = solved(0.0)
    ws, norms, last, plain = newton.ws, list[float](), list[float](), Workspace.newton
    monkeypatch.setattr(Workspace, "newton", lambda ws, tol: norms.append(plain(ws, tol)) or norms[-1])
    for x in np.linspace(0.5, 0.6, 40):
        root = (1 - np.sqrt(1 - 0.4 * x**2)) / (2 * x)
        for off in (0.0, *np.geomspace(1e-8, 0.1, 30)):
            ws.base[0] = ws.X[0] = x
            ws.X[2] = root + off
            newton.solve()
            last.append(norms[-1])
            assert abs(ws.X[2] - root) < 3 * numerics.NEWTON_REMAINS
            assert ws.moved == min(last[-1], numerics.NEWTON)
    assert 10 * numerics.NEWTON < max(last) <= numerics.NEWTON_FLOOR  # so it is tried


@pytest.mark.parametrize("noise", [1e-12, 1e-9])
@pytest.mark.parametrize("times", [0.5, 1.0, 3.0, 1e6])
def test_a_correction_counts_for_what_it_is_above_the_round_off_of_its_variable(noise: float, times: float) -> None:
    ws = solved(0.0)[0].ws
    ws.noise[1] = noise
    ws.R[:] = 0.0, times * noise, 0.0
    size = ws.scale[1] + min(np.abs(ws.X[1]), np.abs(ws.X[1] + ws.R[1]))
    assert ws.newton(np.inf) == pytest.approx(max(times - 1.0, 0.0) * noise / size) == ws.moved


@pytest.mark.parametrize("lost", [np.inf, -np.inf, np.nan, -np.nan])
@pytest.mark.parametrize("at", range(3))
def test_a_correction_that_is_no_number_is_larger_than_any(lost: float, at: int) -> None:
    ws = solved(0.0)[0].ws
    ws.noise[:] = 1e-12
    ws.X[at] = 1e308 * np.sign(lost)
    ws.R[:] = 1.0
    ws.R[at] = lost
    with np.errstate(all="ignore"):
        assert not np.isfinite(ws.newton(0.0))


@pytest.mark.parametrize(("before", "after"), [(2.0, 1e13), (-1e13, 2.0), (2.0, -2.0), (0.0, 3e8), (1e-3, 0.0)])
def test_a_correction_counts_beside_the_lesser_of_what_it_leads_from_and_to(before: float, after: float) -> None:
    ws = solved(0.0)[0].ws
    ws.X[1], ws.R[:] = before, [0.0, after - before, 0.0]
    size = ws.scale[1] + min(abs(before), abs(after))
    assert ws.newton(np.inf) == pytest.approx(abs(after - before) / size)


class Vanishing(Device):
    """``1 / (1 + y²) = 0`` where all is gone: a root at infinity, to which Newton's method leads from near zero."""

    none = Param("", 0.0)
    gone, y = State("", start_at="none"), Algebraic("")

    def rates(s: Any) -> Any:
        return 0.0

    def residuals(s: Any) -> Any:
        return np.where(s.gone > 0.5, 1 / (1 + s.y**2), s.y - 1e-9)


def test_what_is_small_far_away_is_no_solution() -> None:
    ws = built(Vanishing).workspace()
    newton = Newton(ws)
    newton.hold(np.arange(2) == 0)
    ws.X[1] = 1e-9
    newton.solve()
    ws.base[0] = ws.X[0] = 1.0
    newton.forget()
    with pytest.raises(ConvergenceError, match=r"^Newton's method does not converge at V\.y"):
        newton.solve()


class Large(Device):
    """An algebraic variable in a unit of which there are a thousand million, by an equation that is bent."""

    x0 = Param("", 0.0)
    x, y = State("", start_at="x0"), Algebraic("")

    def rates(s: Any) -> Any:
        return 1.0

    def residuals(s: Any) -> Any:
        return s.y - 1e9 * np.sin(200 * s.x) - 1e-12 * s.y**2


@pytest.mark.parametrize("method", ["theta", "trbdf2", "bdf"])
def test_what_moves_far_in_a_small_unit_is_solved(method: str) -> None:
    run = gc.simulate(built(Large), 0.5, 0.01, method=method)
    y = run["L", "y"]
    assert np.abs(y).max() > 9e8
    np.testing.assert_allclose(y - 1e-12 * y**2, 1e9 * np.sin(200 * run["L", "x"]), rtol=0, atol=1e-12 * 1e9)


@pytest.mark.parametrize(("far", "near"), [(1e2, True), (1e4, False)])
def test_a_step_is_not_approached_from_far_away(far: float, near: bool) -> None:
    newton = solved(0.0)[0]
    ws, start = newton.ws, newton.ws.X.copy()
    newton.at(1.0)
    ws.matrix()
    ws.R[:] = 0.0
    ws.R[1] = far * ws.entries[(ws.indices == 1) & (ws.columns == 1)][0]
    assert newton.approach(1.0, lambda: True) == near
    assert np.array_equal(ws.X, start) != near


class Cycling(Device):
    """``min(x, M x + e) = 0`` where Newton's method itself goes round in a circle of size e, and x = 0 is the solution.

    I. Ben Gharbia and J. C. Gilbert, Nonconvergence of the plain Newton-min algorithm for linear complementarity
    problems with a P-matrix, Math. Program. 134, 2012.
    """

    start, steep, alpha = Param("", 1.0), Param("", 1e4), Param("", 2.0)
    e = State("", start_at="start")
    a, b, c = Algebraic(""), Algebraic(""), Algebraic("")

    def rates(s: Any) -> Any:
        return -s.e

    def residuals(s: Any) -> Any:
        pairs = (s.a, s.c), (s.b, s.a), (s.c, s.b)
        return [s.steep * (x + np.where(s.alpha * y + s.e > 0, 0.0, s.alpha * y + s.e)) for x, y in pairs]


@pytest.mark.parametrize("e", [1e-2, 1e-8, 1e-9, 5e-10, 1e-10])
@pytest.mark.parametrize("start", [(-1, -1, 0), (-1, 0, 0), (-1, -1, -1), (0.1, 0.2, -0.3)])
def test_corrections_that_hop_across_a_kink_are_not_taken_for_round_off(e: float, start: tuple[float, ...]) -> None:
    ws = built(Cycling).workspace()
    newton = Newton(ws)
    newton.hold(np.arange(4) == 0)
    ws.base[0] = ws.X[0] = e
    ws.X[1:] = 3 * e * np.array(start)
    newton.solve()
    np.testing.assert_allclose(ws.X[1:], 0.0, atol=1e-14)
