"""Offering the nearest names, wherever a name is not found."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = ["suggest"]
SHOWN = 12


def suggest(name: object, names: Iterable[str]) -> str:
    """The end of an error message: ``"; did you mean H or D?"``, or else what there is."""
    there = sorted(set(names))
    if not there:
        return "; there are none"
    folded = {n.lower(): n for n in there}
    word = str(name).lower()
    near = difflib.get_close_matches(word, folded, 3, 0.75) or difflib.get_close_matches(word, folded, 3, 0.5)
    if near:
        return f"; did you mean {' or '.join(folded[n] for n in near)}?"
    rest = f", ... ({len(there) - SHOWN} more)" if len(there) > SHOWN else ""
    return f"; there are: {', '.join(there[:SHOWN])}{rest}"
