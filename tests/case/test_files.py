import pytest

from gridcore.case.files import load_case, save_case
from gridcore.case.records import Case
from gridcore.errors import CaseError
from gridcore.registry import registries as plugins


def test_a_reader_is_found_by_the_longest_suffix(monkeypatch, tmp_path):
    case = Case("any")
    registry = plugins.Registry("file format", "register_readers")
    registry._items = {}
    written = {}
    registry._register(registry._items, "tests", ".txt", lambda path: "short")
    registry._register(registry._items, "tests", ".grid.txt", lambda path: case,
                       lambda c, path: written.update({path.name: c}))
    monkeypatch.setattr(plugins, "readers", registry)
    (tmp_path / "A.GRID.TXT").touch()
    (tmp_path / "b.txt").touch()
    assert load_case(tmp_path / "A.GRID.TXT") is case
    assert load_case(str(tmp_path / "b.txt")) == "short"
    save_case(case, tmp_path / "c.grid.txt")
    assert written == {"c.grid.txt": case}
    with pytest.raises(CaseError, match="read but not written"):
        save_case(case, tmp_path / "c.txt")
    with pytest.raises(CaseError, match=r"there are: \.grid\.txt, \.txt"):
        save_case(case, tmp_path / "c.xlsx")
    with pytest.raises(CaseError, match="no such file"):
        load_case(tmp_path / "none.txt")


def test_an_unknown_case_is_answered_with_the_nearest_shipped_one(monkeypatch, tmp_path):
    for name in ("wscc9", "smib"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "case.toml").touch()
    monkeypatch.setattr("gridcore.case.files._case_folders", lambda: [tmp_path])
    with pytest.raises(CaseError, match="no case 'wsc9', shipped or as a file; did you mean wscc9"):
        load_case("wsc9")
