"""STAB1, STAB2A, PSS2A, PSS2B, PSS2C and ST2CUT: their transfer functions by hand, and in time between their limits."""

from __future__ import annotations

import diagrams
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import block_diag
from scipy.signal import tf2ss
from workbench import BenchMachine, built

import gridcore as gc
import gridcore_devices
from gridcore.errors import CaseError
from gridcore_conformance.testbed import testbed

EXCITER = dict(TATB=0.1, TB=10.0, K=100.0, TE=0.05, EMIN=-3.0, EMAX=4.0)
TWO = dict(ICS1=1.0, ICS2=3.0, M=3.0, N=1.0, TW1=1.5, TW2=0.8, T6=0.02, TW3=1.2, TW4=0.0, T7=1.5, KS2=0.2, KS3=0.9,
           T8=0.3, T9=0.1, KS1=8.0, T1=0.3, T2=0.05, T3=0.2, T4=0.04, VSTMAX=0.03, VSTMIN=-0.04)
DATA = {
    "STAB1": dict(KT=6.0, T=1.5, T1T3=5.0, T3=0.0447, T2T4=3.0, T4=0.05, HLIM=0.05),
    "PSS2A": TWO,
    "PSS2A, long": TWO | dict(M=2.0, N=4.0, TW2=0.0, TW4=2.0, T6=0.0, T9=0.08),
    "PSS2A, no ramp": TWO | dict(M=0.0, N=0.0, T2=0.0),
    "PSS2B": TWO | dict(T10=0.1, T11=0.03),
    "PSS2C": TWO | dict(T10=0.1, T11=0.03, T12=0.2, T13=0.05),
    "STAB2A": dict(K2=1.2, T2=0.6, K3=0.5, T3=1.0, K4=0.3, K5=0.9, T5=0.04, HLIM=0.03),
    "ST2CUT, no washout": dict(ICS1=1.0, ICS2=0.0, K1=3.0, K2=0.0, T1=0.02, T2=0.05, T3=0.0, T4=1.2, T5=0.3, T6=0.05,
                               T7=0.2, T8=0.04, T9=0.1, T10=0.03, LSMAX=0.02, LSMIN=-0.03),
    "ST2CUT": dict(ICS1=1.0, ICS2=3.0, K1=3.0, K2=-0.2, T1=0.02, T2=0.05, T3=1.5, T4=1.2, T5=0.3, T6=0.05, T7=0.2,
                   T8=0.04, T9=0.1, T10=0.03, LSMAX=0.02, LSMIN=-0.03),
}
LIMITS = {"STAB1": ("HLIM", "limited_min"), "PSS2A": ("VSTMAX", "VSTMIN"), "PSS2B": ("VSTMAX", "VSTMIN"),
          "PSS2C": ("VSTMAX", "VSTMIN"), "STAB2A": ("HLIM", "limited_min"),
          "ST2CUT": ("LSMAX", "LSMIN"), "ST2CUT, no washout": ("LSMAX", "LSMIN")}
SPEED, POWER = 0, 1
VD = np.sin(0.5)  # of the bench: d power / d Id
each = pytest.mark.parametrize("name", DATA)


@pytest.fixture(autouse=True)
def bench_machine():
    with testbed(BenchMachine):
        yield


def cls_of(name):
    return getattr(gridcore_devices, name.split(",")[0])


def stabilized(name, steps=(), **changes):
    cls = cls_of(name)
    return built(gridcore_devices.SEXS, EXCITER, steps=steps,
                 more=[gc.Record(cls.__name__, {"id": "PSS", "exciter": "EXC", **DATA[name], **changes})])


# ---------------------------------------------------------------- transfer functions


def lead(T1, T2):
    return (np.poly1d([T1, 1.0]), np.poly1d([T2, 1.0])) if T2 > 0 else (np.poly1d([1.0]), np.poly1d([1.0]))


def washout(T):
    return (np.poly1d([T, 0.0]), np.poly1d([T, 1.0])) if T > 0 else (np.poly1d([1.0]), np.poly1d([1.0]))


def lag(K, T):
    return np.poly1d([K]), np.poly1d([T, 1.0])


def row(*blocks):
    num, den = np.poly1d([1.0]), np.poly1d([1.0])
    for n, d in blocks:
        num, den = num * n, den * d
    return num, den


def less(a, b):
    return a[0] * b[1] - b[0] * a[1], a[1] * b[1]


def transfer(d, signal):
    """Numerator and denominator from an input to Vs, without limits."""
    if "KT" in d:
        first = np.poly1d([d["KT"] * d["T"], 0.0]), np.poly1d([d["T"], 1.0])
        out = row(first, lead(d["T1T3"] * d["T3"], d["T3"]), lead(d["T2T4"] * d["T4"], d["T4"]))
        return out if signal == SPEED else (np.poly1d([0.0]), np.poly1d([1.0]))
    if "K4" in d:
        washed = row(*[(np.poly1d([-d["K2"] * d["T2"], 0.0]), np.poly1d([d["T2"], 1.0]))] * 3)
        mixed = np.poly1d([d["K4"] * d["T3"], d["K3"] + d["K4"]]), np.poly1d([d["T3"], 1.0])
        out = row(washed, mixed, *[lag(d["K5"], d["T5"])] * 2)
        return out if signal == POWER else (np.poly1d([0.0]), np.poly1d([1.0]))
    if "K1" in d:
        first = lag(d["K1"], d["T1"]) if signal == SPEED else lag(d["K2"], d["T2"])
        numerator = [d["T3"], 0.0] if d["T3"] > 0 else [1.0]  # PSS/E puts one for sT3 where T3 is zero
        return row(first, (np.poly1d(numerator), np.poly1d([d["T4"], 1.0])),
                   *(lead(d[f"T{k}"], d[f"T{k + 1}"]) for k in (5, 7, 9)))
    whole = int(d["N"])
    ramp = np.poly1d([d["T8"], 1.0]) ** whole, np.poly1d([d["T9"], 1.0]) ** (int(d["M"]) * whole)
    if signal == SPEED:
        inside = row(washout(d["TW1"]), washout(d["TW2"]), lag(1.0, d["T6"]), ramp)
    else:
        second = row(washout(d["TW3"]), washout(d["TW4"]), lag(d["KS2"], d["T7"]))
        inside = row(second, less((ramp[0] * d["KS3"], ramp[1]), (np.poly1d([1.0]), np.poly1d([1.0]))))
    return row((np.poly1d([d["KS1"]]), np.poly1d([1.0])), inside, lead(d["T1"], d["T2"]), lead(d["T3"], d["T4"]),
               lead(d.get("T10", 0.0), d.get("T11", 0.0)), lead(d.get("T12", 0.0), d.get("T13", 0.0)))


@each
@pytest.mark.parametrize(("signal", "address", "gain"), [(SPEED, "M.omega", 1.0), (POWER, "M.Id", VD)])
def test_its_transfer_functions_are_those_of_the_model_library(name, signal, address, gain):
    system = stabilized(name)
    J = system.jacobian(system.Z0).toarray()
    column = system.system.parameter_jacobian([system.layout.address(address)]).evaluate(system.Z0).toarray()[:, 0]
    M = np.diag(system.differential(system.Z0).astype(float))
    num, den = transfer(DATA[name], signal)
    for w in (0.1, 1.0, 6.0, 40.0):
        found = np.linalg.solve(1j * w * M - J, column)[system.layout.address("PSS.Vs")]
        assert found == pytest.approx(gain * num(1j * w) / den(1j * w), rel=1e-9, abs=1e-13)


# ---------------------------------------------------------------- in time


def diagram(name):
    """The transfer functions as one state space, and a clamp behind it."""
    parts = []
    for signal in (SPEED, POWER):
        num, den = transfer(DATA[name], signal)
        parts.append(tf2ss(num.coeffs, den.coeffs))
    A = block_diag(*(p[0] for p in parts))
    B = block_diag(*(p[1] for p in parts))
    C, D = np.hstack([p[2] for p in parts])[0], np.array([p[3][0, 0] for p in parts])
    names = [f"x{k}" for k in range(len(A))]
    upper, lower = LIMITS[name]
    high = DATA[name][upper]
    low = DATA[name].get(lower, -high)

    def vector(x):
        return np.array([getattr(x, n) for n in names])

    def inputs(u):
        return np.array([u.omega - 1.0, VD * (u.Id - 0.5)])

    return diagrams.Diagram(None, lambda Efd, u: (dict.fromkeys(names, 0.0), 0.0),
                            lambda x, u: dict(zip(names, A @ vector(x) + B @ inputs(u), strict=True)),
                            lambda x, u: float(np.clip(C @ vector(x) + D @ inputs(u), low, high)))


@pytest.mark.parametrize("name", LIMITS)
def test_response_is_that_of_the_transfer_functions_held_between_the_limits(name):
    steps = [(0.1, "omega", 0.008), (0.4, "omega", -0.02), (0.9, "Id", 0.3), (1.4, "Id", -0.4)]
    run = gc.simulate(stabilized(name, steps), t_end=2.5, step=0.005, method="ida", rtol=1e-9, atol=1e-11)
    items = {event.item for event in run.events if event.device == "PSS"}
    assert {f"limited_{way}_{label}" for way in ("at", "off") for label in LIMITS[name]} <= items
    away = np.all([np.abs(run.t - at) > 1e-6 for at, _, _ in steps], axis=0)
    expected = diagram(name).run(0.0, [(0.1, {"omega": 1.008}), (0.4, {"omega": 0.988}), (0.9, {"Id": 0.8}),
                                       (1.4, {"Id": 0.4})], run.t[away])
    assert_allclose(run["PSS", "Vs"][away], expected, atol=1e-7)


def test_inputs_of_pss2b_are_held_between_their_limits():
    steps = [(0.1, "omega", 0.01), (0.3, "omega", -0.02), (0.5, "Id", 0.6), (0.7, "Id", -0.9), (0.9, "Id", 0.3)]
    changes = dict(VS1MAX=0.005, VS1MIN=-0.004, VS2MAX=1.0, VS2MIN=0.7)
    run = gc.simulate(stabilized("PSS2B", steps, **changes), t_end=1.0, step=0.005)
    away = np.all([np.abs(run.t - at) > 1e-9 for at, _, _ in steps], axis=0)
    for signal, low, high in (("u1", -0.004, 0.005), ("u2", 0.7, 1.0)):
        found = run["PSS", signal][away]
        assert_allclose([found.min(), found.max()], [low, high], rtol=1e-12)
    items = {event.item for event in run.events if event.device == "PSS"}
    assert {"u1_at_VS1MAX", "u1_off_VS1MAX", "u1_at_VS1MIN", "u2_at_VS2MAX", "u2_off_VS2MAX", "u2_at_VS2MIN"} <= items


def test_st2cut_is_silent_outside_its_window_around_the_voltage_at_t0():
    steps = [(0.1, "omega", 0.002), (0.2, "V", 0.2), (0.3, "V", -0.2), (0.4, "V", -0.3), (0.5, "V", 0.3)]
    run = gc.simulate(stabilized("ST2CUT", steps, VCU=0.1, VCL=-0.1), t_end=0.6, step=0.005)
    items = [event.item for event in run.events if event.device == "PSS" and "limited" not in event.item]
    assert items == ["above", "back_below", "below", "back_above"]
    silent = ((run.t > 0.2 + 1e-9) & (run.t < 0.3 - 1e-9)) | ((run.t > 0.4 + 1e-9) & (run.t < 0.5 - 1e-9))
    assert (run["PSS", "Vs"][silent] == 0).all()
    assert (run["PSS", "Vs"][(run.t > 0.3 + 1e-9) & (run.t < 0.4 - 1e-9)] != 0).all()


def test_pss2c_is_silent_from_where_the_power_falls_below_one_bound_to_where_it_rises_above_the_other():
    steps = [(0.1, "omega", 0.002), (0.2, "Id", -0.3), (0.3, "Id", 0.15), (0.4, "Id", 0.15)]
    run = gc.simulate(stabilized("PSS2C", steps, PPSSON=0.72, PPSSOFF=0.65), t_end=0.5, step=0.005)
    items = [event.item for event in run.events if event.device == "PSS" and "limited" not in event.item]
    assert items == ["silent", "heard_again"]  # power from 0.766 to 0.622, 0.694 and back
    silent = (run.t > 0.2 + 1e-9) & (run.t < 0.4 - 1e-9)
    assert (run["PSS", "Vs"][silent] == 0).all()
    assert (run["PSS", "Vs"][(run.t > 0.1 + 1e-9) & (run.t < 0.2 - 1e-9)] != 0).all()
    assert (run["PSS", "Vs"][run.t > 0.4 + 1e-9] != 0).all()


@pytest.mark.parametrize("low", [0.7, 0.8])
def test_pss2c_is_silent_at_t0_where_the_power_is_below_its_lower_bound(low):
    run = gc.simulate(stabilized("PSS2C", [(0.1, "omega", 0.002)], PPSSON=0.9, PPSSOFF=low), t_end=0.2, step=0.01)
    assert (run["PSS", "Vs"][-1] == 0) == (low == 0.8)


@pytest.mark.parametrize(("name", "change", "word"), [
    ("PSS2C", dict(PPSSOFF=0.1), "PPSSOFF"), ("PSS2C", dict(ICS1=7.0), "ICS1"), ("STAB2A", dict(HLIM=0.0), "HLIM"),
    ("STAB1", dict(HLIM=0.0), "HLIM"), ("PSS2A", dict(M=5.0, N=2.0), "M N"), ("PSS2A", dict(ICS1=1.5), "ICS1"),
    ("PSS2A", dict(VSTMIN=1.0), "VSTMIN"), ("PSS2B", dict(VS1MIN=100.0), "VS1MIN"), ("PSS2A", dict(RB1=7.0), "RB1"),
    ("ST2CUT", dict(LSMIN=1.0), "LSMIN"), ("ST2CUT", dict(ICS2=2.5), "ICS1 and ICS2")])
def test_data_without_a_meaning_are_refused(name, change, word):
    with pytest.raises(CaseError, match=word):
        stabilized(name, **change)
