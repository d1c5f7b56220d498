"""Traced functions evaluated by CasADi's interpreter: one at a time, or where there is no C compiler."""

from __future__ import annotations

import threading
from typing import Any

import casadi as ca
import numpy as np


class Direct:
    """A function of one vector, called through buffers: CasADi's own matrices cost more than a small function does.

    Each thread has buffers of its own.
    """

    def __init__(self, function: ca.Function):
        self.function, self._mine = function, threading.local()

    def __call__(self, values: np.ndarray) -> np.ndarray:
        """Its outputs, (n_out,), by columns; the next call of this thread overwrites them."""
        try:
            inputs, call, outputs = self._mine.buffers
        except AttributeError:
            inputs, call, outputs = self._mine.buffers = self._buffers()
        inputs[:] = values
        call()
        return outputs

    def _buffers(self) -> tuple[np.ndarray, Any, np.ndarray]:
        inputs, outputs = np.zeros(self.function.nnz_in(0)), np.zeros(self.function.nnz_out(0))
        buffer, call = self.function.buffer()
        buffer.set_arg(0, inputs.data)
        buffer.set_res(0, outputs.data)
        self._mine.buffer = buffer  # `call` does not keep it
        return inputs, call, outputs


class Interpreted:
    """The batch loop of a function: ``out[scatter] += f(Z[gather])``, with the arguments of a compiled one."""

    def __init__(self, function: ca.Function):
        self._function = function
        self._mapped: Direct | None = None

    def __call__(self, count: int, Z: np.ndarray, gather: np.ndarray, out: np.ndarray, scatter: np.ndarray,
                 scale: np.ndarray | None, rows: np.ndarray | None) -> None:
        if self._mapped is None:
            self._mapped = Direct(self._function.map(count))
        values = self._mapped(Z[gather].ravel())
        if scale is not None:
            assert rows is not None
            values = values * scale[rows].ravel()
        out += np.bincount(scatter.ravel(), values, len(out))


class Interpreter:
    """Stands where a compiled library would. There is one, :data:`INTERPRETER`."""

    @staticmethod
    def place(array: np.ndarray) -> Any:
        """The array itself."""
        return array

    @staticmethod
    def kernel(function: ca.Function) -> Interpreted:
        """The batch loop of a traced function."""
        return Interpreted(function)


INTERPRETER = Interpreter()
