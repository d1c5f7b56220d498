"""The power flow of a system's own devices.

The admittance matrix is not built from tables: it is the derivative of the currents of every device
that is linear, has no variables of its own and schedules no power, whoever wrote it.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
import scipy.sparse as sp

from .. import numerics
from ..contract import Device
from ..equations import Batch, Entries, Group, SparseMap, entries, function_of
from ..errors import CaseError, DeviceError
from ..system import System
from . import powerflow


@dataclass
class _Sources:
    """Regulating devices: group, members in service, their buses, and positions in Z of what they declare."""

    group: Group
    bus: np.ndarray
    control: np.ndarray
    at: dict[str, np.ndarray]


class Dispatch:
    """The power flow problem of a system, and the way its solution goes back into Z.

    Parameters
    ----------
    system : System
    Z : (size,) array
        Parameters and modes; :meth:`solve` writes what it finds here.
    """

    def __init__(self, system: System, Z: np.ndarray):
        self.system, self.Z, layout = system, Z, system.layout
        self.numbers = np.array(system.islands.buses, dtype=int)
        self.place = {int(i): k for k, i in enumerate(self.numbers)}
        self.ids = [layout.instances[i].id for i in self.numbers]
        self.at = {name: layout.positions(self.numbers, name) for name in ("Vr", "Vi", "Vm0", "Va0", "energised")}
        self.sources = [s for k in range(len(system.traces)) if (s := self._source(k)) is not None]

    def _buses_of(self, group: Group) -> np.ndarray:
        port = group.shape.cls.bus_ports()[0]
        return np.array([self.place[int(i)] for i in group.at[(port,)]])

    def _source(self, k: int) -> _Sources | None:
        group, layout = self.system.layout.groups[k], self.system.layout
        cls = group.shape.cls
        if not cls.regulates:
            return None
        on = self.Z[layout.index(group.members, cls, "status")] == 1
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
        matrix = SparseMap((2 * n, 2 * n), parts).evaluate(self.Z)
        rr, ri, ir, ii = matrix[:n, :n], matrix[:n, n:], matrix[n:, :n], matrix[n:, n:]
        if abs(rr - ii).sum() + abs(ri + ir).sum() > numerics.PASSIVE * abs(matrix).sum():
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
            at_bus = {(port,) for port in cls.bus_ports()}
            if not any(path in at_bus for (path, _), _ in trace.rows) or trace.scheduled is not None:
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
                values = batch.values(self.Z)
                np.add.at(S, self._buses_of(group), values[:, 0] + 1j * values[:, 1])
        return S[:-1]

    def solve(self, enforce_q_limits: bool) -> powerflow.PowerFlow:
        """Power flow; writes voltages and the power of every source into Z."""
        Z, n = self.Z, len(self.numbers)
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
        Z, bus, control = self.Z, source.bus[k], source.control[k]
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
        Z, out = self.Z, []
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
