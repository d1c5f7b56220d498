"""The binding of ``runtime.c``: its structs, and its functions with the types of their arguments.

A :class:`Native` and the :class:`~.fallback.Fallback` have the same functions. They take what ``place`` makes of an
array, its address, so that a caller asks only once where the buffers are that he keeps.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import GridcoreError
from .compiler import compile_libraries
from .library import Library, address

SOURCE = Path(__file__).with_name("runtime.c")


def _fields(integers: str, pointers: str) -> list[tuple[str, type]]:
    return [*((name, ctypes.c_long) for name in integers.split()),
            *((name, ctypes.c_void_p) for name in pointers.split())]


STRUCTS: dict[str, Any] = {
    name: type(name, (ctypes.Structure,), {"_fields_": _fields(integers, pointers)}) for name, integers, pointers in (
        ("batch", "count", "run gather scatter rows"),
        ("plan", "n nnz n_rhs n_jac n_linear", "rhs jac linear_rows linear_ptr linear_cols linear_values "
         "linear_constant row_of diagonal linear_matrix Z t F R A mass c base minus_c scale noise"),
        ("pattern", "n_rows n_columns entries n_used n_read n_diagonal",
         "ptr row used read row_ptr column place at diagonal values work"))}

# name: arguments, and the result where there is one; see Library.functions
FUNCTIONS = {
    "add": "lppp", "rhs": "p", "residual": "p", "matrix": "p i", "jacobian": "pp", "linearise": "plplp",
    "newton": "pd d", "mix": "llldppppppp", "shifted": "pppp i", "sum": "ppppp", "times": "lppppi",
    "times_transposed": "lppppi",
}


class Handle(int):
    """The address of a struct, with what the struct points to as its attributes: so it is kept, and the functions of
    the fallback take it as well. A number is what ctypes takes quickest for a pointer.
    """

    def __new__(cls, struct: Any, **fields: Any) -> Handle:
        handle = super().__new__(cls, ctypes.addressof(struct))
        handle.__dict__.update(fields, _struct=struct)
        return handle


def _handle(name: str, /, **fields: Any) -> Handle:
    """A struct of all its fields, arrays as they are."""
    struct = STRUCTS[name]
    if fields.keys() != {field for field, _ in struct._fields_}:
        raise TypeError(f"{name} has the fields {[field for field, _ in struct._fields_]}")
    return Handle(struct(**{field: address(value) if isinstance(value, np.ndarray) else value
                            for field, value in fields.items()}), **fields)


class Native:
    """The compiled loops: the functions of ``runtime.c`` without their prefix, for its :class:`.Library`.

    They give up the interpreter's lock, and have no memory. `width` is the number of rows that a block of ``times``
    has: what a row of its work array must hold; `mixed` is the number of corrections that ``mix`` remembers.

    Raises
    ------
    GridcoreError
        If the structs of the library are not those that are declared here.
    """

    def __init__(self, library: Library):
        self.library = library
        sizes = (ctypes.c_long * (len(STRUCTS) + 2))()
        library.function("gc_sizes", None, [ctypes.c_void_p])(sizes)
        for (name, struct), size in zip(STRUCTS.items(), sizes, strict=False):
            if ctypes.sizeof(struct) != size:
                raise GridcoreError(f"runtime.c and its binding native.py differ: struct {name} has {size} bytes in C "
                                    f"and {ctypes.sizeof(struct)} in Python")
        self.width, self.mixed = sizes[len(STRUCTS):]
        self.__dict__.update(library.functions("gc", FUNCTIONS))

    if TYPE_CHECKING:  # the functions
        def __getattr__(self, name: str) -> Any: ...

    place: Any = staticmethod(address)

    @staticmethod
    def functions(source: Path, prefix: str, head: str = "", /, **types: str) -> dict[str, Any]:
        """Functions of a C source behind a `head`, as of :meth:`.Library.functions`; none if it cannot be compiled."""
        if (source, head) not in _LOADED and (made := compile_libraries([head + source.read_text()])):
            _LOADED[source, head] = made[0].functions(prefix, types)
        return _LOADED.get((source, head), {})

    @staticmethod
    def table(batches: Sequence[Any]) -> Handle:
        """The batches, each with its ``kernel``, as ``add`` takes them."""
        table = (STRUCTS["batch"] * max(len(batches), 1))()
        for entry, batch in zip(table, batches, strict=False):
            entry.run = ctypes.cast(batch.kernel, ctypes.c_void_p)
            entry.count, entry.gather, entry.scatter = batch.count, address(batch.gather), address(batch.scatter)
            entry.rows = None if batch.rows is None else address(batch.rows)
        return Handle(table, batches=batches)

    plan = staticmethod(partial(_handle, "plan"))  # what equations are evaluated from and into
    pattern = staticmethod(partial(_handle, "pattern"))  # a matrix by columns and by rows, with buffers of its own


_LOADED: dict[tuple[Path, str], dict[str, Any]] = {}
