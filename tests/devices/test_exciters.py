import numpy as np
import pytest
from numpy.testing import assert_allclose
from standalone import Alone

from gridcore_devices import IEEET1, IEEEType1, StaticExciter, TwoAxis

# Sauer & Pai (1998), table 7.3
DATA = dict(KA=20.0, TA=0.2, KE=1.0, TE=0.314, KF=0.063, TF=0.35, VRMIN=-4.0, VRMAX=7.0)
BOOK = DATA | dict(Ax=0.0039, Bx=1.555)
HOST = {"machine": TwoAxis}


def exciter(cls, voltage, **values):
    if cls is IEEET1:  # what PSS/E computes where it is given as zero
        values = dict(VRmax=values["VRMAX"], VRmin=values["VRMIN"], KEt=values["KE"]) | values
    return Alone(cls, HOST, **values, **{"machine.bus": voltage})


# section 7.6: terminal voltage, Efd, Rf, VR, Vref
@pytest.mark.parametrize(("V", "Efd", "Rf", "VR", "Vref"), [
    (1.04, 1.082, 0.195, 1.105, 1.095),
    (1.025, 1.789, 0.322, 1.902, 1.120),
    (1.025, 1.403, 0.252, 1.453, 1.098),
])
def test_type_1_exciter_starts_as_in_the_book(V, Efd, Rf, VR, Vref):
    start = exciter(IEEEType1, V, **BOOK, Efd=Efd).start()
    assert_allclose(start["Rf"], Rf, atol=6e-4)
    assert_allclose([start["VR"], start["Vref"]], [VR, Vref], atol=1.6e-3)  # the book's own rounding


@pytest.mark.parametrize(("cls", "data"), [
    (IEEEType1, BOOK | {"TR": 0.05}),
    (IEEET1, DATA | dict(TR=0.05, E1=1.0, SE1=0.0185, E2=2.0, SE2=0.0874)),
    (StaticExciter, dict(KA=50.0, TA=0.02)),
])
def test_start_is_the_equilibrium(cls, data):
    at = exciter(cls, 1.01 * np.exp(0.4j), **data, Efd=1.7)
    assert_allclose(at.but(**at.start()).rates(), 0, atol=1e-12)  # round-off of Vref, times KA / TA: up to 4000 / s


@pytest.mark.parametrize("cls", [IEEEType1, IEEET1])
def test_type_1_exciter_without_saturation_is_its_block_diagram(cls):
    """Efd over Vref of IEEE Std 421.5-1992, figure 5: regulator, exciter, rate feedback around both."""
    d = DATA | {"TR": 0.04}
    states = ["Vm", "VR", "Efd", "Rf"]
    at = exciter(cls, 1.0 + 0j, **d, Vm=1.0, VR=1.3, Efd=1.3, Rf=0.2, Vref=1.1)
    A, B = at.jacobian(states), at.jacobian(["Vref"])
    for w in (0.1, 1.0, 5.0, 30.0):
        s = 1j * w
        found = np.linalg.solve(s * np.eye(4) - A, B)[2, 0]
        forward = d["KA"] / (1 + s * d["TA"]) / (d["KE"] + s * d["TE"])
        expected = forward / (1 + forward * s * d["KF"] / (1 + s * d["TF"]))
        assert found == pytest.approx(expected, rel=1e-12)


def test_measured_voltage_lags_the_terminal_voltage():
    at = exciter(IEEEType1, 1.02, **BOOK, TR=0.05, Vm=1.0, VR=1.0, Efd=1.0, Rf=0.0, Vref=1.1)
    assert at.rates()[0] == pytest.approx(0.02 / 0.05)


def saturation(Efd, **data):
    """SE(Efd) Efd, read off the field's rate of change."""
    d = DATA | data
    at = exciter(IEEET1, 1.0, **d, Vm=1.0, VR=0.0, Efd=Efd, Rf=0.0, Vref=1.0)
    return -at.scope.rates()[2] - d["KE"] * Efd


def test_quadratic_saturation_passes_through_its_two_points():
    points = dict(E1=2.3, SE1=0.1, E2=3.1, SE2=0.33)
    assert saturation(2.3, **points) == pytest.approx(0.1 * 2.3, rel=1e-13)
    assert saturation(3.1, **points) == pytest.approx(0.33 * 3.1, rel=1e-13)


def test_quadratic_saturation_sets_in_smoothly_and_not_before():
    points = dict(E1=1.0, SE1=0.0185, E2=2.0, SE2=0.0874)
    ratio = np.sqrt(0.0185 / (2 * 0.0874))
    A = (1.0 - 2.0 * ratio) / (1.0 - ratio)
    assert saturation(A - 0.1, **points) == 0
    assert saturation(-1.0, **points) == 0
    assert 0 < saturation(A + 1e-4, **points) < 1e-8


@pytest.mark.parametrize("points", [{}, dict(E1=1.0, SE1=0.0, E2=2.0, SE2=0.0)])
def test_no_saturation_where_none_is_given_and_its_derivatives_are_finite(points):
    d = DATA | points
    assert saturation(1.5, **points) == 0
    at = exciter(IEEET1, 1.0, **d, Vm=1.0, VR=0.0, Efd=1.5, Rf=0.0, Vref=1.0)
    assert np.isfinite(at.jacobian(["SE1", "E1", "SE2", "E2", "Efd"])).all()


@pytest.mark.parametrize("points", [dict(E1=1.0, SE1=0.0, E2=2.0, SE2=0.1), dict(E1=0.0, SE1=0.0, E2=1.0, SE2=1.0)])
def test_a_point_without_saturation_stands_for_none(points):
    """As other programs read such records; the second is that of kundur_full.dyr, whose VR would begin at its limit."""
    assert saturation(2.0, **points) == 0


@pytest.mark.parametrize(("change", "word"), [
    (dict(E1=2.0, E2=1.0), "E1"),
    (dict(E1=1.0, SE1=0.5, E2=2.0, SE2=0.2), "grow"),
    (dict(VRMIN=8.0), "VRMIN"),
])
def test_saturation_and_limits_that_make_no_sense_are_refused(change, word):
    values = DATA | dict(TR=0.0, E1=1.0, SE1=0.0185, E2=2.0, SE2=0.0874) | change
    assert word in (IEEET1.check(values) or "")
