"""The C of traced functions: every operation, in every lane, is what CasADi's own interpreter makes of it."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from gridcore.equations import Batch, c_source, vector_function
from gridcore.equations.native import compiler
from gridcore.equations.native.compiler import compile_libraries
from gridcore.equations.source import OPERATIONS

pytestmark = pytest.mark.skipif(compiler.compiler_path() is None, reason="no C compiler")

UNARY = (
    ca.exp, ca.log, ca.sin, ca.cos, ca.tan, ca.asin, ca.acos, ca.atan, ca.sinh, ca.cosh, ca.tanh, ca.asinh, ca.acosh,
    ca.atanh, ca.erf, ca.log1p, ca.expm1, ca.sqrt, ca.fabs, ca.floor, ca.ceil, ca.sign, ca.logic_not, lambda x: -x,
    lambda x: x * x, lambda x: 2 * x, lambda x: 1 / x, lambda x: x**2.5)
BINARY = (
    ca.power, ca.fmod, ca.atan2, ca.copysign, ca.hypot, ca.remainder, ca.fmin, ca.fmax, ca.logic_and, ca.logic_or,
    lambda x, y: ca.if_else(x, y, 0), lambda x, y: x + y, lambda x, y: x - y, lambda x, y: x * y, lambda x, y: x / y,
    lambda x, y: x < y, lambda x, y: x <= y, lambda x, y: x == y, lambda x, y: x != y)
VALUES = (0.0, -0.0, 0.5, -0.5, 1.0, -2.0, 3.7, 1e300, np.inf, -np.inf, np.nan)
CONSTANTS = (0.1, -0.0, 5e-324, np.inf, -np.inf, np.nan)


def every_operation():
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    constants = [x + ca.SX(value) for value in CONSTANTS]
    return vector_function("every", [x, y], [*(f(x) for f in UNARY), *(f(x, y) for f in BINARY), *constants])


def pairs():
    """(count, 2) indices of each pair of the values."""
    return np.stack(np.meshgrid(*2 * [np.arange(len(VALUES))]), axis=-1).reshape(-1, 2)


def outputs(function, gather, library=None):
    batch = Batch(function, gather, np.zeros((len(gather), function.nnz_out(0)), dtype=np.int32))
    if library is not None:
        batch.bind(library)
    return batch.values(np.array(VALUES))


def test_the_function_of_these_tests_has_every_operation_that_is_written():
    function = every_operation()
    met = {function.instruction_id(k) for k in range(function.n_instructions())}
    assert set(OPERATIONS) - met <= {ca.OP_ASSIGN}


def test_every_operation_of_every_value_is_what_the_interpreter_says():
    function, gather = every_operation(), pairs()
    (library,) = compile_libraries([c_source([function])])
    interpreted = np.array([function(np.array(VALUES)[at]).full().ravel() for at in gather])
    np.testing.assert_allclose(outputs(function, gather, library), interpreted, rtol=1e-14)


def test_a_lane_has_the_bits_that_an_instance_alone_has():
    function = every_operation()
    (library,) = compile_libraries([c_source([function])])
    alone = np.concatenate([outputs(function, at[None], library) for at in pairs()])
    for count in range(1, 10):
        assert outputs(function, pairs()[:count], library).tobytes() == alone[:count].tobytes()


def test_sine_and_cosine_of_one_value_are_made_together_with_the_bits_of_each_alone():
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    wholes = [ca.cos(x), ca.sin(x - y) * ca.sin(x), ca.cos(x - y), ca.sin(ca.cos(x))]
    source = c_source([vector_function("turned", [x, y], wholes)])
    assert source.count("= sin(") == source.count("= cos(") == 3
    apart = [vector_function(f"apart{k}", [x, y], [whole]) for k, whole in enumerate(
        [ca.cos(x), ca.sin(x - y), ca.sin(x), ca.cos(x - y), ca.sin(ca.cos(x))])]
    (library, other) = compile_libraries([source, c_source(apart)])
    cos_x, sin_xy, sin_x, cos_xy, sin_cos = (outputs(each, pairs(), other).ravel() for each in apart)
    found = outputs(vector_function("turned", [x, y], wholes), pairs(), library)
    alone = np.stack([cos_x, sin_xy * sin_x, cos_xy, sin_cos], axis=1)
    assert np.array_equal(found, alone, equal_nan=True)


def test_bits_do_not_depend_on_how_many_lanes_there_are(monkeypatch, tmp_path):
    monkeypatch.setenv(compiler.CACHE, str(tmp_path))
    function, found = every_operation(), []
    for flags in (compiler.FLAGS, [flag for flag in compiler.FLAGS if flag != "-mavx2"]):
        monkeypatch.setattr(compiler, "FLAGS", flags)
        (library,) = compile_libraries([c_source([function])])
        found.append(outputs(function, pairs(), library))
    assert found[0].tobytes() == found[1].tobytes()


def test_a_kernel_that_needs_no_stack_has_the_same_bits(monkeypatch):
    function, found = every_operation(), []
    for most in (2000, 10):
        monkeypatch.setattr("gridcore.equations.source._STACK", most)
        source = c_source([function])
        (library,) = compile_libraries([source])
        found.append((outputs(function, pairs(), library).tobytes(), "_Thread_local" in source))
    assert found[0] == (found[1][0], False)
    assert found[1][1]
