"""C sources compiled to libraries, once: they are cached on disk under the digest of what made them.

The cache is safe to share: a library is written to a temporary file and renamed, and carries the
digest of its own bytes, so neither a concurrent process nor a half-written file can harm.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import platform
import shutil
import stat
import subprocess
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path

from ...errors import CompilerWarning
from ...whole import folder_beside
from .library import Library


def _wide() -> tuple[str, ...]:
    """What lets kernels take four instances at once, where the processor can: the bits of a result are the same."""
    try:
        with open("/proc/cpuinfo", "rb") as told:
            return ("-mavx2",) if b" avx2 " in told.read(8192) else ()
    except OSError:
        return ()


# Without the last of these no function of a shared library may be inlined.
FLAGS = ("-O3", "-fPIC", "-shared", "-ffp-contract=off", "-fno-math-errno", "-fno-semantic-interposition", *_wide())
NO_COMPILER = "GRIDCORE_NO_COMPILER"
CACHE = "GRIDCORE_CACHE"

PATIENCE = 600.0  # s, of a compiler; large devices take minutes
_SLOW = f"equations are interpreted, which is slow. Set {NO_COMPILER}=1 if that is meant"
_FAILS = f"the C compiler {{cc}} fails, and {_SLOW}. The compiler says:\n{{said}}"
REPORTED: set[str] = set()


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


@functools.cache
def own_directory() -> tempfile.TemporaryDirectory[str]:
    """A folder of this process alone."""
    return tempfile.TemporaryDirectory(prefix="gridcore-")


def compile_libraries(sources: Sequence[str]) -> list[Library] | None:
    """The compiled form of each source, from the cache or made now; None where there is no compiler that works.

    A :class:`~gridcore.errors.CompilerWarning` says once that there is none, what a compiler that fails said, and why a
    cache is not used.
    """
    cc = compiler_path()
    if cc is None:
        if not os.environ.get(NO_COMPILER):
            _warn("cc", f"there is no C compiler, and {_SLOW}")
        return None
    with contextlib.suppress(OSError, RuntimeError):  # it cannot be made or written, or the user has no home
        directory = cache_directory().resolve()
        for folder in (*reversed(directory.parents), directory):  # nobody else can write to those that are made here
            folder.mkdir(0o700, exist_ok=True)
        refused = _refused(directory)
        if refused is None:
            return _libraries(cc, sources, directory)
        _warn(refused, f"compiled kernels are not kept, and not taken from the cache: {refused}")
    try:
        return _libraries(cc, sources, Path(own_directory().name))
    except OSError as error:
        _warn(cc, _FAILS.format(cc=cc, said=error))
        return None


def _libraries(cc: str, sources: Sequence[str], directory: Path) -> list[Library] | None:
    """The libraries of a folder, those compiled that are not in it; None if the compiler fails.

    It is an OSError if files cannot be made in it, or what is in it cannot be loaded.
    """
    stamp = os.stat(cc)
    salt = f"{cc} {stamp.st_size} {stamp.st_mtime_ns} {platform.machine()} {FLAGS}".encode()
    paths = [directory / f"{hashlib.sha256(salt + s.encode()).hexdigest()[:40]}.so" for s in sources]
    missing = {p: s for p, s in zip(paths, sources, strict=True) if not intact(p)}
    if missing and not compile_sources(cc, missing):
        return None
    return [Library(path) for path in paths]


def _refused(path: Path) -> str | None:
    """Why what lies there may not be run, by the rule of ssh; None if it may.

    It and the folders above it, up to the user's home, belong to the user or to root, and others may not write there.
    """
    home = Path("~").expanduser() if os.environ.get("HOME") else None
    for place in (path, *path.parents):
        found = os.stat(place)
        if found.st_uid not in (0, os.geteuid()):
            return f"{place} belongs to another user"
        if found.st_mode & 0o022 and (place == path or not found.st_mode & stat.S_ISVTX):
            return f"{place} may be written by others: chmod go-w"
        if place == home:
            break
    return None


def _warn(about: str, text: str) -> None:
    """Warn, once."""
    if about not in REPORTED:
        REPORTED.add(about)
        warnings.warn(text, CompilerWarning, stacklevel=2)


def compile_sources(cc: str, sources: dict[Path, str]) -> bool:
    """Compile each source to its path, as many at once as there are processors; whether that was possible."""
    from concurrent.futures import ThreadPoolExecutor  # most processes find all they need in the cache

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        said = list(pool.map(lambda item: compile_one(cc, *item), sources.items()))
    failures = [text for text in said if text is not None]
    if failures:
        _warn(cc, _FAILS.format(cc=cc, said=failures[0]))
    return not failures


def compile_one(cc: str, path: Path, source: str) -> str | None:
    """Compile one source; returns what the compiler said if it failed."""
    with folder_beside(path) as folder:
        c_file, library, words = (Path(folder, name) for name in ("kernels.c", "kernels.so", "words"))
        c_file.write_text(source)
        try:
            with open(words, "wb") as said:
                done = subprocess.run([cc, *FLAGS, "-o", str(library), str(c_file), "-lm"], stdin=subprocess.DEVNULL,
                                      stdout=said, stderr=subprocess.STDOUT, check=False, timeout=PATIENCE,
                                      env={**os.environ, "TMPDIR": folder})
        except subprocess.TimeoutExpired:
            return f"nothing for {PATIENCE:g} s"
        except OSError as error:  # it is no program
            return str(error)
        if done.returncode or not library.is_file():
            return words.read_text(errors="replace").strip() or f"nothing (exit status {done.returncode})"
        content = library.read_bytes()
        with open(library, "ab") as file:  # ELF and Mach-O loaders ignore what follows the image
            file.write(hashlib.sha256(content).digest())
        library.chmod(0o700)
        os.replace(library, path)
    return None


def intact(path: Path) -> bool:
    """Whether the library is there, a file, nobody else's, and ends in the digest of what precedes that."""
    try:
        content = b"" if _refused(path) or not stat.S_ISREG(os.lstat(path).st_mode) else path.read_bytes()
    except OSError:
        return False
    return hashlib.sha256(content[:-32]).digest() == content[-32:]
