"""Block diagrams by themselves: integrated by scipy, and compared with a run."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

Steps = list[tuple[str, float, float]]  # input, when, by how much
Columns = tuple[np.ndarray, dict[tuple[str, str], Any]]  # times, and columns of devices


def integrated(rates: Callable[..., Any], x0: Any, low: Any, high: Any, inputs: dict[str, float], steps: Steps,
               t_end: float, max_step: float = 0.01) -> tuple[np.ndarray, np.ndarray, list[dict[str, float]]]:
    """Times, states and inputs between steps; `rates(x, **inputs)`, states stop at `low` and `high`."""
    def held(t: float, x: np.ndarray, given: dict[str, float]) -> np.ndarray:
        dx = np.array(rates(x, **given))
        return np.where(((x >= high) & (dx > 0)) | ((x <= low) & (dx < 0)), 0.0, dx)

    breaks = [0.0, *sorted({when for _, when, _ in steps}), t_end]
    ts, xs, us, x, given = [], [], [], np.array(x0, float), dict(inputs)
    for begin, end in pairwise(breaks):
        given = {name: value + sum(by for step, when, by in steps if (step, when) == (name, begin))
                 for name, value in given.items()}
        t = np.linspace(begin, end, 202)[1:-1]
        found = solve_ivp(held, (begin, end), x, "DOP853", t, args=(given,), rtol=1e-9, atol=1e-11, max_step=max_step,
                          dense_output=True)
        x = found.sol(end)
        ts.append(t)
        xs.append(found.y.T)
        us += [given] * len(t)
    return np.concatenate(ts), np.concatenate(xs), us


def agree(found: Any, t: np.ndarray, columns: dict[tuple[str, str], np.ndarray], part: float) -> None:
    """Columns are those of the run, by a part of their range."""
    sampled = found.at(t)
    for (device, name), theirs in columns.items():
        assert np.ptp(theirs) > 5e-3, name
        assert np.abs(sampled[device, name] - theirs).max() < part * np.ptp(theirs), name
