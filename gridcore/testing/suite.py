"""Named checks of one kind of plugin: a report in words, or tests of pytest.

As with scikit-learn's ``parametrize_with_checks``: who writes a plugin imports the checks that the bundled ones pass.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar

from ..errors import PluginError
from ..suggest import suggest

S = TypeVar("S")


class Wrong(Exception):
    """What a check found wrong: each argument says one thing in words."""


class NotExamined(Exception):
    """Why a check does not concern what it is asked of."""


def require(holds: Any, otherwise: str) -> None:
    """Raise :class:`Wrong` with the words `otherwise` unless something holds."""
    if not holds:
        raise Wrong(otherwise)


@dataclass
class Report:
    """What was checked of `name`: `problems` and what `passed`, in words that begin with the name of the check."""

    name: str
    problems: list[str] = field(default_factory=list)
    passed: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def __str__(self) -> str:
        return "\n".join([f"{self.name}: {'well' if self.ok else 'NOT WELL'}",
                          *(f"  wrong: {words}" for words in self.problems), *(f"  {words}" for words in self.passed)])


class Suite(Generic[S]):
    """The named checks of one kind of plugin. Called with one, it decorates a test of pytest::

        @device_checks(MyDevice, expected_failures={"documented": "the manual is in print"})
        def test_conforms(check):
            check()

    which is then a test for each check; an expected failure that passes is an error.

    Parameters
    ----------
    subject : callable
        Of what is checked, and options: a context that gives what each check is called with.
    """

    def __init__(self, subject: Callable[..., AbstractContextManager[S]]):
        self.subject = subject
        self.checks: dict[str, tuple[Callable[[S], str], tuple[str, ...]]] = {}

    def add(self, name: str, *needs: str) -> Callable[[Callable[[S], str]], Callable[[S], str]]:
        """Decorate a check: it says what is well or raises, and is not made where a check that it `needs` fails."""
        def added(check: Callable[[S], str]) -> Callable[[S], str]:
            self.checks[name] = check, needs
            return check

        return added

    def report(self, of: Any, *more: Any, **options: Any) -> Report:
        """The report of all checks: ``print(device_checks.report(MyDevice))``."""
        name = getattr(of, "__name__", getattr(of, "key", type(of).__name__))
        report, found = Report(name), dict[str, str | Exception]()
        with self.subject(of, *more, **options) as subject:
            for name in self.checks:
                said = self._make(name, subject, found)
                if isinstance(said, NotExamined):
                    said = f"not examined: {said}"
                if isinstance(said, Exception):
                    told = said.args if isinstance(said, Wrong) else [f"{type(said).__name__}: {said}"]
                    report.problems += [f"{name}: {words}" for words in told]
                elif said:
                    report.passed.append(f"{name}: {said}")
        return report

    def __call__(self, of: Any, *more: Any, expected_failures: Mapping[str, str] | None = None, **options: Any) -> Any:
        """A decorator of a test that calls its argument, ``check``; failures are expected by name, with the reason."""
        import pytest

        def made(name: str) -> None:
            with self.subject(of, *more, **options) as subject:
                said = self._make(name, subject, {})
            if isinstance(said, NotExamined):
                pytest.skip(str(said))
            if isinstance(said, Exception):
                raise said

        expected = expected_failures or {}
        for name in expected.keys() - self.checks.keys():
            raise PluginError(f"there is no check '{name}'{suggest(name, self.checks)}")
        marks = {name: pytest.mark.xfail(reason=reason, strict=True) for name, reason in expected.items()}
        return pytest.mark.parametrize("check", [
            pytest.param(partial(made, name), id=name, marks=marks.get(name, ())) for name in self.checks])

    def _make(self, name: str, subject: S, found: dict[str, str | Exception]) -> str | Exception:
        """What a check says or raises; it is made once, after what it needs."""
        if name not in found:
            check, needs = self.checks[name]
            try:
                for needed in needs:
                    if isinstance(self._make(needed, subject, found), Exception):
                        raise NotExamined(f"that needs '{needed}'")
                found[name] = check(subject)
            except Exception as error:
                found[name] = error
        return found[name]
