"""Damaged files: an error on one line, or what they say; never a traceback, a hang, or other numbers under a digest."""

from __future__ import annotations

import ctypes
import faulthandler
from collections import Counter

import pytest

from fuzz import campaign, documents, mutations, sealed
from fuzz.formats import Bytes
from gridcore.errors import GridcoreError
from gridcore.registry import registries

SEED = 1_000_000
# Those whose mutants are built to a system, made by HDF5 or read by a copy of the process take fifty times as long.
FEW = {"toml", "events", "raw", "raw 30", "raw 35", "raw, tolerated", "rawx", "dyr", "dyr, tolerated", "m", "andes",
       "power systems", "dyd", "xlsx", "andes xlsx", "sweep", "sweep rows", "nc", "run, resealed"}
NAMES = ("toml", "events", "raw", "raw 30", "raw 35", "raw, tolerated", "rawx", "dyr", "dyr, tolerated", "m", "andes",
         "power systems", "dyd", "xlsx", "andes xlsx", "objectives", "objective data", "sweep", "sweep rows",
         "wide csv", "long csv", "nc", "cfg", "dat", "binary dat", "cff", "binary cff", "run", "run, resealed",
         "store", "journal", "kernels")


@pytest.mark.parametrize("name", NAMES)
def test_a_damaged_file_is_read_or_refused_on_one_line(name):
    found = list(campaign.campaign(range(12 if name in FEW else 100), SEED, name))
    assert not [f"{each.number}: {each.what}: {each.text}" for each in found if each.failed]
    refused = sum(each.what == "refused" for each in found)
    assert refused == 0 if name == "journal" else "tolerated" in name or len(found) // 8 < refused


def test_of_a_damaged_journal_rows_are_taken_up_to_the_damage(tmp_path):
    """What it cannot prove is run again."""
    found = []
    for number in range(40):
        (folder := tmp_path / str(number)).mkdir()
        _, path = campaign.lay(number, SEED, "journal", folder)
        found.append(len(sealed.stored(path.with_name("s.db"))))
    assert sum(0 < rows < 24 for rows in found) > 3


def test_every_reader_and_companion_has_its_mutants():
    there = {name for each in campaign.formats().values() for name in each.files}
    assert set(NAMES) == set(campaign.formats())
    for registry in (registries.readers, registries.companions, registries.exporters):
        readable = {suffix for suffix in registry if getattr(registry[suffix], "read", True)}
        assert readable <= {f".{name.rpartition('.')[2]}" for name in there}


def test_a_quarter_of_a_campaign_are_runs_and_stores_and_all_formats_are_there():
    count = Counter(campaign.format_of(number).name for number in range(2000))
    assert sum(count[name] for name in {*campaign.RUNS_AND_STORES}) == 500
    assert count.keys() == campaign.formats().keys()


def failing(monkeypatch, read):
    """What becomes of a file that is read so."""
    made = Bytes("x", read, {"x": b"1"}, b"2")
    monkeypatch.setattr(campaign, "formats", lambda: {"x": made})
    return [each.what for each in campaign.campaign(range(2), 0, "x")]


def hang(path):
    while True:
        pass


def hoard(path):
    return bytearray(600_000_000)


def hidden(path):
    try:
        hoard(path)
    except MemoryError:
        raise GridcoreError("it is damaged") from None


def slow(path):
    end = campaign.time.process_time() + 0.2
    while campaign.time.process_time() < end:
        pass


def crash(path):
    faulthandler.disable()
    ctypes.string_at(0)


def lines(path):
    raise GridcoreError("one\ntwo")


@pytest.mark.parametrize(("read", "what"), [
    (lambda path: False, "other numbers"), (lambda path: 1 / 0, "foreign exception"), (lines, "several lines"),
    (hoard, "more than 500 MB"), (hidden, "more than 500 MB"), (crash, "crash (exit code -11)")])
def test_the_campaign_is_able_to_fail(monkeypatch, read, what):
    assert failing(monkeypatch, read) == [what] * 2


def test_a_file_that_takes_long_or_for_ever_is_found(monkeypatch):
    monkeypatch.setattr(campaign, "SECONDS", 0.1)
    assert failing(monkeypatch, hang) == ["hangs"] * 2
    assert failing(monkeypatch, slow)[0] == "longer than 0.1 s"


def test_a_mutant_is_made_again_from_its_number(tmp_path):
    for name in ("toml", "xlsx", "store", "run, resealed"):
        folders = [tmp_path / name / str(k) for k in range(2)]
        for folder in folders:
            folder.mkdir(parents=True)
        one, other = (campaign.lay(7, SEED, name, folder)[1] for folder in folders)
        assert one.read_bytes() == other.read_bytes() or name == "run, resealed"  # HDF5 has a clock
        assert one.read_bytes() != campaign.formats()[name].files[one.name]


def test_every_mutation_changes_a_file():
    rng, data = campaign.random.Random(1), b"a = 12.5e3\nb = 7 # x\nc = 3\n" * 20
    for mutation in mutations.TEXT:
        assert any(mutation(rng, data, data[::-1]) != data for _ in range(5))
    assert any(documents.mutant(rng, {"a": [1, {"b": 2}]}) != {"a": [1, {"b": 2}]} for _ in range(5))
