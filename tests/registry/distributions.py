"""Distributions as pip would leave them: a module beside a ``.dist-info`` folder on the path."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

IMPORTS = "import gridcore as gc\nfrom gridcore import hookimpl\n"


def distribution(folder: Path, name: str, source: str) -> str:
    """Put distribution `name` 1.5 in `folder`: one module with an entry point, whose name is returned."""
    module = name.replace("-", "_")
    (folder / f"{module}.py").write_text(IMPORTS + textwrap.dedent(source))
    info = folder / f"{module}-1.5.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.5\n")
    (info / "entry_points.txt").write_text(f"[gridcore]\n{module} = {module}\n")
    return module


def python(code: str, path: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Run `code` in a fresh interpreter that sees the distributions in `path`."""
    folders = os.pathsep.join(filter(None, [str(path), os.environ.get("PYTHONPATH")]))
    return subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True,
                          check=True, env={**os.environ, "PYTHONPATH": folders, **env})
