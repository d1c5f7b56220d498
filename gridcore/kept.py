"""Results of a preparation, kept for whoever asks for the same again; safe with threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

__all__ = ["Kept", "KeptFor"]
T = TypeVar("T")
_MOST = 16


class Kept(Generic[T]):
    """The last few results, by key, which says all that a result depends on; results are never changed."""

    def __init__(self) -> None:
        self._found: dict[Hashable, T] = {}
        self._lock = threading.RLock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` gives, or gave before for this key."""
        with self._lock:
            found = self._found.pop(key) if key in self._found else make()
            if len(self._found) == _MOST:  # what was asked for longest ago
                self._found.pop(next(iter(self._found)))
            self._found[key] = found
            return found


class KeptFor(Generic[T]):
    """As :class:`Kept`, for each owner, with which it goes; `what` is a name that no other has."""

    def __init__(self, what: str):
        self._attribute = f"_kept_{what}"

    def get(self, owner: object, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` gives, or gave before for this owner and key."""
        kept: Kept[T] = vars(owner).setdefault(self._attribute, Kept())
        return kept.get(key, make)
