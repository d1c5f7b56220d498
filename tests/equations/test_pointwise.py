"""Operations on whole arrays give what CasADi gives point by point."""

import casadi as ca
import numpy as np
import pytest

import gridcore as gc
from gridcore.equations import evaluate, function_of

x, y = ca.SX.sym("x"), ca.SX.sym("y")
UNARY = (ca.sqrt, ca.exp, ca.log, ca.sin, ca.cos, ca.tan, ca.asin, ca.acos, ca.atan, ca.sinh, ca.cosh, ca.tanh,
         ca.fabs, ca.sign, ca.floor, ca.ceil, lambda v: -v, lambda v: 1 / v, lambda v: v * v, lambda v: 2 * v,
         lambda v: ca.logic_not(v > 0.5), lambda v: v ** 1.5, ca.erf)
BINARY = (lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: a / b, lambda a, b: a ** b,
          ca.atan2, ca.fmin, ca.fmax, lambda a, b: a < b, lambda a, b: a <= b, lambda a, b: a == b,
          lambda a, b: a != b, lambda a, b: ca.logic_and(a > 0.5, b > 0.5), lambda a, b: ca.logic_or(a > 0.5, b > 0.5),
          lambda a, b: ca.if_else(a < b, a, 3.0), lambda a, b: (a < b) + (a < 2 * b))


@pytest.mark.parametrize("outputs", [*(f(x) for f in UNARY), *(f(x, y) for f in BINARY)], ids=str)
def test_every_operation_is_casadi_s(outputs):
    function = ca.Function("f", [ca.vertcat(x, y)], [outputs])
    points = np.random.default_rng(0).uniform(0.05, 0.95, (2, 50))
    points[1, ::5] = points[0, ::5]
    np.testing.assert_allclose(evaluate(function, points), function.map(50)(points).full(), rtol=1e-14, atol=1e-15)


def test_outputs_that_are_always_zero_are():
    function = ca.Function("f", [ca.vertcat(x, y)], [ca.vertcat(ca.SX(1, 1), x + y, 2)])
    assert evaluate(function, np.ones((2, 3))).tolist() == [[0, 0, 0], [2, 2, 2], [2, 2, 2]]


@pytest.mark.parametrize("case", ["wscc9", "kundur", "npcc140"])
def test_quantities_of_a_case_are_casadi_s(case):
    system = gc.build(case)
    for group, trace in zip(system.layout.groups, system.traces, strict=True):
        for name in group.shape.cls.declares.quantities:
            function, gather = function_of("q", system.layout, group, trace.quantity(name))
            values = system.Z0[gather].T
            expected = np.array([function(column).full().ravel() for column in values.T]).T
            np.testing.assert_allclose(evaluate(function, values), expected, rtol=1e-12, atol=1e-14, err_msg=name)
