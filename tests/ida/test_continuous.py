"""The continuous adjoint: against closed forms, against the discrete one as the steps shrink, and its labels."""

from __future__ import annotations

import itertools
import sys

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.optimize import brentq

import gridcore as gc

TIGHT = {"rtol": 1e-10, "atol": 1e-12}
ida = pytest.importorskip("scikits_odes_sundials.ida", reason="run ./setup.sh ida")


def switched(p1: float, x10: float, t_end: float = 0.2) -> np.ndarray:
    """Hiskens & Pai's state at the end, by matrix exponentials."""
    A1, A2 = np.array([[1.0, -100.0], [10.0, 1.0]]), np.array([[1.0, 10.0], [-100.0, 1.0]])
    t, x, first = 0.0, np.array([x10, 1.0]), True
    while True:
        A, slope = (A1, p1) if first else (A2, 0.36)

        def gap(s: float, A: np.ndarray = A, slope: float = slope, x: np.ndarray = x) -> float:
            y = expm(A * s) @ x
            return float(y[1] - slope * y[0])

        grid = np.arange(1e-6, 0.2, 1e-3)
        signs = np.sign([gap(s) for s in grid])
        k = int(np.flatnonzero(signs[1:] != signs[:-1])[0])
        wait = brentq(gap, grid[k], grid[k + 1], xtol=1e-15, rtol=1e-14)
        if t + wait > t_end:
            return expm(A * (t_end - t)) @ x
        t, x, first = t + wait, expm(A * wait) @ x, not first


def slope(f, at: float, d: float = 1e-3) -> np.ndarray:
    """Richardson's extrapolation of central differences."""
    D = [(f(at + h) - f(at - h)) / (2 * h) for h in (d, d / 2, d / 4)]
    E = [(4 * b - a) / 3 for a, b in itertools.pairwise(D)]
    return (16 * E[1] - E[0]) / 15


def test_switched_system_against_matrix_exponentials():
    run = gc.simulate(gc.build("hiskens_pai"), 0.2, 1e-3, method="ida", **TIGHT)
    ends = [gc.Terminal(lambda v, x=x: v["HP", x]) for x in ("x1", "x2")]
    found = gc.adjoint(run, ends, ["HP.p1", "HP.x1"], method="continuous").values
    true = np.array([slope(lambda p: switched(p, 0.0), 2.75), slope(lambda x: switched(2.75, x), 0.0)]).T
    np.testing.assert_allclose(found, true, rtol=2e-6, atol=1e-8)


STUDIES = {  # end, step, two times of samples, parameters, quantity
    "swing": (1.0, 1e-3, [0.3, 0.8], ["SWING.Pm", "SWING.H", "SWING.t_clear", "SWING.delta"], ("SWING", "delta")),
    "wscc9_paper": (0.4, 1e-3, [0.12, 0.32], ["GEN2.H", "EXC2.KA", "fault.clear", "EXC2.VRMAX", "GEN2.P0"],
                    ("GEN2", "omega")),
    "wscc9_recovery_cancelled": (31.0, 0.05, [9.2, 24.8], ["LINE14.b", "LOAD6.alpha_t"], ("BUS6", "Vm")),
}


@pytest.mark.parametrize("name", STUDIES)
def test_it_is_what_the_discrete_adjoint_converges_to(name):
    """Faults, limits, delays; ends, integrals, samples: the discrete gradient comes nearer as steps get shorter."""
    t_end, step, times, wrt, q = STUDIES[name]
    s = gc.build(name)
    objectives = [gc.Terminal(lambda v: v[q]), gc.Integral(lambda v: v[q] ** 2),
                  gc.Sampled(times, lambda v: v[q], data=0.1)]
    run = gc.simulate(s, t_end, step, method="ida", **TIGHT)
    continuous = gc.adjoint(run, objectives, wrt, method="continuous").values
    scale = np.abs(continuous).max(axis=0)
    far = [np.max(np.abs(gc.adjoint(gc.simulate(s, t_end, h), objectives, wrt).values - continuous) / scale, axis=0)
           for h in (4 * step, step / 4)]
    assert (far[1] < 2e-4).all()
    assert (far[1] < far[0] / 10).all()


def test_the_result_says_that_it_is_approximate_and_how_far_it_is_from_the_discrete_gradient():
    run = gc.simulate(gc.build("swing"), 1.0, 1e-3, method="ida", rtol=1e-6, atol=1e-6)
    end = gc.Terminal(lambda v: v["SWING", "delta"])
    found = gc.adjoint(run, end, ["SWING.Pm", "SWING.H"], method="continuous")
    assert found.attrs["method"] == "continuous"
    assert found.attrs["approximate"] == "yes"
    discrete = gc.adjoint(gc.retrace(run), end, ["SWING.Pm", "SWING.H"])
    assert found.attrs["replay_mismatch"] == discrete.attrs["replay_mismatch"] > 0
    assert np.array_equal(found.discrete.values, discrete.values)
    far = np.abs(found.values - discrete.values).max() / np.abs(discrete.values).max()
    assert found.attrs["discrepancy"] == pytest.approx(far, rel=1e-12)
    assert 0 < far < 1e-3


def test_a_theta_run_may_be_asked_too():
    run = gc.simulate(gc.build("swing"), 1.0, 1e-3)
    found = gc.adjoint(run, gc.Terminal(lambda v: v["SWING", "delta"]), "SWING.Pm", method="continuous")
    assert 0 < found.attrs["discrepancy"] < 2e-4


def test_a_run_of_ida_has_no_discrete_gradient_but_says_what_to_do():
    run = gc.simulate(gc.build("swing"), 0.1, 1e-2, method="ida")
    with pytest.raises(gc.errors.CaseError, match=r"gc\.retrace"):
        gc.adjoint(run, gc.Terminal(lambda v: v["SWING", "delta"]), "SWING.Pm")


def test_without_scikits_odes_it_says_what_to_do(monkeypatch):
    run = gc.simulate(gc.build("swing"), 0.1, 1e-2)
    monkeypatch.setitem(sys.modules, "scikits_odes_sundials.ida", None)
    with pytest.raises(gc.errors.MissingDependency, match=r"\./setup\.sh ida"):
        gc.adjoint(run, gc.Terminal(lambda v: v["SWING", "delta"]), "SWING.Pm", method="continuous")


def test_an_unknown_method_is_refused():
    run = gc.simulate(gc.build("swing"), 0.1, 1e-2)
    with pytest.raises(gc.errors.CaseError, match="method"):
        gc.adjoint(run, gc.Terminal(lambda v: v["SWING", "delta"]), "SWING.Pm", method="exact")
