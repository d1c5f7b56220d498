"""What derivatives are asked for, of what, and in what by name; and the labelled table that they come back in."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..case import Address, patterns_of
from ..equations import BASE
from ..errors import CaseError
from ..integrate import made_by
from ..kept import KeptFor
from ..registry import registries as plugins
from ..results import Run, check_run
from ..suggest import suggest
from .objective import Objective

if TYPE_CHECKING:
    import xarray as xr

    from ..equilibrium import Equilibrium
    from ..tape import Tape

DISPATCH = ("power flow", "direct")
_requests: KeptFor[Request] = KeptFor("requests")


class Request:
    """The parameters and initial values that patterns name, in order of the patterns, and those that move together.

    Attributes
    ----------
    names, units : list of str
        Of all whose derivatives are found; groups are summed of them by :meth:`joined`.
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

    def __init__(self, system: Equilibrium, patterns: tuple[str, ...], joint: tuple[tuple[str, ...], ...],
                 dispatch: str):
        from xarray import IndexVariable, Variable

        if dispatch not in DISPATCH:
            raise CaseError(f"dispatch = {dispatch!r} must be {' or '.join(map(repr, DISPATCH))}")
        names = {**system.layout.parameter_names,
                 **{f"{d}.{v}": k for k, (d, v) in enumerate(system.variables) if system.base_differential[k]}}
        fixed = {int(at): "found by initialisation" for at in system.initialisation.setpoints}
        fixed.update(dict.fromkeys(system.zero_time_constants, "a time constant of zero, its state is algebraic"))
        self.operating_point: list[int] = []
        if (point := system.operating_point) is not None and (found := point.dispatch) is not None:
            self.operating_point += [int(i) for at, *_ in found.shares() for i in at]
            self.operating_point += [int(i) for name in ("Vm0", "Va0") for i in found.at[name]]
            if dispatch == "power flow":
                fixed.update(dict.fromkeys(self.operating_point, "found by the power flow"))
                # the Q0 that the power flow finds depends on V0, where the source holds its voltage
                self.operating_point += [int(i) for i in found.sources.at["V0"]]
        shared = {system.layout.label(own): system.layout.label(at) for own, at in system.layout.shared.items()}
        alone, *groups = (_matching(part, names, fixed, shared) for part in (patterns, *joint))
        self.names = list(dict.fromkeys([*alone, *(name for group in groups for name in group)]))
        place = {name: k for k, name in enumerate(self.names)}
        self._columns = [[place[name]] for name in alone] + [[place[name] for name in group] for group in groups]
        self._at = np.array([names[name] for name in self.names], dtype=int)
        self._alone = {names[name] for name in (*alone, *(group[0] for group in groups if len(group) == 1))}
        self._groups = [{names[name] for name in group} for group in groups if len(group) > 1]
        self.is_parameter = self._at >= system.n
        self.parameters, self.states = self._at[self.is_parameter], self._at[~self.is_parameter]
        self.units = units = [unit_of(system, *name.rsplit(".", 1)) for name in self.names]
        for group in self._columns:
            if len({units[k] for k in group}) > 1:
                raise CaseError("joint: " + ", ".join(f"{self.names[k]} is in {units[k] or 'per unit'}" for k in group)
                                + ": what moves together has one unit")
        self._shown = self._at[[group[0] for group in self._columns]]
        self._labels = {
            "parameter": IndexVariable("parameter", [" + ".join(self.names[k] for k in g) for g in self._columns]),
            "unit": Variable("parameter", [units[g[0]] for g in self._columns])}

    def joined(self, derivatives: np.ndarray) -> np.ndarray:
        """(..., names) derivatives with those of a group summed: (..., what was asked for)."""
        if not self._groups and len(self._columns) == len(self.names):
            return derivatives
        return np.stack([derivatives[..., group].sum(axis=-1) for group in self._columns], axis=-1)

    def asks_alone(self, at: int, others: Iterable[int]) -> bool:
        """Whether a position in Z is asked for by itself, or in a group that lacks one of the others."""
        return at in self._alone or any(at in group and not group.issuperset(others) for group in self._groups)

    def coordinates(self, system: Equilibrium) -> dict[str, Any]:
        """What labels the dimension ``parameter`` of a table: names, units, and values at t0, of a group its first."""
        return {**self._labels, "at": ("parameter", system.Z0[self._shown])}

    @classmethod
    def of(cls, system: Equilibrium, wrt: Address | Iterable[Address], dispatch: str,
           joint: Iterable[Iterable[str]] = ()) -> Request:
        """The same for the patterns as a user gives them; found once for each system."""
        several = joint if isinstance(joint, Iterable) and not isinstance(joint, str) else [()]
        if () in (groups := tuple(map(patterns_of, several))):
            raise CaseError(f"joint = {joint!r} must be groups of names: [('fault.clear', 'trip.t')]")
        # other values may make a state algebraic
        key = (patterns_of(wrt), groups, dispatch, system.base_differential.tobytes(), bool(system.operating_point))
        return _requests.get(system.system, key, lambda: cls(system, *key[:3]))


def _matching(patterns: Iterable[str], names: Mapping[str, int], fixed: Mapping[int, str], shared: Mapping[str, str]
              ) -> list[str]:
    """The names that patterns match, those left out that have no derivative."""
    chosen: dict[str, None] = {}
    for pattern in patterns:
        matching = [pattern] if pattern in names else fnmatch.filter(names, pattern)
        matches = [name for name in matching if names[name] not in fixed]
        if not matches and pattern in shared:
            raise CaseError(f"'{pattern}' is {shared[pattern]}: ask for that")
        if not matches:
            why = [fixed[names[name]] for name in matching]
            raise CaseError(f"'{pattern}' is {why[0]}: there is no derivative in it" if why
                            else f"no parameter or state matches '{pattern}'{suggest(pattern, names)}")
        chosen.update(dict.fromkeys(matches))
    return list(chosen)


def unit_of(system: Equilibrium, device: str, name: str) -> str:
    """Unit of what a device has under that name."""
    return "" if device == BASE else system.layout.instances[system.layout.find(device)].device.declares.unit(name)


def table(system: Equilibrium, objectives: Sequence[Objective], values: np.ndarray, request: Request,
          gradient: np.ndarray) -> xr.DataArray:
    """The derivatives with names and units; the values of the objectives, and those of the parameters (``at``)."""
    import xarray as xr

    labels = [o.name or f"objective {k + 1}" for k, o in enumerate(objectives)]
    return xr.DataArray(
        request.joined(gradient), dims=("objective", "parameter"), name="gradient",
        coords={"objective": labels, "value": ("objective", values),
                "objective_unit": ("objective", [o.unit for o in objectives]), **request.coordinates(system)})


def products(gradient: xr.DataArray) -> np.ndarray:
    """(objectives, parameters): derivative times parameter, what a change of the parameter by its own size does."""
    with np.errstate(invalid="ignore"):  # an event that never comes: nothing times infinity
        return np.nan_to_num(gradient.values * gradient["at"].values, posinf=0.0, neginf=0.0)


def objectives_of(run: Run, given: Objective | Iterable[Objective]) -> list[Objective]:
    """Objectives of a run as a list; a CaseError if one is none, or the run is none."""
    found = list(given) if isinstance(given, Iterable) else [given]
    for each in found:
        if not isinstance(each, Objective):
            raise CaseError(f"{each!r} is no objective: write gc.Terminal(function) or gc.Integral(function)")
    check_run(run)
    return found


def replayable(tape: Tape) -> None:
    """Refuse a tape whose steps cannot be differentiated, by a CaseError."""
    for method in tape.methods:
        if not made_by(method).differentiable:
            others = [f"method={name!r}" for name in plugins.adjoints if not plugins.adjoints[name].exact]
            raise CaseError(f"the steps of method '{method.name}' have no derivative: gc.retrace(run) makes this run "
                            f"again by others{', and gc.adjoint has ' * bool(others)}{' and '.join(others)}")
