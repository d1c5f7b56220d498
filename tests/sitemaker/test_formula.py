"""LaTeX of equations says what the equations say."""

from __future__ import annotations

import numpy as np
import pytest
from sitemaker.formula import Leaf, Writer, call


def latex(function):
    value = call(function)
    return Writer([value])(value)


@pytest.mark.parametrize(("function", "expected"), [
    (lambda s: s.K * (s.a - s.b), r"\text{K} \, \left(\text{a} - \text{b}\right)"),
    (lambda s: s.a - (s.b - s.c), r"\text{a} - \left(\text{b} - \text{c}\right)"),
    (lambda s: -(s.a + s.b) / s.T, r"\frac{-\left(\text{a} + \text{b}\right)}{\text{T}}"),
    (lambda s, bus: np.sqrt(bus.Vm) ** 2, r"{\sqrt{\text{bus.Vm}}}^{2}"),
    (lambda s: 1e-6 * s.omega, r"10^{-6} \, \omega"),
    (lambda s: s.a - (-s.b) * s.c, r"\text{a} + \text{b} \, \text{c}"),
    (lambda s: s.a + -(s.b - s.c), r"\text{a} - \left(\text{b} - \text{c}\right)"),
    (lambda s: s.a - -1.1 * s.b, r"\text{a} - \left(-1.1 \, \text{b}\right)"),
    (lambda s: s.a * 1.0 + 0.0, r"\text{a}"),
    (lambda s: (s.a * s.b) ** 2, r"{\left(\text{a} \, \text{b}\right)}^{2}"),
    (lambda s: np.where(s.on, s.a, 0.0),
     r"\begin{cases} \text{a} & \text{if } \text{on} \ne 0 \\ 0 & \text{otherwise} \end{cases}")])
def test_parentheses_stand_where_they_change_the_meaning(function, expected):
    assert latex(function) == expected


def test_a_guard_against_division_by_zero_is_not_written_where_it_cannot_act():
    text = latex(lambda s: np.where(s.T != 0, s.K / np.where(s.T != 0, s.T, 1.0), 0.0))
    assert text.startswith(r"\begin{cases} \frac{\text{K}}{\text{T}} & \text{if } \text{T} \ne 0 \\ 0 &")


def test_what_is_shared_is_named_once_also_where_it_is_computed_twice():
    def each(s):
        return s.a * s.b + s.c * s.d

    s = Leaf()
    write = Writer([each(s) * s.x, each(s) * s.y])
    assert [name for name, _ in write.named] == ["a_{1}"]
    assert write(each(s) * s.x) == r"a_{1} \, \text{x}"


def test_a_decision_of_python_is_refused():
    with pytest.raises(TypeError, match="truth value"):
        call(lambda s: 1 if s.a > 0 else 0)
