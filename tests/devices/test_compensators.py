"""CSVGN1: at rest, its transfer function by hand, and its diagram into its limits and out again."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

import gridcore as gc
from gridcore.errors import GridcoreError

DATA = dict(K=20.0, T1=0.1, T2=1.0, T3=0.15, T4=0.8, T5=0.03, RMIN=20.0, VMAX=1.1, VMIN=-0.1, CBASE=120.0)
SN, Q0 = 200.0, 0.05


def built(steps=(), **changes):
    case = gc.Case("bench")
    case.add(gc.Record("Bus", {"id": "B"}))
    case.add(gc.Record("InfiniteBus", {"id": "INF", "bus": "B", "control": "slack", "V0": 1.0}))
    case.add(gc.Record("CSVGN1", {"id": "SVC", "bus": "B", "control": "PQ", "Q0": Q0, "Sn": SN, **DATA, **changes}))
    for k, (t, by) in enumerate(steps):
        case.add(gc.ParameterStep(id=f"S{k}", parameter="INF.E", t=t, by=by))
    return gc.build(case)


def test_it_rests_with_the_reactive_power_of_the_power_flow_and_takes_no_active_power():
    run = gc.simulate(built(), t_end=0.5, step=0.1)
    assert_allclose(run["SVC", "Q"] * SN / 100.0, Q0, rtol=1e-12)
    assert_allclose(run["SVC", "P"], 0.0, atol=1e-14)
    assert_allclose(run["SVC", "y"], (120.0 - 5.0) / SN, rtol=1e-12)


def test_its_reactor_over_the_voltage_is_the_transfer_function_of_the_model_library():
    system = built()
    J = system.jacobian(system.Z0).toarray()
    column = system.system.parameter_jacobian([system.layout.address("INF.E")]).evaluate(system.Z0).toarray()[:, 0]
    M = np.diag(system.differential(system.Z0).astype(float))
    for w in (0.1, 1.0, 10.0, 100.0):
        s = 1j * w
        found = np.linalg.solve(s * M - J, column)[system.layout.address("SVC.y")]
        lead = (1 + s * 0.1) * (1 + s * 1.0) / ((1 + s * 0.15) * (1 + s * 0.8))
        assert found == pytest.approx(20.0 * lead / (1 + s * 0.03), rel=1e-10)


def test_its_response_is_that_of_the_diagram_into_its_limits_and_out_again():
    steps = [(0.1, 0.04), (0.6, -0.09), (1.2, 0.06), (1.6, -0.01)]
    run = gc.simulate(built(steps), t_end=2.5, step=0.005, method="ida", rtol=1e-9, atol=1e-11)
    items = [event.item for event in run.events if event.device == "SVC"]
    assert {f"{what}_{way}_{limit}" for what, limit in (("y", "RMIN"), ("y", "RBASE"), ("sum", "VMAX"), ("sum", "VMIN"))
            for way in ("at", "off")} <= set(items)
    y0 = 115.0 / SN
    V, out = 1.0, np.full(len(run.t), np.nan)
    x = np.array([y0, y0, y0])

    def clipped(x):
        return np.array([x[0], np.clip(x[1], -0.1, 1.1), np.clip(x[2], 0.1, 1.0)])

    def rates(t, x):
        lead1, lag2, y = clipped(x)
        u = y0 + 20.0 * (V - 1.0)
        first = lead1 + 0.1 / 0.15 * (u - lead1)
        total = np.clip(lag2 + 1.0 / 0.8 * (first - lag2), -0.1, 1.1)
        found = np.array([(u - lead1) / 0.15, (first - lag2) / 0.8, (total - y) / 0.03])
        for k, (low, high) in {1: (-0.1, 1.1), 2: (0.1, 1.0)}.items():
            if (x[k] >= high and found[k] > 0) or (x[k] <= low and found[k] < 0):
                found[k] = 0.0
        return found

    ends = [*(t for t, _ in steps), 2.5]
    for begin, end, by in zip([0.0, *ends[:-1]], ends, [0.0, *(by for _, by in steps)], strict=True):
        V += by
        here = (run.t >= begin) & (run.t < end)
        solution = solve_ivp(rates, (begin, end), x, "DOP853", dense_output=True, rtol=1e-10, atol=1e-12,
                             max_step=2e-3)
        out[here], x = clipped(solution.sol(run.t[here]))[2], clipped(solution.y[:, -1])
    done = np.isfinite(out)
    assert_allclose(run["SVC", "y"][done], out[done], atol=1e-5)


def test_limits_out_of_order_are_refused():
    with pytest.raises(GridcoreError, match="VMIN"):
        built(VMIN=2.0)
