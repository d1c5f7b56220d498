"""Fixtures that tests of several modules use."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from devices_for_tests import SMALL, registered


@pytest.fixture
def small_devices() -> Iterator[None]:
    """The devices of ``devices_for_tests`` are registered."""
    with registered(*SMALL):
        yield
