"""What damages a file: its bytes, its lines, its numbers. All is drawn from the generator that is given."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

Mutation = Callable[[random.Random, bytes, bytes], bytes]
"""Of a generator, the file, and another of its format."""

WILD = (b"nan", b"inf", b"-1", b"0", b"-0.0", b"1e308", b"-1e308", b"1e400", b"1e-320", b"1e12", b"1000000000000",
        b"99999999999999999999", b"9" * 5000, b"0x1", b"1_0", b"--2", b"1.2.3", b"")
MUCH = (b"[" * 3000, b"{" * 3000, b"(" * 3000, b"a." * 500, b"9" * 5000, b"0x" + b"f" * 5000, b"x" * 200_000,
        b"\n" * 5000)
SYMBOLS = [bytes([letter]) for letter in b"'\"/,;= \n\t0-.eQ@![]{}#%\0\xff"] + ["€".encode()]
_NUMBER = re.compile(rb"-?\d+(\.\d*)?([eE][-+]?\d+)?")


def _flip(rng: random.Random, data: bytes, other: bytes) -> bytes:
    out = bytearray(data)
    end = len(out) if rng.random() < 0.7 else min(len(out), 256)  # what the head says decides how the rest is read
    out[rng.randrange(end)] ^= 1 << rng.randrange(8)
    return bytes(out)


def _cut(rng: random.Random, data: bytes, other: bytes) -> bytes:
    return data[: rng.randrange(len(data))]


def _blocks(rng: random.Random, data: bytes) -> tuple[int, slice, slice]:
    """The size of blocks, and two of them."""
    size = rng.choice([1, 8, 64, 512, 4096])
    one, two = (size * rng.randrange(-(-len(data) // size)) for _ in range(2))
    return size, slice(one, one + size), slice(two, two + size)


def _block_lost(rng: random.Random, data: bytes, other: bytes) -> bytes:
    _, one, _ = _blocks(rng, data)
    return data[: one.start] + data[one.stop:]


def _block_twice(rng: random.Random, data: bytes, other: bytes) -> bytes:
    _, one, two = _blocks(rng, data)
    return data[: two.start] + data[one] + data[two.start:]


def _block_zero(rng: random.Random, data: bytes, other: bytes) -> bytes:
    _, one, _ = _blocks(rng, data)
    return data[: one.start] + bytes(len(data[one])) + data[one.stop:]


def _blocks_swapped(rng: random.Random, data: bytes, other: bytes) -> bytes:
    _, one, two = _blocks(rng, data)
    out = bytearray(data)
    size = min(len(data[one]), len(data[two]))
    one, two = (slice(each.start, each.start + size) for each in (one, two))
    out[one], out[two] = data[two], data[one]
    return bytes(out)


def _splice(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """The beginning of one and the end of the other, or a block of the other in its place."""
    size, one, _ = _blocks(rng, data)
    if rng.random() < 0.5:
        return data[: one.start] + other[one.start + rng.choice([0, 0, size]):]
    return data[: one.start] + other[one] + data[one.stop:]


BYTES: tuple[Mutation, ...] = (_flip, _flip, _cut, _block_lost, _block_twice, _block_zero, _blocks_swapped, _splice)


def _lines(change: Callable[[random.Random, list[bytes], list[bytes]], object]) -> Mutation:
    """A mutation of the list of lines."""
    def mutate(rng: random.Random, data: bytes, other: bytes) -> bytes:
        lines = data.splitlines(True)
        change(rng, lines, other.splitlines(True))
        return b"".join(lines)
    return mutate


def _line_lost(rng: random.Random, lines: list[bytes], other: list[bytes]) -> None:
    del lines[rng.randrange(len(lines))]


def _line_twice(rng: random.Random, lines: list[bytes], other: list[bytes]) -> None:
    at = rng.randrange(len(lines))
    lines.insert(at, lines[at])


def _lines_swapped(rng: random.Random, lines: list[bytes], other: list[bytes]) -> None:
    a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]


def _line_of_another(rng: random.Random, lines: list[bytes], other: list[bytes]) -> None:
    lines.insert(rng.randrange(len(lines) + 1), rng.choice(other))


def _piece_lost(rng: random.Random, data: bytes, other: bytes) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + data[at + rng.randint(1, 12):]


def _symbol(rng: random.Random, data: bytes, other: bytes) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + rng.choice(SYMBOLS) + data[at + rng.randint(0, 1):]


def _number(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """A number becomes another, or a digit of it."""
    found = list(_NUMBER.finditer(data))
    if not found:
        return data
    number = rng.choice(found)
    first, last = number.span()
    if rng.random() < 0.3:
        first = rng.randrange(first, last)
        last = first + 1
    return data[:first] + rng.choice(WILD) + data[last:]


def _much(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """A few bytes that ask for much: deep nesting, integers of any length, a cell without end."""
    at = rng.randrange(len(data))
    return data[:at] + rng.choice(MUCH) + data[at:]


TEXT: tuple[Mutation, ...] = (
    *BYTES, _lines(_line_lost), _lines(_line_twice), _lines(_lines_swapped), _lines(_line_of_another), _piece_lost,
    _symbol, _symbol, _number, _number, _number, _much)


def mutated(rng: random.Random, data: bytes, other: bytes, mutations: Sequence[Mutation]) -> bytes:
    """One mutation, or a few."""
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        data = rng.choice(mutations)(rng, data, other) if data else data
    return data
