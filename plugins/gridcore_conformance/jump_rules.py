"""What any jump rule must show: how sensitivities cross the events of the integrators' problem."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gridcore.integrate import simulate
from gridcore.registry import JumpRule, registered
from gridcore.testing import Suite, require

from .integrators import DERIVED, STEP, T_END, Fading, against_differences, fading, transposed

_FINER = 4  # the step, to see that an error vanishes with it


@contextmanager
def _rule(rule: Any) -> Iterator[Any]:
    with registered(JumpRule("examined", rule), Fading):
        yield rule


jump_rule_checks = Suite(_rule)


@jump_rule_checks.add("transpose")
def _transposed(rule: Any) -> str:
    return transposed(simulate(fading(), T_END, STEP), rule.step, rule.step_transpose)


@jump_rule_checks.add("derivatives")
def _derived(rule: Any) -> str:
    """That of the program, where points move with their clocks; otherwise it tends to it as steps shrink."""
    error, words = against_differences(simulate(fading(), T_END, STEP), jumps="examined")
    if error <= DERIVED:
        return f"that of differences to {error:.0e}"
    require(not rule.moving, words)
    finer, _ = against_differences(simulate(fading(), T_END, STEP / _FINER), jumps="examined")
    require(finer <= error / 2, f"{words}, and not nearer at a step of {STEP / _FINER:g} s")
    return f"tends to that of differences: {error:.0e} from it, and {finer:.0e} at a {_FINER}th of the step"
