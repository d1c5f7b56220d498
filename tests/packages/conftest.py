"""The packages are found by their entry points: as they are installed, or by metadata beside their sources."""

from __future__ import annotations

import importlib.metadata
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from gridcore.registry import reload


@pytest.fixture(scope="module", autouse=True)  # tests of others know nothing of them
def _found(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    before = list(sys.path)
    for file in sorted(Path(__file__).parent.glob("*/pyproject.toml")):
        project = tomllib.loads(file.read_text())["project"]
        name, version = project["name"], project["version"]
        try:
            importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            folder = tmp_path_factory.mktemp("site")
            info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
            info.mkdir()
            (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
            entries = project["entry-points"]["gridcore"].items()
            (info / "entry_points.txt").write_text("\n".join(["[gridcore]", *(f"{k} = {v}" for k, v in entries)]))
            sys.path[:0] = [str(folder), str(file.parent)]
    importlib.invalidate_caches()
    reload()
    yield
    sys.path[:] = before
    reload()
