"""The samples of a recording on a run: their values, and their exact derivatives by either sweep.

Between points of the run a value is interpolated as its method says, and so is its derivative; a point that an event
made moves with the event, and the interpolation with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from gridcore.kept import KeptFor
from gridcore.sensitivity import At, Request, Sampling, adjoint, joint_function
from gridcore_tsa.sensitivities import begin

if TYPE_CHECKING:
    from gridcore.results import Run

    from .problem import Recording


_channels: KeptFor[Any] = KeptFor("channels")


@dataclass
class Samples:
    """A recording's samples in terms of its system.

    Attributes
    ----------
    recording : Recording
    t_end : float
    channels : list of (device, name)
    time, value, root : (samples,) arrays
        Values in the unit of the quantity; roots of the weights.
    column : (samples,) int array
        The channel of each.
    """

    recording: Recording
    t_end: float
    channels: list[tuple[str, str]]
    time: np.ndarray
    column: np.ndarray
    value: np.ndarray
    root: np.ndarray


class Channels:
    """Values and gradients of channels at the points beside samples.

    Attributes
    ----------
    points : (m,) int array
        Numbers of those points.
    values : (points of the run, channels) array
        Nan at other points.
    gradients : dict of int to (entries,) array
        At each point; `row` is the channel of an entry, and `at` its position in Z.
    """

    def __init__(self, run: Run, channels: list[tuple[str, str]], sampling: Sampling):
        system = run.system
        function, self.at, self.row, column = _channels.get(
            system.system, tuple(channels), lambda: joint_function(system, [itemgetter(c) for c in channels]))
        self.points = np.unique(sampling.at)
        arguments = run.read(self.at)[self.points]
        values, gradients = function.map(len(self.points))(arguments.T)
        self.values = np.full((len(run.t), len(channels)), np.nan)
        self.values[self.points] = np.asarray(values).T
        self.gradients = dict(zip(self.points.tolist(), np.asarray(gradients).T.reshape(len(self.points), -1),
                                  strict=True))
        self.at = self.at[column]


def between(sampling: Sampling, values: np.ndarray, column: np.ndarray) -> np.ndarray:
    """Values at the samples, each in its column of (points, channels)."""
    return np.asarray((sampling.weight * values[sampling.at, column[:, None]]).sum(axis=1))


def forward(run: Run, attached: Samples, sampling: Sampling, names: list[str]) -> np.ndarray:
    """(samples, names) by one forward sweep: the interpolation of tangents at points that move with their clocks."""
    system = run.system
    n, end = system.n, system.n + system.layout.n_p
    channels = Channels(run, attached.channels, sampling)
    at, row = channels.at, channels.row
    sweep = begin(run, Request.of(system, names, "power flow"), [int(i) for i in at if n <= i < end], "discrete",
                  "power flow")
    sweep.replay.allow_grazing = True
    column_of = sweep.replay.column_of[at]
    states, parameters = np.flatnonzero(at < n), np.flatnonzero(column_of >= 0)
    explicit = np.flatnonzero(at == system.layout.t)
    slot = {int(k): i for i, k in enumerate(channels.points)}
    D = np.zeros((len(slot), len(attached.channels), len(names)))

    def visit(first: int, X: np.ndarray) -> None:
        for k, tangents in enumerate(X, first):
            if k in slot:
                add(k, tangents)

    def add(k: int, X: np.ndarray) -> None:
        gradients, out = channels.gradients[k], D[slot[k]]
        for part, tangent, places in ((states, X, at), (parameters, sweep.P, column_of)):
            if len(part):
                np.add.at(out, row[part], gradients[part, None] * tangent[:, places[part]].T)
        if len(explicit):
            np.add.at(out, row[explicit], np.outer(gradients[explicit], sweep.T[run.tape.point_clock[k]]))

    sweep.run(visit)
    c, places = attached.column[:, None], np.searchsorted(channels.points, sampling.at)
    moved = sampling.moved(channels.values[sampling.at, c])
    return np.asarray(np.einsum("iq,iqp->ip", sampling.weight, D[places, c])
                      + np.einsum("iq,iqp->ip", moved, sweep.T[sampling.clock]))


def by_adjoint(run: Run, attached: Samples, sampling: Sampling, names: list[str]) -> np.ndarray:
    """The same by one adjoint sweep with as many rows as there are samples."""
    objectives = [At([t], itemgetter(attached.channels[c]))
                  for t, c in zip(attached.time, attached.column, strict=True)]
    return np.asarray(adjoint(run, objectives, names, allow_grazing=True).values)
