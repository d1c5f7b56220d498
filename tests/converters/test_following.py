"""The converter that follows the grid: its eigenvalues, its references, its limits and its PLL."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import root

import gridcore as gc

BASE = 2 * np.pi * 50
LCL = {"lf": 0.08, "rf": 0.003, "cf": 0.074, "lg": 0.2, "rg": 0.01}
CONTROL = {"kpp": 0.1, "kip": 5.0, "kpq": 0.2, "kiq": 6.0, "Tm": 0.01, "kpc": 1.27, "kic": 14.3, "kffv": 0.2,
           "kad": 0.5, "wad": 50.0, "wlp": 500.0, "kp": 0.1, "ki": 3.0}


def grid(P0: float = 0.5, Q0: float = 0.1, **values: float) -> gc.Case:
    """One converter at an infinite bus."""
    case = gc.Case("one converter", base_mva=2.75)
    case.frequency = 50
    case.add("Bus", id=1)
    case.add("InfiniteBus", bus=1, control="slack")
    case.add("LCLConverter", bus=1, control="PQ", P0=P0, Q0=Q0, **LCL)
    case.add("CurrentControl", converter="CONV1", **{**CONTROL, **values})
    return case


def written_anew(x: np.ndarray, p_ref: float, q_ref: float) -> np.ndarray:
    """Its eighteen equations in the frame of the PLL, as complex numbers; the grid is at 1."""
    icv, vo, io, gamma, phi, seen = (x[k] + 1j * x[k + 1] for k in range(0, 12, 2))
    eps, theta, pm, qm, xp, xq = x[12:]
    error = np.arctan(seen.imag / seen.real)
    w = 1.0 + CONTROL["kp"] * error + CONTROL["ki"] * eps
    s = vo * np.conj(io)
    wanted = CONTROL["kpp"] * (p_ref - pm) + xp - 1j * (CONTROL["kpq"] * (q_ref - qm) + xq)
    v = (CONTROL["kpc"] * (wanted - icv) + CONTROL["kic"] * gamma + 1j * LCL["lf"] * w * icv + CONTROL["kffv"] * vo
         - CONTROL["kad"] * (vo - phi))
    pairs = [BASE * (v - vo - LCL["rf"] * icv) / LCL["lf"] - 1j * w * BASE * icv,
             BASE * (icv - io) / LCL["cf"] - 1j * w * BASE * vo,
             BASE * (vo - np.exp(-1j * theta) - LCL["rg"] * io) / LCL["lg"] - 1j * w * BASE * io,
             wanted - icv, CONTROL["wad"] * (vo - phi), CONTROL["wlp"] * (vo - seen)]
    return np.array([*(part for z in pairs for part in (z.real, z.imag)), error, BASE * (w - 1.0),
                     (s.real - pm) / CONTROL["Tm"], (s.imag - qm) / CONTROL["Tm"],
                     CONTROL["kip"] * (p_ref - pm), CONTROL["kiq"] * (q_ref - qm)])


def test_the_eigenvalues_are_those_of_the_equations_written_anew():
    io = np.conj(0.5 + 0.1j)
    vo = 1.0 + (LCL["rg"] + 1j * LCL["lg"]) * io
    turn, icv, s = np.exp(-1j * np.angle(vo)), io + 1j * LCL["cf"] * vo, vo * np.conj(io)
    guess = [part for z in (icv * turn, vo * turn, io * turn, 0j, vo * turn, vo * turn) for part in (z.real, z.imag)]
    x0 = np.array([*guess, 0.0, np.angle(vo), s.real, s.imag, (icv * turn).real, -(icv * turn).imag])
    scale = np.array([BASE / 0.08] * 6 + [1.0] * 12)
    x = root(lambda x: written_anew(x, s.real, s.imag) / scale, x0, tol=1e-14).x
    assert np.abs(written_anew(x, s.real, s.imag) / scale).max() < 1e-12
    columns = []
    for k in range(len(x)):
        def slope(h: float, k: int = k) -> np.ndarray:
            a, b, c, d = (written_anew(x + m * h * np.eye(len(x))[k], s.real, s.imag) for m in (1, -1, 2, -2))
            return (8 * (a - b) - c + d) / (12 * h)
        columns.append((16 * slope(5e-4) - slope(1e-3)) / 15)
    theirs = list(np.linalg.eigvals(np.array(columns).T))
    ours = gc.analyses.small_signal(gc.build(grid())).eigenvalues
    assert len(ours) == len(theirs) == 18
    for value in ours:
        nearest = min(theirs, key=lambda other: abs(other - value))
        assert abs(nearest - value) < 1e-8 * max(abs(value), 1.0)
        theirs.remove(nearest)


def test_it_gives_the_powers_that_are_asked_for_and_rests_there():
    case = grid()
    case.add("ParameterStep", id="more", parameter="LOOPS_CONV1.Pref", t=0.1, by=0.2)
    case.add("ParameterStep", id="less", parameter="LOOPS_CONV1.Qref", t=0.1, by=-0.15)
    run = gc.simulate(gc.build(case), 8.0, 0.002, "trbdf2")
    assert np.ptp(run.X[run.t < 0.1], axis=0).max() < 1e-9
    assert run["CONV1", "P"][-1] - run["CONV1", "P"][0] == pytest.approx(0.2, abs=1e-9)
    assert run["CONV1", "Q"][-1] - run["CONV1", "Q"][0] == pytest.approx(-0.15, abs=1e-9)


def test_the_active_current_has_priority_at_the_limit():
    """A dip: the active current rises first, and the reactive one gets what is left of Imax."""
    case = grid(P0=0.7, Q0=0.4, Imax=0.85)
    case.add("ParameterStep", id="dip", parameter="INF1.E", t=0.02, by=-0.15)
    run = gc.simulate(gc.build(case), 8.0, 0.002, "trbdf2")
    id, iq = run["LOOPS_CONV1", "active"][-1], run["LOOPS_CONV1", "reactive"][-1]
    assert run["CONV1", "P"][-1] == pytest.approx(run["CONV1", "P"][0], abs=1e-9)
    assert run["CONV1", "Q"][-1] < run["CONV1", "Q"][0] - 0.05
    assert np.hypot(id, iq) == pytest.approx(0.85, abs=1e-9)
    assert np.hypot(run["CONV1", "icvr"][-1], run["CONV1", "icvi"][-1]) == pytest.approx(0.85, abs=1e-6)


def test_a_grid_that_turns_faster_is_followed_without_error_and_a_ramp_with_its_rate_over_ki():
    """A machine without damping is sped up by a constant torque: dω/dt = ki times the error of the angle."""
    case = grid()
    case.remove("INF1")
    case.add("GENCLS", bus=1, control="slack", H=20.0, Xdp=0.2)
    case.add("ZIP", bus=1, P0=0.7, Q0=0.2, pP=1.0, pZ=0.0)
    case.add("ParameterStep", id="torque", parameter="GEN1.Pm", t=0.1, by=0.01)
    run = gc.simulate(gc.build(case), 4.0, 0.002, "trbdf2")
    late = run.t > 3.8
    rate = (run["GEN1", "omega"][late][-1] - run["GEN1", "omega"][late][0]) / (run.t[late][-1] - run.t[late][0])
    assert rate == pytest.approx(0.01 / (2 * 20.0), rel=0.05)
    assert run["LOOPS_CONV1", "error"][-1] == pytest.approx(rate / CONTROL["ki"], rel=1e-3)
    assert run["LOOPS_CONV1", "omega"][-1] == pytest.approx(run["GEN1", "omega"][-1], abs=1e-5)


def test_a_fault_by_all_methods_is_one_trajectory():
    pytest.importorskip("scikits_odes_sundials.ida", reason="run ./setup.sh ida")
    case = grid(P0=0.8)
    case.add("ParameterStep", id="dip", parameter="INF1.E", t=0.02, by=-0.3)
    case.add("ParameterStep", id="turn", parameter="INF1.angle", t=0.02, by=np.radians(5.0))
    case.add("ParameterStep", id="back", parameter="INF1.E", t=0.12, by=0.3)
    system = gc.build(case)
    at = np.linspace(0.0, 0.3, 61)
    runs = [gc.simulate(system, 0.3, 1e-4), gc.simulate(system, 0.3, 2e-4, method="trbdf2"),
            gc.simulate(system, 0.3, 1e-3, method="ida", rtol=1e-8, atol=1e-10)]
    first, *others = [np.array([run.at(at)["CONV1", name] for name in ("icvr", "voi", "P", "Q")]) for run in runs]
    assert np.ptp(first, axis=1).min() > 0.01
    for other in others:
        assert np.abs(other - first).max() < 5e-4
