"""Where HDF5 writes: a file of which it sees no failure, for HDF5 ends the process over a write that fails.

A file that cannot be written cannot be closed either, and comes down with the interpreter: a segmentation fault at a
full disk. So the first error is kept for :meth:`Output.check`, and what is written after it stays in memory, so that
HDF5 reads back what it wrote. That is little: the writer checks after each part.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any


class Output:
    """A file for h5py, open for reading and writing.

    Parameters
    ----------
    handle : int
        Of the file, which is empty.
    """

    def __init__(self, handle: int):
        self._handle, self._at, self._end = handle, 0, 0
        self._error: OSError | None = None
        self._late: list[tuple[int, bytes]] = []

    def check(self) -> None:
        """Raise what went wrong so far."""
        if self._error is not None:
            raise self._error

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Where to read or write next."""
        self._at = offset + (self._end if whence == os.SEEK_END else 0)
        return self._at

    def tell(self) -> int:
        """Where it is read or written next."""
        return self._at

    def write(self, data: Any) -> int:
        """Write all of it."""
        rest, size = memoryview(data), len(data)
        while self._error is None and len(rest):
            try:
                written = os.pwrite(self._handle, rest, self._at)
            except OSError as error:
                self._error = error
            else:
                rest, self._at = rest[written:], self._at + written
        if len(rest):
            self._late.append((self._at, bytes(rest)))
        self._at += len(rest)
        self._end = max(self._end, self._at)
        return size

    def read(self, size: int) -> bytes:
        """So many bytes; zeros beyond the end, as HDF5 wants them."""
        try:
            found = os.pread(self._handle, size, self._at)
        except OSError as error:
            self._error, found = self._error or error, b""
        found = found.ljust(size, b"\0")
        for at, data in self._late:
            first, last = max(at, self._at), min(at + len(data), self._at + size)
            if first < last:
                found = found[: first - self._at] + data[first - at: last - at] + found[last - self._at:]
        self._at += size
        return found

    def truncate(self, size: int) -> None:
        """End the file here."""
        self._end = size
        try:
            os.ftruncate(self._handle, size)
        except OSError as error:
            self._error = self._error or error

    def flush(self) -> None:
        """Nothing is held back."""


def undisturbed(work: Callable[[], None]) -> None:
    """Do it in a thread of its own, to the end: no signal, Ctrl-C say, breaks into HDF5 there."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(work).result()
