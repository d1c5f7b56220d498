"""One-sided derivatives of the whole program, by differences that stay on one side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

import gridcore as gc
from gridcore.sensitivity import Objective, evaluate


def one_sided(case: gc.Case, direction: Mapping[str, float], objectives: Sequence[Objective], t_end: float,
              step: float, h: float = 2e-5, order: int = 3, **options: float) -> np.ndarray:
    """Derivatives of objectives along a direction of parameters, towards it only, (objectives,).

    Differences with h, h/2, h/4 ... are extrapolated to a length of zero (L. F. Richardson, Phil. Trans. R. Soc. A 210,
    1911). The value at zero is extrapolated, too: the run without a change may lie on the other side.
    """
    def values(length: float) -> np.ndarray:
        changed = gc.build(case).with_values({name: _value(case, name) + length * rate
                                              for name, rate in direction.items()})
        return evaluate(gc.simulate(changed, t_end, step, **options), objectives).values

    lengths = h * 0.5 ** np.arange(order + 1)
    fit = np.vander(lengths / h, order + 1, increasing=True)
    return np.linalg.solve(fit, np.array([values(length) for length in lengths]))[1] / h


def _value(case: gc.Case, name: str) -> float:
    device, _, parameter = name.rpartition(".")
    return float(case[device].fields[parameter])
