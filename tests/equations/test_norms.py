"""The norms that the loops return, compiled and in numpy: relative to each variable's scale, and NaN shows."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import gridcore as gc
from gridcore.equations import Workspace
from gridcore.equations.native import FALLBACK, runtime

COMPILED = pytest.param(runtime(), marks=pytest.mark.skipif(runtime() is FALLBACK, reason="no C compiler"),
                        id="compiled")


@pytest.fixture(scope="module")
def wscc9():
    return gc.build("wscc9")


def workspace(system, loops, scale=None):
    """At Z0, with these loops, and with this scale of the variables."""
    equations = copy.copy(system.system.equations)
    equations.runtime, equations.scale = loops, np.ones(system.n) if scale is None else scale
    ws = Workspace(equations, system.system.factors, system.system.time_slope)
    ws.load(system.Z0)
    return ws


def norm(ws, correction):
    """The size of a correction."""
    ws.R[:] = correction
    return ws.newton(np.inf)


@pytest.mark.parametrize("loops", [FALLBACK, COMPILED])
def test_nan_shows_at_every_place(wscc9, loops):
    found = []
    for place in range(wscc9.n):
        correction = np.linspace(1.0, 2.0, wscc9.n)
        correction[place] = np.nan
        found.append(norm(workspace(wscc9, loops), correction))
    assert len(found) == 48
    assert np.isnan(found).all()


@pytest.mark.parametrize("loops", [FALLBACK, COMPILED])
def test_the_largest_correction_counts_wherever_it_stands(wscc9, loops):
    for place in range(wscc9.n):
        ws, correction = workspace(wscc9, loops), np.full(wscc9.n, 1e-6)
        correction[place] = -3.0
        before = wscc9.Z0[place]
        assert norm(ws, correction) == 3.0 / (1.0 + min(abs(before), abs(before - 3.0)))


@pytest.mark.parametrize("loops", [FALLBACK, COMPILED])
def test_a_correction_is_measured_against_the_scale_of_its_variable(wscc9, loops):
    scale = np.ones(wscc9.n)
    scale[5] = 1e-9
    ws, correction = workspace(wscc9, loops, scale), np.zeros(wscc9.n)
    ws.X[5], correction[5] = 1e-9, 2e-9
    assert norm(ws, correction) == pytest.approx(1.0, rel=1e-14)
    ws, correction[5] = workspace(wscc9, loops, scale), 0.0
    correction[6] = 1e-9
    assert norm(ws, correction) < 1e-9
