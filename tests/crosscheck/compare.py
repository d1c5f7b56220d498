"""A study by both programs, and what comes of comparing them; what tests hold and docs/andes.md shows."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.linalg

import gridcore as gc

from .program import Answer, Asked, ask
from .studies import STUDIES, Trajectories, grid, trajectories

T_END, STEP = 10.0, 1 / 480
AWAY = 0.1  # s; what is a sample away from the switchings
LATE = 5e-5  # s; half of the step that ANDES makes across a switching
REFERENCE = {"method": "ida", "rtol": 1e-10, "atol": 1e-12}


@functools.cache
def theirs(name: str) -> Answer:
    """ANDES's run of 10 s at 1/480 s and 1e-8, and its eigenvalues."""
    return ask(STUDIES[name], [Asked(STEP, t_end=T_END)], eigenvalues=True)


@functools.cache
def system(name: str, late: float = 0.0) -> gc.System:
    """The study in gridcore, its switchings so much later (s)."""
    study = STUDIES[name]
    with tempfile.TemporaryDirectory() as folder:
        case = study.case(Path(folder))
    case.set("fault.t", study.t + late)
    for address in ("fault.clear", "trip.t"):
        case.set(address, study.clear + late)
    return gc.build(case)


def ours(name: str, step: Any = None, late: float = 0.0, t_end: float = T_END, **options: Any) -> Trajectories:
    """By gridcore; on ANDES's own steps unless another is given."""
    found = theirs(name)
    run = gc.simulate(system(name, late), t_end, grid(found.runs[0].t) if step is None else step, **options)
    return trajectories(run, found.machines, found.buses)


def differences(name: str, mine: Trajectories, other: Trajectories, margin: float = AWAY) -> dict[str, float]:
    """Largest differences at the instants of `other`, so far (s) from the switchings."""
    t = other.t[STUDIES[name].away(other.t, margin)]
    found = mine.at(t).against(other.at(t))
    print(f"{name}: " + ", ".join(f"{what} {size:.1e}" for what, size in found.items()))
    return found


def spectrum(name: str) -> np.ndarray:
    """Eigenvalues by gridcore."""
    return np.asarray(gc.analyses.small_signal(system(name), method="dense").eigenvalues)


def matched(one: np.ndarray, other: np.ndarray) -> float:
    """Largest distance from an eigenvalue to its nearest among others."""
    return float(np.abs(one[:, None] - other).min(1).max())


def finite(pencil: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Finite eigenvalues of a pencil (J, M)."""
    found = scipy.linalg.eigvals(*pencil)
    return found[np.isfinite(found) & (np.abs(found) < 1e6)]


def residual(pencil: tuple[np.ndarray, np.ndarray], eigenvalues: np.ndarray) -> float:
    """Largest over the eigenvalues s of the smallest singular value of ``J - s M``, over its norm."""
    J, M = pencil
    return max(float(scipy.linalg.svdvals(J - s * M)[-1] / np.linalg.norm(J - s * M)) for s in eigenvalues)
