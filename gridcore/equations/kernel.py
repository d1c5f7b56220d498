"""Batched kernels: one traced function evaluated for all instances of a shape of device.

A kernel gathers its inputs from one buffer, evaluates, and adds its outputs into another. With a C
compiler the function is compiled (once: libraries are cached on disk); without one CasADi's own
interpreter evaluates it. Either way there is no Python loop over instances.

What is here has indices and functions, and no buffers: threads may share it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import casadi as ca
import numpy as np

from .native import FALLBACK, INTERPRETER, Kernels, Runtime


class Batch:
    """A function over all instances of a shape: ``out[scatter] += f(Z[gather])``.

    Parameters
    ----------
    function : casadi.Function
        One vector in (the gathered symbols), one dense vector out.
    gather : (count, n_in) int array
        Where in the buffer each input of each instance is.
    scatter : (count, n_out) int array
        Where each output goes; the output buffer has one entry more than it uses, for what is dropped.
    rows : (count, n_out) int array, optional
        Row of each output, for outputs that are scaled row by row (Jacobian entries).
    library : Library or Interpreter
        What evaluates the function: see :meth:`bind`.
    """

    def __init__(self, function: ca.Function, gather: np.ndarray, scatter: np.ndarray,
                 rows: np.ndarray | None = None, library: Kernels = INTERPRETER):
        self.function, self.count = function, len(gather)
        self.gather = np.ascontiguousarray(gather, dtype=np.int32)
        self.scatter = np.ascontiguousarray(scatter, dtype=np.int32)
        self.rows = None if rows is None else np.ascontiguousarray(rows, dtype=np.int32)
        self.bind(library)

    def bind(self, library: Kernels) -> None:
        """Evaluate the function as the library has it from now on."""
        self._place, self.kernel = library.place, library.kernel(self.function)
        self._places = (library.place(self.gather), library.place(self.scatter),
                        None if self.rows is None else library.place(self.rows))

    def values(self, Z: np.ndarray) -> np.ndarray:
        """(count, n_out) outputs, not scattered."""
        out, place = np.zeros(self.scatter.shape), self._place
        flat, where = out.reshape(-1), np.arange(out.size, dtype=np.int32)
        self.kernel(self.count, place(Z), self._places[0], place(flat), place(where), None, None)
        return out

    def add(self, Z: np.ndarray, out: np.ndarray, scale: np.ndarray | None = None) -> None:
        """Add the outputs into `out`, each times the `scale` of its row if that is given."""
        place, (gather, scatter, rows) = self._place, self._places
        self.kernel(self.count, place(Z), gather, place(out), scatter, None if scale is None else place(scale), rows)


class Batches:
    """Batches that add into one buffer, all of them in one call of the compiled loops.

    Parameters
    ----------
    batches : sequence of Batch
    runtime : Native or Fallback
        Whose loops they are; its functions take the batches as the attribute `table`.
    """

    def __init__(self, batches: Sequence[Batch], runtime: Runtime = FALLBACK):
        self.batches = list(batches)
        self.bind(runtime)

    def __iter__(self) -> Iterator[Batch]:
        return iter(self.batches)

    def bind(self, runtime: Runtime) -> None:
        """Use these loops; every batch must have been bound before."""
        self.runtime, self.table = runtime, runtime.table(self.batches)

    def add(self, Z: np.ndarray, out: np.ndarray) -> None:
        """Add the outputs of all of them into `out`."""
        runtime = self.runtime
        runtime.add(len(self.batches), self.table, runtime.place(Z), runtime.place(out))


def vector_function(name: str, symbols: Sequence[ca.SX], outputs: ca.SX | Sequence[ca.SX]) -> ca.Function:
    """A CasADi function of one dense vector to one dense vector, ready for :class:`Batch`."""
    values = outputs if isinstance(outputs, ca.SX) else ca.vertcat(*outputs)
    return ca.Function(name, [ca.vertcat(*symbols)], [ca.densify(values)], {"cse": True})
