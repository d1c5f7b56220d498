"""A function of one instance, evaluated at many points at once: its operations, each on whole arrays.

CasADi's own map walks through the operations once a point; for quantities of a few operations at a hundred thousand
points that takes a hundred times as long.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np


def _number(compare: Callable[..., Any]) -> Callable[..., Any]:
    """A comparison whose result is the number 1 or 0."""
    return lambda *values: compare(*values).astype(float)


_OPERATIONS: dict[int, Callable[..., Any]] = {
    ca.OP_ASSIGN: lambda x: x, ca.OP_ADD: np.add, ca.OP_SUB: np.subtract, ca.OP_MUL: np.multiply, ca.OP_DIV: np.divide,
    ca.OP_NEG: np.negative, ca.OP_INV: np.reciprocal, ca.OP_TWICE: lambda x: 2.0 * x, ca.OP_SQ: np.square,
    ca.OP_SQRT: np.sqrt, ca.OP_EXP: np.exp, ca.OP_LOG: np.log, ca.OP_POW: np.power, ca.OP_CONSTPOW: np.power,
    ca.OP_SIN: np.sin, ca.OP_COS: np.cos, ca.OP_TAN: np.tan, ca.OP_ASIN: np.arcsin, ca.OP_ACOS: np.arccos,
    ca.OP_ATAN: np.arctan, ca.OP_ATAN2: np.arctan2, ca.OP_SINH: np.sinh, ca.OP_COSH: np.cosh, ca.OP_TANH: np.tanh,
    ca.OP_FABS: np.abs, ca.OP_SIGN: np.sign, ca.OP_FLOOR: np.floor, ca.OP_CEIL: np.ceil,
    ca.OP_FMIN: np.fmin, ca.OP_FMAX: np.fmax,
    ca.OP_LT: _number(np.less), ca.OP_LE: _number(np.less_equal), ca.OP_EQ: _number(np.equal),
    ca.OP_NE: _number(np.not_equal), ca.OP_NOT: _number(np.logical_not), ca.OP_AND: _number(np.logical_and),
    ca.OP_OR: _number(np.logical_or), ca.OP_IF_ELSE_ZERO: lambda condition, x: np.where(condition, x, 0.0),
}


def evaluate(function: ca.Function, arguments: np.ndarray) -> np.ndarray:
    """A function of a vector at many points, (size out, points).

    Parameters
    ----------
    function : casadi.Function
        Of scalar operations (SX), one vector in and one out.
    arguments : (size in, points) array
    """
    steps = range(function.n_instructions())
    codes = [function.instruction_id(k) for k in steps]
    points = arguments.shape[1]
    if not set(codes) <= {*_OPERATIONS, ca.OP_CONST, ca.OP_INPUT, ca.OP_OUTPUT}:  # rare ones are left to CasADi
        return np.asarray(function.map(points)(arguments).full())
    out = np.zeros((function.numel_out(0), points))
    work: dict[int, Any] = {}
    row = np.array(function.sparsity_out(0).row(), dtype=int)
    with np.errstate(all="ignore"):  # what is infinite in a branch not taken does not matter
        for k, code in zip(steps, codes, strict=True):
            to, of = function.instruction_output(k), function.instruction_input(k)
            if code == ca.OP_CONST:
                work[to[0]] = np.float64(function.instruction_constant(k))
            elif code == ca.OP_INPUT:
                work[to[0]] = arguments[of[1]]
            elif code == ca.OP_OUTPUT:
                out[row[to[1]]] = work[of[0]]
            else:
                work[to[0]] = _OPERATIONS[code](*(work[place] for place in of))
    return out
