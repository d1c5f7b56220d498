"""How the initial state moves with the parameters: through the power flow, and through initialisation.

Initialisation solves ``G(U; p) = 0`` for ``U = [X; S]``, S the set-points; so ``dU = -G_U^-1 G_p dp``, one
solve for a tangent and one transposed solve for an adjoint. What the power flow finds (voltages, the
power of slack and PV sources) are parameters of G; their own derivative is one more solve each way.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..equations import Entries, SparseMap
from ..equations.sparse import csc
from ..kept import KeptFor
from .dispatch import Dispatch, Sources
from .equilibrium import Equilibrium
from .powerflow import PQ

# The initial sensitivities in the same parameters.
_prepared: KeptFor[InitialSensitivity] = KeptFor("initial_sensitivity")


class InitialSensitivity:
    """Tangent and transpose of ``p -> (X0, set-points)``.

    Parameters
    ----------
    system : Equilibrium
        At its operating point.
    carried : (n_c,) int array
        Positions in Z of the parameters; the set-points and what the power flow finds are among them.
    through_power_flow : bool
        Whether dispatch goes through the power flow; otherwise P0, Q0 and the voltages at t0 are
        parameters of their own, and the balance of the buses is not restored.
    """

    def __init__(self, system: Equilibrium, carried: np.ndarray, through_power_flow: bool):
        self.system, self.carried = system, carried
        self._lock = threading.Lock()  # it is kept for whoever asks for the same; its factors have one user at a time
        self.initialisation = init = system.initialisation
        Z, n = system.rest, system.n
        self.lu = init.linear_analysis.factors()
        self.lu.factor(init.matrix(Z))
        column_of = system.system.columns(carried)
        self.setpoint_columns = column_of[init.unknowns[n:]]
        free = column_of.copy()
        free[init.unknowns[n:]] = -1
        self.Gp = _Map(init.parameter_jacobian(Z, free, len(carried)))
        point = system.operating_point
        self.flow = (_FlowSensitivity(system, point.dispatch, column_of, len(carried))
                     if through_power_flow and point is not None and point.dispatch is not None else None)

    @classmethod
    def of(cls, system: Equilibrium, carried: np.ndarray, through_power_flow: bool) -> InitialSensitivity:
        """The same, kept for the next sweep from the same initial point."""
        return _prepared.get(system, (carried.tobytes(), through_power_flow),
                             lambda: cls(system, carried, through_power_flow))

    def forward(self, dP: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """dX0 (K, n), and dP (K, n_c) with set-points and operating point filled in."""
        dP = dP.copy()
        if self.flow is not None:
            self.flow.forward(dP)
        with self._lock:
            dU = -self.lu.solve(np.ascontiguousarray(self.Gp.forward(dP)))
        dP[:, self.setpoint_columns] = dU[:, self.system.n:]
        return dU[:, : self.system.n], dP

    def transpose(self, aX: np.ndarray, aP: np.ndarray) -> np.ndarray:
        """Adjoint of the parameters, (m, n_c), from those of X0 and of all parameters after t0."""
        aP = aP.copy()
        aU = np.concatenate([aX, aP[:, self.setpoint_columns]], axis=1)
        aP[:, self.setpoint_columns] = 0.0
        with self._lock:
            w = self.lu.tsolve(np.ascontiguousarray(aU))
        aP -= self.Gp.transpose(w)
        if self.flow is not None:
            self.flow.transpose(aP)
        return aP


class _Map:
    """A matrix and its transpose, both made once, for the rows of (K, columns) or (K, rows) arrays."""

    def __init__(self, matrix: Any):
        self._forward, self._transpose = matrix, matrix.T

    def forward(self, rows: np.ndarray) -> np.ndarray:
        return np.asarray((self._forward @ rows.T).T)

    def transpose(self, rows: np.ndarray) -> np.ndarray:
        return np.asarray((self._transpose @ rows.T).T)


class _FlowSensitivity:
    """The power flow as a map from its inputs to what it finds, in columns of the carried parameters."""

    def __init__(self, system: Equilibrium, dispatch: Dispatch, column_of: np.ndarray, width: int):
        point = system.operating_point
        assert point is not None
        assert point.power_flow is not None
        self.flow = flow = point.power_flow
        Z, alive = system.rest, dispatch.alive
        self.vm, self.va = (column_of[dispatch.at[name][alive]] for name in ("Vm0", "Va0"))
        place = np.full(len(dispatch.numbers), -1)
        place[alive] = np.arange(len(alive))
        self.found = [(column_of[at], place[bus], Z[rating] / total, part)
                      for at, bus, rating, total, part in dispatch.shares()]
        self.sharing = _Map(self._sharing(dispatch, column_of, width, Z))
        n = len(alive)
        column_of = column_of.copy()
        for driver, replaced in system.layout.replaced():  # at t0 a ramp is still what it replaces
            column_of[driver] = column_of[replaced]
        # two rows a bus: the power it is scheduled to inject less what the network draws, at fixed voltage
        scheduled = self._two_rows(dispatch.scheduled_entries(column_of), place, n, width, Z)
        drawn = self._two_rows([part for _, part in dispatch.passive_entries(column_of)], place, n, width, Z)
        self.injected = _Map(scheduled + _power_of_current(flow.V) @ drawn)
        sources, bus = dispatch.sources, place[dispatch.sources.bus]
        self.setpoints, self.limits = map(_Map, self._held(sources, bus, column_of, width))
        equations = copy.copy(flow.equations)
        equations.fix(np.full(n, PQ))
        flows = equations.flows(flow.V)
        values = equations.jacobian(flow.V, flows, equations.power(flows))
        self.J = _Map(csc((values, equations.indices, equations.indptr), shape=(2 * n, 2 * n)))

    @staticmethod
    def _two_rows(parts: Sequence[Entries | None], place: np.ndarray, n: int, width: int, Z: np.ndarray) -> Any:
        for part in parts:
            if part is not None:
                bus, axis = np.divmod(part.rows, 2)
                part.rows = np.where((part.rows >= 0) & (place[bus] >= 0), 2 * place[bus] + axis, -1)
        return SparseMap((2 * n, width), parts).evaluate(Z).copy()

    @staticmethod
    def _sharing(dispatch: Dispatch, column_of: np.ndarray, width: int, Z: np.ndarray) -> Any:
        """(width, width): how what each source has of its bus moves with the ratings of all that share it."""
        out = csc((width, width))
        for at, bus, rating, total, part in dispatch.shares():
            missing = getattr(dispatch.missing, part)[bus]
            one, other = np.nonzero(bus[:, None] == bus)
            slope = missing[one] / total[one] * ((one == other) - Z[rating[one]] / total[one])
            kept = column_of[rating[other]] >= 0
            out += csc((slope[kept], (column_of[at[one]][kept], column_of[rating[other]][kept])), (width, width))
        return out

    def _held(self, sources: Sources, bus: np.ndarray, column_of: np.ndarray, width: int) -> tuple[Any, Any]:
        """How the voltage held at each bus moves with V0 of the sources there, all equal: as their mean, (n, width);
        how the reactive power of buses that are at a limit moves with it, (2n, width).
        """
        n, regulating = len(self.flow.V), (sources.control != "PQ") & (bus >= 0)
        holds = regulating & (self.flow.kinds[bus] != PQ)
        column, part = column_of[sources.at["V0"]], 1.0 / np.maximum(np.bincount(bus[holds], minlength=n), 1)[bus]
        kept = holds & (column >= 0)
        setpoints = csc((part[kept], (bus[kept], column[kept])), shape=(n, width))
        limited = np.where(regulating, self.flow.limited[bus], 0)
        column = column_of[np.where(limited > 0, sources.at["Qmax"], sources.at["Qmin"])]
        kept = (limited != 0) & (column >= 0)
        limits = csc((np.ones(kept.sum()), (2 * bus[kept] + 1, column[kept])), shape=(2 * n, width))
        return setpoints, limits

    def forward(self, dP: np.ndarray) -> None:
        """Fill what the power flow finds into dP (K, n_c), in place."""
        into, held = self.injected.forward(dP), np.ascontiguousarray(self.setpoints.forward(dP))
        dS = np.ascontiguousarray(into + self.limits.forward(dP)).view(complex)
        dV = self.flow.tangent(dS, held)
        polar = _polar(self.flow.V, dV)
        missing = np.ascontiguousarray(self.J.forward(polar) - into).view(complex)
        kept = [(columns, getattr(missing, part)[:, bus] * share) for columns, bus, share, part in self.found]
        dP[:, self.va], dP[:, self.vm] = polar[:, 0::2], polar[:, 1::2]
        for columns, change in kept:
            dP[:, columns] += change
        dP += self.sharing.forward(dP)

    def transpose(self, aP: np.ndarray) -> None:
        """The transpose of :meth:`forward`, in place."""
        m, n = len(aP), len(self.flow.V)
        aP += self.sharing.transpose(aP)
        missing = np.zeros((m, n), dtype=complex)
        for columns, bus, share, part in self.found:
            amount = aP[:, columns] * share
            np.add.at(missing.T, bus, (amount if part == "real" else 1j * amount).T)
        rows = missing.view(float)
        polar = self.J.transpose(rows)
        polar[:, 0::2] += aP[:, self.va]
        polar[:, 1::2] += aP[:, self.vm]
        aP[:, self.va] = aP[:, self.vm] = 0.0
        aS, aV = self.flow.adjoint(_polar_transpose(self.flow.V, polar))
        held = np.ascontiguousarray(aS).view(float)
        aP += self.injected.transpose(held - rows) + self.limits.transpose(held) + self.setpoints.transpose(aV)


def _power_of_current(V: np.ndarray) -> Any:
    """(2n, 2n): injected current, real and imaginary part, to ``V conj(I)``, real and imaginary part."""
    k = 2 * np.arange(len(V))
    rows = np.concatenate([k, k, k + 1, k + 1])
    columns = np.concatenate([k, k + 1, k, k + 1])
    return csc((np.concatenate([V.real, V.imag, V.imag, -V.real]), (rows, columns)), (2 * len(V), 2 * len(V)))


def _polar(V: np.ndarray, dV: np.ndarray) -> np.ndarray:
    """(K, 2n): derivatives of angle and magnitude, interleaved, from those of the voltages."""
    relative = dV / V
    out = np.empty((len(dV), 2 * len(V)))
    out[:, 0::2], out[:, 1::2] = relative.imag, relative.real * np.abs(V)
    return out


def _polar_transpose(V: np.ndarray, polar: np.ndarray) -> np.ndarray:
    """The transpose of :func:`_polar`: real part by real part."""
    return (polar[:, 1::2] * np.abs(V) + 1j * polar[:, 0::2]) / np.conj(V)
