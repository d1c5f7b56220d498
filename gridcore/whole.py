"""Writing files whole or not at all."""

from __future__ import annotations

import contextlib
import glob
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from .errors import CaseError, GridcoreError


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A temporary name to write to; what is there takes the place of `path`, on disk for good, when all went well.

    Raises
    ------
    CaseError
        If the file cannot be written.
    """
    temporary = path
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with folder_beside(path) as folder:
            temporary = Path(folder, path.name)
            yield temporary
            _sync(temporary)
            os.replace(temporary, path)
            _sync(path.parent)
    except GridcoreError as error:
        error.args = (str(error).replace(str(temporary), str(path)),)
        if isinstance(error, CaseError):
            error.file = error.file.replace(str(temporary), str(path))
        raise
    except OSError as error:
        raise CaseError(f"cannot be written: {error.strerror or error}", file=str(path)) from None


def folder_beside(path: Path) -> tempfile.TemporaryDirectory[str]:
    """A hidden folder that has its writer's process in its name; those of processes that are no more are removed."""
    begin = f".{path.name}.{os.uname().nodename}."
    for left in path.parent.glob(f"{glob.escape(begin)}[0-9]*.????????"):
        if not os.path.exists(f"/proc/{left.name.removeprefix(begin).partition('.')[0]}"):
            shutil.rmtree(left, ignore_errors=True)
    return tempfile.TemporaryDirectory(prefix=f"{begin}{os.getpid()}.", dir=path.parent, ignore_cleanup_errors=True)


def _sync(path: Path) -> None:
    """What is written is on disk, or it is an OSError."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
