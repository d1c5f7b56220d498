"""EXDC1, AC8B, DC4B, ST6B and ST8C: their transfer functions by hand; what the limiters' inputs of exciters do."""

from __future__ import annotations

from types import SimpleNamespace

import diagrams
import numpy as np
import pytest
from numpy.testing import assert_allclose
from test_industry_exciters import CASES, cls_of, respond
from workbench import BenchMachine, built

import gridcore as gc
import gridcore_devices
from gridcore.contract import Device, Param
from gridcore_conformance.testbed import testbed


class OverSignal(Device):
    """A signal for the input of an over-excitation limiter."""

    attaches = "exciter"
    signal = Param("pu", 0.0, drives="exciter.VOEL")


class UnderSignal(Device):
    """A signal for the input of an under-excitation limiter."""

    attaches = "exciter"
    signal = Param("pu", 0.0, drives="exciter.VUEL")


@pytest.fixture(autouse=True)
def bench_machine():
    with testbed(BenchMachine, OverSignal, UnderSignal):
        yield


# ---------------------------------------------------------------- transfer functions


def pid(s, KP, KI, KD, TD):
    return KP + KI / s + s * KD / (1 + s * TD)


def slope(d, E):
    """Derivative of SE(E) E."""
    A, B = diagrams.parabola(d.E1, d.SE1, d.E2, d.SE2)
    return 2 * B * max(E - A, 0.0)


def loop(forward, backward):
    return forward / (1 + forward * backward)


def exdc1(s, d):
    forward = (1 + s * d.TC) / (1 + s * d.TB) * d.KA / (1 + s * d.TA) / (s * d.TE + d.KE + slope(d, 2.0))
    return loop(forward, s * d.KF / (1 + s * d.TF1))


def ac8b(s, d):
    VE = 2.0 + d.KC * 1.8 / np.sqrt(3.0)
    return pid(s, d.KPR, d.KIR, d.KDR, d.TDR) * d.KA / (1 + s * d.TA) / (s * d.TE + d.KE + slope(d, VE))


def dc4b(s, d):
    forward = pid(s, d.KP, d.KI, d.KD, d.TD) * d.KA / (1 + s * d.TA) / (s * d.TE + d.KE + slope(d, 2.0))
    return loop(forward, s * d.KF / (1 + s * d.TF))


def st6b(s, d):
    forward = (d.KFF + d.KM) * pid(s, d.KPA, d.KIA, d.KDA, d.TDA)
    return forward / (1 + d.KM * d.KG / (1 + s * d.TG))


def st8c(s, d):
    V, current = diagrams.phasors(SimpleNamespace(**diagrams.INPUTS))
    KP = d.KP * np.exp(1j * np.deg2rad(d.THETAP))
    VE = abs(KP * V + 1j * (d.KI1 + KP * d.XL) * current)
    VB1 = min(diagrams.rectifier(d.KC1 * 1.8 / VE) * VE, d.VB1MAX)
    return (d.KPR + d.KIR / s) * (d.KPA + d.KIA / s) * d.KA / (1 + s * d.TA) * VB1


BY_HAND = {"EXDC1": exdc1, "AC8B": ac8b, "DC4B": dc4b, "ST6B": st6b, "ST8C": st8c}


@pytest.mark.parametrize("name", BY_HAND)
def test_the_field_voltage_over_the_stabilizing_signal_is_the_transfer_function_by_hand(name):
    data = CASES[name][1] | dict(E1=1.5, SE1=0.1, E2=2.5, SE2=0.3) if "E1" in CASES[name][1] else CASES[name][1]
    system = built(cls_of(name), data)
    J = system.jacobian(system.Z0).toarray()
    column = system.system.parameter_jacobian([system.layout.address("EXC.Vs")]).evaluate(system.Z0).toarray()[:, 0]
    M = np.diag(system.differential(system.Z0).astype(float))
    for w in (0.1, 1.0, 10.0, 100.0):
        found = np.linalg.solve(1j * w * M - J, column)[system.layout.address("EXC.Efd")]
        assert found == pytest.approx(BY_HAND[name](1j * w, SimpleNamespace(**data)), rel=1e-9)


# ---------------------------------------------------------------- inputs of limiters

ADDS = ["SEXS", "SCRX", "IEEET1", "IEEET2", "IEEEX1", "EXDC1", "EXDC2", "EXAC1", "EXAC2", "EXST1", "EXPIC1", "AC8B",
        "DC4B", "ST8C", "ST6B", "ESDC1A", "ESDC2A", "ESAC6A", "ESST1A", "ESST3A", "ESST4B"]
AT_A_GATE = {"OverSignal": {"ESST1A", "ESST4B"}, "UnderSignal": {"ST6B", "ESDC1A", "ESDC2A", "ESST3A"}}


@pytest.mark.parametrize("name", ADDS)
def test_a_limiters_signal_does_what_the_same_step_of_the_reference_does(name):
    """At the sum."""
    data, by = CASES[name][1], 0.01
    plain = gc.simulate(built(cls_of(name), data, steps=[(0.1, "dVref", by)]), t_end=0.6, step=0.02)
    for model in (model for model, gated in AT_A_GATE.items() if name not in gated):
        signal = [gc.Record(model, {"id": "LIM", "exciter": "EXC"}),
                  gc.Record("ParameterStep", {"id": "S", "parameter": "LIM.signal", "t": 0.1, "by": by})]
        run = gc.simulate(built(cls_of(name), data, more=signal), t_end=0.6, step=0.02)
        assert np.ptp(run["EXC", "Efd"]) > 1e-3
        late, plainly = run.t > 0.1, plain.t > 0.1
        assert_allclose(run["EXC", "Efd"][late], plain["EXC", "Efd"][plainly], atol=1e-9)


def gated(name, over, under, **codes):
    """Regulator and what is behind its gates, while the limiters' signals step to these."""
    more = [gc.Record("OverSignal", {"id": "O", "exciter": "EXC", "signal": 90.0}),
            gc.Record("UnderSignal", {"id": "U", "exciter": "EXC", "signal": -90.0}),
            gc.ParameterStep(id="S1", parameter="U.signal", t=0.1, by=under + 90.0),
            gc.ParameterStep(id="S2", parameter="U.signal", t=0.3, by=-under - 90.0),
            gc.ParameterStep(id="S3", parameter="O.signal", t=0.5, by=over - 90.0),
            gc.ParameterStep(id="S4", parameter="O.signal", t=0.7, by=90.0 - over)]
    return gc.simulate(built(cls_of(name), CASES[name][1] | codes, more=more), t_end=0.9, step=0.02)


@pytest.mark.parametrize(("name", "regulator", "over", "under", "scale"), [
    ("DC4B", "VPID", 0.7, 1.3, 2.0), ("ST8C", "VPI", 1.5, 2.2, 1.0)])
def test_at_a_gate_the_under_excitation_limiter_passes_while_it_is_higher_the_other_while_it_is_lower(
        name, regulator, over, under, scale):
    run = gated(name, over, under, OEL=2.0, UEL=2.0)
    first, second = (run.t > 0.11) & (run.t < 0.29), (run.t > 0.51) & (run.t < 0.69)
    assert_allclose(run["EXC", "gate"][first], scale * under)
    assert_allclose(run["EXC", "gate"][second], scale * over)
    free = ~first & ~second & np.all([np.abs(run.t - t) > 0.011 for t in (0.1, 0.3, 0.5, 0.7)], axis=0)
    assert_allclose(run["EXC", "gate"][free], run["EXC", regulator][free])
    assert {"above_to_second", "above_to_first", "gate_to_second", "gate_to_first"} <= {e.item for e in run.events}


def test_a_limiter_that_takes_over_cannot_ask_for_more_than_the_regulator_gives():
    run = gated("DC4B", -5.0, 5.0, OEL=2.0, UEL=2.0)
    assert {"under_at_VRMAX", "under_off_VRMAX", "over_at_VRMIN", "over_off_VRMIN"} <= {e.item for e in run.events}
    assert_allclose([run["EXC", "VR"].max(), run["EXC", "VR"].min()], [4.5, -3.0], rtol=0.05)


def test_the_under_excitation_limiter_of_a_ST6B_passes_in_place_of_the_voltage_error():
    run = gated("ST6B", 90.0, 0.04)
    first = (run.t > 0.11) & (run.t < 0.29)
    assert_allclose(run["EXC", "gate"][first], 0.04)
    assert_allclose(run["EXC", "gate"][run.t > 0.31], 0.0, atol=1e-9)


@pytest.mark.parametrize(("name", "regulator", "over", "under"), [
    ("ESDC1A", "lead", None, 0.06), ("ESDC2A", "lead", None, 0.06), ("ESST3A", "VI", None, 0.09),
    ("ESAC1A", "VA", 2.0, 3.5), ("ESST4B", "VM", 0.2, None), ("ESST1A", "feedback_in", 1.5, 2.5)])
def test_a_limiter_takes_over_at_the_gate_of_the_diagram_and_gives_back(name, regulator, over, under):
    """The under-excitation limiter where it is higher, the other where it is lower, for as long as it is."""
    codes = dict(UEL=3.0) if name == "ESST1A" else {}
    ports = {"OverSignal": (over, 90.0, 0.5), "UnderSignal": (under, -90.0, 0.1)}
    more = [record for model, (level, away, t) in ports.items() if level is not None for record in (
        gc.Record(model, {"id": model, "exciter": "EXC", "signal": away}),
        gc.ParameterStep(id=f"{model}1", parameter=f"{model}.signal", t=t, by=level - away),
        gc.ParameterStep(id=f"{model}2", parameter=f"{model}.signal", t=t + 0.2, by=away - level))]
    run = gc.simulate(built(cls_of(name), CASES[name][1] | codes, more=more), t_end=0.9, step=0.02)
    given, gate = run["EXC", regulator], run["EXC", "gate"]
    for level, begin, side in ((under, 0.1, max), (over, 0.5, min)):
        now = (run.t > begin + 0.011) & (run.t < begin + 0.189)
        assert_allclose(gate[now], given[now] if level is None else level)
        assert level is None or np.all([side(level, x) == level for x in given[now]])
    free = np.all([np.abs(run.t - t - 0.1) > 0.111 for t in (0.1, 0.5)], axis=0)
    assert_allclose(gate[free], given[free])
    assert np.ptp(run["EXC", "Efd"]) > 0.05


def test_the_first_gate_of_ESST1A_is_behind_the_regulators_input():
    more = [gc.Record("UnderSignal", {"id": "U", "exciter": "EXC", "signal": -90.0}),
            gc.ParameterStep(id="S", parameter="U.signal", t=0.1, by=90.05)]
    run = gc.simulate(built(cls_of("ESST1A"), CASES["ESST1A"][1] | dict(UEL=2.0), more=more), t_end=0.3, step=0.02)
    assert_allclose(run["EXC", "first"][run.t > 0.111], 0.05)
    assert_allclose(run["EXC", "above"], run["EXC", "feedback_in"])


@pytest.mark.parametrize("name", ["DC4B", "ST8C", "ST6B", "ESST1A"])
def test_a_gate_without_a_limiter_is_open(name):
    codes = {"ST6B": dict(OEL=2.0), "ESST1A": dict(UEL=2.0)}.get(name, dict(OEL=2.0, UEL=2.0))
    for code in (codes, dict.fromkeys(codes, 1.0)):
        found, reference, _ = respond(name, CASES[name][1] | code, CASES[name][2])
        assert_allclose(found, reference, rtol=1e-7, atol=1e-7)


def test_a_limiter_is_refused_where_an_exciter_has_no_input_for_it():
    with pytest.raises(gc.errors.GridcoreError, match="VOEL"):
        built(gridcore_devices.StaticExciter, dict(KA=20.0, TA=0.05),
              more=[gc.Record("OverSignal", {"id": "LIM", "exciter": "EXC"})])
