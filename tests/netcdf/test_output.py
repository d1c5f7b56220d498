"""What HDF5 writes to: after an error of the disk nothing is written, and all that was can still be read."""

from __future__ import annotations

import errno
import os
import random

import pytest

from gridcore_netcdf.output import Output


@pytest.fixture
def output(tmp_path):
    with open(tmp_path / "file", "w+b") as file:
        yield Output(file.fileno())


@pytest.mark.parametrize("good", [0, 3, 10**6])
def test_what_was_written_is_read_also_after_the_disk_has_failed(output, monkeypatch, good):
    """Writes of which the first `good` succeed, anywhere, over each other; and reads anywhere."""
    draw, write, left, expected = random.Random(good), os.pwrite, [good], bytearray(300)

    def failing(handle, data, at):
        if not left[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        left[0] -= 1
        return write(handle, data[: max(1, len(data) // 2)], at)  # a part, as the system may

    monkeypatch.setattr(os, "pwrite", failing)
    end = 0
    for _ in range(200):
        at, data = draw.randrange(200), draw.randbytes(draw.randrange(1, 60))
        assert output.seek(at) == at
        assert output.write(data) == len(data)
        assert output.tell() == at + len(data)
        expected[at: at + len(data)], end = data, max(end, at + len(data))
        first, size = draw.randrange(250), draw.randrange(1, 50)
        output.seek(first)
        assert output.read(size) == expected[first: first + size]
        assert output.tell() == first + size
    assert output.seek(-7, os.SEEK_END) == end - 7
    if good < 10**6:
        with pytest.raises(OSError, match="No space left"):
            output.check()
    else:
        output.check()


def test_what_lies_beyond_the_end_is_read_as_zeros(output):
    output.write(b"abc")
    output.seek(1)
    assert output.read(5) == b"bc\0\0\0"


def test_the_first_error_is_the_one_that_is_told(output, monkeypatch):
    errors = iter([OSError("first"), OSError("second")])

    def fail(*_):
        raise next(errors)

    monkeypatch.setattr(os, "pwrite", fail)
    monkeypatch.setattr(os, "pread", fail)
    output.write(b"abc")
    output.seek(0)
    assert output.read(4) == b"abc\0"
    monkeypatch.setattr(os, "ftruncate", lambda *_: (_ for _ in ()).throw(OSError("third")))
    output.truncate(2)
    with pytest.raises(OSError, match="first"):
        output.check()
