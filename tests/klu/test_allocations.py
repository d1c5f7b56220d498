"""Where KLU gets no memory it is a MemoryError in words, and all works afterwards; gridcore's C asks for none."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import gridcore as gc
from gridcore.equations.native.compiler import cache_directory, compiler_path
from gridcore_klu import by_rows
from gridcore_klu.many_rhs import loops

HERE = Path(__file__).parent
KINDS = {"float": 20, "complex": 20, "run": 5}
pytestmark = pytest.mark.skipif(sys.platform != "linux" or compiler_path() is None or "LD_PRELOAD" in os.environ,
                                reason="no compiler for Linux, or another library is loaded first")


def test_every_allocation_of_klu_may_fail(tmp_path):
    """What stays behind is the head of nbklu's struct, 170 bytes; factors would be thousands."""
    shim = tmp_path / "shim.so"
    subprocess.run([compiler_path(), "-O2", "-shared", "-fPIC", "-o", shim, HERE / "allocations.c"], check=True)
    done = subprocess.run([sys.executable, HERE / "allocations.py", shim], capture_output=True, text=True,
                          env={**os.environ, "LD_PRELOAD": str(shim)})
    assert (done.returncode, done.stderr) == (0, "")
    lines = [line.split("; ") for line in done.stdout.splitlines()]
    assert [line[0] for line in lines] == list(KINDS)
    for name, count, *said, held in lines:
        assert int(count) >= KINDS[name]
        assert f"{count} works again" in said
        assert "WRONG" not in "".join(said)
        assert "BROKEN" not in "".join(said)
        failed = [text.partition(" ")[2] for text in said if "MemoryError" in text]
        assert all(text.startswith("MemoryError: KLU has no memory ") for text in failed)
        assert failed
        assert int(held) < 1000


@pytest.mark.skipif(shutil.which("nm") is None, reason="no nm")
def test_the_native_code_of_gridcore_asks_for_no_memory():
    """Neither the loops nor the kernels: nothing of theirs can fail so."""
    gc.build("wscc9")
    assert loops()
    assert by_rows.loops()
    loaded = {line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines()
              if str(cache_directory().resolve()) in line}
    assert len(loaded) >= 4
    for library in loaded:
        asks = subprocess.run(["nm", "-D", "--undefined-only", library], capture_output=True, text=True, check=True)
        names = {line.split()[-1].partition("@")[0] for line in asks.stdout.splitlines()}
        assert not [name for name in names if "alloc" in name or name in ("free", "mmap", "strdup", "_Znwm")]
