"""The fixture that installs a plugin for a test."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from distributions import distribution

from gridcore import registry


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, str], None]]:
    """``install(name, source)``: a third party's plugin, gone after the test."""
    monkeypatch.syspath_prepend(str(tmp_path))
    registry.reload()
    modules = []

    def put(name: str, source: str) -> None:
        modules.append(distribution(tmp_path, name, source))

    yield put
    registry.reload()
    for module in modules:
        sys.modules.pop(module, None)
