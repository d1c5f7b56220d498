"""Devices that are broken in one way each: the doctor finds it, and says it in words."""

from __future__ import annotations

import numpy as np
import pytest

from gridcore.case.units import TABLE
from gridcore.contract import (
    Algebraic,
    Device,
    Input,
    Load,
    Mode,
    Param,
    Setpoint,
    Source,
    State,
    guard,
    quantity,
    timer,
)
from gridcore.errors import PluginError
from gridcore.registry import registries as plugins
from gridcore.testing import device_checks
from gridcore_conformance.complex_step import derivative_of, perturbed
from gridcore_devices import TwoAxis


def found(cls, words, others=0):
    """The doctor finds these words, and at most so many other problems."""
    report = device_checks.report(cls)
    assert not report.ok
    assert any(words in line for line in report.problems), str(report)
    assert len(report.problems) <= 1 + others, str(report)
    assert f"wrong: {report.problems[0]}" in str(report)
    return report


class Healthy(Load):
    """A load that follows the voltage with a lag. Somebody (1999), eq. 1."""

    T = Param("s", 0.5, gt=0, doc="lag")
    V = State("pu", init=1.0, T="T", doc="voltage, measured")
    V0 = Setpoint("pu", init=1.0, equals=lambda s, bus: bus.Vm, doc="voltage at t0")
    low = Mode(0, doc="1 below 0.5")

    def rates(s, bus):
        return bus.Vm - s.V

    def currents(s, bus):
        P, Q = s.k * s.P0 * np.where(s.low == 1, 0.5, s.V / s.V0), s.k * s.Q0
        return -(P * bus.Vr + Q * bus.Vi) / bus.V2, -(P * bus.Vi - Q * bus.Vr) / bus.V2

    @guard("down", when={"low": 0}, then={"low": 1})
    def falls(s):
        """Low voltage."""
        return s.V - 0.5

    def start(s, bus):
        return {"V": bus.Vm}


def test_a_healthy_device_is_well_and_the_report_says_what_was_checked():
    report = device_checks.report(Healthy)
    assert report.ok, str(report)
    for word in ("documented", "events", "pure", "derivatives", "compiled", "set-points", "at rest", "instances"):
        assert any(word in line for line in report.passed), word
    assert str(report).startswith("Healthy: well\n")
    assert "Healthy" not in plugins.devices  # it was examined, not registered


@pytest.mark.parametrize("name", list(plugins.devices))
def test_every_registered_device_is_well(name):
    report = device_checks.report(plugins.devices[name])
    assert report.ok, str(report)


@pytest.mark.parametrize("seed", range(1, 4))
def test_the_findings_do_not_hang_on_the_random_points(seed):
    assert device_checks.report(TwoAxis, seed).ok
    assert device_checks.report(Healthy, seed).ok


# ---------------------------------------------------------------- equations


def test_python_branching_on_a_state():
    class Branches(Healthy):
        def rates(s, bus):
            return bus.Vm - s.V if s.V > 0.5 else 0.0

    found(Branches, "no Python `if`, `and`, `or`, `min` or `max` on states or parameters: use np.where")


def test_wrong_number_of_rates():
    class OneTooMany(Healthy):
        def rates(s, bus):
            return bus.Vm - s.V, 0.0

    found(OneTooMany, "OneTooMany.rates() returns 2 values for 1 declared: V")


def test_wrong_shape_of_currents():
    class OneNumber(Healthy):
        def currents(s, bus):
            return s.P0 * bus.Vm

    found(OneNumber, "OneNumber.currents() must return (re, im) for each of bus")


def test_a_guard_that_returns_two_values():
    class TwoValues(Healthy):
        @guard("up", then={"low": 0})
        def rises(s):
            """Rises."""
            return s.V - 0.5, s.V - 0.6

    report = device_checks.report(TwoValues)
    assert not report.ok
    assert "guard" in report.problems[0] or "traced" in report.problems[0]


def test_a_misspelt_name():
    class Misspelt(Healthy):
        def rates(s, bus):
            return bus.Vm - s.V + s.Tx

    report = device_checks.report(Misspelt)
    assert "Misspelt has no 'Tx'; did you mean" in report.problems[0]


def test_a_port_that_is_not_there():
    class Lost(Healthy):
        def rates(s, machine):
            return machine.omega - 1

    found(Lost, "asks for port 'machine'")


def test_a_function_that_treats_symbols_and_numbers_differently():
    class TwoFaced(Healthy):
        def rates(s, bus):
            return bus.Vm - (s.V if isinstance(s.V, np.ndarray) else 1.1 * s.V)

    found(TwoFaced, "rate of V is", others=2)


def test_an_equation_that_stands_with_its_variable_is_examined():
    class TwoFaced(Healthy):
        V = State("pu", init=1.0, T="T", doc="voltage, measured",
                  rate=lambda s, bus: bus.Vm - (s.V if isinstance(s.V, np.ndarray) else 1.1 * s.V))
        rates = None

    found(TwoFaced, "rate of V is", others=2)


def test_a_derivative_that_does_not_belong_to_the_function():
    """Detached from its argument when it is traced: right value, wrong derivative."""

    class Detached(Healthy):
        def rates(s, bus):
            frozen = s.V if isinstance(s.V, np.ndarray) else s.V + np.where(np.abs(s.V) < 1e9, 0.0, 1.0) * s.V
            return bus.Vm - frozen

    assert device_checks.report(Detached).ok  # that one is the same function, written twice

    class Wrong(Healthy):
        def rates(s, bus):
            number = isinstance(s.V, np.ndarray)
            return bus.Vm - (s.V if number else s.V + 1e-13 * np.sin(1e9 * s.V))

    report = found(Wrong, "the derivative of rate of V in V is", others=1)
    assert any("by the complex step of the function" in line for line in report.problems)


def test_a_function_that_keeps_count():
    calls = []

    class Counting(Healthy):
        def rates(s, bus):
            calls.append(1)
            return bus.Vm - s.V + 1e-3 * len(calls)

    found(Counting, "rate of V is not the same when it is computed twice", others=3)


def test_a_function_that_throws_dice():
    class Random(Healthy):
        @quantity("pu", "noise")
        def noise(s):
            return s.V * np.random.default_rng().normal()

    found(Random, "quantity noise is not the same when it is computed twice", others=2)


def test_an_expression_that_is_never_a_number():
    class Nowhere(Healthy):
        @quantity("pu", "root of a negative number")
        def root(s):
            return np.sqrt(-1 - s.V * s.V)

    found(Nowhere, "quantity root is no number at any of 8 random points")


def test_functions_that_numpy_does_not_extend_to_complex_numbers_are_checked_all_the_same():
    class Awkward(Healthy):
        @quantity("pu", "all of them")
        def awkward(s, bus):
            return (np.hypot(bus.Vr, bus.Vi) + np.arctan2(bus.Vi, bus.Vr) + abs(s.V) + np.minimum(s.V, 0.3) ** 3
                    + np.maximum(bus.Vi, -0.1) ** 2 + np.sign(bus.Vi) * s.V + np.fabs(bus.Vi))

    report = device_checks.report(Awkward)
    assert report.ok, str(report)


# ---------------------------------------------------------------- declarations


def test_missing_docs():
    class Silent(Healthy):
        gain = Param("pu", 1.0)
        x = Algebraic("pu")
        on = Mode(0)

        def residuals(s):
            return s.x - s.gain

        @guard("up", then={"on": 1})
        def rises(s):
            return s.x - 2

    report = device_checks.report(Silent)
    assert [line.split(" has no doc")[0] for line in report.problems] == [
        "documented: parameter gain", "documented: algebraic x", "documented: mode on", "documented: guard rises"]


def test_no_docstring_and_no_source():
    class Unfounded(Healthy):
        """A load."""

    Anonymous = type("Anonymous", (Device,), {"k": Param("pu", 1.0, doc="gain")})
    Lag = type("Lag", (Device,), {"__doc__": "A lag.", "x": State("pu", doc="state"), "rates": lambda s: -s.x})
    found(Lag, "names no source: give the book, paper or standard")
    found(Anonymous, "the class has no docstring")
    assert device_checks.report(Unfounded).ok  # its base says where the equations are from


def test_a_unit_that_is_none_and_a_time_without_one():
    class Units(Healthy):
        wait = Param("", 0.1, doc="a time")
        odd = Param("§§", 0.1, doc="something")

        @guard("up", then={"low": 0}, delay="wait")
        def recovers(s):
            """Recovers."""
            return s.V - 0.6

    report = device_checks.report(Units)
    assert len(report.problems) == 2
    assert "documented: parameter wait is a time and has no unit: declare it in s" in report.problems
    assert any("unit '§§'" in line for line in report.problems)
    assert "s" in TABLE


def test_targets_and_conditions_that_are_not_there():
    class Nobody(Healthy):
        @guard("up", when={"bus.closed": 1}, then={"low": 0})
        def closes(s):
            """Closes."""
            return s.V - 0.6

        at = Param("s", 1.0, doc="when")
        sets = timer("at", then={"bus.colour": 1}, doc="sets")

    report = device_checks.report(Nobody)
    assert any("'bus.closed', which is no mode" in line for line in report.problems), str(report)
    assert any("'bus.colour' is not a mode, parameter, input or state" in line for line in report.problems), str(report)


# ---------------------------------------------------------------- initialisation


class Stiff(Source):
    """A voltage behind a reactance, with a lag. Somebody (1999), eq. 2."""

    X = Param("pu", 0.2, gt=0, doc="reactance")
    E = Setpoint("pu", init=1.0, doc="voltage")
    angle = Setpoint("rad", doc="its angle")
    e = State("pu", init=1.0, doc="voltage, lagged")

    def rates(s):
        return s.E - s.e

    def currents(s, bus):
        return (s.e * np.sin(s.angle) - bus.Vi) / s.X, (bus.Vr - s.e * np.cos(s.angle)) / s.X


def test_a_source_with_two_set_points_is_well():
    report = device_checks.report(Stiff)
    assert report.ok, str(report)


def test_set_points_too_many():
    class TooMany(Stiff):
        Efd, Pm = Input("pu", doc="field voltage"), Input("pu", doc="power")

        def rates(s):
            return s.E + s.Efd + s.Pm - s.e

    found(TooMany, "2 set-points too many: it has 4 (E, angle, Efd, Pm) to be found, by active and reactive power")


def test_set_points_too_few():
    class TooFew(Stiff):
        angle = Param("rad", 0.1, doc="its angle")

    found(TooFew, "1 set-points too few: it has 1 (E) to be found, by active and reactive power")


def test_a_load_whose_set_point_nothing_determines():
    class Loose(Healthy):
        bias = Setpoint("pu", doc="something")

        def rates(s, bus):
            return bus.Vm - s.V + s.bias

    found(Loose, "1 set-points too many: it has 1 (bias) to be found, by nothing: it does not regulate")


def test_a_device_that_does_not_draw_what_it_schedules():
    class Greedy(Healthy):
        def currents(s, bus):
            re, im = Healthy.currents(s, bus)
            return 1.1 * re, im

    found(Greedy, "do not draw what they schedule")


def test_a_device_without_equilibrium():
    class Restless(Healthy):
        def rates(s, bus):
            return 1.0 + s.V * s.V

    found(Restless, "it does not initialise")


def test_an_exciter_counts_with_the_machine_it_hangs_on():
    class Exciter(Device):
        """A gain and a lag. Somebody (1999), eq. 3."""

        attaches = "machine"
        T = Param("s", 0.1, gt=0, doc="lag")
        Efd = State("pu", init=1.0, T="T", drives="machine.Efd", doc="field voltage")

    class Good(Exciter):
        Vref = Setpoint("pu", init=1.0, doc="reference")

        def rates(s, bus):
            return 10 * (s.Vref - bus.Vm) - s.Efd

    class Bad(Exciter):
        def rates(s, bus):
            return 10 * (1.1 - bus.Vm) - s.Efd

    assert device_checks.report(Good).ok, str(device_checks.report(Good))
    found(Bad, "1 set-points too few: it has 1 (machine.Pm) to be found")


def test_an_input_that_no_device_has():
    class Odd(Device):
        """A lag. Somebody (1999), eq. 4."""

        attaches = "engine"
        fuel = State("pu", drives="engine.throttle", doc="fuel")

        def rates(s):
            return -s.fuel

    found(Odd, "no registered device has the inputs that it drives: engine: throttle")


def test_start_that_mixes_instances_or_names_what_is_not_there():
    class Mixes(Healthy):
        def start(s, bus):
            return {"V": bus.Vm[0]}

    class Names(Healthy):
        def start(s, bus):
            return {"Vmeas": bus.Vm}

    class Fails(Healthy):
        def start(s, bus):
            return {"V": np.sqrt(bus.Vm, "x")}

    found(Mixes, "start() gives V of one instance from the data of another")
    found(Names, "start() gives Vmeas: not a state, algebraic, set-point or input")
    found(Fails, "start: TypeError: ")


# ---------------------------------------------------------------- each check by its name


@device_checks(Healthy)
def test_a_healthy_device_conforms(check):
    check()


def _undocumented():
    return {"gain": Param("pu", 1.0)}


def _branches():
    return {"rates": lambda s, bus: bus.Vm - s.V if s.V > 0.5 else 0.0}


def _for_symbols():
    return {"rates": lambda s, bus: bus.Vm - s.V + s.V.is_constant()}


def _detached():
    return {"noise": quantity("pu", "noise")(
        lambda s: s.V if isinstance(s.V, np.ndarray) else s.V + 1e-13 * np.sin(1e6 * s.V))}


def _nowhere():
    return {"root": quantity("pu", "root")(lambda s: np.sqrt(-1 - s.V * s.V))}


def _sets_nobody():
    return {"at": Param("s", 1.0, doc="when"), "sets": timer("at", then={"bus.colour": 1}, doc="sets")}


def _mixes():
    return {"start": lambda s, bus: {"V": bus.Vm[0]}}


def _loose():
    return {"bias": Setpoint("pu", doc="something"), "rates": lambda s, bus: bus.Vm - s.V + s.bias}


def _restless():
    return {"rates": lambda s, bus: 1.0 + s.V * s.V}


def _doubtful():
    return {"plausible": {"T": (5.0, 6.0), "V0": (5.0, 6.0)}}


@pytest.mark.filterwarnings("ignore::gridcore.errors.DataWarning")
@pytest.mark.parametrize(("failing", "made"), [
    ("documented", _undocumented), ("traced", _branches), ("called", _for_symbols), ("pure", _nowhere),
    ("derivatives", _detached), ("events", _sets_nobody), ("start", _mixes), ("set-points", _loose),
    ("at rest", _restless), ("plausible", _doubtful)])
def test_what_is_wrong_fails_the_check_of_that_name(failing, made):
    report = device_checks.report(type("Broken", (Healthy,), made()))
    assert {words.partition(":")[0] for words in report.problems} == {failing}, str(report)


# ---------------------------------------------------------------- the complex step


@pytest.mark.parametrize(("f", "slope"), [
    (lambda x: np.hypot(x, 2.0), lambda x: x / np.hypot(x, 2.0)),
    (lambda x: np.arctan2(x, -2.0), lambda x: -2.0 / (x * x + 4)),
    (lambda x: np.arctan2(1.5, x), lambda x: -1.5 / (x * x + 2.25)),
    (np.abs, np.sign),
    (np.fabs, np.sign),
    (lambda x: x**3, lambda x: 3 * x**2),
    (lambda x: x**2, lambda x: 2 * x),
    (lambda x: np.abs(x) ** 1.7, lambda x: 1.7 * np.abs(x) ** 0.7 * np.sign(x)),
    (lambda x: 2.0**x, lambda x: 2.0**x * np.log(2)),
    (lambda x: np.maximum(x, 0.25) * x, lambda x: np.where(x > 0.25, 2 * x, 0.25)),
    (lambda x: np.where(x < 0, np.exp(x), np.sin(x)), lambda x: np.where(x < 0, np.exp(x), np.cos(x))),
    (lambda x: np.where(np.logical_and(x > -1, x < 1), x * x, 7.0), lambda x: np.where(np.abs(x) < 1, 2 * x, 0.0)),
], ids=lambda f: None)
def test_the_complex_step_of_real_functions(f, slope):
    x = np.array([-1.7, -0.4, 0.3, 1.2])
    z = f(perturbed(x, 1.0))
    np.testing.assert_array_equal(np.real(np.asarray(z)), f(x))
    np.testing.assert_allclose(derivative_of(z), slope(x), rtol=1e-14)


@pytest.mark.parametrize("given", [3, object, None])
def test_what_is_no_device_class_is_refused_in_words(given):
    with pytest.raises(PluginError, match=r"is not a class that is derived from gridcore\.Device$"):
        device_checks.report(given)
