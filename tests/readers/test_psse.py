"""Free-format records of PSS/E: what separates, what quotes, what ends them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridcore.errors import CaseError
from gridcore_readers.psse import Row, columns, element, listed, split


@pytest.mark.parametrize(("text", "words"), [
    ("1, 2.5 ,'A B ', 3", ["1", "2.5", "A B", "3"]),
    ("1 2.5 'A B ' 3", ["1", "2.5", "A B", "3"]),
    ("1,,3", ["1", "", "3"]),
    ("1,2,", ["1", "2"]),
    ('1,"A, B",3', ["1", "A, B", "3"]),
    ("'A/B' , 'it is \"so\"'", ["A/B", 'it is "so"']),
    ("", []),
])
def test_words(text, words):
    assert split(text) == (words, None)
    assert split(text + " / a comment, with 'quotes") == (words, " a comment, with 'quotes")


def test_blanks_separate_beside_commas_where_they_may():
    assert split("30, 'TGOV1' 1, 0.05 0.4,,", blanks=True)[0] == ["30", "TGOV1", "1", "0.05", "0.4"]
    assert split("1, NEW YORK ,2")[0] == ["1", "NEW YORK", "2"]


@pytest.mark.parametrize(("text", "words"), [
    ("1,'O''BRIEN',2", ["1", "O'BRIEN", "2"]), ("1,O'BRIEN,2", ["1", "O'BRIEN", "2"]), ("1,'',2", ["1", "", "2"]),
    ("'A B' 4, 5", ["A B", "4", "5"]), ("1, 0.5  2.5,NEW YORK", ["1", "0.5", "2.5", "NEW YORK"]),
    ("2*0.4,1", ["0.4", "0.4", "1"]),
])
def test_quotes_in_names_and_blanks_beside_commas(text, words):
    assert split(text) == (words, None)


@pytest.mark.parametrize("text", ["1,'A,2", "1,'A','", '1,"A', "1,'A'B',2"])
def test_a_quote_that_is_not_closed_is_an_error(text):
    with pytest.raises(CaseError, match="a quote is not closed"):
        split(text)


words = st.text(st.characters(codec="utf-8", exclude_characters="\0'\""), max_size=8)


@given(st.lists(words.filter(lambda word: word == word.strip()), min_size=1).filter(lambda all: all[-1]))
def test_whatever_stands_in_quotes_is_a_word(all_words):
    assert split(", ".join(f"'{word}'" for word in all_words) + " / rest")[0] == all_words


ROW = columns("I NAME= X=1.5 N=0")


def row(*words: str) -> Row:
    return Row(list(words), ROW, "x.raw", "bus row 1 (line 4)")


def test_columns_have_defaults():
    assert (row("7").text("NAME"), row("7").number("X"), row("7", "", "").number("X")) == ("", 1.5, 1.5)
    with pytest.raises(CaseError, match=r"x\.raw: bus row 1 \(line 4\): field 'I': missing: the record has 0 values"):
        row().integer("I")


def test_numbers_are_those_of_fortran_and_finite():
    for word in ("1.25D+02", "1.25+2", "1.25d2", "125."):
        assert row("7", "", word).number("X") == 125
    assert row("7", "", "", "3.0").integer("N") == 3
    for word in ("12a", "nan", "inf", "1e999"):
        with pytest.raises(CaseError, match=r"field 'X': .* is not a number"):
            row("7", "", word).number("X")
    with pytest.raises(CaseError, match=r"'2\.5' is not a whole number"):
        row("7", "", "", "2.5").integer("N")


def test_the_first_element_at_a_place_has_the_plain_name():
    assert [element("GEN7", id) for id in ("1", "", "2", "A", "*1")] == ["GEN7", "GEN7", "GEN7_2", "GEN7_A", "GEN7_-1"]


def test_a_long_list_is_shortened_and_each_is_told_once():
    assert listed([3, 1, 3]) == "3, 1"
    assert listed(range(30), 3) == "0, 1, 2, ... (30 in all)"
