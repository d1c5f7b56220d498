"""C sources compiled to libraries, once: they are cached on disk under the digest of what made them.

The cache is safe to share: a library is written to a temporary file and renamed, and carries the
digest of its own bytes, so neither a concurrent process nor a half-written file can harm.
"""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path

from ...errors import CompilerWarning
from .library import Library

# -O3 unrolls the copies around a call; without the last one no function of a shared library may be inlined.
FLAGS = ("-O3", "-fPIC", "-shared", "-ffp-contract=off", "-fno-math-errno", "-fno-semantic-interposition")
NO_COMPILER = "GRIDCORE_NO_COMPILER"
CACHE = "GRIDCORE_CACHE"

_REPORTED: set[str] = set()


@functools.cache
def compiler_path() -> str | None:
    """Path of the C compiler, or None where there is none (or ``GRIDCORE_NO_COMPILER`` is set)."""
    if os.environ.get(NO_COMPILER):
        return None
    return shutil.which(os.environ.get("CC", "cc")) or shutil.which("gcc") or shutil.which("clang")


def cache_directory() -> Path:
    """Where compiled kernels are kept: ``GRIDCORE_CACHE``, else the user's cache directory."""
    if os.environ.get(CACHE):
        return Path(os.environ[CACHE])
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gridcore" / "kernels"


def compile_libraries(sources: Sequence[str]) -> list[Library] | None:
    """The compiled form of each source, from the cache or made now; None where there is no compiler that works.

    A :class:`~gridcore.errors.CompilerWarning` says once what a compiler that fails said.
    """
    cc = compiler_path()
    if cc is None:
        return None
    directory = cache_directory()
    stamp = os.stat(cc)
    salt = f"{cc} {stamp.st_size} {stamp.st_mtime_ns} {platform.machine()} {FLAGS}".encode()
    names = [f"{hashlib.sha256(salt + s.encode()).hexdigest()[:40]}.so" for s in sources]
    if not all(_intact(directory / name) for name in names) and not _writable(directory):
        directory = Path(tempfile.mkdtemp(prefix="gridcore-"))
    paths = [directory / name for name in names]
    missing = {p: s for p, s in zip(paths, sources, strict=True) if not _intact(p)}
    if missing and not _compile(cc, missing):
        return None
    return [Library(s, p) for s, p in zip(sources, paths, strict=True)]


def _compile(cc: str, sources: dict[Path, str]) -> bool:
    """Compile each source to its path, as many at once as there are processors; whether that was possible."""
    from concurrent.futures import ThreadPoolExecutor  # most processes find all they need in the cache

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        said = list(pool.map(lambda item: _compile_one(cc, *item), sources.items()))
    failures = [text for text in said if text is not None]
    if failures and cc not in _REPORTED:
        _REPORTED.add(cc)
        warnings.warn(f"the C compiler {cc} fails, and equations are interpreted, which is slow. Set {NO_COMPILER}=1 "
                      f"if that is meant. The compiler says:\n{failures[0]}", CompilerWarning, stacklevel=2)
    return not failures


def _compile_one(cc: str, path: Path, source: str) -> str | None:
    """Compile one source; returns what the compiler said if it failed."""
    handle, name = tempfile.mkstemp(suffix=".c", dir=path.parent)
    with os.fdopen(handle, "w") as file:
        file.write(source)
    c_file, library = Path(name), Path(name).with_suffix(".tmp")
    done = subprocess.run([cc, *FLAGS, "-o", str(library), str(c_file), "-lm"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    c_file.unlink(missing_ok=True)
    if done.returncode == 0:
        content = library.read_bytes()
        with open(library, "ab") as file:  # ELF and Mach-O loaders ignore what follows the image
            file.write(hashlib.sha256(content).digest())
        os.replace(library, path)
        return None
    library.unlink(missing_ok=True)
    return done.stdout.decode(errors="replace").strip() or f"nothing (exit status {done.returncode})"


def _writable(directory: Path) -> bool:
    """Whether files can be made there; makes the directory if it can."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            return True
    except OSError:
        return False


def _intact(path: Path) -> bool:
    """Whether the library is there and its last 32 bytes are the digest of what precedes them."""
    try:
        content = path.read_bytes()
    except OSError:
        return False
    return hashlib.sha256(content[:-32]).digest() == content[-32:]
