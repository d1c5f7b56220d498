"""The files of other programs that tests read where they are there: ``../shared/data`` beside a checkout."""

from __future__ import annotations

from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[3] / "shared" / "data"


def shared(name: str) -> Path:
    """A file there, or the test is skipped."""
    if not (FOLDER / name).exists():
        pytest.skip(f"{FOLDER / name} is not there")
    return FOLDER / name
