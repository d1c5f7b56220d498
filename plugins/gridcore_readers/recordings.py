"""Recordings that rows of a case name: read as soon as the rows are."""

from __future__ import annotations

from gridcore.case import Case
from gridcore.registry import analyses


def read_recordings(case: Case) -> None:
    """Read what rows name in their field ``file``; devices that do are those of another plugin.

    Raises
    ------
    CaseError
    """
    if any(record.fields.get("file") for record in case):
        analyses.read_time_series(case)
