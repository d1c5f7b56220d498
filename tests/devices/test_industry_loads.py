"""IEELBL and CIM5BL: their laws, at rest and in motion."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from standalone import Alone

import gridcore as gc
from gridcore.errors import GridcoreError
from gridcore_devices import CIM5BL, IEELBL

LAW = dict(a1=0.5, a2=0.3, a3=0.3, a4=0.6, a5=-0.2, a6=0.5, a7=1.5, a8=-0.8, n1=2.0, n2=1.1, n3=0.0, n4=2.5, n5=1.0,
           n6=0.2)
MOTOR = dict(RA=0.02, XA=0.08, XM=3.0, R1=0.03, X1=0.1, R2=0.0, X2=0.0, H=0.8, VI=0.6, TI=0.1, TB=0.05, D=2.0)


def law(parts, V):
    return sum(a * V**n for a, n in parts)


def test_ieelbl_is_its_polynomial_in_absolute_voltage_and_its_line_in_frequency():
    V0, V, slip = 1.03, 0.94 * np.exp(0.4j), 0.004
    turned = 1 + 1j * slip * 0.05 * 120 * np.pi  # V over its filtered value where it turns by the slip
    filtered = V / turned
    load = Alone(IEELBL, bus=V, P0=0.8, Q0=0.3, V0=V0, xr=filtered.real, xi=filtered.imag, k=0.9, status=1.0, **LAW)
    active = [(LAW[f"a{k}"], LAW[f"n{k}"]) for k in (1, 2, 3)]
    reactive = [(LAW[f"a{k}"], LAW[f"n{k}"]) for k in (4, 5, 6)]
    S = -V * np.conj(load.current())
    assert load["df"] == pytest.approx(slip, rel=1e-12)
    assert S.real == pytest.approx(0.9 * 0.8 * law(active, abs(V)) / law(active, V0) * (1 + 1.5 * slip), rel=1e-12)
    assert S.imag == pytest.approx(0.9 * 0.3 * law(reactive, abs(V)) / law(reactive, V0) * (1 - 0.8 * slip), rel=1e-12)


def grid(*records, V=1.0):
    case = gc.Case("load")
    case.add(gc.Record("Bus", {"id": 1}))
    case.add(gc.Record("InfiniteBus", {"id": "INF", "bus": 1, "control": "slack", "V0": V}))
    for record in records:
        case.add(record)
    return case


def test_frequency_of_ieelbl_follows_an_angle_that_moves():
    case = grid(gc.Record("IEELBL", {"id": "L", "bus": 1, "P0": 0.8, "Q0": 0.3, **LAW}),
                gc.Ramp(id="r", parameter="INF.angle", t0=0.1, t1=2.1, by=2.0 * 2 * np.pi * 0.3))
    run = gc.simulate(gc.build(case), 2.0, 0.005)
    assert run["L", "df"][-1] == pytest.approx(0.3 / 60, rel=2e-2)  # tan of what the filter lags behind
    assert run["L", "P"][-1] == pytest.approx(0.8 * (1 + 1.5 * run["L", "df"][-1]), rel=1e-12)


def test_cim5bl_is_the_motor_of_the_composite_load_without_its_static_parts():
    step = gc.ParameterStep(id="s", parameter="INF.E", t=0.1, by=-0.2)
    load = {"id": "L", "bus": 1, "P0": 0.8, "Q0": 0.3, **MOTOR}
    one, other = (gc.simulate(gc.build(grid(gc.Record(model, load), step)), 1.0, 0.005)
                  for model in ("CIM5BL", "COMPLOAD"))
    for name in ("slip", "Er", "Ei", "P", "Q"):
        assert np.ptp(one["L", name]) > 1e-3
        assert_allclose(one["L", name], other["L", name], atol=1e-13)


def test_base_of_cim5bl_may_be_its_own():
    """A motor on 100 MVA is the one on PMULT times the load that comes to the same."""
    own, multiple = (gc.simulate(gc.build(grid(gc.Record("CIM5BL", {
        "id": "L", "bus": 1, "P0": 0.8, "Q0": 0.3, **MOTOR, **base}))), 0.1, 0.05) for base in (
            dict(MBASE=100.0), dict(PMULT=1.25)))
    assert own["L", "slip"][0] == pytest.approx(multiple["L", "slip"][0], rel=1e-12)
    assert own["L", "P"][0] == pytest.approx(0.8, rel=1e-12)


def test_relay_of_cim5bl_disconnects_it():
    step = gc.ParameterStep(id="s", parameter="INF.E", t=0.1, by=-0.5)
    run = gc.simulate(gc.build(grid(gc.Record("CIM5BL", {"id": "L", "bus": 1, "P0": 0.8, "Q0": 0.3, **MOTOR}), step)),
                      0.4, 0.005)
    assert_allclose(run["L", "P"][-1], 0.0, atol=1e-14)


@pytest.mark.parametrize(("model", "change", "word"), [
    (IEELBL, dict(a1=0.0, a2=0.0, a3=0.0), "a1"), (CIM5BL, dict(R2=0.05), "R2"), (CIM5BL, dict(IT=3.0), "IT"),
    (CIM5BL, dict(PL=20.0), "PL"), (CIM5BL, dict(SE1=0.1), "SE1")])
def test_data_without_a_meaning_are_refused(model, change, word):
    data = (LAW if model is IEELBL else MOTOR) | change
    with pytest.raises(GridcoreError, match=word):
        gc.build(grid(gc.Record(model.__name__, {"id": "L", "bus": 1, "P0": 0.8, "Q0": 0.3, **data})))


def test_records_are_those_of_the_model_library():
    assert [len(cls.dyr) for cls in (IEELBL, CIM5BL)] == [14, 20]
