"""Nothing that was promised is lost, and nothing damaged is taken, wherever a process is killed or cannot write."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from faults import campaign

pytestmark = pytest.mark.skipif(campaign.compiler() is None or "LD_PRELOAD" in os.environ,
                                reason="no compiler for Linux, or another library is loaded first")
ROOT = Path(__file__).parents[2]


def told(command, capfd, monkeypatch):
    """Exit code and output of a Python whose writes can fail."""
    monkeypatch.chdir(ROOT)
    code = campaign.preloaded(command)
    shown = capfd.readouterr()
    return code, shown.out + shown.err


def test_a_kill_and_an_error_of_each_job_that_draws_nothing_lose_nothing(capfd, monkeypatch):
    """``python -m tests.faults`` has as many as you like."""
    code, said = told(["-m", "tests.faults", "--count", "7", "--seed", "20"], capfd, monkeypatch)
    assert code == 0, said
    assert "14 faults, 0 failed" in said
    jobs = {line.split()[0] for line in said.splitlines()[:-1]}
    assert jobs == {"save", "run", "sweep", "grad", "convert", "export", "new-device"}


CARELESS = """
import errno
from tests.faults.campaign import KILL, Fault, suffer
from tests.faults.jobs import Job, demand

class Careless(Job):
    def prepare(self, folder):
        (folder / "x").write_bytes(b"old")
    def work(self, folder, promise):
        with open(folder / "x", "wb", buffering=0) as file:
            for letter in (b"n", b"e", b"w"):
                file.write(letter)
        promise(b"saved")
    def check(self, folder, promised):
        found = (folder / "x").read_bytes()
        demand(found in ((b"new",) if promised else (b"old", b"new")), f"there is {found}")

for at, error, once in ((3, KILL, False), (4, errno.EIO, True), (6, KILL, False), (6, errno.ENOSPC, False)):
    print(suffer(Careless(), Fault(0, "careless", at, error, once)).splitlines()[0])
"""


def test_the_campaign_is_able_to_fail(capfd, monkeypatch):
    """A file that is written in its place: a kill leaves a part of it, an error is a traceback."""
    code, said = told(["-c", CARELESS], capfd, monkeypatch)
    assert code == 0, said
    lines = said.splitlines()
    assert lines[0] == "Broken: there is b'n'"
    assert lines[1].startswith("exit status 4: Traceback")
    assert lines[2:] == ["done", "done"]  # it opens, writes three times, and closes
