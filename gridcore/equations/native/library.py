"""A compiled source, loaded, and where arrays are for its functions."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

_begins, _first = ctypes.addressof, ctypes.c_char.from_buffer
_KERNEL = [ctypes.c_long, *[ctypes.c_void_p] * 6]
_TYPES = {"p": ctypes.c_void_p, "l": ctypes.c_long, "i": ctypes.c_int, "d": ctypes.c_double}


def address(array: np.ndarray) -> int:
    """Where the data of a contiguous array begin; five times as fast as ``array.ctypes.data``."""
    try:
        return _begins(_first(array))  # type: ignore[arg-type]
    except (TypeError, ValueError):  # it may not be written to, or is empty
        return array.ctypes.data


class Library:
    """A compiled source."""

    place: Any = staticmethod(address)

    def __init__(self, path: Path):
        self._library = ctypes.CDLL(str(path))

    def function(self, name: str, result: Any, arguments: Sequence[Any]) -> Any:
        """A function of the library, with the ctypes of its result and arguments."""
        found = getattr(self._library, name)
        found.restype, found.argtypes = result, arguments
        return found

    def functions(self, prefix: str, types: Mapping[str, str]) -> dict[str, Any]:
        """Functions by name behind a prefix: letters of arguments, a space, the result's; as in `_TYPES`."""
        split = ((name, *letters.partition(" ")[::2]) for name, letters in types.items())
        return {name: self.function(f"{prefix}_{name}", _TYPES.get(result), [_TYPES[letter] for letter in arguments])
                for name, arguments, result in split}

    def kernel(self, function: ca.Function) -> Any:
        """The batch loop of a traced function; the arguments are as of :class:`.interpreted.Interpreted`."""
        return self.function(f"{function.name()}_batch", None, _KERNEL)
