"""Where a system may be linearised, and what is a state there: limits, zero time constants, what is out of service."""

from __future__ import annotations

import numpy as np
import pytest

import gridcore as gc
from gridcore.errors import CaseError, GridcoreError

MACHINE = {"H": 3.5, "D": 20.0, "Xd": 1.8, "Xdp": 0.3, "Xq": 1.7, "Xqp": 0.55, "Td0p": 6.0, "Tq0p": 0.6}
EXCITER = {"KA": 20, "TA": 0.2, "KE": 1.0, "TE": 0.314, "KF": 0.063, "TF": 0.35, "Ax": 0.0039, "Bx": 1.555,
           "VRMIN": -4, "VRMAX": 7}


def two_machines(**exciter):
    """Two machines with exciters at one bus, two circuits to an infinite bus."""
    case = gc.load_case("smib")
    case.records = [r for r in case.records if r.model in ("Bus", "Transformer", "Line", "InfiniteBus")]
    for k in (1, 2):
        case.add(gc.Record("TwoAxis", {"id": f"G{k}", "bus": 1, "control": "PV", "P0": 0.4, "V0": 1.0, "Sn": 1110,
                                       **MACHINE}))
        case.add(gc.Record("IEEEType1", {"id": f"E{k}", "machine": f"G{k}", **EXCITER, **(exciter if k == 1 else {})}))
    return case


def limited():
    """The first exciter's regulator may give a little less than it would."""
    free = gc.build(two_machines())
    return two_machines(VRMAX=0.97 * free.Z0[free.layout.address("E1.VR")])


def at_rest(case):
    return gc.simulate(gc.build(case), t_end=60.0, step=0.02)


def test_what_moves_is_refused_by_name_and_rate():
    run = gc.simulate(gc.build("wscc9"), t_end=0.3)
    with pytest.raises(GridcoreError, match=r"no equilibrium: the rate of \w+\.\w+ is [-\d.e+]+ per second") as told:
        gc.analyses.small_signal(run)
    F = run.system.rhs(_buffer(run))
    worst = np.abs(F).argmax()
    assert told.value.variable == run.system.layout.label(worst)
    assert told.value.rate == F[worst]


def test_a_system_without_operating_point_is_refused():
    with pytest.raises(GridcoreError, match="no equilibrium"):
        gc.analyses.small_signal(gc.build("wscc9", initialise=False))


def test_a_run_that_came_to_rest_is_where_it_began():
    system = gc.build("wscc9")
    still = gc.simulate(system.with_values({"fault.t": 9.0, "fault.clear": 9.1}), t_end=0.1)
    np.testing.assert_allclose(gc.analyses.small_signal(still).eigenvalues,
                               gc.analyses.small_signal(system).eigenvalues, atol=1e-9)


def test_the_point_of_a_run_must_be_there():
    run = gc.simulate(gc.build("smib"), t_end=0.05)
    for point in (2.5, "x", None, True, np.ones(2)):
        with pytest.raises(CaseError, match=f"the run has {len(run.t)} points"):
            gc.analyses.linearise(run, point=point)
    for tolerance in (-1, np.nan, "1e-3", None, np.ones(2)):
        with pytest.raises(CaseError, match="must be a number, at least 0"):
            gc.analyses.linearise(run, tolerance=tolerance)
    with pytest.raises(CaseError, match=f"point 999: the run has {len(run.t)} points"):
        gc.analyses.small_signal(run, point=999)


def test_a_state_at_its_limit_is_no_state():
    """Its column and row are gone from the reduced Jacobian, and nothing else is changed."""
    run = at_rest(limited())
    assert run["E1", "VR_limit"][-1] == 1
    modes = gc.analyses.small_signal(run)
    assert ("E1", "VR") not in modes.states
    Z = _buffer(run)
    Z[run.system.layout.address("E1.VR_limit")] = 0.0  # as if it were free, at the same point
    from gridcore_smallsignal.linearisation import Linearisation

    free = Linearisation(run.system, Z)
    fixed = np.array([state != ("E1", "VR") for state in free.states])
    expected = np.linalg.eigvals(free.reduced[fixed][:, fixed])
    assert _distance(expected, modes.eigenvalues) < 1e-9
    assert _distance(np.linalg.eigvals(free.reduced), modes.eigenvalues) > 0.1


def test_a_run_rings_down_as_its_modes_say():
    """What small signal finds at a limit is what a run does there: its slowest pair, seen in the rotor angle."""
    run = at_rest(limited())
    modes = gc.analyses.small_signal(run)
    least = modes.eigenvalues[modes.eigenvalues.imag > 0]
    slowest = least[np.argmax(least.real)]
    delta, t = run["G1", "delta"] + run["G2", "delta"], run.t
    part = (t > 3.0) & (t < 12.0)
    rest = delta[part] - delta[-1]
    # Prony's method of order 4 on the samples: the poles of what was computed, by the trapezoidal rule
    samples = rest[:: 5]
    order = 6
    rows = np.array([samples[k: k + order] for k in range(len(samples) - order)])
    coefficients = np.linalg.lstsq(rows, samples[order:], rcond=1e-10)[0]
    poles = np.log(np.roots([1.0, *-coefficients[::-1]]).astype(complex)) / 0.1
    assert np.abs(poles - slowest).min() < 0.02 * abs(slowest)


def test_limits_that_are_broken_at_t0_are_told():
    system = gc.build(limited())
    if not system.operating_point.violations:
        pytest.skip("initialisation puts the limit into force")
    with pytest.warns(UserWarning, match="E1: VR reaches VRMAX"):
        gc.analyses.small_signal(system)


def test_a_time_constant_of_zero_is_the_limit_of_short_ones():
    case = two_machines()
    zero = case.copy()
    for machine in ("G1", "G2"):
        case.set(f"{machine}.Tq0p", 1e-7)
        zero.set(f"{machine}.Tq0p", 0.0)
    short, none = gc.analyses.small_signal(gc.build(case)), gc.analyses.small_signal(gc.build(zero))
    assert len(none) == len(short) - 2
    slow = short.eigenvalues[np.abs(short.eigenvalues) < 1e4]
    assert _distance(slow, none.eigenvalues) < 1e-4


def test_what_is_out_of_service_has_no_modes():
    case = two_machines()
    case.add(gc.Record("Trip", {"id": "trip", "device": "G2", "t": 0.1}))
    run = at_rest(case)
    modes = gc.analyses.small_signal(run)
    assert {device for device, _ in modes.states} == {"G1", "E1"}
    assert modes.stable
    assert not any(modes.labels)


def test_equations_that_determine_nothing_are_named():
    from gridcore_smallsignal.linearisation import Linearisation

    system = gc.build("wscc9")
    Z = system.Z0.copy()
    for branch in ("LINE5-7", "LINE7-8", "TRANSFORMER2-7"):  # all that bus 7 hangs on
        Z[system.layout.address(f"{branch}.x")], Z[system.layout.address(f"{branch}.b")] = 1e200, 0.0
    with pytest.raises(GridcoreError, match=r"do not determine BUS7\.V[ri] here: g_y is singular"):
        _ = Linearisation(system, Z).reduced


def _buffer(run):
    Z = run.system.Z0.copy()
    Z[: run.system.n], Z[run.system.n:-1] = run.X[-1], run.tape.settings[run.point_settings[-1]]
    Z[-1] = run.t[-1]
    return Z


def _distance(one, other):
    """Largest distance of one set of eigenvalues from the other, both ways."""
    apart = np.abs(np.asarray(one)[:, None] - np.asarray(other))
    return max(apart.min(axis=0).max(), apart.min(axis=1).max()) if len(one) == len(other) else np.inf
