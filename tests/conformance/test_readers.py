"""The checks of readers: the bundled ones pass; one that is wrong in one way fails the check of that."""

from __future__ import annotations

from pathlib import Path

import pytest

import gridcore as gc
from gridcore.errors import CaseError
from gridcore.registry import Reader, readers
from gridcore.testing import reader_checks

DATA = Path(__file__).parents[1] / "data"
NINE = Path(__file__).parents[2] / "cases" / "wscc9" / "case.toml"


@reader_checks(readers[".toml"], NINE)
def test_the_native_format_conforms(check):
    check()


@reader_checks(readers[".raw"], DATA / "transformer_codes.raw")
def test_raw_conforms(check):
    check()


@pytest.mark.parametrize("suffix", [".m", ".xlsx"])
def test_what_gridcore_writes_conforms(suffix, tmp_path):
    file = tmp_path / f"smib{suffix}"
    gc.save_case(gc.load_case("smib"), file)
    report = reader_checks.report(readers[suffix], file)
    assert report.ok, report
    assert str(report).startswith(f"{suffix}: well\n")


LINES = "1 0.5\n2 0.25\n# a remark\n3 1e-3\n"


def read(path):
    """Lines ``number power``: a bus and a load each."""
    case = gc.Case(path.stem)
    try:
        for n, line in enumerate(path.read_text("utf-8-sig").splitlines(), 1):
            if not line.startswith("#"):
                number, power = line.split()
                case.add(gc.Record("Bus", {"id": int(number)}, str(path), f"line {n}"))
                case.add(gc.Record("ZIP", {"bus": int(number), "P0": float(power)}, str(path), f"line {n}"))
    except ValueError as error:
        raise CaseError(f"must be lines 'number power': {error!r}", file=str(path)) from None
    return case


def write(case, path):
    loads = [(record.fields["bus"], record.fields["P0"]) for record in case.of("ZIP")]
    path.write_text("".join(f"{bus} {power!r}\n" for bus, power in loads))


def placeless(path):
    case = read(path)
    case.records[-1].row = ""
    return case


def counting(path):
    case = read(path)
    with path.open("a") as stream:
        stream.write("# read\n")
    return case


def paired(path):
    """Powers as pairs, which other formats do not know."""
    case = read(path)
    for record in case:
        record.fields["pair"] = (1.0, 2.0)
    return case


def lossy(case, path):
    write(case, path)
    path.write_text("".join(path.read_text().splitlines(True)[1:]))


def unguarded(path):
    """It lets Python's own errors through."""
    try:
        return read(path)
    except CaseError as error:
        if "unpack" in str(error):
            raise ValueError("not two words") from None
        raise


def hasty(path):
    """What does not begin with a number it takes for a remark: a mark of byte order, too."""
    lines = [line for line in path.read_bytes().splitlines() if line[:1].isdigit()]
    path.with_suffix(".kept").write_bytes(b"\n".join(lines))
    case = read(path.with_suffix(".kept"))
    for record in case:
        record.file = str(path)
    return case


@pytest.mark.parametrize(("reader", "failing"), [
    (Reader(".loads", read, write), None), (Reader(".loads", placeless, write), "reads"),
    (Reader(".loads", counting, write), "again"), (Reader(".loads", paired), "kept"),
    (Reader(".loads", read, lossy), "written"), (Reader(".loads", unguarded, write), "mutants")],
    ids=lambda value: getattr(getattr(value, "read", None), "__name__", str(value)))
def test_what_is_wrong_fails_the_check_of_that_name(reader, failing, tmp_path):
    file = tmp_path / "town.loads"
    file.write_text(LINES)
    problems = reader_checks.report(reader, file).problems
    assert [words.partition(":")[0] for words in problems] == ([failing] if failing else []), problems


def test_a_mark_of_byte_order_that_swallows_a_record_is_told(tmp_path):
    file = tmp_path / "town.loads"
    file.write_text(LINES)
    assert any(words.startswith("odd files: with a mark of byte order before it, it has 4 records in place of 6")
               for words in reader_checks.report(Reader(".loads", hasty), file).problems)
