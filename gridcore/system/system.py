"""The assembled system: ``M dX/dt = F(t, X; p, modes)``, its sparse Jacobians, guards and names.

``M`` is diagonal: one where a row is differential, zero where it is algebraic. Which rows are which may change at an
event (a limited state is algebraic at its limit) and differ between instances (a time constant of zero).
"""

from __future__ import annotations

import functools
import hashlib
import pickle
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

from ..case import Instance
from ..equations import Batch, Entries, Equations, Group, Layout, SparseMap, Workspace, c_source, entries, function_of
from ..equations.native import Direct, Runtime, load
from ..errors import GridcoreError
from ..kept import Kept
from ..linear import Analysis, Factors, linear_solver
from ..network import Network
from .islands import Islands
from .switching import Switching

_loaded: Kept[System] = Kept()

GuardRow = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, float]]
Gradient = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


class _Elsewhere(dict[str, float]):
    """The values of an instance of a layout, which has none: a system is the same whatever they are."""

    def _refuse(self, *_: Any) -> Any:
        raise GridcoreError("the instances of a layout have no values: those of the parameters are in the instances of "
                            "the equilibrium, which gc.build gives: system.instances[k].values")

    __contains__ = __getitem__ = __iter__ = __len__ = get = items = keys = values = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return _Elsewhere, ()


class System:
    """The structure of a case, assembled: what stays the same whatever values its parameters have. Immutable.

    Parameters
    ----------
    instances : sequence of Instance
        The validated records; their values belong to an :class:`~gridcore.equilibrium.Equilibrium`.
    deenergise : bool
        Take islands without a voltage source out of service, in place of an error.
    solver : str, optional
        Name of a linear solver; by default KLU where it is there.

    Attributes
    ----------
    network : Network
        Nodes, what connects them, and what hangs on what.
    layout : Layout
        Names and indices; `n` is the number of unknowns.
    traces : list of Trace
        The equations of each group of the layout.
    islands : Islands
    switching : Switching
        Guards, timers and their changes.
    linear_solver : LinearSolver
        Whose factors all computations with the system use.
    """

    def __init__(self, instances: Sequence[Instance], deenergise: bool = False, solver: str | None = None):
        self._solver, self.linear_solver = solver, linear_solver(solver)
        self.network = Network([replace(instance, values=_Elsewhere()) for instance in instances])
        self.layout = layout = Layout(self.network)
        self.n = layout.n
        self.traces = [group.trace for group in layout.groups]
        self._members = {int(i): (k, m) for k, g in enumerate(layout.groups) for m, i in enumerate(g.members)}
        self.islands = Islands(layout, deenergise)
        self.switching = Switching(layout, self.islands)
        self.equations = self._assemble()
        self.runtime = self.equations.runtime
        self._maps: Kept[Any] = Kept()

    def __reduce__(self) -> tuple[Any, ...]:
        """A pickle has the records; whoever loads it twice has one system."""
        return _rebuilt, (self.network.instances, self.islands.deenergise, self._solver)

    @functools.cached_property
    def variables(self) -> list[tuple[str, str]]:
        """(device, variable) of each unknown."""
        return [(i.id, name) for i in self.layout.instances for name in i.device.declares.variables()]

    @functools.cached_property
    def scale(self) -> np.ndarray:
        """The declared size of each unknown that matters, in its unit, (n,); not to be written to."""
        scale = np.ones(self.n)
        for group in self.layout.groups:
            for name, variable in group.shape.cls.declares.variables().items():
                scale[self.layout.of_group(group, name)] = variable.scale
        scale.setflags(write=False)
        return scale

    @functools.cached_property
    def _analysis(self) -> Analysis:
        return self.linear_solver.analyse(self.n, self.equations.indptr, self.equations.indices)

    def factors(self, dtype: type = float, loose: bool = False) -> Factors:
        """Empty factors with the pattern of F_X and the diagonal; `loose` as of :meth:`.Analysis.factors`."""
        return self._analysis.factors(dtype, loose)

    def parameter_jacobian(self, columns: Sequence[int] | np.ndarray) -> SparseMap:
        """F_p for the parameters at the given positions in Z, as a map to evaluate at any Z; compiled."""

        def make() -> SparseMap:
            column_of = self.columns(columns)
            made = SparseMap((self.n, len(columns)), [self.row_entries(group, "jacobian_p", column_of)
                                                      for group in self.layout.groups])
            made.batches.bind(_compile([[batch] for batch in made.batches]))
            return made

        return self._maps.get(("parameters", np.asarray(columns).tobytes()), make)

    def guard_gradients(self, columns: Sequence[int] | np.ndarray) -> Callable[[int], Gradient]:
        """For a guard, a function of Z: its gradient in the entries of Z at these positions, columns and values."""
        return self._maps.get(("guards", np.asarray(columns).tobytes()), lambda: functools.cache(functools.partial(
            self._guard_gradient, functools.cache(functools.partial(self._guard_entries, self.columns(columns))))))

    def _guard_gradient(self, of: Callable[[int, int], Entries | None], guard: int) -> Gradient:
        trigger = self.switching.guards[guard]
        part, member = of(trigger.group, trigger.own), trigger.member
        if part is None:
            nothing = np.zeros(0, dtype=int), np.zeros(0)
            return lambda Z: nothing
        kept = np.flatnonzero(part.columns[member] >= 0)
        columns, gather, function = part.columns[member, kept], part.gather[member], Direct(part.function)
        return lambda Z: (columns, function(Z[gather])[kept])

    def _guard_entries(self, column_of: np.ndarray, number: int, own: int) -> Entries | None:
        """The gradient of one guard of a group."""
        group, row = self.layout.groups[number], np.zeros((len(self.layout.groups[number]), 1), dtype=int)
        return entries("guard", self.layout, group, [group.trace.guards[own][1]], row, column_of)

    @functools.cached_property
    def guard_row(self) -> Callable[[int], GuardRow]:
        """For a guard, a function of Z: the columns and the entries of its gradient, and its slope in time."""
        in_x, in_time = self.guard_gradients(range(self.n)), self.guard_gradients([self.layout.t])

        def row(guard: int) -> GuardRow:
            gradient, slope = in_x(guard), in_time(guard)
            return lambda Z: (*gradient(Z), sum(slope(Z)[1].tolist()))

        return functools.cache(row)

    _time_jacobian = functools.cached_property(lambda self: self.parameter_jacobian([self.layout.t]))

    def time_slope(self, Z: np.ndarray) -> np.ndarray | None:
        """Partial derivative of F in time at Z, (n,); None where no equation reads the time."""
        jacobian = self._time_jacobian
        return jacobian.evaluate(Z).toarray().ravel() if len(jacobian.indices) else None

    def columns(self, positions: Sequence[int] | np.ndarray) -> np.ndarray:
        """(size,) array: the column of each entry of Z if the matrix has these columns, else -1."""
        out = np.full(self.layout.size, -1)
        out[np.asarray(positions, dtype=int)] = np.arange(len(positions))
        return out

    def row_entries(self, group: Group, name: str, column_of: np.ndarray) -> Entries | None:
        """Derivatives of the rows of a group."""
        return entries(name, self.layout, group, [e for _, e in group.trace.rows], self.rows(group), column_of)

    def rows(self, group: Group) -> np.ndarray:
        """(count, n_rows) row of F to which each output of the group is added."""
        if not group.trace.rows:
            return np.zeros((len(group), 0), dtype=np.int32)
        return np.stack([self.layout.target(group, *symbol) for symbol, _ in group.trace.rows], axis=1)

    def quantity(self, device: str, name: str) -> tuple[ca.Function, np.ndarray]:
        """A quantity, variable, parameter, input or mode of a device: a function of Z[gather]."""
        number, member = self.locate(device)
        group = self.layout.groups[number]
        function, gather = function_of("quantity", self.layout, group, group.trace.quantity(name))
        return function, gather[member]

    def locate(self, device: str) -> tuple[int, int]:
        """Group of a device, and its place in the group."""
        return self._members[self.layout.find(device)]

    def _assemble(self) -> Equations:
        """Kernels and pattern; compiled side by side where there is a compiler."""
        layout, column_of = self.layout, self.columns(np.arange(self.n))
        groups = [group for group in layout.groups if group.trace.rows]
        parts = {group: self.row_entries(group, "jacobian", column_of) for group in groups}
        pattern = SparseMap((self.n, self.n), list(parts.values()), np.arange(self.n))
        jac = dict(zip([group for group in groups if parts[group] is not None], pattern.batches, strict=True))
        rhs = {group: Batch(*function_of("rhs", layout, group, [e for _, e in group.trace.rows]), self.rows(group))
               for group in groups}
        linear = {group for group in groups if (part := parts[group]) is None or part.constant} - {
            group for group in groups if any(group.trace.kind(symbol) == "t" for symbol in group.trace.symbols)}
        guards = dict(zip([g for g in layout.groups if g.trace.guards], self.switching.batches, strict=True))
        runtime = _compile([[batch for batch in (rhs.get(group), jac.get(group), guards.get(group))
                             if batch is not None] for group in layout.groups])
        self.switching.batches.bind(runtime)

        def of(batches: dict[Group, Batch], are_linear: bool) -> list[Batch]:
            return [batch for group, batch in batches.items() if (group in linear) == are_linear]

        return Equations(layout, of(rhs, False), of(jac, False), of(rhs, True), of(jac, True), pattern, runtime,
                         self.scale)

    def workspace(self) -> Workspace:
        """New buffers for one run, sweep or thread."""
        return Workspace(self.equations, self.factors, self.time_slope)

    @functools.cached_property
    def event_times(self) -> set[int]:
        """Positions in Z of times and delays of events that no equation reads: no part of the operating point."""
        read = {int(i) for group in self.layout.groups for path, name in [*group.trace.symbols]
                for i in self.layout.gather(group, path, name)}
        return {trigger.time for trigger in (*self.switching.timers, *self.switching.guards)} - read - {-1}


def _compile(sets: Sequence[Sequence[Batch]]) -> Runtime:
    """Compile the functions of each set to a library, and bind its batches to it; returns the loops for them."""
    sources = [c_source([batch.function for batch in batches]) for batches in sets]
    unique = list(dict.fromkeys(source for source, batches in zip(sources, sets, strict=True) if batches))
    runtime, libraries = load(unique)
    library = dict(zip(unique, libraries, strict=True))
    for source, batches in zip(sources, sets, strict=True):
        for batch in batches:
            batch.bind(library[source])
    return runtime


def _rebuilt(instances: Sequence[Instance], deenergise: bool, solver: str | None) -> System:
    key = hashlib.sha256(pickle.dumps((instances, deenergise, solver))).digest()
    return _loaded.get(key, lambda: System(instances, deenergise, solver))
