"""The package is found by its entry point: as it is installed, or by metadata beside its sources."""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gridcore.registry import reload

PACKAGE = Path(__file__).parents[1]


@pytest.fixture(scope="session", autouse=True)
def _found(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    try:
        importlib.metadata.distribution("gridcore-example-integrator")
        yield
        return
    except importlib.metadata.PackageNotFoundError:
        pass
    folder = tmp_path_factory.mktemp("site")
    info = folder / "gridcore_example_integrator-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: gridcore-example-integrator\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text("[gridcore]\nexample_integrator = gridcore_example_integrator\n")
    before = list(sys.path)
    sys.path[:0] = [str(folder), str(PACKAGE)]
    importlib.invalidate_caches()
    reload()
    yield
    sys.path[:] = before
    reload()
