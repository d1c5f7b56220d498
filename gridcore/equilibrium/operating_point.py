"""Case to operating point: the power flow of the system's own devices, then initialisation.

The admittance matrix is not built from tables: it is the derivative of the currents of every device
that is linear, has no variables of its own and schedules no power, whoever wrote it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np
import scipy.sparse as sp

from ..contract.device import Device
from ..contract.node import Bus
from ..equations.kernel import Batch
from ..equations.sparse_map import Entries, SparseMap, entries, function_of
from ..errors import CaseError, DeviceError, InitialisationError
from . import powerflow
from .initialise import TOLERANCE, start

if TYPE_CHECKING:
    from ..equations.layout import Group
    from ..system.system import System

# Modes that depend on each other in a chain of this length settle; no real device has a longer one.
_SETTLINGS = 20


@dataclass
class OperatingPoint:
    """What power flow and initialisation found.

    Attributes
    ----------
    power_flow : powerflow.PowerFlow or None
        None for a system without buses.
    buses : list of str
        Ids of the buses, in the order of the power flow.
    iterations : int
        Newton iterations of the initialisation.
    residual : float
        Largest |F| at t0.
    violations : list of str
        Guards that are across at t0, in words: limits that the operating point breaks.
    timings : dict
        Seconds by stage.
    dispatch : Dispatch or None
        The power flow problem, for its derivative.
    enforce_q_limits : bool
        Whether the power flow kept reactive limits.
    """

    power_flow: powerflow.PowerFlow | None
    buses: list[str]
    iterations: int = 0
    residual: float = 0.0
    violations: list[str] = field(default_factory=list)
    timings: dict[str, float] = field(default_factory=dict)
    dispatch: Dispatch | None = None
    enforce_q_limits: bool = False


@dataclass
class _Sources:
    """Regulating devices: group, members in service, their buses, and positions in Z of what they declare."""

    group: Group
    bus: np.ndarray
    control: np.ndarray
    at: dict[str, np.ndarray]


class Dispatch:
    """The power flow problem of a system, and the way its solution goes back into Z."""

    def __init__(self, system: System):
        self.system, layout = system, system.layout
        self.numbers = np.array(system.islands.buses, dtype=int)
        self.place = {int(i): k for k, i in enumerate(self.numbers)}
        self.ids = [layout.instances[i].id for i in self.numbers]
        self.at = {name: layout.index(self.numbers, Bus, name) for name in ("Vr", "Vi", "Vm0", "Va0", "energised")}
        self.sources = [s for k in range(len(system.traces)) if (s := self._source(k)) is not None]

    def _buses_of(self, group: Group) -> np.ndarray:
        port = group.shape.cls.bus_ports()[0]
        return np.array([self.place[int(i)] for i in group.at[(port,)]])

    def _source(self, k: int) -> _Sources | None:
        group, layout = self.system.layout.groups[k], self.system.layout
        cls = group.shape.cls
        if not cls.regulates:
            return None
        on = self.system.Z0[layout.index(group.members, cls, "status")] == 1
        members = group.members[on]
        names = ("P0", "Q0", "V0", "Qmin", "Qmax", "Sn")
        return _Sources(group, self._buses_of(group)[on],
                        np.array([layout.instances[i].words["control"] for i in members]),
                        {name: layout.index(members, cls, name) for name in names})

    def admittance(self) -> sp.csc_matrix:
        """(buses, buses) complex: currents drawn by passive devices, ``I = Y V``."""
        n = len(self.numbers)
        parts = []
        for cls, part in self.passive_entries(self.system.columns([*self.at["Vr"], *self.at["Vi"]])):
            if not part.constant:
                raise _not_passive(cls)
            bus, axis = np.divmod(part.rows, 2)
            part.rows = np.where(part.rows >= 0, bus + axis * n, -1)
            parts.append(part)
        matrix = SparseMap((2 * n, 2 * n), parts).evaluate(self.system.Z0)
        rr, ri, ir, ii = matrix[:n, :n], matrix[:n, n:], matrix[n:, :n], matrix[n:, n:]
        if abs(rr - ii).sum() + abs(ri + ir).sum() > 1e-9 * abs(matrix).sum():
            raise DeviceError("a passive device treats real and imaginary voltages differently: it is no admittance")
        return sp.csc_matrix(-(rr + 1j * ir))

    def passive_entries(self, column_of: np.ndarray) -> list[tuple[type[Device], Entries]]:
        """Derivatives of the currents that passive devices inject; rows 2k and 2k + 1 are those of bus k.

        Raises
        ------
        DeviceError
            For a device that injects current, has variables and does not schedule power.
        """
        system, layout, parts = self.system, self.system.layout, []
        row_of = np.full(layout.size, -1)
        row_of[self.at["Vr"]], row_of[self.at["Vi"]] = 2 * np.arange(len(self.numbers)) + [[0], [1]]
        for k, (group, trace) in enumerate(zip(layout.groups, system.traces, strict=True)):
            cls = group.shape.cls
            if not any(path for (path, _), _ in trace.rows) or trace.scheduled is not None:
                continue
            if cls.declares.variables():
                raise _not_passive(cls)
            part = system.row_entries(k, "passive", column_of)
            if part is not None:
                part.rows = row_of[part.rows]
                parts.append((cls, part))
        return parts

    def scheduled_entries(self, column_of: np.ndarray) -> list[Entries | None]:
        """Derivatives of the scheduled powers; rows 2k and 2k + 1 are P and Q of bus k."""
        system = self.system
        return [entries("scheduled", system.layout, group, trace, list(map(ca.SX, trace.scheduled)),
                        2 * self._buses_of(group)[:, None] + [0, 1], column_of)
                for group, trace in zip(system.layout.groups, system.traces, strict=True)
                if trace.scheduled is not None]

    def scheduled(self) -> np.ndarray:
        """(buses,) complex power that devices inject, before the power flow decides on slack and PV."""
        S = np.zeros(len(self.numbers) + 1, dtype=complex)
        for group, trace in zip(self.system.layout.groups, self.system.traces, strict=True):
            if trace.scheduled is not None:
                function, gather = function_of("scheduled", self.system.layout, group, trace,
                                               list(map(ca.SX, trace.scheduled)))
                batch = Batch(function, gather, np.zeros((len(group), 2)))
                values = batch.values(self.system.Z0)
                np.add.at(S, self._buses_of(group), values[:, 0] + 1j * values[:, 1])
        return S[:-1]

    def solve(self, enforce_q_limits: bool) -> powerflow.PowerFlow:
        """Power flow; writes voltages and the power of every source into the system's Z0."""
        Z, n = self.system.Z0, len(self.numbers)
        kinds, volts = np.full(n, powerflow.PQ), np.ones(n)
        Q = np.zeros((2, n))
        for source in self.sources:
            for k in range(len(source.bus)):
                self._regulate(source, k, kinds, volts, Q)
        alive = np.flatnonzero(Z[self.at["energised"]] == 1)
        S = self.scheduled()
        V = Z[self.at["Vm0"]] * np.exp(1j * Z[self.at["Va0"]])
        inside = powerflow.solve_power_flow(
            self.admittance()[alive][:, alive], S[alive], kinds[alive], V[alive], setpoints=volts[alive],
            qmin=(S.imag + Q[0])[alive], qmax=(S.imag + Q[1])[alive],
            names=[self.ids[k] for k in alive], enforce_q_limits=enforce_q_limits,
            solver=self.system.linear_solver)
        V[:] = 0.0
        V[alive] = inside.V
        Z[self.at["Vm0"]], Z[self.at["Va0"]] = np.abs(V), np.angle(V)
        injected = np.zeros(n, dtype=complex)
        injected[alive] = inside.S
        self.alive = alive
        self.missing = injected - S
        for at, bus, rating, total, part in self.shares():
            Z[at] += getattr(self.missing, part)[bus] * Z[rating] / total
        return inside

    def _regulate(self, source: _Sources, k: int, kinds: np.ndarray, volts: np.ndarray, Q: np.ndarray) -> None:
        """Let one source take its part at its bus."""
        Z, bus, control = self.system.Z0, source.bus[k], source.control[k]
        if control == "PQ":
            return
        kind = powerflow.SLACK if control == "slack" else powerflow.PV
        V0 = Z[source.at["V0"][k]]
        if kinds[bus] != powerflow.PQ and volts[bus] != V0:
            raise CaseError(f"sources at {self.ids[bus]} hold different voltages V0: {volts[bus]:g} and {V0:g}")
        volts[bus] = V0
        if kinds[bus] != powerflow.SLACK:
            kinds[bus] = kind
        # limits of the bus: what its sources may inject beyond their schedule, which is in S already
        Q[0, bus] += Z[source.at["Qmin"][k]] - Z[source.at["Q0"][k]]
        Q[1, bus] += Z[source.at["Qmax"][k]] - Z[source.at["Q0"][k]]

    def shares(self) -> list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, str]]:
        """The P0 and Q0 that the power flow finds, and how the sources of a bus share them: by rating.

        (positions in Z, buses, positions of their ratings, ratings of all that share, "real" or "imag").
        """
        Z, out = self.system.Z0, []
        for name, part, free in (("P0", "real", ("slack",)), ("Q0", "imag", ("slack", "PV"))):
            rating = np.zeros(len(self.numbers))
            chosen = [(s, np.isin(s.control, free)) for s in self.sources]
            for source, mask in chosen:
                np.add.at(rating, source.bus[mask], Z[source.at["Sn"][mask]])
            out += [(s.at[name][mask], s.bus[mask], s.at["Sn"][mask], rating[s.bus[mask]], part) for s, mask in chosen]
        return out


def _not_passive(cls: type[Device]) -> DeviceError:
    return DeviceError(f"{cls.__name__} injects current that is not linear in the voltage: it must say what it injects "
                       "in the power flow, by scheduled(s)")


def find_operating_point(system: System, enforce_q_limits: bool = False) -> OperatingPoint:
    """Power flow and initialisation of a system; its ``Z0`` is at the operating point afterwards.

    Raises
    ------
    PowerFlowError, InitialisationError
    """
    began = time.perf_counter()
    dispatch = Dispatch(system) if system.islands.buses else None
    flow = dispatch.solve(enforce_q_limits) if dispatch else None
    solved = time.perf_counter()
    initialisation = system.initialisation
    start(system, system.Z0)
    iterations = _solve(system)
    system.Z0[-1] = 0.0
    F = system.rhs(system.Z0)
    _check_balance(system, F)
    at_rest = ~initialisation.moving() & ~initialisation.out_of_service()
    point = OperatingPoint(flow, dispatch.ids if dispatch else [], iterations,
                           float(np.max(np.abs(F[at_rest]), initial=0.0)), _violations(system),
                           {"power flow": solved - began, "initialisation": time.perf_counter() - solved}, dispatch,
                           enforce_q_limits)
    system.operating_point = point
    system.rest, system.held = system.Z0, np.zeros(0, dtype=int)
    return point


def _solve(system: System) -> int:
    """Newton, again with the modes that belong to what it found; returns the iterations."""
    iterations, switching = system.initialisation.solve(system.Z0), system.switching
    settles = np.array([guard.settles for guard in switching.guards], dtype=bool)
    for _ in range(_SETTLINGS):
        across = settles & beyond(system) if settles.any() else settles
        if not across.any():
            return iterations
        switching.apply(system.Z0, [switching.guards[k] for k in np.flatnonzero(across)])
        iterations += system.initialisation.solve(system.Z0)
    names = ", ".join(str(switching.guards[k]) for k in np.flatnonzero(across))
    raise InitialisationError(f"initialisation finds no branch of the equations to rest on: {names}")


def beyond(system: System) -> np.ndarray:
    """(guards,) bool: what would fire at Z0."""
    switching = system.switching
    gamma, active = switching.values(system.Z0), switching.active(system.Z0)
    return np.asarray(active & (np.sign(gamma) == switching.directions) & (np.abs(gamma) > TOLERANCE)
                      & (switching.directions != 0))


def _check_balance(system: System, F: np.ndarray) -> None:
    """The devices, once initialised, must draw what the power flow said they would."""
    for number in system.islands.buses:
        rows = system.layout.index(np.array([number]), Bus, "Vr")[0] + np.arange(2)
        if np.max(np.abs(F[rows])) > 100 * TOLERANCE:
            raise InitialisationError(
                f"the devices at {system.layout.instances[number].id} do not draw what they schedule: the currents "
                f"sum to {np.hypot(*F[rows]):.3g} pu at the voltage of the power flow")


def _violations(system: System) -> list[str]:
    """Guards already across at t0, in words."""
    guards = system.switching.guards
    if not guards:
        return []
    gamma = system.switching.values(system.Z0)
    return [f"{guards[k].device}: {guards[k].what} at t0 already (by {abs(gamma[k]):.4g})"
            for k in np.flatnonzero(beyond(system))]
