"""Whether a function is the one it was: its code and all that it reads, where that is simple enough to compare."""

from __future__ import annotations

import types
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

_KNOWN = dict.fromkeys((*vars(np), "float", "int", "len", "range", "zip"))  # other names may be of what is imported


def fingerprint(function: Callable[..., Any]) -> Hashable | None:
    """Something equal for two functions only if they compute the same; None where that cannot be told.

    A closure or global that is a number, a word or a tuple of such is compared by value; anything
    else that could change (an array, a list, a module, another function) makes the answer None.
    """
    if not isinstance(function, types.FunctionType):
        return None
    code = function.__code__
    if any(isinstance(constant, types.CodeType) for constant in code.co_consts):
        return None
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    named = [function.__globals__.get(name, _KNOWN.get(name, function)) for name in code.co_names]
    others = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values(), *cells, *named]
    if not all(_fixed(value) for value in others):
        return None
    return code, tuple("numpy" if value is np else value for value in others)


def _fixed(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(_fixed(item) for item in value)
    return value is np or isinstance(value, (int, float, str, np.number, type(None)))
