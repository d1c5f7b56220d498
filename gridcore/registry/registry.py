"""A registry: what plugins registered of one kind, and what this session did, by name."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

from ..errors import PluginError
from ..suggest import suggest
from .manager import Origin, collect, trace
from .records import Registrable

T = TypeVar("T", bound=Registrable)

SESSION = Origin("this session", "gc.register")
_LOADING = threading.RLock()  # a hook may look up names of other registries


@dataclass(frozen=True)
class _Entry(Generic[T]):
    item: T
    origin: Origin

    @cached_property
    def resolved(self) -> T:
        """The item, with what its references name."""
        return self.item.resolved()


class Registry(Generic[T]):
    """What one hook's plugins registered, by name; loaded at the first look-up.

    Parameters
    ----------
    record : type
        Of its items.

    Raises
    ------
    PluginError
        If two plugins register one name (both are named), or a name is asked for that none has
        (the nearest ones are offered).
    """

    def __init__(self, record: type[T]):
        self.record: Any = record
        self.hook, self.kind = self.record.hook, self.record.what  # what an item is called in messages
        self._found: dict[str, _Entry[T]] | None = None
        self.session: dict[str, _Entry[T]] = {}  # comes before what plugins have; replaced, never changed in place

    def _plugins(self) -> dict[str, _Entry[T]]:
        there = self._found
        if there is not None:
            return there
        with _LOADING:
            if self._found is None:
                found: dict[str, _Entry[T]] = {}
                for origin, item in collect(self.hook, self.record.of):
                    if (name := item.key) in found:
                        raise PluginError(
                            f"{self.kind} '{name}' is registered twice: by {found[name].origin} and by {origin}; "
                            f"GRIDCORE_DISABLE={origin.entry} leaves one of them out")
                    found[name] = _Entry(item, origin)
                    trace(f"{self.hook}:   {self.kind} '{name}' by {origin}")
                self._found = found
            return self._found

    def _entry(self, name: str) -> _Entry[T]:
        entry = self.session.get(name) or self._plugins().get(name)
        if entry is None:
            raise PluginError(f"unknown {self.kind} '{name}'{suggest(name, self)}")
        return entry

    def __getitem__(self, name: str) -> T:
        return self._entry(name).resolved

    def unresolved(self, name: str) -> T:
        """The item as it was registered: its references have not been followed."""
        return self._entry(name).item

    def __contains__(self, name: object) -> bool:
        return name in self.session or name in self._plugins()

    def __iter__(self) -> Iterator[str]:
        return iter({**self._plugins(), **self.session})

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def origin(self, name: str) -> str:
        """The plugin and distribution that registered `name`."""
        return str(self._entry(name).origin)

    def check_free(self, item: T) -> None:
        """Raise PluginError if a plugin has the name of an item."""
        found = self._plugins().get(item.key)
        if found is not None and found.resolved != item:
            raise PluginError(f"{self.kind} '{item.key}' is registered already, by {found.origin}")

    def add(self, item: T) -> None:
        """Register an item for this session."""
        self.session = {**self.session, item.key: _Entry(item, SESSION)}

    def forget(self) -> None:
        """What plugins registered is found again at the next look-up."""
        self._found = None
