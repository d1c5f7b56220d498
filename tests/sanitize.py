"""The native code under AddressSanitizer and UndefinedBehaviorSanitizer: ``python -m tests.sanitize [pytest options]``.

Kernels, the loops over them and those of KLU are compiled with both by a wrapper of the compiler, into a cache of their
own; then the tests of what uses them run. An access outside of an array, or what C does not define, ends the run with a
message of the sanitizer and an exit code other than 0.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).parent
FLAGS = "-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -g"
TESTS = ("equations", "klu", "theta/test_theta.py", "sensitivity/test_dot_products.py", "tsa", "stretch/test_sweeps.py")


def compiler() -> str | None:
    """The compiler that is used, where it has the sanitizers."""
    cc = shutil.which(os.environ.get("CC", "gcc"))
    if cc is None:
        return None
    found = subprocess.run([cc, "-print-file-name=libasan.so"], capture_output=True, text=True, check=False)
    return cc if Path(found.stdout.strip()).is_absolute() else None


def environment(cc: str, folder: Path) -> dict[str, str]:
    """What makes gridcore compile with the sanitizers, and Python load them first."""
    wrapper = folder / "cc"
    wrapper.write_text(f'#!/bin/sh\nexec {cc} {FLAGS} "$@"\n')
    wrapper.chmod(0o755)
    asks = [[cc, f"-print-file-name={name}"] for name in ("libasan.so", "libubsan.so")]
    libraries = [subprocess.run(ask, capture_output=True, text=True, check=True).stdout.strip() for ask in asks]
    # nbklu frees by delete what KLU has from malloc; what a test captures must not swallow the report
    asan = f"detect_leaks=0:alloc_dealloc_mismatch=0:log_path={folder / 'report'}"
    return {**os.environ, "CC": str(wrapper), "GRIDCORE_CACHE": str(folder / "cache"), "ASAN_OPTIONS": asan,
            "LD_PRELOAD": ":".join(libraries), "UBSAN_OPTIONS": f"print_stacktrace=1:log_path={folder / 'report'}",
            "PYTHONMALLOC": "malloc", "OPENBLAS_NUM_THREADS": "1"}


def run(command: Sequence[str]) -> int:
    """The exit code of a Python under the sanitizers."""
    cc = compiler()
    if cc is None:
        raise SystemExit("no compiler with AddressSanitizer")
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, *command], env=environment(cc, Path(folder)), check=False)
        for report in Path(folder).glob("report*"):
            print(report.read_text(), file=sys.stderr)
        return done.returncode


if __name__ == "__main__":
    chosen = sys.argv[1:] or [str(HERE / name) for name in TESTS]
    sys.exit(run(["-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not slow", *chosen]))
