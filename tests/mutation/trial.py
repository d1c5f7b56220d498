"""A mutant on trial: written to its place in a copy of the repository, and tests run until one fails."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import cosmic_ray.plugins
import pytest
from cosmic_ray.mutating import _make_diff, use_mutation
from cosmic_ray.work_item import TestOutcome, WorkerOutcome, WorkItem, WorkResult

from .lines import Lines
from .mutants import GROUPS, group_of

FASTEST = 8  # tests that come first: they need few files, and find most mutants
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


def tried(item: WorkItem, root: Path, lines: Lines, log: Path, thorough: bool) -> WorkResult:
    """What became of a mutant; `thorough`: by all tests of its line and of their files."""
    (mutation,), group = item.mutations, group_of(item, root)
    operator = cosmic_ray.plugins.get_operator(mutation.operator_name)(**mutation.operator_args)
    own = lines.tests(mutation.module_path, mutation.start_pos[0])
    outcome, output = TestOutcome.SURVIVED, "no test fails" if own else "no test runs it"
    with use_mutation(mutation.module_path, operator, mutation.occurrence) as (before, after):
        others = sorted(own[FASTEST:] + lines.beside(own), key=lambda test: GROUPS[group].rank(test))
        for tests in (own[:FASTEST], others if thorough else lines.within(others, LONGEST)):
            limit = PATIENCE[0] + PATIENCE[1] * sum(lines.seconds[test] for test in tests)
            if tests and (code := run(root, tests, log, limit)):
                outcome, output = TestOutcome.KILLED, f"exit code {code}\n{log.read_text()[-2000:]}"
                break
    diff = "\n".join(_make_diff(before, after, mutation.module_path.relative_to(root)))
    return WorkResult(WorkerOutcome.NORMAL, output, outcome, diff)
