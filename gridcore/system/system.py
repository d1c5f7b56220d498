"""The assembled system: ``M dX/dt = F(t, X; p, modes)``, its sparse Jacobians, guards and names.

``M`` is diagonal: one where a row is differential, zero where it is algebraic. Which rows are which
may change at an event (a limited state is algebraic at its limit) and differ between instances (a
time constant of zero).
"""

from __future__ import annotations

import copy
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
import scipy.sparse as sp

from ..case.files import load_case
from ..case.records import Case
from ..case.validation import validate, validate_again
from ..equations.assembly import Assembly
from ..equations.kernel import Batch, c_source
from ..equations.layout import Group, Layout
from ..equations.native import load
from ..equations.sparse_map import Entries, SparseMap, entries, function_of
from ..equations.trace import Trace
from ..equilibrium.initialise import Initialisation
from ..errors import CaseError, DeviceError
from ..linear import Analysis, Factors, linear_solver
from ..network.graph import graph
from ..suggest import suggest
from .islands import Islands
from .switching import Switching

if TYPE_CHECKING:
    import networkx as nx

    from ..equilibrium.operating_point import OperatingPoint

# Results of preparing a sweep that are kept: a study asks for the same derivatives again and again.
_KEPT = 16


class System:
    """A case, assembled. Made by :func:`build`.

    Attributes
    ----------
    case : Case
    layout : Layout
        Names and indices.
    assembly : Assembly
        F and its Jacobian in X, in preallocated buffers.
    switching : Switching
        Guards, timers and their changes.
    linear_solver : LinearSolver
        Whose factors all computations with the system use.
    Z0 : (size,) array
        The buffer ``[X; p; modes; t]`` at t0: at the operating point, once that is found.
    operating_point : OperatingPoint or None
        What power flow and initialisation found.
    rest : (size,) array
        Z at the operating point: Z0, but for states that do not start there.
    held : (states,) int array
        Positions in Z of those states: see :func:`gridcore.equilibrium.starting_at.starting_at`.
    """

    def __init__(self, case: Case, deenergise: bool = False, solver: str | None = None):
        self.case = case = case.copy()  # what the caller does to it later does not concern this system
        valid = validate(case)
        self.linear_solver = linear_solver(solver)
        self.layout = layout = Layout(valid.records)
        self.traces = [Trace(g.shape) for g in layout.groups]
        self.islands = Islands(layout, deenergise)
        self.switching = Switching(layout, self.traces, self.islands)
        self.Z0 = self._defaults(valid.base_mva, valid.frequency)
        self.base_differential, self.limited = self._structure()
        self.islands.settle(self.Z0, at_rest=True)
        self._assemble()
        self.operating_point: OperatingPoint | None = None
        self.rest, self.held = self.Z0, np.zeros(0, dtype=int)
        self._kept: dict[tuple[str, Any], Any] = {}

    @property
    def n(self) -> int:
        """Number of unknowns."""
        return self.layout.n

    @functools.cached_property
    def variables(self) -> list[tuple[str, str]]:
        """(device, variable) of each unknown."""
        return self.layout.variable_names()

    @functools.cached_property
    def graph(self) -> nx.MultiGraph:
        """Buses, branches, and what hangs on the buses."""
        return graph(self.layout.instances)

    @functools.cached_property
    def initialisation(self) -> Initialisation:
        """The equations of the initial state."""
        return Initialisation(self)

    def differential(self, Z: np.ndarray) -> np.ndarray:
        """(n,) bool: the rows that are differential under the modes in Z."""
        mask = self.base_differential.copy()
        if len(self.limited):
            mask[self.limited[:, 0]] &= Z[self.limited[:, 1]] == 0
        return mask

    def with_values(self, values: Mapping[str, float | str]) -> System:
        """The same system with other values of parameters that the case gives: ``{"GEN2.H": 6.5}``.

        It is what :func:`build` makes of the changed case, to the last bit, but nothing is traced or compiled, and
        where only times of events change the operating point is not found again. Both systems use the same
        kernels and buffers: simulate one at a time. Runs of either stay as they are.

        Parameters
        ----------
        values : mapping of str to float or str
            By address; a text may carry a unit, ``"250 ms"``.

        Raises
        ------
        CaseError
            If there is no such parameter (the nearest names are offered), or it may not have that value.
        PowerFlowError, InitialisationError
        """
        from ..equilibrium.operating_point import find_operating_point

        other, case = copy.copy(self), self.case.copy()
        given = [self._given(address) for address in values]
        for (number, name), value in zip(given, values.values(), strict=True):
            case.records[number].fields[name] = value
        other.case, other.layout = case, copy.copy(self.layout)
        other.layout.instances = validate_again(case, self.layout.instances, {number for number, _ in given})
        for name in ("graph", "initialisation", "zero_time_constants"):
            other.__dict__.pop(name, None)
        if "initialisation" in self.__dict__:
            other.initialisation = copy.copy(self.initialisation)
            other.initialisation.system = other
        at = [self.layout.address(address) for address in values]
        if self._times.issuperset(at):
            other.Z0 = self.Z0.copy()
            other.Z0[at] = [other.layout.instances[number].values[name] for number, name in given]
            return other
        other.Z0 = other._defaults(float(case.base_mva), float(case.frequency))
        other.base_differential, other.limited = other._structure()
        other.islands.settle(other.Z0, at_rest=True)
        if self.operating_point is not None:
            find_operating_point(other, self.operating_point.enforce_q_limits)
        return other

    def _given(self, address: str) -> tuple[int, str]:
        """Number of the device and name of its parameter, which the case must give."""
        device, _, name = address.rpartition(".")
        number = self.layout.find(device)
        instance = self.layout.instances[number]
        if name not in instance.values:
            raise CaseError(f"{device} ({instance.model}) has no parameter '{name}' that a case gives"
                            f"{suggest(name, instance.values)}")
        return number, name

    @property
    def _times(self) -> set[int]:
        """Positions in Z of times and delays of events that no equation reads: no part of the operating point."""
        read = {int(i) for group, trace in zip(self.layout.groups, self.traces, strict=True)
                for path, name in trace.symbols for i in self.layout.gather(group, path, name)}
        return {trigger.time for trigger in (*self.switching.timers, *self.switching.guards)} - read

    def at_moving_limit(self, Z: np.ndarray) -> np.ndarray:
        """(k, 2) positions of the states that are at a limit that moves, and of their modes."""
        moving = self.limited[self.limited[:, 2] == 1, :2]
        return moving[Z[moving[:, 1]] != 0]

    def load(self, Z: np.ndarray) -> None:
        """Put a buffer into the assembly, and recompute what depends on parameters and modes."""
        self.assembly.Z[:] = Z
        self.assembly.refresh()

    @functools.cached_property
    def _analysis(self) -> Analysis:
        return self.linear_solver.analyse(self.n, self.assembly.indptr, self.assembly.indices)

    def new_lu(self, loose: bool = False) -> Factors:
        """An empty factorisation with the pattern of the assembly's matrix; `loose` as of :meth:`.Analysis.factors`."""
        return self._analysis.factors(loose=loose)

    def jacobian(self, Z: np.ndarray) -> sp.csc_matrix:
        """F_X at Z, (n, n)."""
        self.load(Z)
        a = self.assembly
        return sp.csc_matrix((a.jacobian(), a.indices, a.indptr), shape=(self.n, self.n))

    def rhs(self, Z: np.ndarray) -> np.ndarray:
        """F at Z, (n,)."""
        self.load(Z)
        return self.assembly.rhs().copy()

    def parameter_jacobian(self, columns: Sequence[int] | np.ndarray) -> SparseMap:
        """F_p for the parameters at the given positions in Z, as a map to evaluate at any Z; compiled."""
        column_of = self.columns(columns)
        return self.remembered("parameters", np.asarray(columns), lambda: self._compiled(SparseMap(
            (self.n, len(columns)), [self.row_entries(k, "jacobian_p", column_of) for k in range(len(self.traces))])))

    def remembered(self, what: str, key: Any, make: Callable[[], Any]) -> Any:
        """What `make` gives, kept for the next sweep that asks for the same."""
        key = (what, key.tobytes() if isinstance(key, np.ndarray) else key)
        found = self._kept.pop(key) if key in self._kept else make()
        while len(self._kept) >= _KEPT:  # what was asked for longest ago
            self._kept.pop(next(iter(self._kept)))
        self._kept[key] = found
        return found

    @staticmethod
    def _compiled(made: SparseMap) -> SparseMap:
        runtime, libraries = load([c_source([batch.function]) for batch in made.batches])
        for batch, library in zip(made.batches, libraries, strict=True):
            batch.bind(library)
        made.batches.bind(runtime)
        return made

    @functools.cached_property
    def guard_jacobian(self) -> SparseMap:
        """Gradients of the guard functions in ``[X, t]``, (n_guards, n + 1)."""
        return self.guard_map([*range(self.n), self.layout.t])

    def guard_map(self, columns: Sequence[int] | np.ndarray) -> SparseMap:
        """Gradients of the guard functions in the entries of Z at these positions."""
        return self.remembered("guards", np.asarray(columns), lambda: self._guard_map(columns))

    def _guard_map(self, columns: Sequence[int] | np.ndarray) -> SparseMap:
        column_of = self.columns(columns)
        parts, first = [], 0
        for group, trace in zip(self.layout.groups, self.traces, strict=True):
            if trace.guards:
                count = len(group) * len(trace.guards)
                rows = first + np.arange(count).reshape(len(group), -1)
                functions = [e for _, e in trace.guards]
                parts.append(entries("guards", self.layout, group, trace, functions, rows, column_of))
                first += count
        return SparseMap((first, len(columns)), parts)

    def guard_row(self, guard: int) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, float]]:
        """A function of Z giving the gradient of one guard: columns, entries, and the slope in time."""
        if guard not in self._guard_rows:
            self._guard_rows[guard] = self._guard_row(guard)
        return self._guard_rows[guard]

    @functools.cached_property
    def _guard_rows(self) -> dict[int, Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, float]]]:
        return {}

    def _guard_row(self, guard: int) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, float]]:
        jacobian = self.guard_jacobian
        for batch in jacobian.batches:
            assert batch.rows is not None
            member, entries = np.nonzero((batch.rows == guard) & (batch.scatter < len(jacobian.indices)))
            if len(member):
                break
        else:
            return lambda Z: (np.zeros(0, dtype=int), np.zeros(0), 0.0)
        gather, function = batch.gather[member[0]], batch.single
        columns = jacobian.columns[batch.scatter[member[0], entries]]
        in_x = columns < self.n

        def row(Z: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
            values = function(Z[gather])[entries]
            return columns[in_x], values[in_x], float(values[~in_x].sum())

        return row

    @functools.cached_property
    def _time_jacobian(self) -> SparseMap | None:
        jacobian = self.parameter_jacobian([self.layout.t])
        return jacobian if len(jacobian.indices) else None

    def time_slope(self) -> np.ndarray | None:
        """Partial derivative of F in time at the assembly's Z, (n,); None where no equation reads the time."""
        if self._time_jacobian is None:
            return None
        return self._time_jacobian.evaluate(self.assembly.Z).toarray().ravel()

    def columns(self, positions: Sequence[int] | np.ndarray) -> np.ndarray:
        """(size,) array: the column of each entry of Z if the matrix has these columns, else -1."""
        out = np.full(self.layout.size, -1)
        out[np.asarray(positions, dtype=int)] = np.arange(len(positions))
        return out

    def row_entries(self, k: int, name: str, column_of: np.ndarray) -> Entries | None:
        """Derivatives of the rows of group `k`."""
        group, trace = self.layout.groups[k], self.traces[k]
        return entries(name, self.layout, group, trace, [e for _, e in trace.rows], self.rows(group, trace), column_of)

    def rows(self, group: Group, trace: Trace) -> np.ndarray:
        """(count, n_rows) row of F to which each output of the group is added."""
        if not trace.rows:
            return np.zeros((len(group), 0), dtype=np.int32)
        return np.stack([self.layout.target(group, *symbol) for symbol, _ in trace.rows], axis=1)

    def quantity(self, device: str, name: str) -> tuple[ca.Function, np.ndarray]:
        """A quantity, variable, parameter, input or mode of a device: a function of Z[gather]."""
        number, member = self.locate(device)
        group, trace = self.layout.groups[number], self.traces[number]
        function, gather = function_of("quantity", self.layout, group, trace, trace.quantity(name))
        return function, gather[member]

    @functools.cached_property
    def _place(self) -> dict[int, tuple[int, int]]:
        return {int(i): (k, m) for k, g in enumerate(self.layout.groups) for m, i in enumerate(g.members)}

    def locate(self, device: str) -> tuple[int, int]:
        """Group of a device, and its place in the group."""
        return self._place[self.layout.find(device)]

    def _defaults(self, base_mva: float, frequency: float) -> np.ndarray:
        Z = np.zeros(self.layout.size)
        for group in self.layout.groups:
            declared, cls = group.shape.cls.declares, group.shape.cls
            for name, variable in declared.variables().items():
                Z[self.layout.index(group.members, cls, name)] = variable.init
            for name in declared.params:
                Z[self.layout.index(group.members, cls, name)] = [
                    self.layout.instances[i].values[name] for i in group.members]
            for name, item in (*declared.setpoints.items(), *declared.inputs.items()):
                start = getattr(item, "init", None) or getattr(item, "default", None) or 0.0
                Z[self.layout.index(group.members, cls, name)] = start
            for name, mode in declared.modes.items():
                Z[self.layout.index(group.members, cls, name)] = mode.initial
        for i in (i for i, instance in enumerate(self.layout.instances) if not instance.in_service):
            for j in (i, *self.layout.dependants(i)):
                Z[self.layout.address(f"{self.layout.instances[j].id}.status")] = 0.0
        for driver, replaced in self.layout.replaced():  # a ramp begins at the parameter that it replaces
            Z[driver] = Z[replaced]
        Z[self.layout.globals["omega_b"]] = 2 * math.pi * frequency
        Z[self.layout.globals["base_mva"]] = base_mva
        return Z

    def _structure(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows that are differential by themselves; and (variable, mode, whether it moves) of every limited state."""
        mask = np.zeros(self.n, dtype=bool)
        limited = []
        for group, trace in zip(self.layout.groups, self.traces, strict=True):
            cls = group.shape.cls
            for name, state in cls.declares.states.items():
                at = self.layout.index(group.members, cls, name)
                mask[at] = True
                if state.T is not None:
                    mask[at] = self._time_constants(group, trace, state.T)[0] > 0
                if state.limits is not None:
                    moves = mask[at] & any(bound in cls.declares.quantities for bound in state.limits)
                    mode = self.layout.index(group.members, cls, f"{name}_limit")
                    limited.append(np.stack([at, mode, moves], axis=1))
        return mask, np.concatenate(limited) if limited else np.zeros((0, 3), dtype=int)

    def _time_constants(self, group: Group, trace: Trace, T: str) -> tuple[np.ndarray, np.ndarray]:
        """Values of a time constant, (count,), and the positions in Z of the parameters that make it up."""
        function, gather = function_of("T", self.layout, group, trace, trace.quantity(T))
        if any(trace.kind(symbol) not in "pu" for symbol in trace.symbols_of(trace.quantity(T))):
            raise DeviceError(f"{group.shape.cls.__name__}: T={T!r} depends on more than parameters")
        return Batch(function, gather, np.zeros((len(group), 1))).values(self.Z0)[:, 0], gather

    @functools.cached_property
    def zero_time_constants(self) -> list[int]:
        """Positions in Z of the time constants that are zero: which rows are algebraic cannot be derived in them."""
        found = [self._time_constants(group, trace, state.T)
                 for group, trace in zip(self.layout.groups, self.traces, strict=True)
                 for state in group.shape.cls.declares.states.values() if state.T is not None]
        return [int(i) for values, at in found for i in at[values == 0].ravel()]

    def _assemble(self) -> None:
        """Kernels, pattern and buffers; compiled side by side where there is a compiler."""
        layout = self.layout
        column_of = np.full(layout.size, -1)
        column_of[: self.n] = np.arange(self.n)
        kept = [k for k, trace in enumerate(self.traces) if trace.rows]
        parts = {k: self.row_entries(k, "jacobian", column_of) for k in kept}
        pattern = SparseMap((self.n, self.n), list(parts.values()), np.arange(self.n))
        jac = dict(zip([k for k in kept if parts[k] is not None], pattern.batches, strict=True))
        rhs = {k: self._rhs_batch(k) for k in kept}
        linear = {k for k in kept if (part := parts[k]) is None or part.constant} - {
            k for k in kept if any(self.traces[k].kind(s) == "t" for s in self.traces[k].symbols)}
        self.linear = linear
        self.assembly = Assembly(
            self.n, np.zeros(layout.size),
            [rhs[k] for k in kept if k not in linear], [jac[k] for k in jac if k not in linear],
            [rhs[k] for k in kept if k in linear], [jac[k] for k in jac if k in linear],
            pattern.indptr, pattern.indices)
        self._compile(rhs, jac)

    def _rhs_batch(self, k: int) -> Batch:
        group, trace = self.layout.groups[k], self.traces[k]
        function, gather = function_of("rhs", self.layout, group, trace, [ca.SX(e) for _, e in trace.rows])
        return Batch(function, gather, self.rows(group, trace))

    def _compile(self, rhs: dict[int, Batch], jac: dict[int, Batch]) -> None:
        guards = iter(self.switching.batches)
        sets: list[list[Batch]] = []
        for k, trace in enumerate(self.traces):
            batches = [b for b in (rhs.get(k), jac.get(k), next(guards) if trace.guards else None) if b is not None]
            if batches:
                sets.append(batches)
        sources = {id(s): c_source([b.function for b in s]) for s in sets}
        unique = list(dict.fromkeys(sources.values()))
        runtime, libraries = load(unique)
        library = dict(zip(unique, libraries, strict=True))
        for s in sets:
            for batch in s:
                batch.bind(library[sources[id(s)]])
        self.assembly.bind(runtime)
        self.switching.batches.bind(runtime)


def build(case: Case | str, *, deenergise: bool = False, enforce_q_limits: bool = False,
          initialise: bool = True, linear_solver: str | None = None) -> System:
    """Assemble a case: graph, equations, power flow, and devices brought to an equilibrium.

    Parameters
    ----------
    case : Case or str
        A case, or the name or path of one.
    deenergise : bool
        Take islands without a voltage source out of service; otherwise they are an error.
    enforce_q_limits : bool
        Let the power flow turn PV buses into PQ buses at their reactive limits.
    initialise : bool
        Find the operating point; without it the system is only assembled.
    linear_solver : str, optional
        Name of a linear solver that a plugin has registered: ``klu`` (the default), ``superlu``.

    Raises
    ------
    CaseError, NetworkError, PowerFlowError, InitialisationError
    PluginError
        If there is no such linear solver.
    """
    from ..equilibrium.operating_point import find_operating_point

    if not isinstance(case, Case):
        case = load_case(case)
    if not case.records:
        raise CaseError(f"case '{case.name}' has no devices")
    system = System(case, deenergise, linear_solver)
    if initialise:
        find_operating_point(system, enforce_q_limits)
    return system
