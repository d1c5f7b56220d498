"""Names of what devices have, ``GEN2.omega``, and shell-style patterns of them, ``GEN*.omega``: alike everywhere."""

from __future__ import annotations

import fnmatch
from collections.abc import Collection, Iterable, Mapping
from typing import Any, TypeVar

from ..errors import CaseError
from ..suggest import suggest

Address = str | tuple[str, str]
"""``"GEN2.omega"`` or ``("GEN2", "omega")``; where several may be meant, a pattern."""
T = TypeVar("T")


class Named(dict[str, T]):
    """What is there by name; to ask for another is a CaseError that says `what` there is not, with the nearest."""

    def __init__(self, what: str, there: Mapping[str, T]):
        super().__init__(there)
        self.what = what

    def __missing__(self, name: object) -> T:
        raise CaseError(f"no {self.what} '{name}'{suggest(name, self)}")


def patterns_of(given: Address | Iterable[Address]) -> tuple[str, ...]:
    """Patterns as a tuple, of one or many; a CaseError if one is neither text nor a pair of device and name.

    Two texts without a dot are such a pair: each by itself would name no device and something of it.
    """
    pair = isinstance(given, tuple) and len(given) == 2 and all(isinstance(p, str) and "." not in p for p in given)
    items: Any = (given,) if pair or isinstance(given, str) or not isinstance(given, Iterable) else given
    found = tuple(".".join(map(str, item)) if isinstance(item, tuple) else item for item in items)
    if wrong := [item for item in found if not isinstance(item, str)]:
        raise CaseError(f"{wrong[0]!r} must be an address or a pattern, such as 'GEN*.H'")
    return found


def split(address: str, what: str = "parameter", example: str = "GEN2.H") -> tuple[str, str]:
    """Device and name of an address; a CaseError that says what is missing, if it has no dot."""
    device, dot, name = address.rpartition(".")
    if not dot:
        raise CaseError(f"'{address}' names no device and {what}, as '{example}' does")
    return device, name


def is_pattern(name: str) -> bool:
    """Whether a name is a pattern: no id has one of these characters."""
    return not {"*", "?", "["}.isdisjoint(name)


def matching(pattern: str, names: Collection[str], what: str) -> list[str]:
    """The names that a pattern matches, in their order; a CaseError, with what is meant and the nearest, if none."""
    found = [pattern] if pattern in names else fnmatch.filter(names, pattern)
    if not found:
        raise CaseError(f"no {what} matches '{pattern}'{suggest(pattern, names)}")
    return found
