"""What the tests of BDF share: the method by its name, and the studies of tests/sensitivity."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from devices_for_tests import SMALL

import gridcore as gc
from gridcore.registry import Integrator
from gridcore_bdf.stepper import Bdf

for folder in ("sensitivity", "integrate", "readers", "reference"):
    sys.path.append(str(Path(__file__).parents[1] / folder))


@pytest.fixture(autouse=True)
def _registered() -> Iterator[None]:
    from scenes import DEVICES

    with gc.registered(Integrator("bdf", Bdf), *SMALL, *DEVICES):
        yield
