"""The native code does not leave its arrays; and the sanitizers would say if it did."""

from __future__ import annotations

from pathlib import Path

import pytest
import sanitize

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sanitize.compiler() is None, reason="no AddressSanitizer")]
BEYOND = """
import ctypes
from gridcore.equations.native import load
source = "int beyond(void) {{ volatile int a[2] = {{0, 1}}; volatile int k = {index}; return a[k]; }}"
_, (library,) = load([source])
print(library.function("beyond", ctypes.c_int, [])())
"""


def test_an_access_beyond_an_array_is_told(capfd):
    assert sanitize.run(["-c", BEYOND.format(index=5)]) != 0
    assert "out of bounds" in capfd.readouterr().err
    assert sanitize.run(["-c", BEYOND.format(index=1)]) == 0


def test_kernels_and_loops_stay_within_their_arrays(capfd):
    here = Path(__file__).parent
    names = ("equations/test_kernel.py", "klu/test_many_rhs.py", "klu/test_by_rows.py", "klu/test_chunks.py",
             "theta/test_theta.py")
    tests = [str(here / name) for name in names]
    assert sanitize.run(["-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-m", "not slow", *tests]) == 0, \
        capfd.readouterr()
