"""The power flow of a system's own devices.

The admittance matrix is not built from tables: it is the derivative of the currents of every device
that is linear, has no variables of its own and schedules no power, whoever wrote it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .. import numerics
from ..contract import Device
from ..equations import Batch, Entries, Group, SparseMap, entries, function_of
from ..errors import CaseError, DeviceError
from ..kept import KeptFor
from ..system import System
from . import powerflow

_admittances: KeptFor[SparseMap] = KeptFor("admittance")
_schedules: KeptFor[list[tuple[Group, Batch]]] = KeptFor("schedules")


class Sources(NamedTuple):
    """Regulating devices in service: the numbers of their buses, what they control, positions in Z of their data."""

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
        self._place = np.full(len(layout.instances), -1)
        self._place[self.numbers] = np.arange(len(self.numbers))
        self.ids = [layout.instances[i].id for i in self.numbers]
        self.at = {name: layout.positions(self.numbers, name) for name in ("Vr", "Vi", "Vm0", "Va0", "energised")}
        groups = [group for group in layout.groups if group.shape.cls.regulates]
        on = [Z[layout.of_group(group, "status")] == 1 for group in groups]
        members = _joined([group.members[running] for group, running in zip(groups, on, strict=True)])
        self.sources = Sources(
            _joined([self._buses_of(group)[running] for group, running in zip(groups, on, strict=True)]),
            np.array([layout.instances[i].words["control"] for i in members], dtype=str),
            {name: layout.positions(members, name) for name in ("P0", "Q0", "V0", "Qmin", "Qmax", "Sn")})

    def _buses_of(self, group: Group) -> np.ndarray:
        return self._place[group.at[group.shape.cls.bus_ports()[:1]]]

    def admittance(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of the currents drawn by passive devices, ``I = Y V``: rows, columns and complex values of Y (pu)."""
        n, real = len(self.numbers), _admittances.get(self.system, (), self._admittance_map)
        (row, current), (voltage, column) = np.divmod(real.indices, 2), np.divmod(real.columns, n)
        entries, place = np.unique(column.astype(np.int64) * n + row, return_inverse=True)
        (rr, ri), (ir, ii) = parts = np.zeros((2, 2, len(entries)))
        parts[current, voltage, place] = real.values(self.Z)
        if np.abs([rr - ii, ri + ir]).sum() > numerics.PASSIVE * np.abs(parts).sum():
            raise DeviceError("a passive device treats real and imaginary voltages differently: it is no admittance")
        Y = -(rr + 1j * ir)
        return entries[Y != 0] % n, entries[Y != 0] // n, Y[Y != 0]

    def _admittance_map(self) -> SparseMap:
        """The same in real numbers, at any values: rows as those of passive devices, real voltages to the left."""
        parts = self.passive_entries(self.system.columns([*self.at["Vr"], *self.at["Vi"]]))
        for cls, part in parts:
            if not part.constant:
                raise _not_passive(cls)
        return SparseMap((2 * len(self.numbers),) * 2, [part for _, part in parts])

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
        for group in layout.groups:
            cls, trace = group.shape.cls, group.trace
            at_bus = {(port,) for port in cls.bus_ports()}
            if not any(path in at_bus for (path, _), _ in trace.rows) or trace.scheduled is not None:
                continue
            if cls.declares.variables():
                raise _not_passive(cls)
            part = system.row_entries(group, "passive", column_of)
            if part is not None:
                part.rows = row_of[part.rows]
                parts.append((cls, part))
        return parts

    def scheduled_entries(self, column_of: np.ndarray) -> list[Entries | None]:
        """Derivatives of the scheduled powers; rows 2k and 2k + 1 are P and Q of bus k."""
        return [entries("scheduled", self.system.layout, group, group.trace.scheduled,
                        2 * self._buses_of(group)[:, None] + [0, 1], column_of)
                for group in self.system.layout.groups if group.trace.scheduled is not None]

    def scheduled(self) -> np.ndarray:
        """(buses,) complex power that devices inject, before the power flow decides on slack and PV."""
        S, layout = np.zeros(len(self.numbers), dtype=complex), self.system.layout
        for group, batch in _schedules.get(self.system, (), lambda: [
                (of, Batch(*function_of("scheduled", layout, of, of.trace.scheduled), np.zeros((len(of), 2))))
                for of in layout.groups if of.trace.scheduled is not None]):
            values = batch.values(self.Z)
            np.add.at(S, self._buses_of(group), values[:, 0] + 1j * values[:, 1])
        return S

    def solve(self, enforce_q_limits: bool) -> powerflow.PowerFlow:
        """Power flow; writes voltages and the power of every source into Z."""
        Z, n, sources = self.Z, len(self.numbers), self.sources
        kinds, volts = np.full(n, powerflow.PQ), np.ones(n)
        Q = np.zeros((2, n))  # what the sources of a bus may inject beyond their schedule, at least and at most
        for k in np.flatnonzero(sources.control != "PQ"):
            bus, V0, Qmin, Qmax, Q0 = sources.bus[k], *(Z[sources.at[name][k]] for name in ("V0", "Qmin", "Qmax", "Q0"))
            if kinds[bus] != powerflow.PQ and volts[bus] != V0:
                raise CaseError(f"sources at {self.ids[bus]} hold different voltages V0: {volts[bus]:g} and {V0:g}")
            volts[bus] = V0
            kinds[bus] = max(kinds[bus], powerflow.SLACK if sources.control[k] == "slack" else powerflow.PV)
            Q[:, bus] += Qmin - Q0, Qmax - Q0
        live = Z[self.at["energised"]] == 1
        alive, place, (rows, columns, Y) = np.flatnonzero(live), np.cumsum(live) - 1, self.admittance()
        kept = live[rows] & live[columns]
        S = self.scheduled()
        V = Z[self.at["Vm0"]] * np.exp(1j * Z[self.at["Va0"]])
        flow = powerflow.solve_power_flow(
            (place[rows[kept]], place[columns[kept]], Y[kept]), S[alive], kinds[alive], V[alive],
            setpoints=volts[alive], names=[self.ids[k] for k in alive], solver=self.system.linear_solver,
            limits=((S.imag + Q[0])[alive], (S.imag + Q[1])[alive]) if enforce_q_limits else None)
        V[:] = 0.0
        V[alive] = flow.V
        Z[self.at["Vm0"]], Z[self.at["Va0"]] = np.abs(V), np.angle(V)
        self.missing = -S
        self.missing[alive] = flow.S - S[alive]
        self.alive = alive
        for at, bus, rating, total, part in self.shares():
            Z[at] += getattr(self.missing, part)[bus] * Z[rating] / total
        return flow

    def shares(self) -> list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, str]]:
        """The P0 and Q0 that the power flow finds, and how the sources of a bus share them: by rating.

        (positions in Z, buses, positions of their ratings, ratings of all that share, "real" or "imag").
        """
        out = []
        for name, part, free in (("P0", "real", ("slack",)), ("Q0", "imag", ("slack", "PV"))):
            mask = np.isin(self.sources.control, free)
            bus, rating = self.sources.bus[mask], self.sources.at["Sn"][mask]
            total = np.bincount(bus, self.Z[rating], len(self.numbers))[bus]
            out.append((self.sources.at[name][mask], bus, rating, total, part))
        return out


def _joined(parts: list[np.ndarray]) -> np.ndarray:
    return np.concatenate([np.zeros(0, dtype=int), *parts])


def _not_passive(cls: type[Device]) -> DeviceError:
    return DeviceError(f"{cls.__name__} injects current that is not linear in the voltage: it must say what it injects "
                       "in the power flow, by scheduled(s)")
