"""A study by both programs, and what comes of comparing them; what tests hold and docs/andes.md shows."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.linalg

import gridcore as gc
from gridcore.equilibrium import Equilibrium

from .program import Answer, Asked, ask
from .studies import STUDIES, Trajectories, grid, trajectories

T_END, STEP = 10.0, 1 / 480
AWAY = 0.1  # s; what is a sample away from the switchings
LATE = 5e-5  # s; half of the step that ANDES makes across a switching
SMALLER = (1 / 480, 1 / 960, 1 / 1920, 1 / 3840)  # s; of ANDES, where limits act
LIMITED = "kundur, EXDC2"
REGULATOR = {"IEEEX1": ("LA_y", "vp")}  # VR and Efd
# What ANDES calls the variables of a model, and what gridcore calls them; the sign where the two differ in it.
CONTROLLED = {"vref": ("Vref", 1)}
STARTS: dict[str, dict[str, tuple[str, int]]] = {
    "GENROU": {"delta": ("delta", 1), "e1q": ("Eqp", 1), "e1d": ("Edp", 1), "e2d": ("psikd", 1), "e2q": ("psikq", -1),
               "vf": ("Efd", 1), "tm": ("Pm", 1)},
    "GENCLS": {"delta": ("delta", 1), "vf": ("E", 1), "tm": ("Pm", 1)}, "SEXS": CONTROLLED, "IEEEX1": CONTROLLED}
REFERENCE = {"method": "ida", "rtol": 1e-10, "atol": 1e-12}


@functools.cache
def theirs(name: str) -> Answer:
    """ANDES's run of 10 s at 1/480 s and 1e-8, and its eigenvalues."""
    return ask(STUDIES[name], [Asked(STEP, t_end=T_END)], eigenvalues=True)


@functools.cache
def system(name: str, late: float = 0.0) -> Equilibrium:
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


def starts(name: str, shipped: bool) -> dict[str, float]:
    """Largest differences at t0, by quantity: voltages of buses, states and inputs of machines on their base.

    Parameters
    ----------
    name : str
    shipped : bool
        By the case of that name that gridcore ships, or by the files with what ANDES adds to the branches.
    """
    found = ask(STUDIES[name], quantities=STARTS)
    run = gc.simulate(gc.build(gc.load_case(name)) if shipped else system(name), STEP, STEP)
    Z0, layout = run.system.Z0, run.system.layout
    out = {"voltage": float(np.abs(run.of(found.buses, "Vm")[0] - found.v0).max()),
           "angle": float(np.abs(run.of(found.buses, "Va")[0] - found.a0).max())}
    for model, names in STARTS.items():
        for theirs_, (mine, sign) in names.items() if f"of_{model}" in found.arrays else ():
            owners = found.owners(model)
            values = sign * found.start(model, theirs_)
            if mine == "Pm":  # on the system's base
                values = values * Z0[layout.globals["base_mva"]] / Z0[[layout.address(f"{id}.Sn") for id in owners]]
            devices = [f"EXC_{id}" for id in owners] if names is CONTROLLED else owners
            out[mine] = max(out.get(mine, 0.0), float(np.abs(run.of(devices, mine)[0] - values).max()))
    print(f"{name}{', shipped' if shipped else ''}: " + ", ".join(f"{what} {size:.1e}" for what, size in out.items()))
    return out


@functools.cache
def limited(name: str, steps: tuple[float, ...]) -> Answer:
    """ANDES's runs of a study whose limits act, with VR and Efd of the exciters."""
    return ask(STUDIES[name], [Asked(step, t_end=T_END) for step in steps], quantities=REGULATOR, timeout=3000)


def beyond_limit(name: str, found: Answer, run: int) -> tuple[float, float, float]:
    """How far the VR by which ANDES integrated Efd is from the VR that it reports, at most (pu).

    A trapezoidal step says which: ``TE dEfd/h + KE Efd + B (Efd - A)^2 = VR``, with means of what is not dEfd.

    Returns
    -------
    float, float, float
        In steps that end at VRMAX, in all others; and in how many of the former, as a part, it is above 1e-3.
    """
    t, VR, Efd = found.runs[run].t, *(found.series(run, "IEEEX1", what) for what in REGULATOR["IEEEX1"])
    TE, KE, VRMAX, E1, SE1, E2, SE2 = (
        np.array([parameter(name, f"EXC_{machine}.{what}") for machine in found.owners("IEEEX1")])
        for what in ("TE", "KE", "VRMAX", "E1", "SE1", "E2", "SE2"))
    root = np.sqrt(SE1 * E1 / (SE2 * E2))
    A, B = E2 - (E1 - E2) / (root - 1), np.where(root > 0, SE2 * E2 * ((root - 1) / (E1 - E2)) ** 2, 0.0)
    taken = KE * Efd + B * np.maximum(Efd - A, 0.0) ** 2
    used = TE * np.diff(Efd, axis=0) / np.diff(t)[:, None] + (taken[1:] + taken[:-1]) / 2
    off, at = np.abs(used - (VR[1:] + VR[:-1]) / 2), VR[1:] >= VRMAX
    return float(off[at].max()), float(off[~at].max()), float((off[at] > 1e-3).mean())


def parameter(name: str, address: str) -> float:
    """Its value in a study."""
    built = system(name)
    return float(built.Z0[built.layout.address(address)])


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
