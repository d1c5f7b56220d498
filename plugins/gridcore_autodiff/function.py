"""What a program of derivatives wants to know of a study: values and their Jacobian, at any parameters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gridcore.case import Case
from gridcore.equilibrium import Equilibrium, as_system
from gridcore.errors import CaseError
from gridcore.sensitivity import Objective
from gridcore_optimisation.measures import Measure, Simulation, objectives_of
from gridcore_optimisation.parameters import Parameters

if TYPE_CHECKING:
    from pathlib import Path


class Function:
    """Values of a study as a function of its parameters, and their exact Jacobian.

    The last point is remembered: whoever asks for its values first, and then for derivatives, pays once.

    Attributes
    ----------
    names, units : list of str
        Addresses of the parameters, in order.
    start : (n,) array
        Their values in the system.
    """

    def __init__(self, system: Equilibrium | Case | str | Path, of: Objective | Sequence[Objective] | Measure,
                 wrt: str | Iterable[str], t_end: float | str | None, options: dict[str, Any]):
        self.system = as_system(system)
        parameters = Parameters.of(self.system, wrt, None, None)
        self.names, self.units, self.start = parameters.names, parameters.units, parameters.start
        self._measure = _measure(of, t_end, options)
        self._last: tuple[bytes, np.ndarray, np.ndarray] = (b"", np.zeros(0), np.zeros(0))

    def at(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Values (m,) and their Jacobian (m, n) at parameters x (n,).

        Raises
        ------
        GridcoreError
            If there is no solution at these parameters, or x has another shape.
        """
        x = np.ascontiguousarray(x, dtype=float)
        if x.shape != (len(self.names),):
            raise CaseError(f"parameters of shape {x.shape}: they must be ({len(self.names)},), "
                            f"in the order {', '.join(self.names)}")
        known, values, jacobian = self._last  # taken and put as one: threads may share a study
        if known != x.tobytes():
            system = self.system.with_values(dict(zip(self.names, x.tolist(), strict=True)))
            found, gradient = self._measure.value_and_gradient(system, self.names)
            values = np.atleast_1d(np.asarray(found, dtype=float))
            jacobian = np.asarray(gradient, dtype=float).reshape(len(values), len(x))
            self._last = x.tobytes(), values, jacobian
        return values, jacobian


def _measure(of: Any, t_end: float | str | None, options: dict[str, Any]) -> Measure:
    if isinstance(of, Measure):
        if t_end is not None or options:
            raise CaseError(f"{type(of).__name__} is no objective of a run: it takes no t_end and no "
                            "arguments of simulate")
        return of
    if t_end is None:
        raise CaseError("t_end is missing: objectives are of a run, which has an end")
    step = options.pop("step", 0.01)
    return Simulation(objectives_of(of), t_end, step, simulate=options)
