"""Ids for what other programs name freely."""

from __future__ import annotations

import re

_NOT_IN_IDS = re.compile(r"[\s.*?\[\]]+")


class Names:
    """Ids that are words and stand once, by kind and name."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def id(self, kind: str, name: object) -> str:
        """The name itself where it can be an id and is free; else with what it is of, and a number."""
        plain = _NOT_IN_IDS.sub("_", str(name)).strip("_")
        begin = plain if plain and not plain.isdigit() else f"{kind}{plain}"
        found, count = begin, 1
        while found in self._taken:
            found = f"{kind}_{plain}" if count == 1 else f"{kind}_{plain}_{count}"
            count += 1
        self._taken.add(found)
        return found
