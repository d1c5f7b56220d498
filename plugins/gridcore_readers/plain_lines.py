"""Which lines of a text are words between commas and no more, found for all of them at once.

Such a line is split at its commas; the others are for :func:`gridcore_readers.psse.split`, which takes longer by far.
"""

from __future__ import annotations

import numpy as np

PIECE = 1 << 18  # characters that are looked at together, which fit into a cache
BLANK, QUOTE, COMMA, LINE = b" ',\n"
WORD, ODD = 1, 2  # what a character may be part of
_KIND = np.full(256, WORD, np.uint8)
_KIND[[BLANK, COMMA, LINE]] = 0
_KIND[[*b'"/*\0\t\v\f\r', *range(0x1C, 0x20), *range(0x80, 0x100)]] = ODD


def odd_lines(text: str) -> set[int]:
    """Numbers, from 1, of the lines that have anything but words between commas.

    A word has no blank, or stands in single quotes that have no comma in them. Odd are also those with a character that
    is not ASCII, that may separate words or begin a remark (``/``), or that repeats a value (``2*0.4``).
    """
    found: set[int] = set()
    begin, lines = 0, 0
    while begin < len(text):
        end = text.find("\n", begin + PIECE)
        end = len(text) if end < 0 else end
        numbers, count = _odd(text[begin:end])
        found.update((numbers + lines).tolist())
        begin, lines = end + 1, lines + count
    return found


def _odd(piece: str) -> tuple[np.ndarray, int]:
    """The numbers for one piece, and how many lines it has."""
    text = np.frombuffer(f"\n{piece}\n".encode("utf-8", "surrogatepass"), np.uint8)
    kind = _KIND[text]
    ends = np.flatnonzero(text == LINE)
    quotes = np.flatnonzero(text == QUOTE)
    at = np.searchsorted(ends, quotes)
    unpaired = np.bincount(at) % 2 == 1
    quotes = quotes[~unpaired[at]]
    first, last = quotes[::2], quotes[1::2]
    wrong = (kind[first - 1] != 0) | (kind[last + 1] != 0)  # a quote within a word
    if quotes.size:
        wrong |= np.logical_or.reduceat(text == COMMA, quotes)[::2]
    blank = text == BLANK
    after = np.flatnonzero(blank[1:] & (kind[:-1] == WORD)) + 1  # blanks behind a word, and what follows them
    following = after
    while (more := blank[following]).any():
        following = following + more
    inner = after[(kind[following] != 0) & (np.searchsorted(quotes, after) % 2 == 0)]
    numbers = np.searchsorted(ends, np.concatenate([np.flatnonzero(kind == ODD), inner, first[wrong]]))
    return np.union1d(numbers, np.flatnonzero(unpaired)), len(ends) - 1
