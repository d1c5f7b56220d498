"""A mutant on trial: written to its place in a copy of the repository, and tests run until one fails."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import cosmic_ray.plugins
import pytest
from cosmic_ray.mutating import _make_diff, use_mutation
from cosmic_ray.work_item import TestOutcome, WorkerOutcome, WorkItem, WorkResult

from .lines import Lines
from .mutants import GROUPS, Group, group_of

FIRST = 8  # tests that come first: they need few files, and find most mutants
OWN = 4  # tests of each file of the module's own folder for one of others
NEAREST = 4  # of them, those that found mutants of the nearest lines
LONGEST = 15.0  # seconds that the others may take, where not all of them are asked for
PATIENCE = 30.0, 5.0  # a mutant hangs that takes more seconds than these, and so many times those of its tests


def preload() -> None:
    """What every trial imports of others' packages, once: trials are forked."""
    for name in ("casadi", "h5netcdf", "hypothesis", "nbklu", "networkx", "scipy.sparse.linalg", "xarray"):
        __import__(name)


def run(root: Path, arguments: Sequence[str], log: Path, seconds: float | None = None, *, bytecode: bool = False,
        plugins: Sequence[Any] = ()) -> int:
    """The exit code of pytest in a repository, in a process of its own; that of a signal where it takes too long.

    `bytecode`: leave it for later runs. That of a mutant could be taken for another's, made within the same second.
    """
    process = os.fork()
    if not process:
        code = 3
        with contextlib.suppress(BaseException):
            os.setsid()
            output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(output, 1)
            os.dup2(output, 2)
            os.chdir(root)
            sys.dont_write_bytecode = not bytecode
            os.environ |= {"PYTHONPATH": f"{root}:{root / 'plugins'}",
                           "PYTHONDONTWRITEBYTECODE": "" if bytecode else "1"}
            sys.path[:0] = [str(root), str(root / "plugins")]
            code = int(pytest.main(["-q", "-x", "-p", "no:cacheprovider", "--hypothesis-seed=0", "--disable-warnings",
                                    f"--rootdir={root}", *arguments], plugins=plugins))
            sys.stdout.flush()
        os._exit(code)
    try:
        with _alarm(seconds):
            status = os.waitpid(process, 0)[1]
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process, signal.SIGKILL)
        status = os.waitpid(process, 0)[1]
    return os.waitstatus_to_exitcode(status)


@contextlib.contextmanager
def _alarm(seconds: float | None) -> Iterator[None]:
    """Raise TimeoutError after so many seconds."""
    def late(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds or 0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def killers(output: str) -> list[str]:
    """The tests that found a mutant, by what pytest wrote; none where it hung or came to no test."""
    return re.findall(r"^(?:FAILED|ERROR) (.+?::.+?)(?: - .*)?$", output, re.MULTILINE)


def likely(tests: Sequence[str], group: Group, line: int, found: Iterable[tuple[int, str]]) -> list[str]:
    """Tests in the order in which they are tried. First those that found mutants of the nearest lines (`found`: line
    and test), then one of each file (of the module's own folder a few), another of each and so on: the tests of one
    file look at the same things.
    """
    near = sorted((abs(there - line), test) for there, test in found if test in tests)
    nearest = list(dict.fromkeys(test for _, test in near))[:NEAREST]
    count: Counter[str] = Counter()
    place = {}
    for test in tests:
        file = test.partition("::")[0]
        rank = group.rank(test)
        place[test] = test not in nearest, count[file] // (1 if rank else OWN), rank
        count[file] += 1
    return sorted(tests, key=place.__getitem__)


def tried(item: WorkItem, root: Path, lines: Lines, log: Path, thorough: bool,
          found: Iterable[tuple[int, str]] = ()) -> WorkResult:
    """What became of a mutant; `thorough`: by all tests of its line and of their files."""
    (mutation,), group = item.mutations, GROUPS[group_of(item, root)]
    operator = cosmic_ray.plugins.get_operator(mutation.operator_name)(**mutation.operator_args)
    line = mutation.start_pos[0]
    own = likely(lines.tests(mutation.module_path, line), group, line, found)
    outcome, output = TestOutcome.SURVIVED, "no test fails" if own else "no test runs it"
    with use_mutation(mutation.module_path, operator, mutation.occurrence) as (before, after):
        others = own[FIRST:] + likely(lines.beside(own), group, line, ())
        for tests in (own[:FIRST], others if thorough else lines.within(others, LONGEST)):
            limit = PATIENCE[0] + PATIENCE[1] * sum(lines.seconds[test] for test in tests)
            if tests and (code := run(root, tests, log, limit)):
                outcome, output = TestOutcome.KILLED, f"exit code {code}\n{log.read_text()[-2000:]}"
                break
    diff = "\n".join(_make_diff(before, after, mutation.module_path.relative_to(root)))
    return WorkResult(WorkerOutcome.NORMAL, output, outcome, diff)
