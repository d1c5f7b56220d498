"""Sources that hold one bus have one voltage between them."""

from __future__ import annotations

import numpy as np
import pytest
from scenes import record

import gridcore as gc

V0 = 1.025
TOGETHER = ["GEN2.V0", "OTHER.V0"]


@pytest.fixture(scope="module")
def system():
    case = gc.load_case("wscc9")
    case.add(record("TwoAxis", id="OTHER", bus=2, P0=0.3, V0=V0, H=3.0, D=1.0, Xd=1.2, Xdp=0.2, Xq=1.1, Xqp=0.3,
                    Td0p=6.0, Tq0p=0.5, Sn=60.0))
    return gc.build(case)


def together(system, voltage):
    """Both with another voltage."""
    return system.with_values(dict.fromkeys(TOGETHER, voltage))


def difference(value):
    """Of a number in the voltage of both."""
    h = 1e-4
    a, b, c, d = (value(V0 + k * h) for k in (1.0, -1.0, 0.5, -0.5))
    return (8 * (c - d) - (a - b)) / (6 * h)


@pytest.mark.parametrize("gradient", [gc.adjoint, gc.analyses.forward_gradient])
def test_each_has_an_equal_part_of_the_derivative_in_the_voltage_of_all(system, gradient):
    run, speed = gc.simulate(system, 0.3, 0.01), gc.Terminal(lambda v: v["GEN2", "omega"])
    each, other, both = gradient(run, speed, TOGETHER, joint=[TOGETHER]).values[0]
    assert each == other
    expected = difference(lambda V: gc.simulate(together(system, V), 0.3, 0.01)["GEN2", "omega"][-1])
    np.testing.assert_allclose([2 * each, both], expected, rtol=1e-7)


def test_so_have_eigenvalues(system):
    found = gc.analyses.small_signal(system).sensitivities(TOGETHER, [0])["eigenvalue"].values[0]
    assert found[0] == found[1]
    expected = difference(lambda V: gc.analyses.small_signal(together(system, V)).eigenvalues[0])
    np.testing.assert_allclose(2 * found[0], expected, rtol=1e-6)
