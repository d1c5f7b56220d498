"""A system with other values of its parameters."""

import casadi as ca
import pytest

import gridcore as gc


@pytest.mark.parametrize(("case", "parameter"), [("wscc9", "GEN2.H"), ("kundur", "GEN1.H"), ("ieee39", "GEN31.H")])
def test_other_values_need_no_functions_but_those_that_the_first_needed(case, parameter, monkeypatch):
    system, made, make = gc.build(case), [], ca.Function
    monkeypatch.setattr(ca, "Function", lambda *arguments: made.append(arguments[0]) or make(*arguments))
    again = system.with_values({parameter: 7.0})
    assert not made
    assert again.Z0[system.layout.address(parameter)] == 7.0
