"""Sparse derivatives of traced outputs: each group's entries, and one matrix with a fixed pattern.

Which of a device's symbols are columns is not the device's business: a signal is a variable where
something drives it and a parameter where nothing does. `column_of` says it for every entry of Z.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from .kernel import Batch, Batches, vector_function
from .layout import Group, Layout
from .sparse import csc


@dataclass
class Entries:
    """Derivative entries of one group: the function that gives them, and their rows and columns, (count, n_entries).

    A row or column of -1 is dropped; `constant` are entries that depend on neither the columns nor the time.
    """

    function: ca.Function
    gather: np.ndarray
    rows: np.ndarray
    columns: np.ndarray
    constant: bool


def function_of(name: str, layout: Layout, group: Group,
                outputs: ca.SX | Sequence[ca.SX]) -> tuple[ca.Function, np.ndarray]:
    """The outputs as a function of the symbols that they read, and where those are in Z, (count, n_symbols)."""
    values, trace = outputs if isinstance(outputs, ca.SX) else ca.vertcat(*outputs), group.trace
    symbols = {key: trace.symbols[key] for key in trace.symbols_of(values)}
    columns = [layout.gather(group, *key) for key in symbols]
    gather = np.stack(columns, axis=1) if columns else np.zeros((len(group), 0), dtype=np.int32)
    return vector_function(name, list(symbols.values()), values), gather


def entries(name: str, layout: Layout, group: Group, outputs: Sequence[ca.SX], rows: np.ndarray,
            column_of: np.ndarray) -> Entries | None:
    """Derivatives of `outputs` in the symbols that `column_of` maps to columns; None without any.

    Parameters
    ----------
    rows : (count, n_outputs) array
        Row of each output of each instance.
    column_of : (size of Z,) array
        Column of each entry of Z, -1 for those that are none.
    """
    trace, values = group.trace, ca.vertcat(*outputs)
    columns = {key: column_of[layout.gather(group, *key)] for key in trace.symbols_of(values)} if len(outputs) else {}
    derived = [key for key, column in columns.items() if (column >= 0).any()]
    if not derived:
        return None
    variables = ca.vertcat(*(trace.symbols[key] for key in derived))
    jacobian = ca.jacobian(values, variables)
    if jacobian.nnz() == 0:
        return None
    r, c = (np.array(part) for part in jacobian.sparsity().get_triplet())
    moving = {trace.symbols[key].element_hash() for key in columns if key in derived or trace.kind(key) == "t"}
    nonzeros = jacobian.nz[:]
    function, gather = function_of(name, layout, group, nonzeros)
    places = np.stack([columns[key] for key in derived], axis=1)
    return Entries(function, gather, rows[:, r], places[:, c],
                   moving.isdisjoint(symbol.element_hash() for symbol in ca.symvar(nonzeros)))


class SparseMap:
    """A sparse matrix assembled from entries of groups: pattern once, values at any Z.

    Parameters
    ----------
    shape : (int, int)
    parts : sequence of Entries or None
    diagonal : int array, optional
        Places on the diagonal that the pattern has even if no part has them.

    Attributes
    ----------
    indptr, indices, columns : int32 arrays
        The CSC pattern, and the column of each entry.
    batches : Batches
        One for each group, scattering into the values; ``rows`` are filled in for row scaling.
    """

    def __init__(self, shape: tuple[int, int], parts: Sequence[Entries | None], diagonal: np.ndarray | None = None):
        self.shape = shape
        there = [p for p in parts if p is not None]
        keep = [(p.rows >= 0) & (p.columns >= 0) for p in there]
        keys = [(p.columns.astype(np.int64) * shape[0] + p.rows)[k] for p, k in zip(there, keep, strict=True)]
        keys.append(np.asarray([] if diagonal is None else diagonal, dtype=np.int64) * (shape[0] + 1))
        unique = np.sort(np.concatenate(keys))  # `np.unique` would load masked arrays, longer than it takes
        unique = unique[np.diff(unique, prepend=-1) > 0]
        self.columns, self.indices = (part.astype(np.int32) for part in np.divmod(unique, max(shape[0], 1)))
        self.indptr = np.searchsorted(self.columns, np.arange(shape[1] + 1)).astype(np.int32)
        batches = []
        for part, kept, key in zip(there, keep, keys, strict=False):
            scatter = np.full(part.rows.shape, len(unique), dtype=np.int32)
            scatter[kept] = np.searchsorted(unique, key)
            batches.append(Batch(part.function, part.gather, scatter, np.where(kept, part.rows, 0)))
        self.batches = Batches(batches)

    def values(self, Z: np.ndarray) -> np.ndarray:
        """The entries at Z in the pattern."""
        values = np.zeros(len(self.indices) + 1)  # the last is for what is dropped
        self.batches.add(Z, values)
        return values[:-1]

    def evaluate(self, Z: np.ndarray) -> Any:
        """The matrix at Z."""
        return csc((self.values(Z), self.indices, self.indptr), shape=self.shape)
