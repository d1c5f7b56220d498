import numpy as np
import pytest
from numpy.testing import assert_allclose
from standalone import Alone

from gridcore_devices import Line, SeriesAdmittance, Shunt, Transformer

V1, V2 = 1.03 * np.exp(0.2j), 0.97 * np.exp(-0.1j)
PI = dict(r=0.02, x=0.17, b=0.35, g=0.01)
Y, SHUNT = 1 / (0.02 + 0.17j), 0.01 + 0.35j


def currents(cls, **values):
    """Currents into the branch, from the admittance matrix of the device."""
    at = Alone(cls, **values, bus1=V1, bus2=V2)
    return -np.array([at.current("bus1"), at.current("bus2")])


def test_line_is_the_pi_circuit():
    matrix = np.array([[Y + SHUNT / 2, -Y], [-Y, Y + SHUNT / 2]])
    assert_allclose(currents(Line, **PI), matrix @ [V1, V2], rtol=1e-13)


def test_transformer_is_the_admittance_matrix_of_matpower():
    """MATPOWER User's Manual, eq. 3.2."""
    tap, phase = 0.97, 0.3
    ratio = tap * np.exp(1j * phase)
    matrix = np.array([[(Y + SHUNT / 2) / tap**2, -Y / np.conj(ratio)], [-Y / ratio, Y + SHUNT / 2]])
    assert_allclose(currents(Transformer, **PI, tap=tap, phase=phase), matrix @ [V1, V2], rtol=1e-13)


def test_an_ideal_transformer_makes_no_power():
    at = Alone(Transformer, x=0.1, tap=1.05, phase=-0.5, bus1=V1, bus2=V2)
    assert at["P1"] + at["P2"] == pytest.approx(0, abs=1e-13)


def test_transformer_at_nominal_tap_is_the_line():
    assert_allclose(currents(Transformer, **PI), currents(Line, **PI), rtol=1e-14)


def test_series_admittance_is_the_line_of_that_impedance():
    y = 1 / (0.01 + 0.0576j)
    line = currents(Line, r=0.01, x=0.0576)
    assert_allclose(currents(SeriesAdmittance, g=y.real, b=y.imag), line, rtol=1e-13)


def test_shunt_draws_the_power_of_its_admittance():
    at = Alone(Shunt, g=0.1, b=0.5, bus=V1)
    assert_allclose(at.current(), -(0.1 + 0.5j) * V1, rtol=1e-14)
    assert_allclose([at["P"], at["Q"]], [0.1 * 1.03**2, -0.5 * 1.03**2], rtol=1e-14)


@pytest.mark.parametrize("cls", [Line, Transformer])
def test_flows_are_those_of_the_currents(cls):
    at, into = Alone(cls, **PI, bus1=V1, bus2=V2), currents(cls, **PI)
    for end, V in ((1, V1), (2, V2)):
        S = V * np.conj(into[end - 1])
        assert_allclose([at[f"P{end}"], at[f"Q{end}"], at[f"I{end}"], at[f"S{end}"]],
                                   [S.real, S.imag, abs(into[end - 1]), abs(S)], rtol=1e-13)


def test_an_open_line_carries_nothing_and_its_flows_stay_differentiable():
    at = Alone(Line, **PI, bus1=V1, bus2=V2, status=0.0)
    for name in ("P1", "Q1", "P2", "Q2"):
        assert at[name] == 0
    for name in ("I1", "I2", "S1", "S2"):
        assert at[name] < 1e-40
        slope = at.jacobian(["bus1.Vr", "bus2.Vi"], lambda a, name=name: np.array([a[name]]))
        assert np.isfinite(slope).all()


@pytest.mark.parametrize("cls", [Line, Transformer])
def test_zero_impedance_is_refused(cls):
    assert "zero" in (cls.check({"r": 0.0, "x": 0.0}) or "")
    assert cls.check({"r": 0.0, "x": 0.1}) is None


def test_admittance_of_nothing_is_refused():
    assert "zero" in (SeriesAdmittance.check({"g": 0.0, "b": 0.0}) or "")
