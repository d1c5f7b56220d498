"""A system at its equilibrium: the values of its parameters, and the state in which it rests."""

from __future__ import annotations

import functools
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import numerics
from ..case import Case, Instance, is_pattern, matching, patterns_of, split, validate_again
from ..contract import Bus
from ..equations import Workspace
from ..equations.sparse import csc
from ..errors import CaseError, EventError, InitialisationError
from ..linear import Newton
from ..registry import registries as plugins
from ..suggest import suggest
from ..system import System
from . import powerflow
from .dispatch import Dispatch
from .initialise import Initialisation, initialisation, start
from .values import Rows, classify_rows, parameters

# Modes that depend on each other in a chain of this length settle; no real device has a longer one.
_SETTLINGS = 20


@dataclass
class OperatingPoint:
    """What power flow and initialisation found; a system without AC buses in service has no power flow."""

    power_flow: powerflow.PowerFlow | None
    buses: list[str]  # in the order of the power flow
    iterations: int  # of the initialisation
    residual: float  # the largest |F| at t0
    violations: list[str]  # guards that are across at t0, in words: limits that the operating point breaks
    timings: dict[str, float]  # seconds by stage
    dispatch: Dispatch | None
    enforce_q_limits: bool


class Equilibrium:
    """A :class:`~gridcore.system.System` with values of its parameters, at rest: what :func:`gridcore.build` gives.

    Immutable: :meth:`with_values` and :func:`~gridcore.equilibrium.starting_at` give another of the same system.

    Attributes
    ----------
    system : System
        The structure; its ``network``, ``layout``, ``traces``, ``islands``, ``switching``, number ``n`` of unknowns,
        their ``variables`` and their ``scale`` are at hand here, too.
    case : Case
    instances : tuple of Instance
        The validated records, in the order of the layout.
    Z0 : (size,) array
        The buffer ``[X; p; modes; t]`` at t0.
    base_differential : (n,) bool array
        Rows that are differential where no limit holds.
    limited : (k, 3) int array
        Variable, mode, and whether the bound moves, of every limited state.
    zero_time_constants : list of int
        Positions in Z of time constants that are zero: there is no derivative in them, they make rows algebraic.
    operating_point : OperatingPoint or None
        What power flow and initialisation found; None where they were not asked for.
    rest : (size,) array
        Z at the operating point: Z0, but for states that do not start there.
    held : (states,) int array
        Positions in Z of those states: see :func:`~gridcore.equilibrium.starting_at`.
    """

    def __init__(self, system: System, case: Case, instances: Sequence[Instance], Z0: np.ndarray,
                 rows: Rows, operating_point: OperatingPoint | None = None,
                 rest: np.ndarray | None = None, held: np.ndarray | None = None):
        self.system, self.case, self.instances = system, case, tuple(instances)
        self._rows = rows
        self.base_differential, self.limited, self.zero_time_constants, self._time_constants = rows
        self.operating_point = operating_point
        self.Z0, self.rest = Z0, Z0 if rest is None else rest
        self.held = np.zeros(0, dtype=int) if held is None else held
        self.n, self.variables, self.scale = system.n, system.variables, system.scale
        self.layout, self.traces = system.layout, system.traces
        self.network, self.islands, self.switching = system.network, system.islands, system.switching
        for array in (self.Z0, self.rest, self.held, self.base_differential, self.limited):
            array.setflags(write=False)

    @functools.cached_property
    def initialisation(self) -> Initialisation:
        """The equations of the initial state."""
        return initialisation(self.system, self.rest)

    def differential(self, Z: np.ndarray) -> np.ndarray:
        """(n,) bool: the rows that are differential under the modes in Z."""
        mask = self.base_differential.copy()
        if len(self.limited):
            mask[self.limited[:, 0]] &= Z[self.limited[:, 1]] == 0
        return mask

    def check_rows(self, Z: np.ndarray, changed: np.ndarray) -> None:
        """Refuse changes, at these positions of Z, by which a time constant becomes zero in a run, or no longer is."""
        if np.count_nonzero(self._time_constants[changed]):
            others, = np.nonzero(classify_rows(self.system, Z).differential != self.base_differential)
            if len(others):
                raise EventError(f"the time constant of {self.layout.label(int(others[0]))} becomes 0, or was: whether "
                                 "there is one stands when a run begins", t=float(Z[-1]))

    def at_moving_limit(self, Z: np.ndarray) -> np.ndarray:
        """(k, 2) positions of the states that are at a limit that moves, and of their modes."""
        moving = self.limited[self.limited[:, 2] == 1, :2]
        return moving[Z[moving[:, 1]] != 0]

    def workspace(self, Z: np.ndarray | None = None) -> Workspace:
        """New buffers at Z, by default Z0, for one run, sweep or thread."""
        ws = self.system.workspace()
        ws.load(self.Z0 if Z is None else Z)
        return ws

    def rhs(self, Z: np.ndarray) -> np.ndarray:
        """F at Z, (n,)."""
        return self.workspace(Z).rhs().copy()

    def jacobian(self, Z: np.ndarray) -> Any:
        """F_X at Z, (n, n)."""
        ws = self.workspace(Z)
        return csc((ws.jacobian(), ws.indices, ws.indptr), shape=(self.n, self.n))

    def with_values(self, values: Mapping[Any, float | str]) -> Equilibrium:
        """The same system with other values of parameters that the case gives: ``{"GEN2.H": 6.5}``.

        It is what :func:`gridcore.build` makes of the changed case, to the last bit, but nothing is traced or compiled,
        and where only times of events change the operating point is not found again. Initial values that were given
        stay given. Both may be simulated at once.

        Parameters
        ----------
        values : mapping of str to float or str
            By address or pattern, of which the last one holds; a text may carry a unit, ``"250 ms"``.

        Raises
        ------
        CaseError
            If there is no such parameter (the nearest names are offered), or it may not have that value.
        PowerFlowError, InitialisationError
        """
        if not isinstance(values, Mapping):
            raise CaseError(f"{values!r} is not addresses with values: write with_values({{'GEN2.H': 6.5}})")
        chosen = {address: value for pattern, value in zip(patterns_of(values), values.values(), strict=True)
                  for address in matching(pattern, [f"{i.id}.{name}" for i in self.instances for name in i.values]
                                          if is_pattern(pattern) else [pattern], "parameter")}
        case, system = self.case.copy(), self.system
        given = [self._given(address) for address in chosen]
        for (number, name), value in zip(given, chosen.values(), strict=True):
            case.records[number].fields[name] = value
        instances = validate_again(case, self.instances, {number for number, _ in given})
        for number, name in given:
            now, before = (of[number].words.get(name) for of in (instances, self.instances))
            if now != before:
                raise CaseError(f"{instances[number].id}.{name} is {before or 'a number'} in the case: that is changed "
                                "there")
        at = [self.layout.address(address) for address in chosen]
        if system.event_times.issuperset(at):
            new = [instances[number].values[name] for number, name in given]
            Z0, rest = self.Z0.copy(), self.rest.copy()
            for Z in (Z0, rest):
                Z[at] = new
                for own, other in self.layout.shared.items():
                    Z[own] = Z[other]
            return Equilibrium(system, case, instances, Z0, self._rows, self.operating_point, rest, self.held)
        found = find_equilibrium(system, case, instances, parameters(system, case, instances), self._enforce_q_limits)
        return found.holding(self.held, self.Z0[self.held]) if len(self.held) else found

    def _given(self, address: str) -> tuple[int, str]:
        """Number of the device and name of its parameter, which the case must give."""
        device, name = split(address)
        number = self.layout.find(device)
        instance = self.instances[number]
        if name not in instance.values:
            raise CaseError(f"{device} ({instance.model}) has no parameter '{name}' that a case gives"
                            f"{suggest(name, instance.values)}")
        return number, name

    def holding(self, at: np.ndarray, values: np.ndarray) -> Equilibrium:
        """The same with the differential variables `at` these positions in Z at given initial values, (k,) each.

        The algebraic variables are solved again; where that fails, there is a ConvergenceError.
        """
        ws = self.workspace()
        ws.Z[at] = values
        ws.refresh()
        Newton(ws).resolve(self.differential(ws.Z))
        return self.replaced(ws.Z.copy(), np.union1d(self.held, at).astype(int))

    def replaced(self, Z0: np.ndarray, held: np.ndarray) -> Equilibrium:
        """The same with this initial buffer, in which the states `held` have values of their own."""
        return Equilibrium(self.system, self.case, self.instances, Z0, self._rows, self.operating_point,
                           self.rest if len(held) else None, held)

    def __reduce__(self) -> tuple[Any, ...]:
        """A pickle has system, values and initial state; the operating point is found again when it is loaded."""
        return _restored, (self.system, self.case, self.instances, np.array(self.Z0), np.array(self.held),
                           self._enforce_q_limits)

    _repr_html_ = plugins.AsMethod("html")
    power_flow = property(lambda self: plugins.analyses["power_flow"].function(self),
                          doc="The power flow of the operating point, as tables of pandas: ``.buses``, ``.branches``.")

    @property
    def _enforce_q_limits(self) -> bool | None:
        return None if self.operating_point is None else self.operating_point.enforce_q_limits

    def __repr__(self) -> str:
        return f"<System of '{self.case.name}': {self.n} variables, {len(self.instances)} devices>"


def _restored(system: System, case: Case, instances: Sequence[Instance], Z0: np.ndarray, held: np.ndarray,
              enforce_q_limits: bool | None) -> Equilibrium:
    found = find_equilibrium(system, case, instances, parameters(system, case, instances), enforce_q_limits)
    return found.replaced(Z0, held)


def find_equilibrium(system: System, case: Case, instances: Sequence[Instance], Z: np.ndarray,
                     enforce_q_limits: bool | None = False) -> Equilibrium:
    """A system with the values in Z, which is filled in; None for `enforce_q_limits`: without its operating point."""
    rows = classify_rows(system, Z)
    system.islands.settle(Z, at_rest=True)
    point = None if enforce_q_limits is None else _find_operating_point(system, Z, enforce_q_limits)
    return Equilibrium(system, case, instances, Z, rows, point)


def _find_operating_point(system: System, Z: np.ndarray, enforce_q_limits: bool) -> OperatingPoint:
    """Power flow and initialisation, in place."""
    began = time.perf_counter()
    energised = Z[system.layout.positions(system.islands.buses, "energised")]
    dispatch = Dispatch(system, Z) if energised.any() else None
    flow = dispatch.solve(enforce_q_limits) if dispatch else None
    solved = time.perf_counter()
    equations, ws = initialisation(system, Z), system.workspace()
    start(system, Z)
    iterations = _solve(system, equations, Z, ws)
    Z[-1] = 0.0
    ws.load(Z)
    F = ws.rhs().copy()
    _check_balance(system, F, ws)
    guards, gamma = system.switching.guards, system.switching.values(Z)
    return OperatingPoint(
        flow, dispatch.ids if dispatch else [], iterations,
        residual=float(np.max(np.abs(F[~equations.moving()]), initial=0.0)),
        violations=[f"{guards[k].device}: {guards[k].what} at t0 already (by {abs(gamma[k]):.4g})"
                    for k in np.flatnonzero(system.switching.across(Z))],
        timings={"power flow": solved - began, "initialisation": time.perf_counter() - solved},
        dispatch=dispatch, enforce_q_limits=enforce_q_limits)


def _solve(system: System, equations: Initialisation, Z: np.ndarray, ws: Workspace) -> int:
    """Newton, again with the modes that belong to what it found; returns the iterations."""
    iterations, switching = equations.solve(Z, ws), system.switching
    settles = np.array([guard.settles for guard in switching.guards], dtype=bool)
    for _ in range(_SETTLINGS):
        across = settles & switching.across(Z) if settles.any() else settles
        if not across.any():
            return iterations
        switching.apply(Z, [switching.guards[k] for k in np.flatnonzero(across)])
        iterations += equations.solve(Z, ws)
    names = ", ".join(str(switching.guards[k]) for k in np.flatnonzero(across))
    raise InitialisationError(f"initialisation finds no branch of the equations to rest on: {names}")


def _check_balance(system: System, F: np.ndarray, ws: Workspace) -> None:
    """The devices, once initialised, must draw what the power flow said they would."""
    buses = system.islands.buses
    rows = np.stack([system.layout.positions(buses, name) for name in Bus.potentials()], axis=1)
    for k in np.flatnonzero((np.abs(F[rows]) > numerics.BALANCE).any(axis=1))[:1]:
        raise InitialisationError(f"devices do not draw what they schedule, but {np.hypot(*F[rows[k]]):.3g} pu more",
                                  place=ws.place(int(rows[k, 0])), advice=": is an impedance there as good as zero?")
