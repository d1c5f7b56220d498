"""A study as a function of JAX: its derivative is that of the program, by JAX's own checker."""

import numpy as np
import pytest
from wscc9_study import OBJECTIVES, WRT, adjoint

import gridcore as gc
from gridcore.errors import CaseError

jax = pytest.importorskip("jax")


@pytest.fixture(scope="module")
def study():
    return gc.jax("wscc9", OBJECTIVES, WRT, t_end=0.5)


@pytest.fixture(autouse=True)
def double_precision():
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


def test_parameters_and_values_are_those_of_the_case(study):
    assert study.names == WRT
    np.testing.assert_array_equal(study.start, [6.4, 20.0, 0.183])
    np.testing.assert_array_equal(study(study.start), adjoint()["value"])


@pytest.mark.parametrize("mode", [jax.jacrev, jax.jacfwd])
def test_its_jacobian_is_the_adjoint_in_both_modes(study, mode):
    np.testing.assert_allclose(mode(study)(study.start), adjoint(), rtol=1e-14)


def test_it_passes_the_checker_of_jax_in_both_modes(study):
    from jax.test_util import check_grads

    check_grads(study, (study.start,), order=1, modes=["fwd", "rev"], rtol=1e-5, eps=1e-5)


def test_what_surrounds_it_is_differentiated_and_compiled_with_it(study):
    """The chain rule: gains as exponentials, objectives weighted."""
    def loss(z):
        return study(study.start * jax.numpy.exp(z)) @ jax.numpy.array([2.0, 3.0])

    expected = np.array([2.0, 3.0]) @ adjoint().values * study.start
    np.testing.assert_allclose(jax.jit(jax.grad(loss))(np.zeros(3)), expected, rtol=1e-14)


def test_it_is_mapped_over_many_parameters(study):
    many = study.start * np.array([[1.0, 1.0, 1.0], [1.1, 1.0, 1.0]])
    np.testing.assert_array_equal(jax.vmap(study)(many), [study(x) for x in many])


def test_single_precision_stays_single(study):
    found = study(jax.numpy.asarray(study.start, dtype="float32"))
    assert found.dtype == "float32"
    np.testing.assert_allclose(found, study(study.start), rtol=1e-5)


def test_a_derivative_of_a_derivative_is_refused(study):
    with pytest.raises(ValueError, match="JVP"):
        jax.hessian(lambda x: study(x)[0])(study.start)


def test_anything_with_a_value_and_a_gradient_is_a_function():
    class Inertia:
        def value_and_gradient(self, system, parameters):
            H = system.Z0[system.layout.address(parameters[0])]
            return H**2, np.array([2 * H])

    function = gc.jax("wscc9", Inertia(), "GEN2.H")
    assert float(jax.grad(lambda x: function(x)[0])(function.start)[0]) == 2 * 6.4


@pytest.mark.parametrize(("arguments", "said"), [
    (("wscc9", OBJECTIVES, "GEN2.h", 0.5), r"GEN2\.H"),
    (("wscc9", OBJECTIVES, "GEN2.H"), "t_end is missing"),
    (("wscc9", OBJECTIVES, "EXC2.Vref", 0.5), "found by"),
])
def test_what_cannot_be_is_told_before_the_first_run(arguments, said):
    with pytest.raises(CaseError, match=said):
        gc.jax(*arguments)


def test_parameters_of_another_number_are_refused(study):
    with pytest.raises(Exception, match=r"must be \(3,\), in the order GEN2\.H, EXC1\.KA, fault\.clear"):
        study(np.ones(2))
