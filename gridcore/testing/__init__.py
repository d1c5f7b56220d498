"""Suites of named checks, and those that plugins register as analyses: ``from gridcore.testing import device_checks``.

``@device_checks(MyDevice)`` makes tests of a suite, ``device_checks.report(MyDevice)`` says in words what is wrong.
"""

from typing import Any

from ..registry import analyses
from .suite import NotExamined, Report, Suite, Wrong, require

__all__ = ["NotExamined", "Report", "Suite", "Wrong", "require"]


def __getattr__(name: str) -> Any:
    return getattr(analyses, name)
