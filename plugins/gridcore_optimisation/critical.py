"""The value of a parameter at which stability is lost, by Newton's iteration: the critical clearing time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from gridcore.case import Address, Case, patterns_of
from gridcore.commands import Progress
from gridcore.equilibrium import Equilibrium, as_system
from gridcore.errors import CaseError, GridcoreError, PluginError
from gridcore.integrate import simulate
from gridcore.registry import analyses
from gridcore.sensitivity import Request, Terminal, adjoint
from gridcore.tape import Spacing, Switch
from gridcore_notebook import html
from gridcore_rotors.rotors import rotor_devices
from gridcore_tsa.sensitivities import begin
from gridcore_verbs.units import measured, number, unit_of

from .parting import PARTED, between_runs
from .saddle import Passage, buffer, passages

if TYPE_CHECKING:
    import xarray as xr

    from gridcore.results import Run

_BEHIND = 3  # halvings of what is between a run that fails and an unstable one
# How much more the runs part than what differs in them from the beginning, at least, for the boundary to be what tells.
_AMPLIFIED = 1e3


@dataclass(frozen=True)
class Attempt:
    """A value that was tried.

    Attributes
    ----------
    value : float
    stable : bool
    estimate : float
        Where Newton's step leads; nan where the run came by no saddle.
    eigenvalue : float
        The saddle's positive eigenvalue (1/s), or nan.
    failed : bool
        Whether it could not be simulated.
    """

    value: float
    stable: bool
    estimate: float
    eigenvalue: float
    failed: bool = False


@dataclass(frozen=True)
class Critical:
    """Result of :func:`critical_value`.

    Attributes
    ----------
    value : float
        The critical value.
    stable, unstable : float
        The closest values that were seen to be one and the other.
    newton : bool
        Whether Newton's iteration converged; otherwise the value is known by halving alone, because what is lost there
        is not decided at one saddle, or limits act near it.
    attempts : list of Attempt
        One simulation each, in order; the two ends first.
    sensitivities : xarray.DataArray or None
        Derivatives of the critical value in the parameters that were asked for; None where Newton's iteration does not
        converge, and the closest two runs do not part as near a boundary (:mod:`gridcore_optimisation.parting`).
    run : Run or None
        With the last value tried, next to the critical one; None where that could not be simulated.
    """

    value: float
    stable: float
    unstable: float
    newton: bool
    attempts: list[Attempt]
    sensitivities: xr.DataArray | None
    run: Run | None

    _repr_html_ = html

    def __repr__(self) -> str:
        return (f"<Critical value {self.value:.9g}, stable at {self.stable:.9g} and unstable at {self.unstable:.9g}; "
                f"{len(self.attempts)} simulations>")


def critical_value(system: Equilibrium | Case | str, parameter: str = "fault.clear", *,
                   between: tuple[float | str, float | str], t_end: float | str,
                   step: Spacing = 0.01, wrt: Address | Iterable[Address] = (), tolerance: float | str = 1e-6,
                   attempts: int = 60, simulate: Mapping[str, Any] | None = None) -> Critical:
    """The value of a parameter at which machines fall out of step: of a clearing time, the critical one.

    Newton's iteration on the measure of :mod:`gridcore_optimisation.saddle`, each step from one simulation and one
    forward sweep. It is kept between a stable and an unstable value, and halves what is between them where a run passes
    no saddle, the step leads outside, or the saddle to which it leads does not decide: what passes it on the stable
    side is lost in a later swing. A run is unstable when two machines are 360 degrees apart before it ends, or
    when it cannot be simulated, unless one behind it is stable.

    Parameters
    ----------
    system : Equilibrium, Case or str
    parameter : str
        Address of a parameter that the case gives.
    between : pair of float or str
        A stable and an unstable value, in any order; text may have a unit: ``("80 ms", "250 ms")``.
    t_end, step
        As in :func:`gridcore.simulate` (s). What is found is the critical value of this step.
    wrt : str or iterable of str
        Parameters in which the critical value is derived.
    tolerance : float or str
        It ends when a step is shorter, or the stable and the unstable value are closer (in the parameter's unit, or as
        text with one).
    attempts : int
        Simulations at most.
    simulate : mapping, optional
        Further arguments of :func:`gridcore.simulate`.

    Returns
    -------
    Critical

    Raises
    ------
    CaseError
        If both ends are stable, or both are not; there is no such parameter; or no machine that could fall out of step.
    GridcoreError
        If that many simulations are not enough.
    """
    system, asked = as_system(system), patterns_of(parameter)
    if len(asked) != 1 or Request.of(system, asked, "power flow").names != [*asked]:
        raise CaseError(f"'{', '.join(asked)}' is a pattern: one parameter is wanted")
    parameter, = asked
    if not rotor_devices(system):
        raise CaseError(f"case '{system.case.name}' has no machines that could fall out of step: no value is stable or "
                        "unstable")
    pair = () if isinstance(between, str) or not isinstance(between, Iterable) else tuple(between)
    if len(pair) != 2:
        raise CaseError(f"between = {between!r} must be two values: (0.1, 0.5)")
    if not (isinstance(attempts, Real) and attempts >= 1):
        raise CaseError(f"attempts = {attempts!r} must be a number, at least 1")
    low, high = (number(system.case, parameter, str(value)) for value in pair)
    close = measured(system.case, str(tolerance), unit_of(system, parameter))
    if not close > 0:
        raise CaseError(f"tolerance = {tolerance} must be above 0")
    search = _Search(system, parameter, {"t_end": t_end, "step": step, **(simulate or {})}, close)
    wanted = list(patterns_of(wrt))
    if wanted:
        Request.of(system, wanted, "power flow")  # a wrong pattern is told before the search
    with Progress("searching the critical value"):
        ends = [search.attempt(value)[0] for value in (low, high)]
        if ends[0].stable == ends[1].stable:
            raise CaseError(f"{parameter} = {low:g} and {high:g} are both "
                            f"{'stable' if ends[0].stable else 'unstable'}: the critical value is not between them")
        stable, unstable = (next(end.value for end in ends if end.stable is side) for side in (True, False))
        search.towards = math.copysign(1.0, unstable - stable)
        start = float(system.Z0[system.layout.address(parameter)])
        value = start if min(low, high) < start < max(low, high) else 0.5 * (stable + unstable)
        while len(search.attempts) < attempts:
            tried, passed, run = search.attempt_past(value, unstable)
            value = tried.value
            stable, unstable = (value, unstable) if tried.stable else (stable, value)
            if passed is not None and run is not None and abs(passed.step) <= close:
                before = tried if tried.stable else search.attempt(tried.estimate - search.towards * close)[0]
                if before.stable:
                    return Critical(tried.estimate, before.value, unstable, True, search.attempts,
                                    _derivatives(run, float(run.t[passed.k]), _measure(run, passed), parameter,
                                                 wanted)[0], run)
                unstable = before.value  # what passes this saddle on its stable side is lost later
            if abs(unstable - stable) <= close:
                return Critical(0.5 * (stable + unstable), stable, unstable, False, search.attempts,
                                search.where_they_part(wanted, abs(high - low)), run)
            inside = min(stable, unstable) < tried.estimate < max(stable, unstable)
            value = tried.estimate if inside else 0.5 * (stable + unstable)
    raise GridcoreError(f"{parameter}: no convergence in {attempts} simulations; stable at {stable:.9g}, unstable at "
                        f"{unstable:.9g}")


class _Search:
    """Simulations at different values of the parameter."""

    def __init__(self, system: Equilibrium, parameter: str, options: dict[str, Any], tolerance: float):
        self.system, self.parameter, self.options, self.tolerance = system, parameter, options, tolerance
        self.closest: dict[bool, Run | None] = {}  # the last runs that are stable and not
        self.towards = 0.0  # the sign of a step from a stable value to an unstable one, once that is known
        self.attempts: list[Attempt] = []

    def attempt(self, value: float) -> tuple[Attempt, Passage | None, Run | None]:
        """Simulate, and find where the run passes a saddle."""
        passed: Passage | None = None
        run: Run | None = None
        failed = False
        try:
            run = simulate(self.system.with_values({self.parameter: value}), **self.options)
            spread = analyses.rotors(run).spread
            apart = np.flatnonzero(spread >= 2 * np.pi)
            stable = not len(apart)
            passed = self._passage(run, spread, int(apart[0]) if len(apart) else None)
        except (CaseError, PluginError):
            raise
        except GridcoreError:  # an integration that fails, or an event that only grazes: nothing to step from
            failed = run is None
            stable = run is not None and analyses.rotors(run).verdict != "out of synchronism"
        tried = Attempt(value, stable, value + passed.step if passed else np.nan,
                        passed.eigenvalue if passed else np.nan, failed)
        self.attempts.append(tried)
        self.closest[tried.stable] = run
        return tried, passed, run

    def attempt_past(self, value: float, unstable: float) -> tuple[Attempt, Passage | None, Run | None]:
        """As :meth:`attempt`; where a run fails, the first stable one that a few halvings find behind it."""
        out = self.attempt(value)
        if out[0].failed and not self.failed_at(unstable):  # by itself, and but once, it says little
            for _ in range(_BEHIND):
                behind = self.attempt(0.5 * (value + unstable))
                if behind[0].stable:
                    return behind
                value, unstable = (behind[0].value, unstable) if behind[0].failed else (value, behind[0].value)
        return out

    def failed_at(self, value: float) -> bool:
        """Whether the attempt at a value failed."""
        return any(attempt.failed for attempt in self.attempts if attempt.value == value)

    def where_they_part(self, wrt: list[str], width: float) -> xr.DataArray | None:
        """Derivatives of the critical value from the two closest runs; None where they do not part."""
        stable, unstable = self.closest.get(True), self.closest.get(False)
        parting = None if not wrt or stable is None or unstable is None else between_runs(stable, unstable)
        if parting is None or stable is None:
            return None
        found, rate = _derivatives(stable, *parting, self.parameter, wrt)
        return found if rate * width > _AMPLIFIED * PARTED else None

    def _passage(self, run: Run, spread: np.ndarray, apart: int | None) -> Passage | None:
        """The closest one that leads to the other side of the boundary than that on which the run is.

        Looked for from the last switch of a timer to where machines are apart, or to the end.
        """
        switched = [record.k for record in run.tape.records.others if isinstance(record, Switch)
                    and any(kind == "timer" for kind, _ in record.triggers)]
        first = max(switched, default=0) + 2
        last = len(spread) - 1 if apart is None else apart
        if last - first < 3:
            return None
        towards = self.towards if apart is None else -self.towards
        seen = passages(run, tangents(run, self.parameter), first, last)
        found = [p for p in seen if p.step * towards >= -self.tolerance]
        return min(found, key=lambda p: abs(p.step), default=None)


def tangents(run: Run, parameter: str) -> np.ndarray:
    """(points, n) derivatives of all variables in a parameter, at times that stand still."""
    sweep = begin(run, Request.of(run.system, parameter, "power flow"), [], "discrete", "power flow")
    out = np.empty((len(run.t), run.system.n))

    def visit(k: int, X: np.ndarray) -> None:
        moved = sweep.T[run.tape.point_clock[k], 0]
        out[k: k + len(X)] = X[:, 0] - moved * sweep.replay.slope(k) if moved else X[:, 0]

    sweep.run(visit)
    return out


def _derivatives(run: Run, until: float, measure: Terminal, parameter: str,
                 wrt: list[str]) -> tuple[xr.DataArray, float]:
    """Derivatives of the critical value: minus those of the measure, over its derivative in the parameter itself.

    That comes second.
    """
    import xarray as xr

    shorter = simulate(run.system, **{**run.settings, "t_end": until})
    gradient = adjoint(shorter, measure, [parameter, *wrt])[0]
    own = gradient[0].item()
    kept = {name: ("parameter", gradient[name].values[1:]) for name in ("unit", "at")}
    unit = str(gradient["unit"].values[0])
    return xr.DataArray((-gradient[1:] / own).values, dims="parameter", name=f"critical {parameter}",
                        attrs={"units": unit},
                        coords={"parameter": gradient["parameter"].values[1:], **kept}), abs(own)


def _measure(run: Run, passed: Passage) -> Terminal:
    """``w x'`` to first order at the point: linear in the states, and in the parameters that the equations read."""
    system, layout = run.system, run.system.layout
    Z = buffer(run, passed.k)
    states = np.flatnonzero(system.differential(Z))
    parameters = np.arange(layout.n, layout.n + layout.n_p)
    direct = system.system.parameter_jacobian(parameters).evaluate(Z).T @ passed.left
    factors = {**dict(zip(states.tolist(), passed.eigenvalue * passed.left[states], strict=True)),
               **{int(at): slope for at, slope in zip(parameters, direct, strict=True) if slope != 0}}
    named = [(tuple(layout.label(at).rsplit(".", 1)), factor) for at, factor in factors.items()]
    return Terminal(lambda v: sum(factor * v[name] for name, factor in named), name="measure")
