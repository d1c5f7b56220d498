"""Many runs of a case: what is not in the store yet is run, and every result is stored as it comes."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gridcore.errors import CaseError, GridcoreError
from gridcore.results import whole_file
from gridcore_provenance.record import provenance

from .executors import executor
from .store import Store
from .study import Study, study
from .table import Table
from .worker import NONE, Result, work

if TYPE_CHECKING:
    from gridcore.case import Case
    from gridcore.equilibrium import Equilibrium


def sweep(case: Equilibrium | Case | str | Study, *, processes: int | None = None, dask: str | None = None,
          store: str | Path | None = None, trajectories: str | Path | None = None, retry_failed: bool = False,
          progress: Callable[[int, int], None] | None = None, **asked: Any) -> Table:
    """Run a case in many scenarios: contingencies, parameters varied, parameters drawn at random.

    The scenarios are all combinations of what `contingencies`, each entry of `vary`, `rows` and `random` give. One
    that fails is a row with its error.

    Parameters
    ----------
    case : Equilibrium, Case, str or Study
        A case, or the name or path of one; or a system, whose case it is, built as that was.
    contingencies : mapping, optional
        Arguments of :func:`gridcore_sweep.contingencies.contingencies`: ``{"faults": "all", "clear": 0.1}``.
    vary : mapping, optional
        Pattern of parameters to a list of values, or a table: see :func:`gridcore_sweep.spaces.grid`.
    rows : sequence of mapping, optional
        Address to value: one scenario each.
    random : mapping, optional
        What to draw: see :func:`gridcore_sweep.spaces.draws`.
    measures : mapping or sequence of str
        Columns beside those that every table has: ``{"dip": "min BUS*.Vm"}``.
    t_end, step, method, options
        Of every run, as for :func:`gridcore.simulate`. By default 5 s in steps of 10 ms.
    own_events : bool, optional
        Whether the events of the case itself happen, too. By default only where there are no contingencies.
    deenergise, enforce_q_limits : bool
        As for :func:`gridcore.build`.
    keep : {"none", "unstable", "all"}
        Which runs are kept as NetCDF files, in the folder `trajectories`.
    record : str or sequence of str, optional
        What of them is kept, as for :func:`gridcore.simulate`; all by default.
    processes : int, optional
        Of this machine; by default as many as there are CPUs.
    dask : str, optional
        Address of a Dask scheduler, in place of processes.
    store : str or Path, optional
        File of results, by default in memory. What is in it is not run again.
    trajectories : str or Path, optional
        By default a folder beside the store.
    retry_failed : bool
        Run again what is in the store with an error.
    progress : callable, optional
        Called with the rows that there are, and how many there will be.

    Returns
    -------
    Table

    Raises
    ------
    GridcoreError
        If something is wrong with the case, a name or the store: before anything is run.
    """
    made = case if isinstance(case, Study) else study(case, **asked)
    tell = progress or (lambda done, of: None)
    path = None if store is None else Path(store)
    folder = _folder(made, path, trajectories)
    by_whom = provenance(made.setup.case, made.about)
    with contextlib.closing(Store(path, made.about, by_whom)) as kept:
        there, keys = kept.results(), made.keys
        if retry_failed:
            failed = [key for key in keys if key in there and there[key].error]
            kept.forget(failed)
            there = {key: result for key, result in there.items() if key not in failed}
        missing = [k for k, key in enumerate(keys) if key not in there]
        tell(len(keys) - len(missing), len(keys))
        # all that is running stops with this block, whatever ends it
        outcomes = executor(processes, dask).run(work, made.setup, [made.tasks[k] for k in missing])
        with contextlib.closing(outcomes):
            for done, outcome in enumerate(outcomes, len(keys) - len(missing) + 1):
                k = missing[outcome.number]
                result = outcome.value if outcome.error is None else Result(error=str(outcome.error))
                if result.trajectory is not None and folder is not None:
                    try:
                        with whole_file(folder / _file(made.scenarios[k].name, keys[k])) as temporary:
                            temporary.write_bytes(result.trajectory)
                    except GridcoreError as error:
                        result.fail(f"the run is not kept: {error}")
                    result.trajectory = None
                kept.add(keys[k], made.scenarios[k].name, result)
                there[keys[k]] = result
                tell(done, len(keys))
    return Table(made.scenarios, [there[key] for key in keys], made.units, made.title, by_whom)


def stored(made: Study, store: str | Path) -> int:
    """How many scenarios of a study are in a store."""
    with contextlib.closing(Store(Path(store), made.about)) as kept:
        return len(kept.results().keys() & set(made.keys))


def _file(name: str, key: str) -> str:
    """A name of a file that says which scenario it is, and is its own."""
    words = re.sub(r"[^\w.=-]+", "_", name).strip("._")[:80]
    return f"{words}-{key[:8]}.nc"


def _folder(made: Study, store: Path | None, given: str | Path | None) -> Path | None:
    """Where runs are kept."""
    if given is not None:
        return Path(given)
    if store is None and made.setup.keep != NONE:
        raise CaseError(f"keep = '{made.setup.keep}': say where, by a store or a folder of trajectories")
    if store is None:
        return None
    return store.with_suffix("") if store.suffix else store.with_name(f"{store.name}_runs")
