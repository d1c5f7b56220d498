"""Governors of PSS/E's library: their transfer functions by hand, and their diagrams integrated by scipy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from governor_bench import P0, agree, built, driven, modes, profile, solved

import gridcore_devices
from gridcore.errors import GridcoreError

DIESEL = dict(T1=0.05, T2=0.1, T3=0.2, K=8.0, T4=0.3, T5=0.08, T6=0.12, TD=0.04, TMAX=0.95, TMIN=0.4)


PID = dict(Treg=0.1, Kp=2.0, Ki=0.5, Kd=0.3, Ta=0.05, Tb=0.2, G0=0.1, G1=0.5, P1=0.5, G2=0.8, P2=0.85, P3=1.0,
           Tw=1.2)
GATE = 0.5 + 0.3 * (P0 - 0.5) / 0.35  # of PID at P0


@dataclass
class Governor:
    """A governor, its data, and what is expected of it.

    `transfer(d, s)` is power over speed, `rates(d, x, slip, P)` the diagram in the states `x0(d)`, of which `held` are
    between limits, and `power(d, x, slip)` its output; `reached` are events of the run under `slopes`.
    """

    data: dict[str, float]
    transfer: Callable[[Any, complex], complex]
    x0: Callable[[Any], list[float]]
    rates: Callable[[Any, Any, float, float], list[float]]
    power: Callable[[Any, Any, float], float]
    held: dict[int, tuple[str, str]]
    reached: set[str]
    slopes: list[tuple[float, float]]
    wrong: dict[str, float]
    powers: list[tuple[float, float]] = field(default_factory=list)


def gast_transfer(d, s):
    return -1 / d.R / ((1 + s * d.T1) * (1 + s * d.T2)) - d.Dturb


def gast_rates(d, x, slip, P):
    request = min(P0 - slip / d.R, d.AT + d.KT * (d.AT - x[2]))
    return [(request - x[0]) / d.T1, (x[0] - x[1]) / d.T2, (x[1] - x[2]) / d.T3]


def ieeeg3_turbine(d):
    return (d.A11 - d.A13 * d.A21 / d.A23) * d.TW, d.A11 * d.TW


def ieeeg3_transfer(d, s):
    lead, lag = ieeeg3_turbine(d)
    pilot = 1 / (d.TG * (1 + s * d.TP)) / s
    gate = -pilot / (1 + pilot * (d.SIGMA + d.DELTA * s * d.TR / (1 + s * d.TR)))
    return gate * d.A23 * (1 + s * lead) / (1 + s * lag)


def ieeeg3_rates(d, x, slip, P):
    speed, gate, slow, water = x
    droop = d.SIGMA * gate + d.DELTA * (gate - slow)
    wanted = (d.SIGMA * P0 / d.A23 - slip - droop) / d.TG
    return [(wanted - speed) / d.TP, speed, (gate - slow) / d.TR, (gate - water) / ieeeg3_turbine(d)[1]]


def ieeeg3_power(d, x, slip):
    lead, lag = ieeeg3_turbine(d)
    return d.A23 * (x[3] + lead / lag * (x[1] - x[3]))


def ieesgo_transfer(d, s):
    governor = d.K1 * (1 + s * d.T2) / ((1 + s * d.T1) * (1 + s * d.T3))
    behind = np.cumprod([1 / (1 + s * T) for T in (d.T4, d.T5, d.T6)])
    return -governor * np.dot([1 - d.K2, d.K2 * (1 - d.K3), d.K2 * d.K3], behind)


def ieesgo_rates(d, x, slip, P):
    first, droop, x4, x5, x6 = x
    controller = d.K1 * (first + d.T2 / d.T1 * (slip - first))
    valve = np.clip(P0 - droop, d.PMIN, d.PMAX)
    return [(slip - first) / d.T1, (controller - droop) / d.T3, (valve - x4) / d.T4, (x4 - x5) / d.T5,
            (x5 - x6) / d.T6]


def diesel_transfer(d, s, droop=None):
    box = (1 + s * d.T3) / (1 + s * d.T1 + s * s * d.T1 * d.T2)
    fuel = box * d.K * (1 + s * d.T4) / (s * (1 + s * d.T5) * (1 + s * d.T6))
    if droop:
        fuel = fuel / (1 + fuel * droop)
    return -fuel * (1 - s * d.TD / 2) / (1 + s * d.TD / 2) + P0


def diesel_rates(d, x, slip, P, droop=0.0):
    """Box in controllable form, and what follows it; `droop` is what is taken from the error beside the speed."""
    box, moving, lag, moved, fuel, halfway = x
    acceleration = (-slip - droop - box - d.T1 * moving) / (d.T1 * d.T2)
    u = box + d.T3 * moving
    lead = lag + d.T4 / d.T5 * (u - lag)
    return [moving, acceleration, (u - lag) / d.T5, (lead - moved) / d.T6, d.K * moved, (fuel - halfway) / (d.TD / 2)]


def diesel_power(d, x, slip):
    return (2 * x[5] - x[4]) * (1 + slip)


def pid_curve(d, gate):
    """Power at a gate, and its slope there."""
    x, y = np.array([d.G0, d.G1, d.G2, 1.0]), np.array([0.0, d.P1, d.P2, d.P3])
    k = int(np.clip(np.searchsorted(x, gate) - 1, 0, 2))
    slope = (y[k + 1] - y[k]) / (x[k + 1] - x[k])
    return y[k] + slope * (gate - x[k]), slope


def pid_transfer(d, s):
    return (d.Kp + d.Ki / s + s * d.Kd) / ((1 + s * d.Ta) ** 2 * (1 + s * d.Tb))


def pid_water(d, s, Tz):
    return pid_curve(d, GATE)[1] * (1 - s * Tz) / (1 + s * Tz / 2)


def pidgov_transfer(d, s):
    gate = pid_transfer(d, s)
    if d.Feedback:
        gate = gate / (1 + gate * d.Rperm / (1 + s * d.Treg))
    return -gate * pid_water(d, s, d.Atw * d.Tw) - d.Dturb


def wpidhy_transfer(d, s):
    return -pid_transfer(d, s) / s * pid_water(d, s, d.Tw) - d.D


def pid_rates(d, x, slip, feedback, Tz):
    """All but what moves the gate, which is x[5] and set by `moves` of the request."""
    droop, integral, filtered, slow, request, gate, water = x[:7]
    e = droop - slip
    derivative = d.Kd / d.Ta * (e - slow)
    return [(feedback - droop) / d.Treg, d.Ki * e, (d.Kp * e + integral - filtered) / d.Ta, (e - slow) / d.Ta,
            (filtered + derivative - request) / d.Ta, 0.0, (pid_curve(d, gate)[0] - water) / (Tz / 2)]


def pidgov_rates(d, x, slip, P):
    y, y0 = (x[5], GATE) if d.Feedback else (P, P0)
    rates = pid_rates(d, x, slip, d.Rperm * (y0 - y), d.Atw * d.Tw)
    rates[5] = np.clip((x[4] - x[5]) / d.Tb, d.Velmin, d.Velmax)
    return rates


def wpidhy_rates(d, x, slip, P):
    rates = pid_rates(d, x, slip, d.Reg * (P - P0), d.Tw)
    rates[5] = np.clip(x[7], d.Velmn, d.Velmx)
    return [*rates, (x[4] - x[7]) / d.Tb]


def pid_power(d, x):
    return 3 * x[6] - 2 * pid_curve(d, x[5])[0]


WAVE = [(0.5, -0.12), (3.5, 0.12), (9.5, -0.12), (15.5, 0.12), (18.5, 0.0)]
STEAM = dict(K=20.0, T1=0.2, T2=0.05, T3=0.15, Uo=0.3, Uc=-0.5, PMAX=0.95, PMIN=0.2, T4=0.25, T5=4.0, T6=0.4, T7=0.1,
             K1=0.3, K3=0.3, K5=0.25, K7=0.15)
for k, (gate, steam) in enumerate(((0.0, 0.0), (0.3, 0.4), (0.6, 0.65), (0.8, 0.85), (1.0, 0.95)), 1):
    STEAM |= {f"GV{k}": gate, f"PGV{k}": steam}


def steam_curve(d, gate):
    """Steam at a gate, and its slope there."""
    x, y = ([getattr(d, f"{name}{k}") for k in range(1, 6)] for name in ("GV", "PGV"))
    k = int(np.clip(np.searchsorted(x, gate) - 1, 0, 3))
    slope = (y[k + 1] - y[k]) / (x[k + 1] - x[k])
    return y[k] + slope * (gate - x[k]), slope


def wsieg1_transfer(d, s):
    behind = np.cumprod([1 / (1 + s * T) for T in (d.T4, d.T5, d.T6, d.T7)])
    governor = 0.0 if d.DB1 else d.K * (1 + s * d.T2) / ((1 + s * d.T1) * (1 + s * d.T3))
    return -governor * steam_curve(d, 0.65)[1] * np.dot([d.K1, d.K3, d.K5, d.K7], behind)


def wsieg1_rates(d, x, slip, P):
    slow, valve, x4, x5, x6, x7, play = x
    banded = 0.0 if abs(slip) < d.DB1 else slip - np.sign(slip) * (d.ERR or d.DB1)
    gate = np.clip(play, valve - d.DB2, valve + d.DB2)
    droop = slow + d.T2 / d.T1 * (d.K * banded - slow)
    speed = np.clip((0.65 - droop - gate) / d.T3, d.Uc, d.Uo)
    if (valve >= d.PMAX and speed > 0) or (valve <= d.PMIN and speed < 0):
        speed = 0.0
    taken = (valve - play >= d.DB2 and speed > 0) or (valve - play <= -d.DB2 and speed < 0)
    return [(d.K * banded - slow) / d.T1, speed, (steam_curve(d, gate)[0] - x4) / d.T4, (x4 - x5) / d.T5,
            (x5 - x6) / d.T6, (x6 - x7) / d.T7, speed if taken else 0.0]


def wsieg1_power(d, x, slip):
    return np.dot([d.K1, d.K3, d.K5, d.K7], x[2:6])


WSIEG1_WAVE = [(0.5, -0.02), (1.5, 0.02), (4.0, -0.02), (6.0, 0.015), (7.0, -0.01), (8.0, 0.0)]
PIDGOV_DATA = PID | dict(Rperm=0.05, Dturb=0.4, Gmax=0.9, Gmin=0.4, Atw=0.8, Velmax=0.15, Velmin=-0.2)
PIDGOV_REACHED = {f"gate_{way}_{label}" for way in ("at", "off") for label in ("Gmin", "Gmax")} | {
    f"gate_speed_{way}_{label}" for way in ("at", "off") for label in ("Velmin", "Velmax")} | {
    f"power_{way}_{k}" for way in ("above", "below") for k in (1, 2)}

GOVERNORS = {
    "WSIEG1": Governor(
        STEAM | dict(DB1=0.0, ERR=0.0, DB2=0.0), wsieg1_transfer, lambda d: [0, 0.65, P0, P0, P0, P0, 0.65],
        wsieg1_rates, wsieg1_power, {1: ("PMIN", "PMAX")},
        {f"curve_{way}_{k}" for way in ("above", "below") for k in (1, 2, 3)} | {
            f"valve_{way}_{label}" for way in ("at", "off") for label in ("lowest", "highest")} | {
            f"valve_speed_{way}_{label}" for way in ("at", "off") for label in ("Uo", "Uc")},
        WSIEG1_WAVE, dict(PMIN=1.0)),
    "WSIEG1, dead band and backlash": Governor(
        STEAM | dict(DB1=0.004, ERR=0.003, DB2=0.03), wsieg1_transfer, lambda d: [0, 0.65, P0, P0, P0, P0, 0.65],
        wsieg1_rates, wsieg1_power, {1: ("PMIN", "PMAX")},
        {f"band_{way}" for way in ("above", "back_below", "below", "back_above")} | {
            f"gate_{way}" for way in ("up", "down", "left_above", "left_below")},
        WSIEG1_WAVE, dict(ERR=0.01)),
    "PIDGOV": Governor(
        PIDGOV_DATA | dict(Feedback=1.0), pidgov_transfer, lambda d: [0, GATE, GATE, 0, GATE, GATE, P0], pidgov_rates,
        lambda d, x, slip: pid_power(d, x) - d.Dturb * slip, {5: ("Gmin", "Gmax")}, PIDGOV_REACHED,
        WAVE, dict(Gmin=1.0)),
    "PIDGOV, electrical power": Governor(
        PIDGOV_DATA | dict(Feedback=0.0), pidgov_transfer, lambda d: [0, GATE, GATE, 0, GATE, GATE, P0], pidgov_rates,
        lambda d, x, slip: pid_power(d, x) - d.Dturb * slip, {5: ("Gmin", "Gmax")}, PIDGOV_REACHED,
        WAVE, dict(G1=0.9),
        [(3.0, 0.9), (5.0, 0.6), (9.0, P0)]),
    "WPIDHY": Governor(
        PID | dict(Reg=-0.05, Kp=1.0, Ki=0.2, Kd=2.0, Velmx=0.1, Velmn=-0.12, Gatmx=0.9, Gatmn=0.6, Pmax=0.93,
                   Pmin=0.63, D=0.3),
        wpidhy_transfer, lambda d: [0, 0, 0, 0, 0, GATE, P0, 0], wpidhy_rates,
        lambda d, x, slip: np.clip(pid_power(d, x), d.Pmin, d.Pmax) - d.D * slip, {5: ("Gatmn", "Gatmx")},
        {f"gate_{way}_{label}" for way in ("at", "off") for label in ("Gatmn", "Gatmx")} | {
            f"speed_{way}_{label}" for way in ("at", "off") for label in ("Velmn", "Velmx")} | {
            f"held_{way}_{label}" for way in ("at", "off") for label in ("Pmin", "Pmax")},
        WAVE, dict(Pmin=2.0),
        [(3.0, 0.9), (5.0, 0.6), (9.0, P0)]),
    "GAST": Governor(
        dict(R=0.05, T1=0.3, T2=0.2, T3=2.0, AT=0.75, KT=2.0, VMAX=0.8, VMIN=0.3, Dturb=0.4),
        gast_transfer, lambda d: [P0] * 3, gast_rates, lambda d, x, slip: x[1], {0: ("VMIN", "VMAX")},
        {"request_to_second", "request_to_first", "valve_at_VMAX", "valve_off_VMAX", "valve_at_VMIN",
         "valve_off_VMIN"},
        [(0.5, -0.015), (1.5, 0.0), (5.0, 0.02), (7.5, 0.0), (9.0, -0.01), (11.0, 0.0)], dict(VMIN=1.0)),
    "IEEEG3": Governor(
        dict(TG=0.5, TP=0.05, UO=0.08, UC=-0.1, PMAX=0.8, PMIN=0.45, SIGMA=0.05, DELTA=0.3, TR=4.0, TW=1.2, A11=0.5,
             A13=1.0, A21=1.5, A23=1.1),
        ieeeg3_transfer, lambda d: [0.0, *[P0 / d.A23] * 3], ieeeg3_rates, ieeeg3_power,
        {0: ("UC", "UO"), 1: ("PMIN", "PMAX")},
        {"speed_at_UO", "speed_off_UO", "speed_at_UC", "speed_off_UC", "gate_at_PMAX", "gate_off_PMAX", "gate_at_PMIN",
         "gate_off_PMIN"},
        [(1.0, -0.08), (2.0, 0.0), (7.0, 0.1), (9.0, 0.0), (14.0, -0.09), (16.0, 0.0)], dict(PMIN=1.0)),
    "IEESGO": Governor(
        dict(T1=0.2, T2=0.05, T3=0.15, T4=0.3, T5=5.0, T6=0.5, K1=20.0, K2=0.7, K3=0.4, PMAX=0.9, PMIN=0.3),
        ieesgo_transfer, lambda d: [0.0, 0.0, P0, P0, P0], ieesgo_rates,
        lambda d, x, slip: (1 - d.K2) * x[2] + d.K2 * ((1 - d.K3) * x[3] + d.K3 * x[4]), {},
        {"valve_at_PMAX", "valve_off_PMAX", "valve_at_PMIN", "valve_off_PMIN"},
        [(1.0, -0.01), (3.0, 0.0), (4.0, 0.02), (6.5, 0.0), (8.0, -0.01), (11.0, 0.0)], dict(PMIN=1.0)),
    "DEGOV": Governor(
        DIESEL, diesel_transfer, lambda d: [0, 0, 0, 0, P0, P0], diesel_rates, diesel_power, {4: ("TMIN", "TMAX")},
        {"fuel_at_TMAX", "fuel_off_TMAX", "fuel_at_TMIN", "fuel_off_TMIN"},
        [(1.0, -0.05), (2.0, 0.1), (5.0, -0.1), (8.5, 0.0)], dict(TMIN=1.0)),
    "DEGOV1": Governor(
        DIESEL | dict(M=0.0, DROOP=0.05, TE=0.1), lambda d, s: diesel_transfer(d, s, d.DROOP),
        lambda d: [0, 0, 0, 0, P0, P0],
        lambda d, x, slip, P: diesel_rates(d, x, slip, P, d.DROOP * (np.clip(x[4], d.TMIN, d.TMAX) - P0)), diesel_power,
        {4: ("TMIN", "TMAX")}, {"fuel_at_TMAX", "fuel_off_TMAX", "fuel_at_TMIN", "fuel_off_TMIN"},
        [(1.0, -0.05), (2.0, 0.1), (5.0, -0.1), (8.5, 0.0)], dict(TMIN=1.0)),
    "DEGOV1, electrical power": Governor(
        DIESEL | dict(M=1.0, DROOP=0.05, TE=0.1), diesel_transfer, lambda d: [0, 0, 0, 0, P0, P0, P0],
        lambda d, x, slip, P: [*diesel_rates(d, x[:6], slip, P, d.DROOP * (x[6] - P0)), (P - x[6]) / d.TE],
        diesel_power, {4: ("TMIN", "TMAX")}, {"fuel_at_TMAX", "fuel_off_TMAX"},
        [(1.0, -0.05), (2.0, 0.05), (3.0, 0.0)], dict(M=2.0), [(2.0, 1.5), (4.0, 0.1), (7.0, P0)]),
}
each = pytest.mark.parametrize("name", GOVERNORS)


def cls_of(name):
    return getattr(gridcore_devices, name.split(",")[0])


def power_over_speed(name, data, w):
    """The governor's answer to a speed that swings with `w` (rad/s), without what acts behind Pm."""
    system = built(cls_of(name), data)
    layout, J = system.layout, system.jacobian(system.Z0).toarray()
    column = system.system.parameter_jacobian([layout.address("M.slope")]).evaluate(system.Z0).toarray()[:, 0]
    M = np.diag(system.differential(system.Z0).astype(float))
    response = np.linalg.solve(1j * w * M - J, column) * 1j * w  # the slope of the speed is what is disturbed
    return response[layout.address("G.Pm")]


@each
def test_power_over_speed_is_the_transfer_function_of_the_diagram(name):
    governor = GOVERNORS[name]
    d = SimpleNamespace(**governor.data)
    for w in (0.05, 0.4, 3.0, 20.0):
        power = power_over_speed(name, governor.data, w) - (d.Dturb if name == "GAST" else 0.0)
        assert power == pytest.approx(governor.transfer(d, 1j * w), rel=1e-9)


@pytest.mark.parametrize(("name", "left_out"), [
    ("IEESGO", "T1"), ("IEESGO", "T3"), ("DEGOV", "T5"), ("DEGOV", "T6"), ("DEGOV1", "T5")])
def test_a_lead_over_two_lags_stays_with_the_one_that_is_left(name, left_out):
    governor = GOVERNORS[name]
    data = governor.data | {left_out: 0.0}
    for w in (0.4, 20.0):
        assert power_over_speed(name, data, w) == pytest.approx(governor.transfer(SimpleNamespace(**data), 1j * w),
                                                                rel=1e-9)


@each
def test_response_is_that_of_the_diagram_into_its_limits_and_out_again(name):
    governor = GOVERNORS[name]
    run = driven(cls_of(name), governor.data, governor.slopes, governor.powers)
    d = SimpleNamespace(**governor.data)
    (_, slip), (seen, _) = profile(governor.slopes, 0.0), profile(governor.powers, P0)

    def slope(t, x):
        x = np.array(x, float)
        bounds = {k: [getattr(d, name) for name in pair] for k, pair in governor.held.items()}
        for k, (low, high) in bounds.items():
            x[k] = np.clip(x[k], low, high)
        rates = governor.rates(d, x, slip(t), seen(t))
        for k, (low, high) in bounds.items():
            if (x[k] >= high and rates[k] > 0) or (x[k] <= low and rates[k] < 0):
                rates[k] = 0.0
        return rates

    breaks = sorted({t for t, _ in [*governor.slopes, *governor.powers]})
    found = solved(slope, governor.x0(d), run, breaks)
    for k, pair in governor.held.items():
        found[k] = np.clip(found[k], *(getattr(d, name) for name in pair))
    expected = [governor.power(d, x, slip(t)) for t, x in zip(run.t, found.T, strict=True)]
    agree(run, {"Pm": np.array(expected)}, 1e-4)
    assert modes(run) >= governor.reached


@each
def test_data_without_a_meaning_are_refused(name):
    governor = GOVERNORS[name]
    with pytest.raises(GridcoreError, match=next(iter(governor.wrong))):
        built(cls_of(name), governor.data | governor.wrong)


def test_time_constants_of_zero_take_the_lags_of_a_diesel_away():
    data = DIESEL | dict.fromkeys(("T1", "T2", "T3", "T5", "T6", "TD"), 0.0)
    run = driven(cls_of("DEGOV"), data, [(1.0, -0.02), (2.0, 0.0)], t_end=4.0)
    _, slip = profile([(1.0, -0.02), (2.0, 0.0)], 0.0)
    (fuel,) = solved(lambda t, x: [-8.0 * slip(t)], [P0], run, [1.0, 2.0])
    turn = np.array([1 + slip(t) for t in run.t])
    agree(run, {"Pm": np.minimum(fuel, 0.95) * turn}, 1e-5)
