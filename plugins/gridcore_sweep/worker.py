"""What a worker does with a scenario: its system has other values of parameters, it runs, and a row comes back."""

from __future__ import annotations

import copy
import os
import socket
import time
import warnings
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gridcore.case import Case
from gridcore.equilibrium import Equilibrium, build
from gridcore.errors import CaseError, GridcoreError
from gridcore.integrate import simulate
from gridcore.results import needed
from gridcore.tape import InMemory, Spacing

from .measures import Measure, measured
from .scenarios import Search, Value

if TYPE_CHECKING:
    from gridcore.results import Run

NONE, UNSTABLE, EVERY = "none", "unstable", "all"
KEEP = (NONE, UNSTABLE, EVERY)


@dataclass(frozen=True)
class Setup:
    """What all scenarios of a sweep share; every worker is sent it once.

    Attributes
    ----------
    case : Case
        With the events of all scenarios in it, at no time.
    case_digest : str
        Of that case.
    digest : str
        Of the study: the case as it was given, and the settings.
    """

    case: Case
    case_digest: str
    digest: str
    t_end: float
    step: Spacing
    method: str = "theta"
    options: Mapping[str, Any] = field(default_factory=dict)
    deenergise: bool = False
    enforce_q_limits: bool = False
    measures: tuple[Measure, ...] = ()
    keep: str = NONE
    record: tuple[str, ...] = ()


@dataclass(frozen=True)
class Task:
    """What a worker is sent for one scenario."""

    values: Mapping[str, Value]
    search: Search | None = None


@dataclass
class Result:
    """What a worker sends back.

    Attributes
    ----------
    row : dict
        Column to value, as far as the run came.
    machines : dict
        Machine to its largest angle against the centre of inertia (deg).
    error : str
        What went wrong, or nothing.
    trajectory : bytes or None
        The run as a NetCDF file, where it is kept.
    """

    row: dict[str, Any] = field(default_factory=dict)
    machines: dict[str, float] = field(default_factory=dict)
    error: str = ""
    seconds: float = 0.0
    worker: str = ""
    trajectory: bytes | None = None

    def fail(self, error: str) -> None:
        """Add to what went wrong."""
        self.error = "; ".join(filter(None, (self.error, " ".join(error.split()))))


# What Python warns of to who writes a program, some of it whenever memory is collected: nothing that a scenario does.
_OF_PROGRAMS = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)

_built: dict[Hashable, Equilibrium] = {}


def system_of(setup: Setup, values: Mapping[str, Value]) -> Equilibrium:
    """The system with these values: the one that is built already, where they are all parameters."""
    words = tuple(sorted((a, v) for a, v in values.items() if not _is_parameter(setup.case, a)))
    key = (setup.case_digest, setup.deenergise, setup.enforce_q_limits, words)
    system = _built.get(key)  # once: another thread may have one of its own built in the meantime
    if system is None:
        case = setup.case.copy()
        for address, value in words:
            case.set(address, value)
        _built.clear()
        _built[key] = system = build(case, deenergise=setup.deenergise, enforce_q_limits=setup.enforce_q_limits)
    parameters = {a: v for a, v in values.items() if (a, v) not in words}
    return system.with_values(parameters) if parameters else system


def _is_parameter(case: Case, address: str) -> bool:
    device, _, name = address.rpartition(".")
    return name in case[device].device.declares.params


def work(setup: Setup, task: Task) -> Result:
    """Run a scenario. Whatever goes wrong with it is in the result."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for of_programs in _OF_PROGRAMS:
            warnings.simplefilter("ignore", of_programs)
        result = _work(setup, task)
    if told:
        result.row["warning"] = "; ".join(dict.fromkeys(" ".join(str(w.message).split()) for w in told))
    return result


def _work(setup: Setup, task: Task) -> Result:
    began = time.perf_counter()
    result = Result(worker=f"{socket.gethostname()}:{os.getpid()}")
    try:
        run = _search(setup, task, task.search, result) if task.search else _one(setup, task.values, result)
        if run is not None and (setup.keep == EVERY or (setup.keep == UNSTABLE and not result.row.get("stable", True))):
            try:
                result.trajectory = _file_of(run, setup.record)
            except (GridcoreError, OSError) as error:
                result.fail(f"the run is not kept: {error}")
    except GridcoreError as error:
        result.error = " ".join(str(error).split())
    except Exception as error:  # a plugin's device, say: no reason to lose the others
        result.error = f"{type(error).__name__}: {' '.join(str(error).split())}"
    result.seconds = time.perf_counter() - began
    return result


def _one(setup: Setup, values: Mapping[str, Value], result: Result) -> Run | None:
    """One run, measured; one that fails is measured as far as it came, and is not stable."""
    result.error = ""
    system = system_of(setup, values)
    run: Run | None
    try:
        run = simulate(system, setup.t_end, setup.step, setup.method, **setup.options)
    except CaseError:
        raise
    except GridcoreError as error:
        run = getattr(error, "run", None)
        result.error = " ".join(str(error).split())
    if run is not None and len(run.t):
        result.row, result.machines = measured(run, setup.measures)
        if result.error and "stable" in result.row:
            result.row["stable"] = False
    return run


def _search(setup: Setup, task: Task, search: Search, result: Result) -> Run | None:
    """Bisection for the longest fault that is survived; the row is that of the run with it."""
    runs = 0

    def stable(duration: float) -> tuple[bool, Result, Run | None]:
        nonlocal runs
        runs += 1
        found = Result()
        run = _one(setup, {**task.values, **dict.fromkeys(search.addresses, search.strikes + duration)}, found)
        return bool(found.row.get("stable")), found, run

    high = search.longest
    survived, best, run = stable(high)
    if survived:
        low, high = high, float("inf")
    else:
        low = search.within
        survived, best, run = stable(low)
        if not survived:
            low, high = 0.0, low
    while survived and search.within < high - low < float("inf"):
        middle = 0.5 * (low + high)
        well, found, made = stable(middle)
        if well:
            low, best, run = middle, found, made
        else:
            high = middle
    result.row = {"critical": low, "unstable_from": high, "runs": runs, **best.row}
    result.machines, result.error = best.machines, best.error
    return run


def _file_of(run: Run, record: tuple[str, ...]) -> bytes:
    """The run, or what of it is to be kept, as it would be on disk."""
    from gridcore_netcdf.write import content

    if record:
        tape, at = copy.copy(run.tape), needed(run.system, record)
        tape.states = InMemory(run.system.n, at)
        for row in run.X:
            tape.states.append(row)
        run = type(run)(run.system, tape, run.settings, run.counters, run.timings)
    return content(run)
