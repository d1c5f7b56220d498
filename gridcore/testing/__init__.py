"""Conformance checks for what plugins bring: for each kind a suite of named checks, which the bundled ones pass.

It may import all stages. ``@device_checks(MyDevice)`` makes tests of a suite, ``device_checks.report(MyDevice)`` says
in words what is wrong. Suites that plugins register as analyses are found here, too.
"""

from typing import Any

from ..registry import analyses
from .doctor import device_checks
from .suite import NotExamined, Report, Suite, Wrong, require

__all__ = ["NotExamined", "Report", "Suite", "Wrong", "device_checks", "require"]


def __getattr__(name: str) -> Any:
    return getattr(analyses, name)
