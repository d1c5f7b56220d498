"""A system with other values of its parameters."""

import casadi as ca
import pytest

import gridcore as gc
from gridcore.equilibrium import as_system


@pytest.mark.parametrize(("case", "parameter"), [("wscc9", "GEN2.H"), ("kundur", "GEN1.H"), ("ieee39", "GEN31.H")])
def test_other_values_need_no_functions_but_those_that_the_first_needed(case, parameter, monkeypatch):
    system, made, make = gc.build(case), [], ca.Function
    monkeypatch.setattr(ca, "Function", lambda *arguments: made.append(arguments[0]) or make(*arguments))
    again = system.with_values({parameter: 7.0})
    assert not made
    assert again.Z0[system.layout.address(parameter)] == 7.0


def test_values_are_given_by_pattern_and_pair_of_which_the_last_one_holds():
    system = gc.build("wscc9")
    by_name = system.with_values({"GEN1.H": 20.0, "GEN2.H": 6.5, "GEN3.H": 6.5})
    by_pattern = system.with_values({"GEN*.H": "6500 ms", ("GEN1", "H"): 20.0})
    assert (by_pattern.Z0 == by_name.Z0).all()
    with pytest.raises(gc.errors.CaseError, match=r"no parameter matches 'GEN\*\.h'; did you mean GEN"):
        system.with_values({"GEN*.h": 1.0})


def test_a_system_is_had_from_what_names_it():
    system = gc.build("wscc9")
    assert as_system(system) is system
    assert (as_system("wscc9").Z0 == as_system(gc.load_case("wscc9")).Z0).all()
