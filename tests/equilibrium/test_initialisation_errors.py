"""What cannot be initialised says where, down to the bus, what happened on the way, and what to try."""

from __future__ import annotations

import re
import warnings

import pytest

import gridcore as gc
from gridcore.contract import Device, Param, State
from gridcore.errors import DataWarning, InitialisationError, PowerFlowError


def refusal(change: dict[str, float], case: str = "wscc9") -> str:
    made = gc.load_case(case)
    for address, value in change.items():
        made.set(address, value)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", DataWarning)
        with pytest.raises((InitialisationError, PowerFlowError)) as caught:
            gc.build(made)
    assert caught.value.place in str(caught.value)
    return str(caught.value)


def test_a_field_voltage_beyond_all_saturation_is_told_with_exciter_machine_and_bus() -> None:
    told = refusal({"GEN2.Xd": 100.0})
    assert re.fullmatch(r"initialisation: the equations are (singular|not finite) at EXC2\.VR \(GEN2, BUS2\); its "
                        r"data, or the first guesses of its `start`, do not fit the operating point "
                        r"\(farthest of all went EXC2\.VR, to \d\.\d+e\+\d\d\)", told)


def test_a_saturation_that_overflows_is_told_as_not_finite() -> None:
    told = refusal({"EXC2.Bx": 500.0})
    assert told.startswith("initialisation: the equations are not finite at EXC2.VR (GEN2, BUS2); ")
    assert told.endswith("(farthest of all went EXC2.VR, to inf)")


def test_an_impedance_lost_in_round_off_is_told_with_its_bus_and_what_is_there() -> None:
    assert re.fullmatch(r"devices do not draw what they schedule, but \S+ pu more at BUS1\.Vr "
                        r"\(TRANSFORMER1-2, GEN1\): is an impedance there as good as zero\?",
                        refusal({"GEN1.Xdp": 1e-12}, "smib"))


def test_a_first_guess_of_no_voltage_is_told_with_what_to_try_and_without_words_of_numpy() -> None:
    assert refusal({"BUS5.Vm0": 0.0}) == (
        "the equations of the power flow are singular at BUS5; there may be a solution with less power there, or from "
        "other Vm0 and Va0")


class Lagging(Device):
    attaches = ("bus",)
    T = Param("s", 0.0, doc="its time constant, as a divisor")
    x = State("pu", doc="what follows the voltage")

    def rates(s, bus):
        return (bus.Vm - s.x) / s.T


class Restless(Lagging):
    def rates(s, bus):
        return bus.Vm + s.x * s.x


@pytest.mark.parametrize(("cls", "what"), [
    (Lagging, "the equations are not finite"),  # its own equation, though the first column that has it is a voltage's
    (Restless, r"(the equations are singular|Newton's method does not converge, an equation is off by \d\.\d+)")])
def test_a_device_without_an_initial_state_is_named_with_its_bus(cls: type[Device], what: str) -> None:
    case = gc.load_case("wscc9")
    with gc.registered(cls):
        case.add(cls(id="D", bus=5))
        with pytest.raises(InitialisationError, match=rf"^initialisation: {what} at D\.x \(BUS5\); "):
            gc.build(case)
