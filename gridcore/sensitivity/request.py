"""What derivatives are asked for, by name; and the labelled table that they come back in."""

from __future__ import annotations

import fnmatch
import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..equations import BASE
from ..errors import CaseError
from ..integrate import made_by
from ..kept import KeptFor
from ..registry import registries as plugins
from ..suggest import suggest
from ..tape import Switch

if TYPE_CHECKING:
    import xarray as xr

    from ..equilibrium import Equilibrium
    from ..results import Run
    from ..tape import Tape
    from .objective import Objective

DISPATCH = ("power flow", "direct")
_requests: KeptFor[Request] = KeptFor("requests")


class Request:
    """The parameters and initial values that patterns name, in order of the patterns.

    Attributes
    ----------
    names, units : list of str
    is_parameter : (names,) bool array
        Parameters; the others are states, whose initial value is meant.
    parameters, states : int arrays
        Positions in Z of either.
    operating_point : list of int
        Positions in Z of what the power flow finds: carried whatever is asked for.

    Raises
    ------
    CaseError
        If a pattern matches nothing (the nearest names are offered), or what it names is found by
        the power flow or by initialisation and so has no derivative of its own.
    """

    def __init__(self, system: Equilibrium, patterns: tuple[str, ...], dispatch: str):
        from xarray import IndexVariable, Variable

        if dispatch not in DISPATCH:
            raise CaseError(f"dispatch = {dispatch!r} must be {' or '.join(map(repr, DISPATCH))}")
        names = {**system.layout.parameter_names,
                 **{f"{d}.{v}": k for k, (d, v) in enumerate(system.variables) if system.base_differential[k]}}
        fixed = {int(at): "found by initialisation" for at in system.initialisation.setpoints}
        fixed.update(dict.fromkeys(system.zero_time_constants, "a time constant of zero, its state is algebraic"))
        self.operating_point: list[int] = []
        point = system.operating_point
        if point is not None and (found := point.dispatch) is not None:
            self.operating_point += [int(i) for at, *_ in found.shares() for i in at]
            self.operating_point += [int(i) for name in ("Vm0", "Va0") for i in found.at[name]]
            if dispatch == "power flow":
                fixed.update(dict.fromkeys(self.operating_point, "found by the power flow"))
                # of a source, V0 counts where it holds the voltage, and sets Q0
                self.operating_point += [int(i) for s in found.sources for i in s.at["V0"]]
        chosen: dict[str, int] = {}
        for pattern in patterns:
            matching = [pattern] if pattern in names else fnmatch.filter(names, pattern)
            matches = [name for name in matching if names[name] not in fixed]
            if not matches:
                why = [fixed[names[name]] for name in matching]
                raise CaseError(f"'{pattern}' is {why[0]}: there is no derivative in it" if why
                                else f"no parameter or state matches '{pattern}'{suggest(pattern, names)}")
            chosen.update((name, names[name]) for name in matches)
        self.names = list(chosen)
        self._at = np.array(list(chosen.values()), dtype=int)
        self.is_parameter = self._at >= system.n
        self.parameters, self.states = self._at[self.is_parameter], self._at[~self.is_parameter]
        self.units = [unit_of(system, *name.rsplit(".", 1)) for name in self.names]
        self._labels = {"parameter": IndexVariable("parameter", self.names), "unit": Variable("parameter", self.units)}

    def coordinates(self, system: Equilibrium) -> dict[str, Any]:
        """What labels the dimension ``parameter`` of a table: names, units, and values at t0."""
        return {**self._labels, "at": ("parameter", system.Z0[self._at])}

    @classmethod
    def of(cls, system: Equilibrium, wrt: str | Iterable[str], dispatch: str) -> Request:
        """The same for the patterns as a user gives them; found once for each system."""
        patterns = (wrt,) if isinstance(wrt, str) else tuple(wrt)
        # other values may make a state algebraic
        key = (patterns, dispatch, system.base_differential.tobytes(), system.operating_point is not None)
        return _requests.get(system.system, key, lambda: cls(system, patterns, dispatch))


def unit_of(system: Equilibrium, device: str, name: str) -> str:
    """Unit of what a device has under that name."""
    layout = system.layout
    return "" if device == BASE else layout.instances[layout.find(device)].device.declares.unit(name)


def table(system: Equilibrium, objectives: Sequence[Objective], values: np.ndarray, request: Request,
          gradient: np.ndarray) -> xr.DataArray:
    """The derivatives with names and units; the values of the objectives, and those of the parameters (``at``)."""
    import xarray as xr

    labels = [o.name or f"objective {k + 1}" for k, o in enumerate(objectives)]
    return xr.DataArray(
        gradient, dims=("objective", "parameter"), name="gradient",
        coords={"objective": labels, "value": ("objective", values),
                "objective_unit": ("objective", [o.unit for o in objectives]), **request.coordinates(system)})


def products(gradient: xr.DataArray) -> np.ndarray:
    """(objectives, parameters): derivative times parameter, what a change of the parameter by its own size does."""
    with np.errstate(invalid="ignore"):  # an event that never comes: nothing times infinity
        return np.nan_to_num(gradient.values * gradient["at"].values, posinf=0.0, neginf=0.0)


class CoincidenceWarning(UserWarning):
    """A derivative in the time of an event is zero because the event moves with another."""


def warn_of_coincidence(run: Run, request: Request) -> None:
    """Say which of the event times that are asked for move with another, which is first at the same instant."""
    system, tape = run.system, run.tape
    for record in tape.records:
        clock = tape.clocks[tape.point_clock[record.k]]
        if not isinstance(record, Switch) or clock.kind != "timer":
            continue
        for kind, number in record.triggers:
            at = system.switching.timers[number].time if kind == "timer" else clock.of
            if at != clock.of and at in request.parameters:
                moved, first = system.layout.label(at), system.layout.label(clock.of)
                warnings.warn(f"{moved} falls on the instant of {first} and moves with it: the derivative of both is "
                              "given there", CoincidenceWarning, stacklevel=3)


def replayable(tape: Tape) -> None:
    """Refuse a tape whose steps cannot be differentiated.

    Raises
    ------
    CaseError
    """
    for method in tape.methods:
        if not made_by(method).differentiable:
            others = [f"method={name!r}" for name in plugins.adjoints if not plugins.adjoints[name].exact]
            raise CaseError(f"the steps of method '{method.name}' have no derivative: gc.retrace(run) makes this run "
                            f"again by others{', and gc.adjoint has ' * bool(others)}{' and '.join(others)}")
