"""Operating point to initial state: one sparse Newton for all variables and all set-points.

The unknowns are ``U = [X; S]``, S being the set-points and the inputs that nothing drives. The equations are
those of the running system, but for the AC buses, whose voltages are given (the potentials of all other nodes
are unknowns like any); and, to make up for the set-points, the current that each regulating device must
inject at its bus, and what a set-point ``equals``. The same Jacobian gives the derivative of the initial
state, by one more solve.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import casadi as ca
import numpy as np
import scipy.sparse as sp

from .. import numerics
from ..contract import Bus, Scope
from ..equations import Batch, Group, SparseMap, Trace, Workspace, entries, function_of
from ..errors import InitialisationError
from ..kept import Kept, KeptFor
from ..linear import Analysis, SingularMatrix
from ..system import System

# The equations of the same system with the same devices in service.
_prepared: KeptFor[Initialisation] = KeptFor("initialisation")

_ITERATIONS = 40


class Initialisation:
    """The equations G(U; p) = 0 of the initial state of a system.

    Parameters
    ----------
    system : System
    Z : (size,) array
        Which devices are in service; nothing else of it is kept.

    Attributes
    ----------
    unknowns : (n + n_s,) int array
        Positions in Z of the unknowns: the variables, then the set-points.
    """

    def __init__(self, system: System, Z: np.ndarray):
        self.system = system
        self._derivatives: Kept[SparseMap] = Kept()
        n = system.n
        self.setpoints = self._find_setpoints()
        self.unknowns = np.concatenate([np.arange(n), self.setpoints])
        self._fixed = np.zeros(len(self.unknowns), dtype=bool)
        self._fix_out_of_service(Z)
        self._starts = self._find_starts()
        self._voltages = self._find_voltages()
        self._replaced = np.zeros(n, dtype=bool)
        self._replaced[self._starts[:, 0]] = True
        self._replaced[self._voltages[:, :2].ravel()] = True
        self._replaced |= self._fixed[:n]
        self._batches: list[Batch] = []
        self._power_rows: list[tuple[Group, np.ndarray]] = []
        # The equations beyond F take the rows of the set-points that are to be found.
        self._free = n + np.flatnonzero(~self._fixed[n:])
        self._taken = 0
        self.n_rows = len(self.unknowns)
        self._extra = [self._extra_rows(k, Z) for k in range(len(system.traces))]
        self._identity = np.concatenate([np.flatnonzero(self._replaced), n + np.flatnonzero(self._fixed[n:])])
        self._check_square()
        self.map = self._jacobian(system.columns(self.unknowns), len(self.unknowns), self._identity)
        self.linear_analysis: Analysis = system.linear_solver.analyse(len(self.unknowns), self.map.indptr,
                                                                      self.map.indices)

    def _find_setpoints(self) -> np.ndarray:
        layout = self.system.layout
        found = []
        for group in layout.groups:
            declared, cls = group.shape.cls.declares, group.shape.cls
            for name in declared.setpoints:
                found.append(layout.index(group.members, cls, name))
            for name, item in declared.inputs.items():
                if item.default is None:
                    at = layout.index(group.members, cls, name)
                    found.append(at[[int(i) not in layout.driven for i in at]])
        return np.concatenate(found).astype(int) if found else np.zeros(0, dtype=int)

    def _fix_out_of_service(self, Z: np.ndarray) -> None:
        layout = self.system.layout
        place = {int(at): k for k, at in enumerate(self.unknowns)}
        for group in layout.groups:
            cls = group.shape.cls
            out = group.members[Z[layout.index(group.members, cls, "status")] == 0]
            for name in (*cls.declares.variables(), *cls.declares.setpoints, *cls.declares.inputs):
                for at in layout.index(out, cls, name):
                    if int(at) in place:
                        self._fixed[place[int(at)]] = True

    def _find_starts(self) -> np.ndarray:
        """(variable, parameter) of the states with a given value at t0."""
        layout = self.system.layout
        pairs = [np.stack([layout.index(g.members, g.shape.cls, name),
                           layout.index(g.members, g.shape.cls, s.start_at)], axis=1)
                 for g in layout.groups for name, s in g.shape.cls.declares.states.items() if s.start_at]
        return np.concatenate(pairs) if pairs else np.zeros((0, 2), dtype=int)

    def _find_voltages(self) -> np.ndarray:
        """(Vr, Vi, Vm0, Va0, energised) of every bus."""
        layout = self.system.layout
        parts = [np.stack([layout.index(g.members, g.shape.cls, name)
                           for name in ("Vr", "Vi", "Vm0", "Va0", "energised")], axis=1)
                 for g in layout.groups if issubclass(g.shape.cls, Bus)]
        return np.concatenate(parts) if parts else np.zeros((0, 5), dtype=int)

    def _extra_rows(self, k: int, Z: np.ndarray) -> tuple[list[ca.SX], np.ndarray] | None:
        """Expressions and rows beyond those of F: set-point equations, injected currents."""
        system, layout = self.system, self.system.layout
        group, trace = layout.groups[k], system.traces[k]
        outputs = [e for _, e in trace.setpoints]
        currents = [e for (path, _), e in trace.rows
                    if group.shape.cls.regulates and path == group.shape.cls.bus_ports()[:1]]
        width = len(outputs) + len(currents)
        if not width:
            return None
        service = Z[layout.index(group.members, group.shape.cls, "status")] == 1
        rows = np.full((len(group), width), -1)
        many = int(service.sum()) * width
        found = self._free[self._taken:self._taken + many]
        rows[service] = np.pad(found, (0, many - len(found)), constant_values=-1).reshape(-1, width)
        self._taken += many
        if currents:
            self._power_rows.append((group, rows[:, len(outputs):]))
        function, gather = function_of("extra", layout, group, trace, [*outputs, *currents])
        self._batches.append(Batch(function, gather, np.where(rows < 0, self.n_rows, rows)))
        return [*outputs, *currents], rows

    def _check_square(self) -> None:
        if self._taken == len(self._free):
            return
        equations = self.n_rows - len(self._free) + self._taken
        raise InitialisationError(
            f"initialisation has {equations} equations for {len(self.unknowns)} unknowns: every regulating device, "
            "with what hangs on it, must have exactly two set-points without `equals` (or inputs without default "
            "that nothing drives), one each for active and reactive power; 'gridcore doctor' says which has not")

    def _jacobian(self, column_of: np.ndarray, width: int, diagonal: np.ndarray | None = None) -> SparseMap:
        """G derived in the entries of Z that `column_of` maps to columns (without the identity rows)."""
        system, layout = self.system, self.system.layout
        parts = []
        for k, (group, trace) in enumerate(zip(layout.groups, system.traces, strict=True)):
            rows = system.rows(group, trace)
            own = entries("init", layout, group, trace, [e for _, e in trace.rows],
                          np.where(self._replaced[rows], -1, rows), column_of)
            parts.append(own)
            extra = self._extra[k]
            if extra is not None:
                parts.append(entries("init_extra", layout, group, trace, extra[0], extra[1], column_of))
        return SparseMap((self.n_rows, width), parts, diagonal)

    def moving(self) -> np.ndarray:
        """(n,) bool: the rows that need not be at rest: of states that start at a given value, and out of service."""
        rows = self._fixed[: self.system.n].copy()
        rows[self._starts[:, 0]] = True
        return rows

    def out_of_service(self) -> np.ndarray:
        """(n,) bool: the variables of what is out of service, which stay as they are."""
        return self._fixed[: self.system.n]

    def residual(self, Z: np.ndarray, ws: Workspace) -> np.ndarray:
        """G at Z, (n + n_s,); in a workspace."""
        n = self.system.n
        G = np.zeros(self.n_rows + 1)
        ws.load(Z)
        G[:n] = ws.rhs()
        G[:n][self._replaced] = 0.0
        for batch in self._batches:
            batch.add(Z, G)
        for group, rows in self._power_rows:
            here = rows[:, 0] >= 0
            G[rows[here]] -= self._target_current(Z, group)[here]
        G[self._starts[:, 0]] = Z[self._starts[:, 0]] - Z[self._starts[:, 1]]
        vr, vi, vm, va, on = self._voltages.T
        G[vr] = Z[vr] - Z[on] * Z[vm] * np.cos(Z[va])
        G[vi] = Z[vi] - Z[on] * Z[vm] * np.sin(Z[va])
        G[: n][self._fixed[:n]] = 0.0
        return G[:-1]

    def _target_current(self, Z: np.ndarray, group: Group) -> np.ndarray:
        """(count, 2): ``conj(S / V)`` that each regulating device injects."""
        layout, cls = self.system.layout, group.shape.cls
        P, Q = (Z[layout.index(group.members, cls, name)] for name in ("P0", "Q0"))
        vm, va = (Z[layout.gather(group, cls.bus_ports()[:1], name)] for name in ("Vm0", "Va0"))
        current = np.conj((P + 1j * Q) / (vm * np.exp(1j * va)))
        return np.stack([current.real, current.imag], axis=1)

    def matrix(self, Z: np.ndarray) -> np.ndarray:
        """Entries of G_U at Z, in the pattern of `map`."""
        values = self.map.evaluate(Z).data
        identity = np.flatnonzero((self.map.indices == self.map.columns)
                                  & np.isin(self.map.columns, self._identity))
        values[identity] = 1.0
        return values

    def parameter_jacobian(self, Z: np.ndarray, column_of: np.ndarray, width: int) -> sp.csc_matrix:
        """G derived at Z in the parameters that `column_of` maps to columns, (n + n_s, width)."""
        rows, columns, values = [], [], []

        def put(row: np.ndarray, at: np.ndarray, value: np.ndarray | float) -> None:
            kept = (row >= 0) & (column_of[at] >= 0)
            rows.append(row[kept])
            columns.append(column_of[at][kept])
            values.append(np.broadcast_to(value, row.shape)[kept])

        put(self._starts[:, 0], self._starts[:, 1], -1.0)
        vr, vi, vm, va, on = self._voltages.T
        for row, part in ((vr, (np.cos, lambda a: -np.sin(a))), (vi, (np.sin, np.cos))):
            put(row, vm, -Z[on] * part[0](Z[va]))
            put(row, va, -Z[on] * Z[vm] * part[1](Z[va]))
        for group, where in self._power_rows:
            self._put_target(Z, group, where, put)
        own = self._derivatives.get(column_of.tobytes(), lambda: self._jacobian(column_of, width)).evaluate(Z)
        placed = sp.csc_matrix((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))),
                               shape=own.shape)
        return own + placed

    def _put_target(self, Z: np.ndarray, group: Group, where: np.ndarray, put: Callable[..., None]) -> None:
        """Derivatives of ``-conj((P0 + j Q0) / (Vm0 e^{j Va0}))``."""
        layout, cls = self.system.layout, group.shape.cls
        current = self._target_current(Z, group) @ [1, 1j]
        vm, va = (layout.gather(group, cls.bus_ports()[:1], name) for name in ("Vm0", "Va0"))
        turn = np.exp(1j * Z[va]) / Z[vm]
        for at, slope in ((layout.index(group.members, cls, "P0"), turn),
                          (layout.index(group.members, cls, "Q0"), -1j * turn),
                          (vm, -current / Z[vm]), (va, 1j * current)):
            put(where[:, 0], at, -slope.real)
            put(where[:, 1], at, -slope.imag)

    def solve(self, Z: np.ndarray, ws: Workspace) -> int:
        """Newton from the values in Z to the initial state, in place, in a workspace; returns the iterations.

        Raises
        ------
        InitialisationError
            Naming the device whose equation is not met.
        """
        lu = self.linear_analysis.factors()
        G = self.residual(Z, ws)
        size = np.max(np.abs(G), initial=0.0)
        scale = np.concatenate([self.system.scale, np.ones(len(self.setpoints))])
        for iteration in range(_ITERATIONS):
            try:
                lu.refactor(self.matrix(Z))
            except SingularMatrix as error:
                raise InitialisationError("initialisation: the equations do not determine "
                                          f"{self.system.layout.label(int(self.unknowns[error.column]))}") from None
            step = lu.solve(G.copy())
            before, damping = Z[self.unknowns].copy(), 1.0
            while True:
                Z[self.unknowns] = before - damping * step
                G = self.residual(Z, ws)
                now = np.max(np.abs(G), initial=0.0)
                if (now <= (1 - 0.25 * damping) * size or damping < numerics.SHORTEST_STEP
                        or now < numerics.RESIDUAL_FLOOR):
                    break
                damping /= 2
            done = (np.max(np.abs(step) / (scale + np.abs(before)), initial=0.0) < numerics.INITIAL_CORRECTION
                    or (now >= size and now < numerics.INITIAL_ROUND_OFF))
            size = now
            if done:
                return iteration + 1
            if not np.isfinite(size):
                break
        if size <= numerics.INITIAL:
            return _ITERATIONS
        worst = int(np.argmax(np.abs(np.nan_to_num(G, nan=np.inf))))
        raise InitialisationError(f"initialisation does not converge: {self._row_name(worst)} is off by "
                                  f"{abs(G[worst]):.3g}")

    def _row_name(self, row: int) -> str:
        if row < self.system.n:
            return f"the equation of {self.system.layout.label(row)}"
        for group, rows in self._power_rows:
            found = np.argwhere(rows == row)
            if len(found):
                return f"the power injected by {self.system.layout.instances[group.members[found[0, 0]]].id}"
        return "the equation of a set-point"


def initialisation(system: System, Z: np.ndarray) -> Initialisation:
    """The equations of the initial state of a system, with the devices that are in service in Z."""
    in_service = [Z[system.layout.index(g.members, g.shape.cls, "status")] for g in system.layout.groups]
    return _prepared.get(system, np.concatenate(in_service).tobytes(), lambda: Initialisation(system, Z))


def start(system: System, Z: np.ndarray) -> None:
    """First guesses, in place: every device's ``start``, hosts before guests, nodes before what attaches to them."""
    layout = system.layout
    depth = {id(g): max(len(path) for path, _ in g.shape.walk()) for g in layout.groups}
    for group, trace in sorted(zip(layout.groups, system.traces, strict=True), key=lambda gt: depth[id(gt[0])]):
        function = group.shape.cls.function("start")
        if function is not None:
            _start_group(system, Z, group, trace, function)


def _start_group(system: System, Z: np.ndarray, group: Group, trace: Trace,
                 function: Callable[..., Any]) -> None:
    layout, cls = system.layout, group.shape.cls
    scope = Scope(group.shape, lambda path, name: Z[layout.gather(group, path, name)])
    extra: dict[str, Any] = {}
    if cls.regulates:
        scale = Z[layout.globals["base_mva"]] / Z[layout.index(group.members, cls, "Sn")]
        P, Q = (Z[layout.index(group.members, cls, name)] * scale for name in ("P0", "Q0"))
        extra["power"] = SimpleNamespace(P=P, Q=Q)
    with np.errstate(all="ignore"):
        for name, value in scope.call(function, **extra).items():
            Z[layout.gather(group, (), name)] = value
