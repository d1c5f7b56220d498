"""The binding of ``runtime.c``: its structs, and its functions with the types of their arguments.

A :class:`Native` and the :class:`~.fallback.Fallback` have the same functions. They take what ``place`` makes of an
array, its address, so that a caller asks only once where the buffers are that he keeps.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import GridcoreError
from .library import Library, address

SOURCE = Path(__file__).with_name("runtime.c")

def _fields(integers: str, pointers: str) -> list[tuple[str, type]]:
    return [*((name, ctypes.c_long) for name in integers.split()),
            *((name, ctypes.c_void_p) for name in pointers.split())]


class Batch(ctypes.Structure):
    """A kernel, and where its inputs, outputs and rows are."""

    _fields_ = [("run", ctypes.c_void_p), *_fields("count", "gather scatter rows")]


class Plan(ctypes.Structure):
    """All that the equations of a system are evaluated from and into."""

    _fields_ = _fields("n nnz n_rhs n_jac n_linear",
                       "rhs jac linear_rows linear_ptr linear_cols linear_values linear_constant "
                       "row_of diagonal linear_matrix Z F R A mass c base minus_c scale")


class Pattern(ctypes.Structure):
    """The pattern of a matrix by columns and by rows, with values and work of its own."""

    _fields_ = _fields("n_rows n_columns entries n_used n_read n_diagonal",
                       "ptr row used read row_ptr column place at diagonal values work")


STRUCTS = {"batch": Batch, "plan": Plan, "pattern": Pattern}

# name: arguments, and the result where there is one; p: a pointer, l: long, i: int, d: double
_TYPES = {"p": ctypes.c_void_p, "l": ctypes.c_long, "i": ctypes.c_int, "d": ctypes.c_double}
FUNCTIONS = {
    "add": "lppp", "rhs": "p", "residual": "p", "matrix": "p", "jacobian": "pp", "linearise": "plplp", "newton": "pd d",
    "begin": "ppppppdddi", "equations": "pppdd", "end": "pppd",
    "shifted": "pppp", "sum": "ppppp", "times": "lppppi", "times_transposed": "lppppi",
    "step_transposed": "lpppppppppppp",
}


def _types(letters: str) -> list[Any]:
    return [_TYPES[letter] for letter in letters]


class Handle(ctypes.c_void_p):
    """A pointer to a struct, with what the struct points to as its attributes: so it is kept, and the functions of the
    fallback take it as well.
    """

    def __init__(self, struct: Any, **fields: Any):
        super().__init__(ctypes.addressof(struct))
        self._struct = struct
        self.__dict__.update(fields)


class Native:
    """The compiled loops.

    Parameters
    ----------
    library : Library
        Of :data:`SOURCE`.

    Attributes
    ----------
    add, rhs, residual, ... : callables
        The functions of ``runtime.c`` without their prefix; they give up the interpreter's lock, and have no memory.
    width : int
        Rows that a block of ``times`` has: what a row of its work array must hold.

    Raises
    ------
    GridcoreError
        If the structs of the library are not those that are declared here.
    """

    def __init__(self, library: Library):
        self.library = library
        sizes = (ctypes.c_long * (len(STRUCTS) + 1))()
        library.function("gc_sizes", None, [ctypes.c_void_p])(sizes)
        for (name, struct), size in zip(STRUCTS.items(), sizes, strict=False):
            if ctypes.sizeof(struct) != size:
                raise GridcoreError(f"runtime.c and its binding native.py differ: struct {name} has {size} bytes in C "
                                    f"and {ctypes.sizeof(struct)} in Python")
        self.width = sizes[-1]
        for name, letters in FUNCTIONS.items():
            arguments, _, result = letters.partition(" ")
            setattr(self, name, library.function(f"gc_{name}", _TYPES.get(result), _types(arguments)))

    def __reduce__(self) -> tuple[Any, ...]:
        from . import runtime

        return runtime, ()

    if TYPE_CHECKING:  # the functions
        def __getattr__(self, name: str) -> Any: ...

    place: Any = staticmethod(address)

    @staticmethod
    def table(batches: Sequence[Any]) -> Handle:
        """The batches, each with its ``kernel``, as ``add`` takes them."""
        table = (Batch * max(len(batches), 1))()
        for entry, batch in zip(table, batches, strict=False):
            entry.run = ctypes.cast(batch.kernel, ctypes.c_void_p)
            entry.count, entry.gather, entry.scatter = batch.count, address(batch.gather), address(batch.scatter)
            entry.rows = None if batch.rows is None else address(batch.rows)
        return Handle(table, batches=batches)

    @staticmethod
    def plan(**fields: Any) -> Handle:
        """All fields of :class:`Plan`, arrays as they are."""
        return _struct(Plan, fields)

    @staticmethod
    def pattern(**fields: Any) -> Handle:
        """All fields of :class:`Pattern`, arrays as they are."""
        return _struct(Pattern, fields)


def _struct(kind: type[ctypes.Structure], fields: dict[str, Any]) -> Handle:
    if fields.keys() != {name for name, *_ in kind._fields_}:
        raise TypeError(f"{kind.__name__} has the fields {[name for name, *_ in kind._fields_]}")
    return Handle(kind(**{name: address(value) if isinstance(value, np.ndarray) else value
                          for name, value in fields.items()}), **fields)
