"""A study as a function of PyTorch: its derivative is that of the program, by PyTorch's own checker."""

import numpy as np
import pytest
from wscc9_study import OBJECTIVES, WRT, adjoint

import gridcore as gc
from gridcore.errors import CaseError, GridcoreError

torch = pytest.importorskip("torch")


@pytest.fixture(scope="module")
def study():
    return gc.torch("wscc9", OBJECTIVES, WRT, t_end=0.5)


def test_parameters_and_values_are_those_of_the_case(study):
    assert study.names == WRT
    np.testing.assert_array_equal(study.start, [6.4, 20.0, 0.183])
    np.testing.assert_array_equal(study(study.start), adjoint()["value"])


def test_its_jacobian_is_the_adjoint(study):
    found = torch.autograd.functional.jacobian(study, study.start)
    np.testing.assert_allclose(found, adjoint(), rtol=1e-14)


def test_it_passes_the_checker_of_pytorch(study):
    x = study.start.clone().requires_grad_()
    assert torch.autograd.gradcheck(study, (x,), eps=1e-5, atol=1e-8, rtol=1e-5)


def test_what_surrounds_it_is_differentiated_with_it(study):
    z = torch.zeros(3, dtype=torch.double, requires_grad=True)
    (study(study.start * z.exp()) @ torch.tensor([2.0, 3.0], dtype=torch.double)).backward()
    np.testing.assert_allclose(z.grad, np.array([2.0, 3.0]) @ adjoint().values * study.start.numpy(), rtol=1e-14)


def test_single_precision_stays_single(study):
    x = study.start.float().requires_grad_()
    found = study(x)
    found.sum().backward()
    assert (found.dtype, x.grad.dtype) == (torch.float, torch.float)


def test_what_is_done_with_a_result_in_place_changes_no_later_one(study):
    study(study.start).zero_()
    np.testing.assert_array_equal(study(study.start), adjoint()["value"])


def test_whole_numbers_become_double(study):
    assert gc.torch("wscc9", OBJECTIVES, "EXC1.KA", t_end=0.5)(torch.tensor([20])).dtype == torch.double


def test_a_derivative_of_a_derivative_is_refused(study):
    x = study.start.clone().requires_grad_()
    with pytest.raises(GridcoreError, match="first derivatives only"):
        torch.autograd.grad(study(x)[0], x, create_graph=True)
    with pytest.raises(GridcoreError, match="first derivatives only"):
        torch.autograd.functional.hessian(lambda x: study(x)[0], study.start)


def test_parameters_of_another_number_are_refused(study):
    with pytest.raises(CaseError, match=r"must be \(3,\)"):
        study(torch.ones(2))
