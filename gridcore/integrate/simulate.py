"""A simulation: a system, a method, a grid; and the run that comes of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from .. import numerics
from ..case import Address, Case
from ..equilibrium import Equilibrium, as_system
from ..errors import CaseError
from ..results import Run, needed
from ..tape import STANDARD, Spacing, States, finest, span, states
from .base import new_stepper
from .control import TOLERANCES, stepper_on, tolerances
from .driver import Driver
from .interrupts import Held
from .resume import Resumed


def simulate(system: Equilibrium | Case | str | Path | Run, t_end: float | str | None = None,
             step: Spacing | str | None = None, method: str | None = None, *, t0: float | str = 0.0,
             mesh: Run | None = None, checkpoint: str | Path | float = "auto", memory: float | str | None = None,
             record: str | Iterable[Address] | None = None, progress: Callable[[float], None] | None = None,
             **options: Any) -> Run:
    """Simulate a system from its operating point, or continue a run from its end.

    Parameters
    ----------
    system : Equilibrium or Case or str or Run
        What :func:`gridcore.build` gives, or what it takes. Or a run, also one of a file or of an error, which stays
        as it is: what comes of it is one run from the start on, with its step, method and options unless others are
        given; that of one go to the last bit if it ended on the grid, else (``"ida"``, ``"auto"``) to its tolerances.
    t_end : float or str, optional
        End of the (whole) run (s); as other times here a number, or a text with a unit: ``"2 min"``, ``"5 cycles"``.
        By default what the case recommends, or of a `mesh` the end of its run.
    step : float or sequence of (float, float), optional
        Grid of the run (s): the step of a fixed-step method, the spacing of results of another. Pairs
        ``(from time, step)`` change it on the way: ``[(0, 0.001), (0.4, 0.01)]``. By default 0.01. ``"auto"``: steps as
        long as the options `rtol` and `atol` allow: the error of each variable is to be of the size of
        ``atol scale + rtol |x|``, that of a step within a tenth of it. For methods that estimate it.
    method : str, optional
        ``"theta"``, which is the default, or what a plugin registered.
    t0 : float
        Start of the run (s).
    mesh : Run, optional
        In place of a step: the steps of this run, of a grid or chosen, are repeated. Method and options are its own (of
        several the last) unless given. For this system with other parameters: what results is differentiable in them.
    checkpoint : {"auto", "memory", "disk"}, Path or number
        Where the states are kept: in memory as long as they fit in `memory`, and in a temporary file beyond; in
        memory; in a temporary file, in this directory if one is given, gone with the run; or, of a one-step method, in
        no more than this many bytes: what is not kept is computed again, the same to the last bit, when it is read.
    memory : float or str, optional
        Bytes of states that ``"auto"`` keeps in memory, or ``"2 GB"``; by default a quarter of what the machine has.
    record : str or iterable of str, optional
        Keep these quantities only, by address or shell-style pattern: ``["GEN*.omega", "BUS7.Vm"]``. A
        run that keeps a part of its states cannot be differentiated.
    progress : callable, optional
        Called with the time reached, at every point of the grid.
    **options
        Of the method: ``theta`` (0.5 to 1) for ``"theta"``; of ``step="auto"``: `rtol`, `atol` and `max_step` (s).

    Returns
    -------
    Run

    Raises
    ------
    ConvergenceError, EventError
        With the place and the time. What was computed before is in the ``run`` of these and of any other error, also
        of a KeyboardInterrupt: Ctrl-C stops a run at the next point of its grid, pressed twice at once.
    """
    if isinstance(system, Run):
        if (t0, record, mesh) != (0.0, None, None):
            raise CaseError("a run that is continued has its own t0, and keeps what it kept: leave them out")
        resumed = Resumed(system, t_end, step, method, options, checkpoint, memory)
        return _carry_out(resumed, resumed.settings, progress)
    system = as_system(system)
    kept = states(checkpoint, system.n, None if record is None else needed(system, record), memory)
    if mesh is not None:
        if (step, t0) != (None, 0.0):
            raise CaseError("a run on the mesh of another has its steps and its t0: leave out step and t0")
        return _carry_out(*_repeating(system, mesh, t_end, method, options, kept), progress)
    step, method = STANDARD if step is None else step, "theta" if method is None else method
    t_end = system.case.about.get("t_end") if t_end is None else t_end
    step, t0, t_end = span(step, t0, t_end, system.case.frequency)
    stepper, described = stepper_on(step, method, options)
    driver = Driver(system, stepper, described, step, t0, t_end, kept)
    return _carry_out(driver, {"method": method, "step": step, "t0": t0, "t_end": t_end, **tolerances(stepper),
                               **options}, progress)


def _repeating(system: Equilibrium, run: Run, t_end: float | str | None, method: str | None, options: Mapping[str, Any],
               kept: States) -> tuple[Driver, dict[str, Any]]:
    """The driver of a run on the mesh of another, and its settings: it can be continued by the steps of that run."""
    was, made, ends = run.settings, run.tape.methods[-1], run.t[run.tape.mesh()]
    step, t0, t_end = span(was["step"], was["t0"], was["t_end"] if t_end is None else t_end, system.case.frequency)
    if t_end > (end := max(run.t[-1:], default=t0)) + numerics.SAME_TIME * finest(step):
        raise CaseError(f"t_end = {t_end:g} must not be after the end of the mesh, {end:.9g} s")
    own = method in (None, made.name)
    stepper, described = new_stepper(method or made.name, finest(step), {**made.options, **options} if own else options)
    driver = Driver(system, stepper, described, step, t0, t_end, kept, ends)
    return driver, {**{name: was[name] for name in TOLERANCES if name in was}, "method": described.name,
                    "mesh_of": made.name, "step": step, "t0": t0, "t_end": t_end, **described.options}


def _carry_out(driver: Driver, settings: Mapping[str, Any], progress: Callable[[float], None] | None = None) -> Run:
    """What a driver runs; an error has what it ran before, and signals wait for the next point that is told of."""
    held, driver.tells_each = Held(), progress is not None

    def tell(t: float) -> None:
        held.release()
        if progress is not None:
            progress(t)

    try:
        with held:
            driver.run(tell)
    except (Exception, KeyboardInterrupt) as error:
        if not held.insisted:
            error.run = driver.result(settings)  # type: ignore[union-attr]
        raise
    return driver.result(settings)
