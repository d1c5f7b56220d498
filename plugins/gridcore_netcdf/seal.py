"""The end of a file of a run: a digest of all that is before it, behind what HDF5 takes for the file.

It is looked at before HDF5 sees a byte: what HDF5 makes of damaged metadata may be other numbers, a crash or no end.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

from gridcore.errors import GridcoreError

from .output import Output

_MARK, _DIGEST, _BLOCK = b"\ngridcore sha256 ", 32, 1 << 18
_SIZE = len(_MARK) + _DIGEST


def seal(output: Output) -> None:
    """Write the digest behind a file."""
    size = output.seek(0, 2)
    output.seek(0)
    found = _digest(output.read, size)
    output.write(_MARK + found)


def is_sealed(path: Path) -> bool:
    """Whether a file has a digest at its end, which is then that of the file.

    Raises
    ------
    GridcoreError
        If it is not, or the file cannot be read.
    """
    try:
        with open(path, "rb") as file:
            size = file.seek(0, 2) - _SIZE
            file.seek(max(size, 0))
            mark, there = file.read(len(_MARK)), file.read()
            if mark != _MARK:
                return False
            file.seek(0)
            found = _digest(file.read, size)
    except OSError as error:
        raise GridcoreError(f"{path}: cannot be read: {error.strerror}") from None
    if found != there:
        raise GridcoreError(f"{path}: is damaged, or was changed by another program: it is not what was saved")
    return True


def _digest(read: Callable[[int], bytes], size: int) -> bytes:
    digest = hashlib.sha256()
    for first in range(0, size, _BLOCK):
        digest.update(read(min(_BLOCK, size - first)))
    return digest.digest()
