import errno
import os

import pytest

import gridcore as gc
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


RAW = """0, 100.0, 33, 0, 1, 60.0 / x
one
two
1,'A', 100.0,3,1,1,1,1.0,0.0
2,'B', 100.0,1,1,1,1,1.0,0.0
0 /
2,'1',1,1,1,10.0,5.0,0,0,0,0,1
0 /
0 /
1,'1',10.0,0.0,50.0,-50.0,1.0,0,100.0,0.0,0.2,0,0,1.0,1,100.0,100.0,0.0
0 /
1,2,'1',0.01,0.1,0.0,0,0,0,0,0,0,0,1
0 /
""" + "0 /\n" * 14 + "Q\n"


@pytest.mark.parametrize(("given", "models"), [
    ([], {"GENCLS"}), (["events.toml"], {"GENCLS", "BusFault"}), (["other.dyr"], {"GENROU"}),
    (["events.toml", "other.dyr"], {"GENROU", "BusFault"})])
def test_what_stands_beside_a_file_is_read_unless_one_of_that_format_is_given(tmp_path, given, models):
    (tmp_path / "x.raw").write_text(RAW)
    (tmp_path / "x.dyr").write_text("1 'GENCLS' '1' 5.0 0.0 /\n")
    (tmp_path / "other.dyr").write_text(
        "1 'GENROU' '1' 6.0 0.05 1.0 0.05 4.0 0.0 1.8 1.7 0.3 0.55 0.25 0.2 0.05 0.3 /\n")
    (tmp_path / "events.toml").write_text("BusFault = [{bus = 2, t = 0.1, clear = 0.2}]\n")
    case = gc.load_case(tmp_path / "x.raw", *(tmp_path / name for name in given))
    assert {record.model for record in case} & {"GENCLS", "GENROU", "BusFault"} == models
    assert not [note for note in case.notes if "beside it" in note]


def test_that_nothing_stands_beside_a_file_is_told_unless_it_is_to_be_read_alone(tmp_path):
    (tmp_path / "x.raw").write_text(RAW)
    (tmp_path / "events.toml").write_text("BusFault = [{bus = 2, t = 0.1, clear = 0.2}]\n")
    for given in ([], ["events.toml"]):
        files = [tmp_path / name for name in given]
        assert "there is no x.dyr beside it" in " ".join(gc.load_case(tmp_path / "x.raw", *files).notes)
        assert "beside it" not in " ".join(gc.load_case(tmp_path / "x.raw", *files, alone=True).notes)
