"""What a conformance check found, in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


class Wrong(Exception):
    """What a check found wrong: each argument says one thing in words."""


def require(holds: Any, otherwise: str) -> None:
    """Raise :class:`Wrong` unless something holds."""
    if not holds:
        raise Wrong(otherwise)


@dataclass
class Report:
    """What was checked.

    Attributes
    ----------
    name : str
        Of the class.
    problems : list of str
        What is wrong.
    passed : list of str
        What was checked and is well.
    """

    name: str
    problems: list[str] = field(default_factory=list)
    passed: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def check(self, check: Callable[..., str], *given: Any, label: str = "") -> bool:
        """Make a check: what it returns is well, what it raises is wrong; whether all was well."""
        try:
            found = [check(*given)]
            well = True
        except Exception as error:
            found = list(error.args) if isinstance(error, Wrong) else [f"{type(error).__name__}: {error}"]
            well = False
        prefix = f"{label}: " if label else ""
        (self.passed if well else self.problems).extend(prefix + words for words in found if words)
        return well

    def __str__(self) -> str:
        return "\n".join([f"{self.name}: {'well' if self.ok else 'NOT WELL'}",
                          *(f"  wrong: {words}" for words in self.problems), *(f"  {words}" for words in self.passed)])
