"""The virtual synchronous machine of D'Arco, Suul and Fosso, and the parts that it is made of."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import root

import gridcore as gc

BASE = 2 * np.pi * 50
LCL = {"lf": 0.08, "rf": 0.003, "cf": 0.074, "lg": 0.2, "rg": 0.01}
LOOPS = {"kpv": 0.59, "kiv": 736.0, "kffi": 0.1, "kpc": 1.27, "kic": 14.3, "kffv": 0.2, "kad": 0.5, "wad": 50.0,
         "rv": 0.01, "lv": 0.2}
SWING = {"Ta": 2.0, "kd": 400.0, "kw": 20.0, "kq": 0.2, "wf": 1000.0}
PLL = {"wlp": 500.0, "kp": 0.084, "ki": 4.69}
OUTER = {"VirtualInertia": SWING, "PowerDroop": {"kp": 0.02, "kq": 0.05, "wf": 30.0},
         "VirtualOscillator": {"eta": 10.0, "alpha": 2.0, "kappa": 1.5}}


def grid(outer: str = "VirtualInertia", pll: bool = True) -> gc.Case:
    """One converter, with the paper's data but for some that are zero there, at an infinite bus."""
    case = gc.Case("one converter", base_mva=2.75)
    case.frequency = 50
    case.add("Bus", id=1)
    case.add("InfiniteBus", bus=1, control="slack")
    case.add("LCLConverter", bus=1, control="PQ", P0=0.5, Q0=0.1, **LCL)
    case.add("VoltageCascade", converter="CONV1", **LOOPS)
    case.add(outer, id="OUTER", loops="LOOPS_CONV1", **OUTER[outer])
    if pll:
        case.add("ConverterPLL", id="PLL", outer="OUTER", **PLL)
    return case


def inside(vo: complex, icv: complex, gamma: complex, io: complex, phi: complex, xi: complex, theta: float, w: float,
           E: float) -> tuple[complex, ...]:
    """What filter and inner loops do in a frame at `theta` that turns at `w`; the grid is at 1."""
    ev = E - (LOOPS["rv"] + 1j * w * LOOPS["lv"]) * io - vo
    ei = LOOPS["kpv"] * ev + LOOPS["kiv"] * xi + 1j * LCL["cf"] * w * vo + LOOPS["kffi"] * io - icv
    vcv = (LOOPS["kpc"] * ei + LOOPS["kic"] * gamma + 1j * LCL["lf"] * w * icv + LOOPS["kffv"] * vo
           - LOOPS["kad"] * (vo - phi))
    dvo = BASE / LCL["cf"] * (icv - io) - 1j * w * BASE * vo
    dicv = BASE / LCL["lf"] * (vcv - vo - LCL["rf"] * icv) - 1j * w * BASE * icv
    dio = BASE / LCL["lg"] * (vo - np.exp(-1j * theta) - LCL["rg"] * io) - 1j * w * BASE * io
    return dvo, dicv, ei, dio, LOOPS["wad"] * (vo - phi), ev


def both(*values: complex) -> list[float]:
    """Real and imaginary parts."""
    return [part for z in values for part in (z.real, z.imag)]


def paper(x: np.ndarray, p_ref: float, v_ref: float, q_ref: float) -> np.ndarray:
    """The nineteen equations of the paper, in the frame of the virtual machine."""
    vo, icv, gamma, io, phi, vpll = (x[k] + 1j * x[k + 1] for k in (0, 2, 4, 6, 8, 10))
    eps, theta, xi, qm, slip, theta_pll = x[12], x[13], x[14] + 1j * x[15], x[16], x[17], x[18]
    p, q = (vo * np.conj(io)).real, (vo * np.conj(io)).imag
    *moves, ev = inside(vo, icv, gamma, io, phi, xi, theta, 1.0 + slip, v_ref + SWING["kq"] * (q_ref - qm))
    error = np.arctan(vpll.imag / vpll.real)
    slip_pll = PLL["kp"] * error + PLL["ki"] * eps
    dvpll = PLL["wlp"] * (vo * np.exp(-1j * (theta_pll - theta)) - vpll)
    dslip = (p_ref - p - SWING["kd"] * (slip - slip_pll) - SWING["kw"] * slip) / SWING["Ta"]
    return np.array([*both(*moves, dvpll), error, BASE * slip, *both(ev), SWING["wf"] * (q - qm), dslip,
                     BASE * slip_pll])


def drooped(x: np.ndarray, p_ref: float, v_ref: float, q_ref: float) -> np.ndarray:
    """With droops of frequency and voltage by filtered powers in place of the virtual machine."""
    vo, icv, gamma, io, phi, xi = (x[k] + 1j * x[k + 1] for k in (0, 2, 4, 6, 8, 10))
    theta, pm, qm = x[12:]
    d, s = OUTER["PowerDroop"], vo * np.conj(io)
    slip = d["kp"] * (p_ref - pm)
    *moves, ev = inside(vo, icv, gamma, io, phi, xi, theta, 1.0 + slip, v_ref + d["kq"] * (q_ref - qm))
    return np.array([*both(*moves, ev), BASE * slip, d["wf"] * (s.real - pm), d["wf"] * (s.imag - qm)])


def oscillating(x: np.ndarray, p_ref: float, v_ref: float, q_ref: float) -> np.ndarray:
    """With the oscillator of Groß et al. in place of the virtual machine, a phasor in the frame of the grid."""
    vo, icv, gamma, io, phi, xi, v = (x[k] + 1j * x[k + 1] for k in (0, 2, 4, 6, 8, 10, 12))
    d, s = OUTER["VirtualOscillator"], vo * np.conj(io)
    turn, size = np.exp(1j * d["kappa"]), abs(v) ** 2 / v_ref**2
    dv = d["eta"] * (turn * ((p_ref - 1j * q_ref) / v_ref**2 * v - np.conj(s / v)) + d["alpha"] * (1 - size) * v)
    *moves, ev = inside(vo, icv, gamma, io, phi, xi, np.angle(v), 1.0 + (dv / v).imag / BASE, abs(v))
    return np.array(both(*moves, ev, dv))


def linearised(f: Callable[..., np.ndarray], x: np.ndarray, *references: float) -> np.ndarray:
    """Its Jacobian, by central differences of the fourth order of every entry, refined by Richardson's rule."""
    columns = []
    for k in range(len(x)):
        def slope(h: float, k: int = k) -> np.ndarray:
            step = np.eye(len(x))[k] * h
            return (8 * (f(x + step, *references) - f(x - step, *references))
                    - f(x + 2 * step, *references) + f(x - 2 * step, *references)) / (12 * h)
        columns.append((16 * slope(5e-4) - slope(1e-3)) / 15)
    return np.array(columns).T


def operating_point(outer: str, v_ref: float) -> tuple[Callable[..., np.ndarray], np.ndarray, tuple[float, ...]]:
    """Found by its own: the rest of the equations at 0.5 + j 0.1 into the grid."""
    io = np.conj(0.5 + 0.1j)
    vo = 1.0 + (LCL["rg"] + 1j * LCL["lg"]) * io
    s, v = vo * np.conj(io), vo + (LOOPS["rv"] + 1j * LOOPS["lv"]) * io
    turn = np.exp(-1j * np.angle(v))
    references = (s.real, v_ref, s.imag)
    first = both(vo * turn, io * turn, 0, io * turn, vo * turn)
    f, x0 = {"VirtualInertia": (paper, [*first, abs(vo), 0, 0, np.angle(v), 0, 0, s.imag, 0, np.angle(vo)]),
             "PowerDroop": (drooped, [*first, 0, 0, np.angle(v), s.real, s.imag]),
             "VirtualOscillator": (oscillating, [*first, 0, 0, *both(v)])}[outer]
    size = np.maximum(np.abs(linearised(f, np.array(x0), *references)).max(axis=1), 1.0)
    found = root(lambda x: f(x, *references) / size, x0, tol=1e-14)
    assert np.abs(f(found.x, *references) / size).max() < 1e-11
    return f, found.x, references


@pytest.mark.parametrize(("outer", "states"), [("VirtualInertia", 19), ("PowerDroop", 15), ("VirtualOscillator", 14)])
def test_a_converter_has_the_states_and_eigenvalues_of_the_papers_equations(outer, states):
    machine = gc.build(grid(outer, pll=outer == "VirtualInertia"))
    f, x, references = operating_point(outer, machine.Z0[machine.layout.address("OUTER.Vref")])
    ours = gc.analyses.small_signal(machine).eigenvalues
    assert len(ours) == states
    rest = list(np.linalg.eigvals(linearised(f, x, *references)))
    for value in ours:
        nearest = min(rest, key=lambda other: abs(other - value))
        assert abs(nearest - value) < 1e-8 * max(abs(value), 1.0)
        rest.remove(nearest)


def disturbed(outer: str = "VirtualInertia") -> gc.Case:
    """The grid falls by a tenth and turns on by 5 degrees at 20 ms."""
    case = grid(outer, outer == "VirtualInertia")
    case.add("ParameterStep", id="dip", parameter="INF1.E", t=0.02, by=-0.1)
    case.add("ParameterStep", id="turn", parameter="INF1.angle", t=0.02, by=np.radians(5.0))
    return case


@pytest.mark.parametrize("outer", OUTER)
def test_a_disturbance_by_all_methods_is_one_trajectory(outer):
    system = gc.build(disturbed(outer))
    t_end, at = 0.2, np.linspace(0.0, 0.2, 41)
    runs = [gc.simulate(system, t_end, 1e-4), gc.simulate(system, t_end, 2e-4, method="trbdf2"),
            gc.simulate(system, t_end, 1e-3, method="ida", rtol=1e-8, atol=1e-10)]
    first, *others = [np.array([run.at(at)["CONV1", name] for name in ("icvr", "voi", "P", "Q")]) for run in runs]
    assert np.ptp(first, axis=1).min() > 0.01
    for other in others:
        assert np.abs(other - first).max() < 2e-4


@pytest.mark.parametrize("outer", OUTER)
def test_a_converter_rests_with_any_outer_loop(outer):
    run = gc.simulate(gc.build(grid(outer, pll=outer == "VirtualInertia")), 1.0)
    assert np.abs(run.X - run.X[0]).max() < 1e-9


def test_without_a_measured_frequency_damping_is_against_the_nominal_one():
    with_pll, without = (gc.analyses.small_signal(gc.build(grid(pll=pll))).eigenvalues for pll in (True, False))
    assert len(without) == len(with_pll) - 4
    # kd acts as further droop: the slowest mode is that of a converter that hardly moves
    assert max(without.real) > -SWING["kd"] / SWING["Ta"]
