"""A system with other parameter values is the one that would be built from the changed case."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gridcore as gc

SYSTEM = gc.build("wscc9")
# not the parts of a load, whose sum is one, nor a time that is another event's
GIVEN = sorted(f"{i.id}.{name}" for i in SYSTEM.instances for name, value in i.values.items()
               if np.isfinite(value) and value != 0 and i.model != "ZIP" and name not in i.words)


def rebuilt(values, **options):
    case = gc.load_case("wscc9")
    for address, value in values.items():
        case.set(address, value)
    return gc.build(case, **options)


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(st.sampled_from(GIVEN), st.floats(0.98, 1.02), min_size=1, max_size=3))
def test_other_values_give_what_building_gives_to_the_last_bit(factors):
    values = {address: factor * SYSTEM.Z0[SYSTEM.layout.address(address)] for address, factor in factors.items()}
    changed, built = SYSTEM.with_values(values), rebuilt(values)
    assert changed.Z0.tobytes() == built.Z0.tobytes()
    run, expected = (gc.simulate(s, t_end=0.2, step=0.02) for s in (changed, built))
    assert run.X.tobytes() == expected.X.tobytes()


def test_a_run_stays_as_it_was_when_its_system_gets_other_values():
    run = gc.simulate(SYSTEM, t_end=0.3)
    apart = gc.Terminal(lambda v: v["GEN2", "delta"] - v["GEN1", "delta"])
    gradient = gc.adjoint(run, apart, wrt=["GEN*.H", "GEN2.P0", "fault.clear"]).values
    Z0 = SYSTEM.Z0.copy()
    other = SYSTEM.with_values({"GEN2.H": 4, "GEN2.P0": 1.2, "LINE7-8.x": 0.1})
    gc.adjoint(gc.simulate(other, t_end=0.3), apart, wrt="GEN*.H")
    assert SYSTEM.Z0.tobytes() == Z0.tobytes()
    assert np.array_equal(gc.adjoint(run, apart, wrt=["GEN*.H", "GEN2.P0", "fault.clear"]).values, gradient)


def test_gradients_of_a_system_with_other_values_are_its_own():
    values = {"GEN2.P0": 1.5, "GEN3.H": 4}
    apart = gc.Terminal(lambda v: v["GEN2", "delta"] - v["GEN1", "delta"])
    gc.adjoint(gc.simulate(SYSTEM, t_end=0.3), apart, wrt="GEN*.H")  # what it keeps is not for the other system
    mine, expected = (gc.adjoint(gc.simulate(s, t_end=0.3), apart, wrt=["GEN*.H", "GEN2.P0", "fault.clear"]).values
                      for s in (SYSTEM.with_values(values), rebuilt(values)))
    assert np.array_equal(mine, expected)


def test_where_only_times_change_the_operating_point_stands():
    changed = SYSTEM.with_values({"fault.clear": "180 ms"})
    assert changed.operating_point is SYSTEM.operating_point
    assert changed.Z0.tobytes() == rebuilt({"fault.clear": 0.18}).Z0.tobytes()


def test_a_time_constant_may_become_zero_and_come_back():
    assert SYSTEM.with_values({"EXC1.TA": 0}).base_differential.sum() == SYSTEM.base_differential.sum() - 1
    back = SYSTEM.with_values({"EXC1.TA": 0}).with_values({"EXC1.TA": 0.2})
    assert back.Z0.tobytes() == SYSTEM.Z0.tobytes()
    assert back.zero_time_constants == SYSTEM.zero_time_constants


def test_reactive_limits_are_kept_as_when_it_was_built():
    limits = {"GEN2.Qmax": 0.05}
    system = rebuilt(limits, enforce_q_limits=True)
    changed = system.with_values({"GEN2.Qmax": 0.04})
    assert changed.Z0.tobytes() == rebuilt({"GEN2.Qmax": 0.04}, enforce_q_limits=True).Z0.tobytes()
    assert changed.Z0.tobytes() != SYSTEM.with_values({"GEN2.Qmax": 0.04}).Z0.tobytes()


@pytest.mark.parametrize(("values", "said"), [
    ({"GEN2.h": 3}, "GEN2 (TwoAxis) has no parameter 'h' that a case gives; did you mean H?"),
    ({"GEM2.H": 3}, "no device 'GEM2'; did you mean GEN2"),
    ({"EXC1.Vref": 1}, "EXC1 (IEEEType1) has no parameter 'Vref' that a case gives"),
    ({"GEN2.control": "PQ"}, "GEN2 (TwoAxis) has no parameter 'control' that a case gives"),
    ({"GEN2.H": -3}, "field 'H': -3 must be greater than 0"),
    ({"fault.clear": "3 MW"}, "field 'clear'")])
def test_what_is_no_parameter_or_no_value_of_it_is_refused(values, said):
    before = SYSTEM.Z0.tobytes()
    with pytest.raises(gc.errors.CaseError) as error:
        SYSTEM.with_values(values)
    assert said in str(error.value)
    assert SYSTEM.Z0.tobytes() == before


def test_a_text_follows_the_voltage_of_what_it_hangs_on():
    case = gc.load_case("wscc9")
    case.set("LINE7-8.x", "38 ohm")
    changed = gc.build(case).with_values({"BUS7.kv": 200.0})
    case.set("BUS7.kv", 200.0)
    assert changed.Z0.tobytes() == gc.build(case).Z0.tobytes() != SYSTEM.Z0.tobytes()


def test_a_gradient_does_not_remember_which_states_were_algebraic_before():
    """A time constant from zero to positive, and the same gradient before: the same as of a system built that way."""
    def gradient(system, *wrt):
        end = gc.Terminal(lambda v: v["GEN2", "omega"])
        return gc.adjoint(gc.simulate(system, 0.3, 0.01), end, ["EXC1.KA", *wrt]).values

    algebraic = SYSTEM.with_values({"EXC1.TA": 0})
    before = gradient(algebraic)
    back, built = algebraic.with_values({"EXC1.TA": 0.2}), rebuilt({"EXC1.TA": 0.2})
    for wrt in ((), ("EXC1.TA", "fault.clear")):
        np.testing.assert_array_equal(gradient(back, *wrt), gradient(built, *wrt))
    assert (gradient(back) != before).all()
