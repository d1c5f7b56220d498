"""A trace gives the numbers that the device's functions give, and what the framework adds around them."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from gridcore.contract import (
    Algebraic,
    Bus,
    Device,
    Input,
    Load,
    Mode,
    Param,
    Reference,
    Setpoint,
    Shape,
    Source,
    State,
    guard,
    quantity,
    timer,
)
from gridcore.equations import Trace, numpy_on_symbols
from gridcore.errors import DeviceError

BUS = Shape(Bus)


def evaluate(trace, expression, **values):
    """An expression of a trace at the given numbers: ``bus_Vr`` is Vr of the port bus, what is not given is 1."""
    at = [values.get("_".join((*path, name)), 1.0) for path, name in trace.symbols]
    return float(ca.Function("f", list(trace.symbols.values()), [ca.SX(expression)])(*at))


def row(trace, target, **values):
    return evaluate(trace, dict(trace.rows)[target], **values)


class Everything(Source):
    """One of each."""

    T = Param("s", 0.5)
    low, high = Param("", -1.0), Param("", 2.0)
    wait = Param("s", 0.1)
    at = Param("s", 1.0)
    E = Setpoint("pu", equals=lambda s, bus: bus.Vm)
    u = Input("", 0.5)
    x = State("", T="T", limits=("low", "high"))
    z = State("")
    y = Algebraic("")
    on = Mode(0)

    def rates(s, bus):
        return s.u - s.x * s.y, bus.Vm * s.time

    def residuals(s):
        return s.y - s.x_rate

    def currents(s, bus):
        return s.x * bus.Vr, s.x * bus.Vi

    @guard("up", when={"on": 0}, then={"on": 1, "x": lambda s: -s.x}, delay="wait", cancel=lambda s: s.z - 3)
    def rises(s):
        return s.y - 7

    ticks = timer("at", then={"on": 0})

    @quantity("", "double")
    def double(s):
        return 2 * s.x


@pytest.fixture(scope="module")
def trace():
    return Trace(Shape(Everything, (("bus", BUS),)))


NORMAL = {"status": 1, "x_limit": 0, "T": 0.5, "low": -1, "high": 2}


def test_a_rate_is_divided_by_its_time_constant(trace):
    assert row(trace, ((), "x"), **NORMAL, u=5, x=2, y=1) == (5 - 2) / 0.5


def test_without_a_time_constant_the_row_is_the_rate_itself(trace):
    assert row(trace, ((), "x"), **{**NORMAL, "T": 0}, u=5, x=2, y=1) == 3


@pytest.mark.parametrize(("mode", "limit"), [(1, 2.0), (-1, -1.0)])
def test_at_a_limit_the_row_says_that_the_state_is_the_limit(trace, mode, limit):
    assert row(trace, ((), "x"), **{**NORMAL, "x_limit": mode}, x=1.25, u=5, y=1) == 1.25 - limit


def test_out_of_service_rates_are_zero_and_currents_too(trace):
    out = {**NORMAL, "status": 0}
    assert row(trace, ((), "x"), **out, u=5) == 0
    assert row(trace, ((), "z"), **out, time=3) == 0
    assert row(trace, (("bus",), "Vr"), **out) == 0


def test_the_rate_before_the_limit_can_be_read_under_its_own_name(trace):
    assert row(trace, ((), "y"), y=4, u=5, x=2) == 4 - (5 - 2 * 4)


def test_currents_are_converted_from_the_rating_to_the_system_base(trace):
    assert row(trace, (("bus",), "Vr"), **NORMAL, x=3, bus_Vr=0.5, Sn=250, base_mva=100) == 3 * 0.5 * 2.5
    assert row(trace, (("bus",), "Vi"), **NORMAL, x=3, bus_Vi=0.2, Sn=250, base_mva=100) == pytest.approx(3 * 0.2 * 2.5)


def test_quantities_of_ports_are_inlined(trace):
    assert row(trace, ((), "z"), **NORMAL, bus_Vr=3, bus_Vi=4, time=2) == pytest.approx(10)
    assert (("bus",), "Vm") not in trace.symbols


def test_guards_come_with_their_cancellation_and_those_of_limits(trace):
    names = [name for name, _ in trace.guards]
    assert names == ["rises", "rises:cancel", "x_at_high", "x_off_high", "x_at_low", "x_off_low"]
    values = {name: evaluate(trace, e, y=10, z=5, x=3, u=5, low=-1, high=2) for name, e in trace.guards}
    assert values == {"rises": 3, "rises:cancel": 2, "x_at_high": 1, "x_at_low": 4, "x_off_high": 5 - 30,
                      "x_off_low": 5 - 30}


def test_actions_are_evaluated_from_the_values_before(trace):
    actions = trace.actions("rises")
    assert [target for target, _ in actions] == [((), "on"), ((), "x")]
    assert [evaluate(trace, value, x=3) for _, value in actions] == [1, -3]
    assert [(target, evaluate(trace, value)) for target, value in trace.actions("ticks")] == [(((), "on"), 0)]


def test_setpoints_that_equal_something_and_the_schedule(trace):
    ((name, expression),) = trace.setpoints
    assert name == "E"
    assert evaluate(trace, expression, E=2, bus_Vr=0.6, bus_Vi=0.8) == pytest.approx(1)
    P, Q = trace.scheduled
    assert evaluate(trace, P, status=1, P0=3) == 3
    assert evaluate(trace, Q, status=0, Q0=3) == 0


def test_anything_can_be_asked_for_by_name(trace):
    assert evaluate(trace, trace.quantity("double"), x=3) == 6
    assert evaluate(trace, trace.quantity("u"), u=3) == 3
    assert evaluate(trace, trace.quantity("on"), on=1) == 1
    assert evaluate(trace, trace.expression(lambda s, bus: bus.V2 + s.x), bus_Vr=1, bus_Vi=2, x=3) == 8
    with pytest.raises(DeviceError, match="Everything has no 'dubble'; did you mean double"):
        trace.quantity("dubble")


def test_symbols_know_what_they_are(trace):
    kinds = {".".join((*path, name)): trace.kind((path, name)) for path, name in trace.symbols}
    assert kinds["x"] == kinds["bus.Vr"] == "x"
    assert kinds["u"] == "u"
    assert kinds["T"] == kinds["E"] == kinds["base_mva"] == "p"
    assert kinds["on" if "on" in kinds else "status"] == kinds["x_limit"] == "m"
    assert kinds["time"] == "t"


# ---------------------------------------------------------------- ports


class Follower(Device):
    """Hangs on a source, and sees its bus."""

    attaches = "machine"
    v = State("", drives="machine.u")

    def rates(s, machine, bus):
        return machine.double - bus.Vm - s.v


def test_what_hangs_on_a_device_sees_the_ports_of_that_device():
    trace = Trace(Shape(Follower, (("machine", Shape(Everything, (("bus", BUS),))),)))
    assert row(trace, ((), "v"), status=1, machine_x=5, machine_bus_Vr=3, machine_bus_Vi=4, v=1) == pytest.approx(4)
    assert trace.resolve("bus.Vr") == (("machine", "bus"), "Vr")
    assert trace.resolve("machine.on") == (("machine",), "on")


def test_a_reference_is_read_like_a_parameter():
    class Reader(Device):
        number = Reference()
        y = Algebraic("")

        def residuals(s):
            return s.y - 2 * s.number

    trace = Trace(Shape(Reader))
    assert row(trace, ((), "y"), y=10, number=3) == 4
    assert trace.kind(((), "number")) == "u"


# ---------------------------------------------------------------- numpy on symbols


FUNCTIONS = {
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "arctan": np.arctan, "exp": np.exp, "sinh": np.sinh, "tanh": np.tanh,
    "abs": abs, "square": np.square, "sign": np.sign,
    "sqrt": lambda x: np.sqrt(1 + x * x), "log": lambda x: np.log(1 + x * x), "arcsin": lambda x: np.arcsin(x / 3),
    "arccos": lambda x: np.arccos(x / 3), "power": lambda x: (1 + x * x) ** 1.7, "cube": lambda x: x**3,
    "minimum": lambda x: np.minimum(x, 0.3), "maximum": lambda x: np.maximum(x, 0.3),
    "arctan2": lambda x: np.arctan2(x, 1 - x), "hypot": lambda x: np.hypot(x, 2.0),
    "where": lambda x: np.where(x > 0, x, -2 * x), "and": lambda x: np.where(np.logical_and(x > -1, x < 1), x, 5.0),
    "or": lambda x: np.where(np.logical_or(x < -1, x > 1), x, 5.0),
    "not": lambda x: np.where(np.logical_not(x > 0), x, 5.0),
    "guarded": lambda x: np.where(x > 0, np.log(np.where(x > 0, x, 1.0)), 0.0),
    "unguarded": lambda x: np.where(x > 0, np.log(x), 0.0),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_numpy_functions_mean_the_same_on_symbols(name):
    function = FUNCTIONS[name]
    x = ca.SX.sym("x")
    with numpy_on_symbols():
        expression = ca.SX(function(x))
    traced = ca.Function("f", [x], [expression, ca.jacobian(expression, x)])
    for value in (-2.2, -0.7, 0.2, 0.9, 1.8):
        with np.errstate(all="ignore"):
            assert float(traced(value)[0]) == pytest.approx(float(function(np.float64(value))), rel=1e-14, abs=1e-14)
        assert np.isfinite(float(traced(value)[1]))  # the branch not taken does not matter, in the derivative either


def test_the_session_keeps_its_own_numpy_mode():
    before = ca.GlobalOptions.getNumpyMode()
    Trace(Shape(Everything, (("bus", BUS),)))
    with pytest.raises(RuntimeError), numpy_on_symbols():
        raise RuntimeError
    assert ca.GlobalOptions.getNumpyMode() == before


# ---------------------------------------------------------------- what authors get wrong


def traced(name, base=Device, ports=(), **members):
    return Trace(Shape(type(name, (base,), {"attaches": tuple(p for p, _ in ports), **members}), ports))


def test_branching_on_a_state_is_named_and_the_way_out_shown():
    with pytest.raises(DeviceError, match=r"^Bad: .*no Python `if`.*use np\.where"):
        traced("Bad", x=State(""), rates=lambda s: 1.0 if s.x > 0 else 0.0)


@pytest.mark.parametrize("values", [(), (1.0,), (1.0, 2.0, 3.0)])
def test_a_wrong_number_of_rates_is_named(values):
    with pytest.raises(DeviceError, match=rf"Bad\.rates\(\) returns {len(values)} values for 2 declared: x, w"):
        traced("Bad", x=State(""), w=State(""), rates=lambda s: values)


def test_missing_functions_are_named():
    with pytest.raises(DeviceError, match=r"Bad declares x but has no function rates\(\)"):
        traced("Bad", x=State(""))
    with pytest.raises(DeviceError, match=r"Bad declares y but has no function residuals\(\)"):
        traced("Bad", y=Algebraic(""))


def test_names_and_ports_that_are_not_there_are_named():
    with pytest.raises(DeviceError, match="Bad has no 'omga'; did you mean omega"):
        traced("Bad", omega=State(""), rates=lambda s: s.omga)
    with pytest.raises(DeviceError, match="Bus has no 'Vmm'; did you mean"):
        traced("Bad", ports=(("bus", BUS),), x=State(""), rates=lambda s, bus: bus.Vmm)
    with pytest.raises(DeviceError, match="asks for port 'machine'; there are: bus"):
        traced("Bad", ports=(("bus", BUS),), x=State(""), rates=lambda s, machine: machine.x)


def test_currents_of_the_wrong_shape_are_named():
    for currents in (lambda s, bus: 1.0, lambda s, bus: (1.0, 2.0, 3.0), lambda s, bus: ((1.0, 2.0), (3.0, 4.0))):
        with pytest.raises(DeviceError, match=r"Bad\.currents\(\) must return \(re, im\) for each of bus"):
            traced("Bad", Load, (("bus", BUS),), currents=currents)


def test_an_action_on_what_is_not_there_is_named():
    trace = traced("Bad", ports=(("bus", BUS),), x=State(""), rates=lambda s: -s.x,
                   g=guard("up", then={"bus.colour": 1})(lambda s: s.x))
    with pytest.raises(DeviceError, match=r"g: 'bus\.colour' is not a mode, parameter, input or state"):
        trace.actions("g")
    trace = traced("Bad", x=State(""), rates=lambda s: -s.x, g=guard("up", then={"machine.x": 1})(lambda s: s.x))
    with pytest.raises(DeviceError, match=r"'machine\.x': no port 'machine'"):
        trace.actions("g")


@pytest.mark.parametrize("value", [lambda s: 2 * s.x, lambda s: s.a, lambda s: s.time, lambda s: s.m + s.x])
def test_a_mode_is_not_set_to_what_varies_for_its_derivative_would_be_lost(value):
    trace = traced("Bad", a=Param(""), m=Mode(0), x=State(""), rates=lambda s: s.m - s.x,
                   g=guard("up", then={"m": value})(lambda s: s.x))
    with pytest.raises(DeviceError, match=r"Bad: g: the mode 'm' is set to .* modes have no derivatives: "):
        trace.actions("g")


def test_a_mode_is_set_to_numbers_to_other_modes_and_to_what_jumps():
    then = {"m": lambda s: s.m + 1, "other": lambda s: np.where(s.x > s.a, 2, 0.5), "third": 3}
    trace = traced("Good", a=Param(""), m=Mode(0), other=Mode(0), third=Mode(0), x=State(""),
                   rates=lambda s: s.m - s.x, g=guard("up", then=then)(lambda s: s.x))
    assert [target for (_, target), _ in trace.actions("g")] == ["m", "other", "third"]
