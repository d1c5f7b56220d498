"""Operating point to initial state: one sparse Newton for all variables and all set-points.

The unknowns are ``U = [X; S]``, S being the set-points and the inputs that nothing drives. The equations are those of
the running system, but for the AC buses, whose voltages are given (the potentials of all other nodes are unknowns like
any); and, to make up for the set-points, the current that each regulating device must inject at its bus, and what a
set-point ``equals``. The same Jacobian gives the derivative of the initial state, by one more solve.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any

import casadi as ca
import numpy as np

from .. import numerics
from ..contract import Path, Scope
from ..equations import Batch, Group, SparseMap, Workspace, entries, function_of
from ..errors import DeviceError, InitialisationError
from ..kept import Kept, KeptFor
from ..linear import Analysis, SingularMatrix
from ..system import System
from .values import classify_rows

# The equations of the same system with the same devices in service.
_prepared: KeptFor[Initialisation] = KeptFor("initialisation")

_ITERATIONS = 40
_DECREASE = 0.25  # of what a step promises that the residual must fall by (Armijo's condition), or the step is halved


class Initialisation:
    """The equations G(U; p) = 0 of the initial state of a system, with the devices that are in service in Z.

    `starts`, (2, count), are the states with a given value at t0 and the parameters that give it; `unknowns` the
    positions in Z of the variables and, behind them, of the set-points, (n + n_s,).
    """

    def __init__(self, system: System, Z: np.ndarray, starts: np.ndarray):
        self.system, layout, n = system, system.layout, system.n
        self._derivatives: Kept[SparseMap] = Kept()
        self.setpoints = self._find_setpoints()
        self.unknowns = np.concatenate([np.arange(n), self.setpoints])
        self._scale = np.concatenate([system.scale, np.ones(len(self.setpoints))])
        column_of = system.columns(self.unknowns)
        self._fixed = self._out_of_service(Z, column_of)
        self._starts = starts
        self._fixed[starts[0]] = False
        self._voltages = np.stack([layout.positions(system.islands.buses, name)
                                   for name in ("Vr", "Vi", "Vm0", "Va0", "energised")])
        self._replaced = self._fixed[:n].copy()  # rows of F in whose place other equations stand
        self._defaults, (held, _) = self._still(Z)
        self._fixed[held] = False
        self._replaced[self._starts[0]] = self._replaced[self._voltages[:2]] = True
        self._batches: list[Batch] = []
        self._power_rows: list[tuple[Group, np.ndarray]] = []
        # the equations beyond F take the rows of the set-points that are to be found, and of what is held
        self._free = np.append(n + np.flatnonzero(~self._fixed[n:]), held)
        self._taken = 0
        self._extra = [self._extra_rows(group, Z) for group in layout.groups]
        if self._taken != len(self._free):
            raise InitialisationError(
                f"initialisation has {len(self.unknowns) - len(self._free) + self._taken} equations for "
                f"{len(self.unknowns)} unknowns: every regulating device, with what hangs on it, must have exactly two "
                "set-points without `equals` (or inputs without default that nothing drives), one each for active and "
                "reactive power; 'gridcore doctor' says which has not")
        identity = np.append(self._replaced & ~np.isin(np.arange(n), held), self._fixed[n:])
        self.map = self._jacobian(column_of, len(self.unknowns), np.flatnonzero(identity))
        self._ones = np.flatnonzero((self.map.indices == self.map.columns) & identity[self.map.columns])
        self.linear_analysis: Analysis = system.linear_solver.analyse(len(self.unknowns), self.map.indptr,
                                                                      self.map.indices)

    def _find_setpoints(self) -> np.ndarray:
        """Positions in Z of the set-points and of the inputs that nothing drives and that have no default."""
        layout, found = self.system.layout, []
        for group in layout.groups:
            declared = group.shape.cls.declares
            inputs = [name for name, item in declared.inputs.items() if item.default is None]
            found += [at for name in (*declared.setpoints, *inputs) for at in layout.of_group(group, name).tolist()
                      if at not in layout.driven]
        return np.array(found, dtype=int)

    def _out_of_service(self, Z: np.ndarray, column_of: np.ndarray) -> np.ndarray:
        """(n + n_s,) bool: the unknowns of what is out of service."""
        layout, mask = self.system.layout, np.zeros(len(self.unknowns), dtype=bool)
        for group in layout.groups:
            declared, out = group.shape.cls.declares, Z[layout.of_group(group, "status")] == 0
            for name in (*declared.variables(), *declared.setpoints, *declared.inputs):
                columns = column_of[layout.of_group(group, name)[out]]
                mask[columns[columns >= 0]] = True
        return mask

    def _still(self, Z: np.ndarray) -> list[np.ndarray]:
        """What is out of service and drives inputs of what is not, and these, (2, count): inputs with a default, at
        which it stands, then the others, where it is found like a set-point.
        """
        layout = self.system.layout
        still: tuple[list[tuple[int, int]], ...] = ([], [])
        for group in layout.groups if self._fixed[:self.system.n].any() else ():
            on = Z[layout.of_group(group, "status")] == 1
            for name, item in group.shape.cls.declares.inputs.items():
                for at in layout.of_group(group, name)[on].tolist():
                    by = layout.source[at]
                    if by < self.system.n and self._fixed[by]:
                        still[item.default is None].append((by, at))
        return [np.array(sorted({*pairs}), dtype=int).reshape(-1, 2).T for pairs in still]

    def _extra_rows(self, group: Group, Z: np.ndarray) -> tuple[list[ca.SX], np.ndarray]:
        """Expressions and rows beyond those of F: set-point equations, injected currents."""
        layout = self.system.layout
        outputs = [e for _, e in group.trace.setpoints]
        currents = [e for (path, _), e in group.trace.rows
                    if group.shape.cls.regulates and path == group.shape.cls.bus_ports()[:1]]
        width = len(outputs) + len(currents)
        rows = np.full((len(group), width), -1)
        if not width:
            return [], rows
        service = Z[layout.of_group(group, "status")] == 1
        count = int(service.sum()) * width
        found = self._free[self._taken:self._taken + count]
        rows[service] = np.pad(found, (0, count - len(found)), constant_values=-1).reshape(-1, width)
        self._taken += count
        if currents:
            self._power_rows.append((group, rows[:, len(outputs):]))
        self._batches.append(Batch(*function_of("extra", layout, group, [*outputs, *currents]),
                                   np.where(rows < 0, len(self.unknowns), rows)))
        return [*outputs, *currents], rows

    def _jacobian(self, column_of: np.ndarray, width: int, diagonal: np.ndarray | None = None) -> SparseMap:
        """G derived in the entries of Z that `column_of` maps to columns (without the identity rows)."""
        system, parts = self.system, []
        for group, extra in zip(system.layout.groups, self._extra, strict=True):
            rows = system.rows(group)
            parts += [entries("init", system.layout, group, [e for _, e in group.trace.rows],
                              np.where(self._replaced[rows], -1, rows), column_of),
                      entries("init_extra", system.layout, group, *extra, column_of)]
        return SparseMap((len(self.unknowns), width), parts, diagonal)

    def moving(self) -> np.ndarray:
        """(n,) bool: the rows that need not be at rest: of states that start at a given value, and out of service."""
        rows = self._fixed[: self.system.n].copy()
        rows[self._starts[0]] = True
        return rows

    def residual(self, Z: np.ndarray, ws: Workspace) -> np.ndarray:
        """G at Z, (n + n_s,); in a workspace."""
        n = self.system.n
        G = np.zeros(len(self.unknowns) + 1)
        ws.load(Z)
        G[:n] = ws.rhs()
        G[:n][self._replaced] = 0.0
        for batch in self._batches:
            batch.add(Z, G)
        for group, rows in self._power_rows:
            here = rows[:, 0] >= 0
            G[rows[here]] -= self._target_current(Z, group)[here]
        state, given = self._starts
        G[state] = Z[state] - Z[given]
        vr, vi, vm, va, on = self._voltages
        G[vr] = Z[vr] - Z[on] * Z[vm] * np.cos(Z[va])
        G[vi] = Z[vi] - Z[on] * Z[vm] * np.sin(Z[va])
        G[: n][self._fixed[:n]] = 0.0
        return G[:-1]

    def _target_current(self, Z: np.ndarray, group: Group) -> np.ndarray:
        """(count, 2): ``conj(S / V)`` that each regulating device injects."""
        layout = self.system.layout
        P, Q = (Z[layout.of_group(group, name)] for name in ("P0", "Q0"))
        vm, va = (Z[layout.gather(group, group.shape.cls.bus_ports()[:1], name)] for name in ("Vm0", "Va0"))
        current = np.conj((P + 1j * Q) / (vm * np.exp(1j * va)))
        return np.stack([current.real, current.imag], axis=1)

    def matrix(self, Z: np.ndarray) -> np.ndarray:
        """Entries of G_U at Z, in the pattern of `map`."""
        values = self.map.values(Z)
        values[self._ones] = 1.0
        return values

    def parameter_jacobian(self, Z: np.ndarray, column_of: np.ndarray, width: int) -> Any:
        """G derived at Z in the parameters that `column_of` maps to columns, (n + n_s, width)."""
        of_devices = self._derivatives.get(column_of.tobytes(), lambda: self._jacobian(column_of, width)).evaluate(Z)
        rows, at, values = (np.concatenate(part) for part in zip(*self._own_slopes(Z), strict=True))
        kept = (rows >= 0) & (column_of[at] >= 0)
        return of_devices + type(of_devices)((values[kept], (rows[kept], column_of[at[kept]])), shape=of_devices.shape)

    def _own_slopes(self, Z: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Derivatives of the equations that are no device's: rows, positions in Z of the parameters, values."""
        layout, (state, given) = self.system.layout, self._starts
        yield state, given, np.full(len(state), -1.0)
        vr, vi, vm, va, on = self._voltages
        cos, sin = np.cos(Z[va]), np.sin(Z[va])
        yield vr, vm, -Z[on] * cos
        yield vr, va, Z[on] * Z[vm] * sin
        yield vi, vm, -Z[on] * sin
        yield vi, va, -Z[on] * Z[vm] * cos
        for group, rows in self._power_rows:  # -conj((P0 + j Q0) / (Vm0 e^{j Va0}))
            current = self._target_current(Z, group) @ [1, 1j]
            vm, va = (layout.gather(group, group.shape.cls.bus_ports()[:1], name) for name in ("Vm0", "Va0"))
            turn = np.exp(1j * Z[va]) / Z[vm]
            for at, slope in ((layout.of_group(group, "P0"), turn), (layout.of_group(group, "Q0"), -1j * turn),
                              (vm, -current / Z[vm]), (va, 1j * current)):
                yield rows[:, 0], at, -slope.real
                yield rows[:, 1], at, -slope.imag

    def solve(self, Z: np.ndarray, ws: Workspace) -> int:
        """Newton from the values in Z to the initial state, in place, in a workspace; returns the iterations.

        Raises
        ------
        InitialisationError
            Naming the device whose equation is not met.
        """
        lu = self.linear_analysis.factors()
        Z[self._defaults[0]] = Z[self._defaults[1]]
        G = self.residual(Z, ws)
        size = np.max(np.abs(G), initial=0.0)
        for iteration in range(_ITERATIONS):
            try:
                lu.refactor(self.matrix(Z))
            except SingularMatrix as error:
                at = error.column if np.isfinite(size) else np.argmin(np.isfinite(G))
                raise self._failure(f"the equations are {error.why}", at, ws) from None
            step = lu.solve(G.copy())
            before, damping = Z[self.unknowns].copy(), 1.0
            while True:
                Z[self.unknowns] = before - damping * step
                G = self.residual(Z, ws)
                now = np.max(np.abs(G), initial=0.0)
                if (now <= (1 - _DECREASE * damping) * size or damping < numerics.SHORTEST_STEP
                        or now < numerics.RESIDUAL_FLOOR):
                    break
                damping /= 2
            done = (np.max(np.abs(step) / (self._scale + np.abs(before)), initial=0.0) < numerics.INITIAL_CORRECTION
                    or (now >= size and now < numerics.INITIAL_ROUND_OFF))
            size = now
            if done:
                return iteration + 1
            if not np.isfinite(size):
                break
        if size <= numerics.INITIAL:
            return _ITERATIONS
        worst = np.argmax(np.abs(np.nan_to_num(step, nan=np.inf)) / (self._scale + np.abs(before)))
        raise self._failure(f"Newton's method does not converge, an equation is off by {size:.3g}", worst, ws)

    def _failure(self, how: str, column: Any, ws: Workspace) -> InitialisationError:
        """At an unknown, with the one that has gone the farthest."""
        far = self.unknowns[np.argmax(np.abs(np.nan_to_num(ws.Z[self.unknowns], nan=np.inf)) / self._scale)]
        return InitialisationError(
            f"initialisation: {how}", place=ws.place(int(self.unknowns[column])), advice="; its data, or the first "
            "guesses of its `start`, do not fit the operating point (farthest of all went "
            f"{self.system.layout.label(int(far))}, to {ws.Z[far]:.4g})")


def initialisation(system: System, Z: np.ndarray) -> Initialisation:
    """The equations of the initial state of a system, with the devices that are in service in Z."""
    layout, given = system.layout, _given(system, Z)
    in_service = [Z[layout.of_group(group, "status")] for group in layout.groups]
    return _prepared.get(system, np.concatenate([*in_service, *given]).tobytes(),
                         lambda: Initialisation(system, Z, given))


def _given(system: System, Z: np.ndarray) -> np.ndarray:
    """(2, count) states with a given value at t0, but for those without a time constant, and what gives it."""
    layout = system.layout
    starts = [np.stack([layout.of_group(group, name), layout.of_group(group, state.start_at)])
              for group in layout.groups for name, state in group.shape.cls.declares.states.items() if state.start_at]
    given = np.concatenate([np.zeros((2, 0), dtype=int), *starts], axis=1)
    return given[:, classify_rows(system, Z).differential[given[0]]] if starts else given


def start(system: System, Z: np.ndarray) -> None:
    """First guesses, in place: every device's ``start``, hosts before guests, nodes before what attaches to them."""
    layout = system.layout
    for group in sorted(layout.groups, key=lambda g: max(len(path) for path, _ in g.shape.walk())):
        function = group.shape.cls.function("start")
        if function is None:
            continue

        def lookup(path: Path, name: str, group: Group = group) -> np.ndarray:
            return Z[layout.gather(group, path, name)]

        extra: dict[str, Any] = {"instances": SimpleNamespace(ids=[layout.instances[k].id for k in group.members],
                                                              on=Z[layout.of_group(group, "status")] == 1)}
        if group.shape.cls.regulates:
            scale = Z[layout.globals["base_mva"]] / Z[layout.of_group(group, "Sn")]
            P, Q = (Z[layout.of_group(group, name)] * scale for name in ("P0", "Q0"))
            extra["power"] = SimpleNamespace(P=P, Q=Q)
        with np.errstate(all="ignore"):
            found = Scope(group.shape, lookup).call(function, **extra)
        known = {*(of := group.shape.cls.declares).variables(), *of.setpoints, *of.inputs}
        if not (isinstance(found, Mapping) and found.keys() <= known):
            raise DeviceError(f"{group.shape.cls.__name__}.start must return a dictionary of guesses for variables, "
                              f"set-points and inputs, not {sorted(found.keys() - known) if found else found}")
        for name, value in found.items():
            Z[layout.gather(group, (), name)] = value
