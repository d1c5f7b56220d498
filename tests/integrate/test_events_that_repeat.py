"""What crosses once acts once, whatever crosses with it; what is sent back acts each time that it crosses again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gridcore as gc
from gridcore.errors import EventError

METHODS: list[dict[str, Any]] = [{}, {"step": "auto"}, {"method": "trbdf2"}, {"method": "trbdf2", "step": "auto"},
                                 {"method": "bdf"}, {"method": "bdf", "step": "auto"}, {"method": "ida"}]


def asked(kw: dict[str, Any]) -> dict[str, Any]:
    if kw.get("method") == "ida":
        pytest.importorskip("scikits_odes_sundials.ida", reason="run ./setup.sh ida")
    return kw


class Together(gc.Device):
    """Lags of which each reaches its threshold when the others do."""

    th, zero, one = gc.Param("", 0.5), gc.Param("", 0.0), gc.Param("", 1.0)
    x, r, w, n = (gc.State("", start_at=name) for name in ("zero", "one", "zero", "zero"))
    p, q = gc.Mode(0), gc.Mode(0)

    def rates(s: Any) -> Any:
        return 1.0 - s.x, -s.r, 3.0 - s.w, 0.0

    @gc.guard("up", then={"n": lambda s: s.n + 1})
    def counts(s: Any) -> Any:
        return s.x - s.th

    @gc.guard("up", then={"p": 1})
    def rises(s: Any) -> Any:
        return s.w - 3.0 * s.th

    @gc.guard("down", then={"q": 1})
    def falls(s: Any) -> Any:
        return s.r - (1.0 - s.th)

    @gc.guard("up", then={"n": lambda s: s.n + 100})
    def counts_too(s: Any) -> Any:
        return s.x - s.th


class Saw(gc.Device):
    """A ramp that is put back by one at one, and is counted."""

    a, zero = gc.Param("1/s", 150.0), gc.Param("", 0.0)
    x, n = gc.State("", start_at="zero"), gc.State("", start_at="zero")

    def rates(s: Any) -> Any:
        return s.a, 0.0

    @gc.guard("up", then={"x": lambda s: s.x - 1.0, "n": lambda s: s.n + 1})
    def full(s: Any) -> Any:
        return s.x - 1.0


class Steps(gc.Device):
    """A threshold that goes on with each crossing of it, by a relay without delay, or with one of no length."""

    a, th, wait, zero = gc.Param("1/s", 8.0), gc.Param("", 0.1), gc.Param("s", 0.0), gc.Param("", 0.0)
    first = gc.Param("", 0.1)
    x, n, y, other = (gc.State("", start_at=name) for name in ("zero", "zero", "first", "zero"))

    def rates(s: Any) -> Any:
        return s.a, 0.0, 0.0, 0.0

    @gc.guard("up", then={"th": lambda s: s.th + 0.1, "n": lambda s: s.n + 1})
    def passes(s: Any) -> Any:
        return s.x - s.th

    @gc.guard("up", then={"y": lambda s: s.y + 0.1, "other": lambda s: s.other + 1}, delay="wait")
    def passes_with_a_delay(s: Any) -> Any:
        return s.x - s.y


@pytest.fixture(autouse=True)
def registered() -> Any:
    with gc.registered(Together, Saw, Steps, Blocked, Rooted):
        yield


def system(device: type[gc.Device], **values: float) -> Any:
    case = gc.Case("events")
    case.add(device(id="D", **values))
    return gc.build(case)


@pytest.mark.parametrize("kw", METHODS, ids=str)
def test_each_of_several_guards_that_come_to_zero_together_fires_once(kw: dict[str, Any]) -> None:
    base = system(Together)
    for th in np.linspace(0.1, 0.9, 12):
        run = gc.simulate(base.with_values({"D.th": th}), 3.0, **asked(kw))
        assert run["D", "n"][-1] == pytest.approx(101.0, abs=1e-6)
        assert len(run.events) == 4
        assert [event.t for event in run.events] == pytest.approx([-np.log(1.0 - th)] * 4, rel=1e-2)


@pytest.mark.parametrize("kw", METHODS, ids=str)
@pytest.mark.parametrize("a", [3.0, 150.0])
def test_a_guard_that_is_sent_back_by_its_own_action_fires_each_time(kw: dict[str, Any], a: float) -> None:
    run = gc.simulate(system(Saw, a=a), 1.005, **asked(kw))
    assert run["D", "n"][-1] == pytest.approx(np.floor(1.005 * a), abs=1e-6)
    assert run["D", "x"][-1] == pytest.approx(1.005 * a % 1.0, abs=1e-6)


@pytest.mark.parametrize("kw", METHODS[:-1], ids=str)
def test_a_threshold_that_moves_on_is_crossed_each_time(kw: dict[str, Any]) -> None:
    run = gc.simulate(system(Steps), 1.005, **kw)
    assert run["D", "n"][-1] == pytest.approx(80.0, abs=1e-9)
    assert run["D", "other"][-1] == pytest.approx(80.0, abs=1e-9)


def test_the_gradient_through_resets_is_that_of_the_closed_form() -> None:
    """``x = a t - n``."""
    run = gc.simulate(system(Saw, a=30.0), 1.01)
    assert gc.adjoint(run, gc.Terminal(lambda v: v["D", "x"]), "D.a").item() == pytest.approx(1.01, abs=1e-10)


@pytest.mark.parametrize("kw", [{}, {"method": "bdf"}, {"method": "ida"}, {"method": "ida", "step": 500.0}], ids=str)
def test_events_that_are_seconds_apart_are_no_chattering_where_they_fall_on_the_grid(kw: dict[str, Any]) -> None:
    assert gc.simulate(system(Saw, a=1.0), 150.5, **asked(kw))["D", "n"][-1] == pytest.approx(150.0, abs=1e-6)


class Blocked(gc.Device):
    """An oscillator; a relay with a delay, which v above c cancels; it may be there already when the delay begins."""

    zero, one, w, th, c, wait = (gc.Param("", value) for value in (0.0, 1.0, 6.0, 0.2, 0.5, 0.1))
    x, v, m = gc.State("", start_at="zero"), gc.State("", start_at="one"), gc.Mode(0)

    def rates(s: Any) -> Any:
        return s.w * s.v, -s.w * s.x

    @gc.guard("up", then={"m": 1}, delay="wait", cancel=lambda s: s.v - s.c)
    def acts(s: Any) -> Any:
        return s.x - s.th


@pytest.mark.parametrize("kw", [*({"method": method, "step": 0.0497} for method in ("theta", "trbdf2", "bdf")),
                                {"step": "auto"}], ids=str)
@pytest.mark.parametrize("wait", [0.1, 0.0])
def test_what_cancels_an_action_when_it_begins_cancels_it_then(kw: dict[str, Any], wait: float) -> None:
    run, of = gc.simulate(system(Blocked, wait=wait), 1.0, **kw), gc.Terminal(lambda v: v["D", "x"])
    assert [event.kind for event in run.events] == ["delay started", "cancelled"]
    assert run.events[0].t == run.events[1].t
    assert np.all(run["D", "m"] == 0.0)
    names = ["D.c", "D.th", "D.w"]
    exact, beside = gc.adjoint(run, of, names).values, gc.differences(run, of, names).values
    np.testing.assert_allclose(exact, beside, rtol=1e-7, atol=1e-8)
    assert exact[0, 0] == 0.0
    assert gc.adjoint(run, of, "D.wait").item() == 0.0


class Rooted(gc.Device):
    """A lag towards zero, and a guard that is no number where it has fallen below z; it crosses zero a little above."""

    z, T, one = gc.Param("", 0.5), gc.Param("s", 0.005), gc.Param("", 1.0)
    x, m = gc.State("", T="T", start_at="one", rate=lambda s: -s.x), gc.Mode(0)

    @gc.guard("down", then={"m": 1})
    def falls(s: Any) -> Any:
        return np.sqrt(s.x - s.z) - 0.1


@pytest.mark.parametrize("kw", [{}, {"step": 0.001}, {"step": "auto"}, {"method": "trbdf2"}, {"method": "bdf"},
                                {"method": "bdf", "step": "auto"}, {"method": "ida"}], ids=str)
def test_a_guard_that_is_no_number_beyond_its_zero_is_located(kw: dict[str, Any]) -> None:
    run = gc.simulate(system(Rooted), 0.05, **asked(kw))
    event, = run.events
    k = int(np.searchsorted(run.t, event.t))
    assert run["D", "x"][k] == pytest.approx(0.51, abs=1e-9)
    assert run["D", "m"][-1] == 1.0


def test_a_guard_that_is_no_number_at_all_is_an_error() -> None:
    with pytest.raises(EventError, match=r"the guard of D\.falls is not a number .* is t = 0 s"):
        gc.simulate(system(Rooted, z=2.0), 0.05)
