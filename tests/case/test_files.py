import errno
import os

import pytest

from gridcore.case import Case, load_case, save_case
from gridcore.errors import CaseError
from gridcore.registry import Cases, Reader, registered


def test_a_reader_is_found_by_the_longest_suffix(tmp_path):
    case = Case("any")

    def write(case, path):
        path.write_text(case.name)

    (tmp_path / "A.GRID.TXT").touch()
    (tmp_path / "b.txt").touch()
    with registered(Reader(".txt", lambda path: "short"),
                    Reader(".grid.txt", lambda path: case, write)):
        assert load_case(tmp_path / "A.GRID.TXT") is case
        assert load_case(str(tmp_path / "b.txt")) == "short"
        save_case(case, tmp_path / "c.grid.txt")
        assert (tmp_path / "c.grid.txt").read_text() == "any"
        with pytest.raises(CaseError, match="read but not written"):
            save_case(case, tmp_path / "c.txt")
        with pytest.raises(CaseError, match=r"there are: .*\.grid\.txt, .*\.txt"):
            save_case(case, tmp_path / "c.docx")
        with pytest.raises(CaseError, match="no such file"):
            load_case(tmp_path / "none.txt")


def test_an_unknown_case_is_answered_with_the_nearest_shipped_one(tmp_path):
    for name in ("wscc9", "smib"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "case.toml").touch()
    message = "no case 'wsc9', shipped or as a file; did you mean wscc9"
    with registered(Cases("gridcore", tmp_path)), pytest.raises(CaseError, match=message):
        load_case("wsc9")


def test_a_case_is_written_into_a_folder_that_is_made(tmp_path):
    case = load_case("smib")
    save_case(case, tmp_path / "new" / "deep" / "x.toml")
    assert load_case(tmp_path / "new" / "deep" / "x.toml").records == case.records


def test_a_file_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(CaseError, match=r"x\.toml: cannot be written: (Not a directory|File exists)"):
        save_case(load_case("smib"), tmp_path / "file" / "x.toml")
    (tmp_path / "y.toml").mkdir()
    with pytest.raises(CaseError, match=r"y\.toml: cannot be written: Is a directory"):
        save_case(load_case("smib"), tmp_path / "y.toml")


def test_a_case_that_cannot_be_written_whole_leaves_the_file_that_was_there(tmp_path):
    def write(case, path):
        path.write_text("half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "c.full"
    path.write_text("of before")
    with registered(Reader(".full", lambda path: Case("any"), write)), \
            pytest.raises(CaseError, match=r"c\.full: cannot be written: No space left on device"):
        save_case(Case("any"), path)
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("c.full", "of before")]


def test_an_error_of_a_writer_is_of_the_file_that_was_asked_for(tmp_path):
    def write(case, path):
        raise CaseError("has no place for a fault", file=str(path))

    path = tmp_path / "c.no"
    with registered(Reader(".no", lambda path: Case("any"), write)), pytest.raises(CaseError) as told:
        save_case(Case("any"), path)
    assert (told.value.file, str(told.value)) == (str(path), f"{path}: has no place for a fault")


@pytest.mark.parametrize("name", ["a\0b", "a" * 5000])
def test_a_name_that_no_file_can_have_is_that_of_no_case(name):
    with pytest.raises(CaseError, match="there is no case"):
        load_case(name)


def test_a_number_whose_square_is_beyond_all_numbers_is_told_whatever_the_reader(tmp_path):
    def square(path):
        return Case("large", base=float(path.read_text()) ** 2)

    path = tmp_path / "large.number"
    path.write_text("1e200")
    with registered(Reader(".number", square)), pytest.raises(
            CaseError, match=r"large\.number: has a number that is too large, or too small, to calculate with"):
        load_case(path)
