"""Fixtures that tests of several modules use."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

# Matrices here are small: threads of the linear algebra would only wait for each other. Read when numpy is loaded.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# The package with a node type of its own, where it is not installed. It does not stay on the path: metadata that a
# build leaves beside it would register it for all tests.
sys.path.append(str(Path(__file__).parent / "packages" / "gridcore_example_dc"))
import gridcore_example_dc.devices  # noqa: F401

sys.path.pop()

import bounds
import margins
from devices_for_tests import SMALL, registered
from short_segments import POINTS

from gridcore.tape import checkpoints

# How long it takes to draw an example, or to try it, says something of the machine alone.
hypothesis.settings.register_profile("gridcore", deadline=None, print_blob=True,
                                     suppress_health_check=[hypothesis.HealthCheck.too_slow])
# the long form, pytest --hypothesis-profile long: where an example takes long, tests take a part of these
hypothesis.settings.register_profile("long", hypothesis.settings.get_profile("gridcore"), max_examples=1000)
hypothesis.settings.load_profile("gridcore")


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--margins FILE``: see :mod:`margins`."""
    parser.addoption("--margins", metavar="FILE", help="keep there how near errors come to their bounds")


def pytest_configure(config: pytest.Config) -> None:
    """Watch comparisons, if that is asked for; and hear signals, also in the background of a shell or under nohup."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
    if file := config.getoption("--margins"):
        bounds.watch()
        config.pluginmanager.register(margins.Notes(file))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The tests that ``slow.txt`` lists took about a second and more on a busy core: they are marked so."""
    here = Path(__file__).parent
    listed = set((here / "slow.txt").read_text().splitlines())
    for item in items:
        _, _, name = item.nodeid.partition("::")
        if item.path.is_relative_to(here) and f"{item.path.relative_to(here)}::{name}" in listed:
            item.add_marker(pytest.mark.slow)


@pytest.fixture
def small_devices() -> Iterator[None]:
    """The devices of ``devices_for_tests`` are registered."""
    with registered(*SMALL):
        yield


@pytest.fixture(scope="module")
def short_segments() -> Iterator[None]:
    """Runs have segments of few points."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkpoints, "SEGMENTS", (0, POINTS, POINTS))
        yield
