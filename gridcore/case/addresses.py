"""Names of what devices have, ``GEN2.omega``, and shell-style patterns of them, ``GEN*.omega``: alike everywhere."""

from __future__ import annotations

import fnmatch
from collections.abc import Collection, Iterable

from ..errors import CaseError
from ..suggest import suggest

Address = str | tuple[str, str]
"""``"GEN2.omega"`` or ``("GEN2", "omega")``; where several may be meant, a pattern."""


def patterns_of(given: str | Iterable[Address]) -> tuple[str, ...]:
    """Patterns as a tuple, of one or many; a CaseError if one is neither text nor a pair of device and name."""
    several = (given,) if isinstance(given, str) or not isinstance(given, Iterable) else tuple(given)
    found = tuple(".".join(map(str, one)) if isinstance(one, tuple) else one for one in several)
    if wrong := [one for one in found if not isinstance(one, str)]:
        raise CaseError(f"{wrong[0]!r} must be an address or a pattern, such as 'GEN*.H'")
    return found


def is_pattern(name: str) -> bool:
    """Whether a name is a pattern: no id has one of these characters."""
    return not {"*", "?", "["}.isdisjoint(name)


def matching(pattern: str, names: Collection[str], what: str) -> list[str]:
    """The names that a pattern matches, in their order; a CaseError, with what is meant and the nearest, if none."""
    found = [pattern] if pattern in names else fnmatch.filter(names, pattern)
    if not found:
        raise CaseError(f"no {what} matches '{pattern}'{suggest(pattern, names)}")
    return found
