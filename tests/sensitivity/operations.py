"""What a function of arrays does, one numpy operation after the other: written down once, done again on other arrays.

The functions of devices are asked for their values some thousand times in a run of the oracle, on arrays of a few
numbers: almost all of its time went into names that are looked up, the same ones every time.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin


class Unknown(NDArrayOperatorsMixin):
    """A value that is not there yet: what is done with it is written down, and no decision is taken on it."""

    def __init__(self, sheet: Operations, place: int):
        self.sheet, self.place = sheet, place

    def __array_ufunc__(self, function: Callable[..., Any], method: str, *inputs: Any, **options: Any) -> Any:
        return self.sheet.note(function, inputs) if method == "__call__" and not options else NotImplemented

    def __array_function__(self, function: Callable[..., Any], _: Any, inputs: Sequence[Any], options: Any) -> Any:
        return NotImplemented if options else self.sheet.note(function, inputs)

    def __bool__(self) -> bool:
        raise TypeError("equations decide by np.where")

    def __pow__(self, power: Any) -> Unknown:  # which arrays do in their own way where it is a small number
        return self.sheet.note(operator.pow, (self, power))

    @property
    def real(self) -> Unknown:
        return self.sheet.note(np.real, (self,))


class Operations:
    """``function(lookup)`` as a list of operations.

    Parameters
    ----------
    function : callable
        Returns some values, given ``lookup(*key)``, which gives one.
    """

    def __init__(self, function: Callable[[Callable[..., Any]], Iterable[Any]]):
        self._places: dict[Any, int] = {}  # of what was written down before
        self._values: list[Any] = []  # constants at their places
        self._read: list[tuple[int, tuple]] = []
        self._done: list[tuple[int, Callable[..., Any], tuple[int, ...]]] = []
        self._out = [self._place(value) for value in function(self._lookup)]

    def __call__(self, lookup: Callable[..., Any]) -> list[Any]:
        """The values that the function returns, with these in the place of those that it looks up."""
        values = self._values.copy()
        for place, key in self._read:
            values[place] = lookup(*key)
        for place, function, inputs in self._done:
            values[place] = function(*[values[k] for k in inputs])
        return [values[k] for k in self._out]

    def note(self, function: Callable[..., Any], inputs: Sequence[Any]) -> Unknown:
        """That this is done, once for the same inputs."""
        places = tuple(self._place(value) for value in inputs)
        if (function, places) not in self._places:
            self._done.append((self._new((function, places)), function, places))
        return Unknown(self, self._places[function, places])

    def _lookup(self, *key: Any) -> Unknown:
        if key not in self._places:
            self._read.append((self._new(key), key))
        return Unknown(self, self._places[key])

    def _place(self, value: Any) -> int:
        if isinstance(value, Unknown):
            return value.place
        key = (type(value), repr(value)) if isinstance(value, int | float) else None
        return self._places[key] if key in self._places else self._new(key, value)

    def _new(self, key: Any, value: Any = None) -> int:
        if key is not None:
            self._places[key] = len(self._values)
        self._values.append(value)
        return len(self._values) - 1
