"""Fixtures that tests of several modules use."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

# Matrices here are small: threads of the linear algebra would only wait for each other. Read when numpy is loaded.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from devices_for_tests import SMALL, registered


@pytest.fixture
def small_devices() -> Iterator[None]:
    """The devices of ``devices_for_tests`` are registered."""
    with registered(*SMALL):
        yield
