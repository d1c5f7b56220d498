"""The samples of a recording on a run: their values, and their exact derivatives by either sweep.

Between points of the run a value is interpolated as its method says, and so is its derivative; a point that an event
made moves with the event, and the interpolation with it. Angles are known to the next turn only, those of a run (an
arc tangent) as those of a recording: they go on from point to point, and what they differ by from sample to sample.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from gridcore.kept import KeptFor
from gridcore.sensitivity import At, Points, Request, Sampling, Taken, adjoint, joint_function
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
    angle : (channels,) bool array
        Which channels are angles, of which turns mean nothing.
    """

    recording: Recording
    t_end: float
    channels: list[tuple[str, str]]
    time: np.ndarray
    column: np.ndarray
    value: np.ndarray
    root: np.ndarray
    angle: np.ndarray

    def near(self, simulated: np.ndarray) -> np.ndarray:
        """Simulated values, with the turns of the measured angles.

        What they differ by goes on from sample to sample, with less than half a turn between: a trial whose frequency
        is off drifts away over many turns, and each of them counts.
        """
        turned = simulated.copy()
        order = np.lexsort((self.time, self.root == 0))  # what has no weight tells nothing of turns
        for column in np.flatnonzero(self.angle):
            mine = order[self.column[order] == column]
            apart = simulated[mine] - self.value[mine]
            turned[mine] += np.unwrap(np.append(0.0, apart))[1:] - apart
        return turned


class Channels:
    """Values and gradients of channels at the points beside samples.

    Attributes
    ----------
    points : (m,) int array
        Numbers of those points.
    beside : (samples, q) array
        Values at the points that each sample is made of; an angle goes on from each to the next.
    gradients : dict of int to (entries,) array
        At each point; `row` is the channel of an entry, and `at` its position in Z.
    """

    def __init__(self, run: Run, attached: Samples, sampling: Sampling):
        system, channels = run.system, attached.channels
        function, self.at, self.row, column = _channels.get(
            system.system, tuple(channels), lambda: joint_function(system, [itemgetter(c) for c in channels]))
        self.points = np.unique(sampling.at)
        arguments = run.read(self.at)[self.points]
        values, gradients = function.map(len(self.points))(arguments.T)
        found = np.array(values)
        found[attached.angle] = np.unwrap(found[attached.angle])
        self.beside = found[attached.column[:, None], np.searchsorted(self.points, sampling.at)]
        self.gradients = dict(zip(self.points.tolist(), np.asarray(gradients).T.reshape(len(self.points), -1),
                                  strict=True))
        self.at = self.at[column]


class Turning(At):
    """Samples of an angle, which goes on from point to point."""

    def take(self, points: Points, r: np.ndarray) -> Taken:
        return super().take(points, np.unwrap(r))


def sampled(attached: Samples, column: int, at: np.ndarray, weights: np.ndarray | float = 1.0) -> At:
    """The weighted sum of some samples of a channel, as an objective."""
    kind = Turning if attached.angle[column] else At
    return kind(attached.time[at], itemgetter(attached.channels[column]), weights)


def simulated(run: Run, attached: Samples, sampling: Sampling) -> np.ndarray:
    """(samples,) what a run gives for them."""
    return attached.near((sampling.weight * Channels(run, attached, sampling).beside).sum(axis=1))


def forward(run: Run, attached: Samples, sampling: Sampling, names: list[str]) -> np.ndarray:
    """(samples, names) by one forward sweep: the interpolation of tangents at points that move with their clocks."""
    system = run.system
    n, end = system.n, system.n + system.layout.n_p
    channels = Channels(run, attached, sampling)
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
    moved = sampling.moved(channels.beside)
    return np.asarray(np.einsum("iq,iqp->ip", sampling.weight, D[places, c])
                      + np.einsum("iq,iqp->ip", moved, sweep.T[sampling.clock]))


def by_adjoint(run: Run, attached: Samples, sampling: Sampling, names: list[str]) -> np.ndarray:
    """The same by one adjoint sweep with as many rows as there are samples."""
    objectives = [sampled(attached, c, np.array([k])) for k, c in enumerate(attached.column.tolist())]
    return np.asarray(adjoint(run, objectives, names, allow_grazing=True).values)
