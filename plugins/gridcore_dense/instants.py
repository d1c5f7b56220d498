"""What a run says of times of one's own, by name."""

from __future__ import annotations

from typing import Any

import numpy as np

from gridcore import Run
from gridcore.case import Address
from gridcore.results import Points
from gridcore.tape import States
from gridcore_notebook import html


class Instants(Points):
    """Times of one's own on a run: by name one value for each of them, for one time a number.

    Parameters
    ----------
    run : Run
    shape : tuple of int
        Of the times that were asked for.
    t, point_settings : (points,) arrays
        All of them; and the number of the settings that hold at each.
    states : InMemory
        In the order of time; `rows` are those of the points.
    rows : (points,) int array
    """

    _repr_html_ = html

    def __init__(self, run: Run, shape: tuple[int, ...], t: np.ndarray, point_settings: np.ndarray, states: States,
                 rows: np.ndarray):
        self.system, self.tape, self.settings = run.system, run.tape, run.settings
        self._shape, self._t, self._point_settings, self._states, self._rows = shape, t, point_settings, states, rows

    @property
    def t(self) -> np.ndarray:
        """(points,) times (s)."""
        return self._t

    @property
    def point_settings(self) -> np.ndarray:
        """(points,) number of the settings that hold at each."""
        return self._point_settings

    @property
    def states(self) -> States:
        """Where the variables are kept."""
        return self._states

    def _columns(self, at: np.ndarray) -> np.ndarray:
        return self.states.columns(at)[self._rows]

    def __getitem__(self, key: Address | list[Address]) -> Any:
        """``["GEN2.omega"]`` or ``["GEN2", "omega"]``: one value for each time; of a pattern with labels."""
        found = super().__getitem__(key)
        if isinstance(found, np.ndarray):
            return found.reshape(self._shape)[()]
        return found if self._shape else found[0]

    def __repr__(self) -> str:
        return f"<{len(self.t)} instants of a run of '{self.system.case.name}'>"
