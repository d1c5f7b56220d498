"""ANDES as a peer: a process of its own, in its own Python, given a request and asked for results."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import scipy.sparse as sp

from .studies import FAULT_X, Study, Trajectories

PYTHON = "GRIDCORE_ANDES"
PEER = Path(__file__).with_name("peer.py")


def python() -> str | None:
    """The Python that has ANDES, if there is one."""
    return os.environ.get(PYTHON)


@dataclass(frozen=True)
class Asked:
    """A run: trapezoidal, at a fixed step (s), Newton's corrections at most `tolerance`; iterations if they count."""

    step: float
    tolerance: float = 1e-8
    t_end: float = 10.0
    count: bool = False


@dataclass
class Answer:
    """What ANDES found.

    Attributes
    ----------
    machines, buses : list of str
        As gridcore calls them.
    v0, a0 : (buses,)
        Power flow, pu and rad.
    runs : list of Trajectories
    times : dict
        Seconds, ``{"cpu", "wall"}`` of each stage; of each run with counts of steps and iterations.
    arrays : dict
        Jacobians, eigenvalues and quantities that were asked for, as the peer wrote them.
    """

    machines: list[str]
    buses: list[str]
    v0: np.ndarray
    a0: np.ndarray
    runs: list[Trajectories]
    times: dict[str, Any]
    arrays: dict[str, np.ndarray]

    @property
    def eigenvalues(self) -> np.ndarray:
        """As ANDES's own analysis has them."""
        return self.arrays["mu"]

    def owners(self, model: str) -> list[str]:
        """The machines that a model's devices are, or belong to."""
        return [_name(*owner) for owner in self.arrays[f"of_{model}"]]

    def start(self, model: str, name: str) -> np.ndarray:
        """A quantity of a model's devices at the operating point."""
        return self.arrays[f"start_{model}_{name}"]

    def series(self, run: int, model: str, name: str) -> np.ndarray:
        """(points, devices) a quantity along a run."""
        return self.arrays[f"{run}_{model}_{name}"]

    @functools.cached_property
    def pencil(self) -> tuple[np.ndarray, np.ndarray]:
        """``(J, M)`` of ``M dz/dt = J z``: the full Jacobian, and the time constants of its rows."""
        blocks = {name: sp.coo_matrix((self.arrays[name][2], self.arrays[name][:2].astype(int)),
                                      shape=tuple(self.arrays[f"{name}_shape"])) for name in ("fx", "fy", "gx", "gy")}
        J = sp.bmat([[blocks["fx"], blocks["fy"]], [blocks["gx"], blocks["gy"]]]).toarray()
        constants = np.zeros(len(J))
        constants[:len(self.arrays["Tf"])] = self.arrays["Tf"]
        return J, np.diag(constants)


def ask(study: Study, runs: Sequence[Asked] = (), eigenvalues: bool = False, disturbed: bool = True,
        as_named: bool = False, quantities: Mapping[str, Sequence[str]] = MappingProxyType({}),
        timeout: float = 600) -> Answer:
    """Have ANDES do a study.

    Parameters
    ----------
    study : Study
    runs : sequence of Asked
    eigenvalues, disturbed : bool
    as_named : bool
        Every model by the name it has in the file.
    quantities : mapping of str to sequence of str
        Variables of ANDES's models, wanted at the operating point and along every run.
    timeout : float
        Seconds.
    """
    interpreter = python()
    assert interpreter is not None, f"{PYTHON} does not name a Python with ANDES"
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        dyr = study.dynamics(folder, {} if as_named else study.theirs)
        one, two, nth = study.line
        request: dict[str, Any] = {
            "files": [str(study.files[0]), str(dyr)], "eigenvalues": eigenvalues, "runs": [vars(run) for run in runs],
            "quantities": {model: list(names) for model, names in quantities.items()}}
        if disturbed:
            request |= {"faults": [{"bus": study.bus, "t": study.t, "clear": study.clear, "x": FAULT_X}],
                        "trips": [{"bus1": one, "bus2": two, "nth": nth, "t": study.clear}]}
        (folder / "request.json").write_text(json.dumps(request))
        done = subprocess.run([interpreter, str(PEER), "request.json", "result.npz"], cwd=folder, timeout=timeout,
                              capture_output=True, text=True, env=os.environ | {"OMP_NUM_THREADS": "1",
                                                                                "OPENBLAS_NUM_THREADS": "1"})
        if done.returncode:
            raise RuntimeError(f"ANDES: {done.stderr.strip() or done.stdout.strip()}")
        with np.load(folder / "result.npz") as file:
            return _answer({name: file[name] for name in file})


def _answer(arrays: dict[str, np.ndarray]) -> Answer:
    machines = [_name(bus, identifier) for bus, identifier in arrays["machines"]]
    times = json.loads(str(arrays["times"]))
    runs = [Trajectories(*(arrays[f"{k}_{name}"] for name in ("t", "delta", "omega", "v", "a")))
            for k in range(len(times["runs"]))]
    return Answer(machines, [f"BUS{bus}" for bus in arrays["buses"]], arrays["v0"], arrays["a0"], runs, times, arrays)


def _name(bus: str, identifier: str) -> str:
    number = identifier.removesuffix(".0")
    return f"GEN{bus}" if number == "1" else f"GEN{bus}_{number}"
