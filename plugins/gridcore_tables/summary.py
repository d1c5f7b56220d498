"""What came of a run: whether it is stable, who parts, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gridcore.results import check_run
from gridcore_notebook import html
from gridcore_rotors.rotors import kept_rotors
from gridcore_verbs.summary import describe_run, layout

if TYPE_CHECKING:
    from gridcore.results import Run


@dataclass(frozen=True)
class Summary:
    """What came of a run; ``print(run.summary())`` shows what ``gridcore run`` does.

    Attributes
    ----------
    stable : bool or None
        Whether no two machines of one island came 360 degrees apart; None where the run has no machine, or did not keep
        the angles and speeds of all.
    parted : tuple of str
        The machines that fell out of step with the others; see :meth:`gridcore_rotors.rotors.Rotors.parted`.
    angle : float
        The largest difference of two rotor angles in one island (deg); nan where `stable` is None.
    angle_at : float
        When that was (s).
    lines : tuple of (str, str)
        Heading and text: events, extremes, synchronism, work and time.
    """

    stable: bool | None
    parted: tuple[str, ...]
    angle: float
    angle_at: float
    lines: tuple[tuple[str, str], ...]

    _repr_html_ = html

    def __str__(self) -> str:
        return layout(self.lines)


def summary(run: Run) -> Summary:
    """Whether a run is stable, which machines part, and what happened: ``run.summary().stable``.

    Parameters
    ----------
    run : Run

    Returns
    -------
    Summary
    """
    check_run(run)
    machines, lines = kept_rotors(run), tuple(describe_run(run))
    if machines is None:
        return Summary(None, (), np.nan, np.nan, lines)
    worst = int(np.argmax(machines.spread))
    return Summary(machines.verdict != "out of synchronism", machines.parted, float(np.degrees(machines.spread[worst])),
                   float(run.t[worst]), lines)
