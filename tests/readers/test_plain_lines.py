"""Lines that may be split at their commas."""

from __future__ import annotations

import random
import re

import pytest

from gridcore_readers import plain_lines
from gridcore_readers.plain_lines import odd_lines

WORD = r""" *(?:'[^',/"*\t\0]*'|[^\s'",/*\0\x1c-\x1f]*) *"""
PLAIN = re.compile(f"(?:{WORD},)*{WORD}", re.ASCII)


def by_expression(text):
    return {n for n, line in enumerate(text.split("\n"), 1) if not (line.isascii() and PLAIN.fullmatch(line))}


@pytest.mark.parametrize("line", ["1, 'A B' , 2.5,", "", "   ", ",,", "'', ''", "101,'BUS  1   ', 0.3D-01,-7", "0"])
def test_words_between_commas_are_plain(line):
    assert odd_lines(f"1\n{line}\n2") == set()


@pytest.mark.parametrize("line", [
    "1 2,3", "1, 'A,B'", "'A", "O'BRIEN", "'O''BRIEN'", "O'BRI'EN", "'A'B, 1", '"A", 1', "0 / end", "2*0.4", "1,\t2",
    "A 'B', 1", "'MÜNCHEN', 1", "1,\0,2"])
def test_what_has_anything_else_is_odd(line):
    assert odd_lines(f"1, 2\n{line}\n'A', 3") == {2}


@pytest.mark.parametrize("piece", [1, 7, 1 << 18])
def test_they_are_those_of_an_expression_in_pieces_of_any_length(monkeypatch, piece):
    monkeypatch.setattr(plain_lines, "PIECE", piece)
    rng = random.Random(5)
    for _ in range(400):
        text = "".join(rng.choice("a1 ,' \n" if rng.random() < 0.9 else "\"/*\t\0é\n")
                       for _ in range(rng.randrange(90)))
        assert odd_lines(text) == by_expression(text)
