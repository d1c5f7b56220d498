"""Jobs in processes that are killed at one of their writes, or to which it fails."""

from __future__ import annotations

import ctypes
import errno
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gridcore.errors import GridcoreError

from .jobs import JOBS, Broken, Job, jobs

SOURCE = Path(__file__).with_name("shim.c")
KILL, NEVER = 0, 10**9
DONE, IN_WORDS, FOREIGN = 0, 3, 4
SHIM = "GRIDCORE_FAULTS_SHIM"


def compiler() -> str | None:
    """What compiles the shim."""
    return shutil.which(os.environ.get("CC", "cc")) if sys.platform == "linux" else None


def preloaded(command: Sequence[str]) -> int:
    """The exit code of a Python whose writes can fail."""
    with tempfile.TemporaryDirectory() as folder:
        shim = Path(folder, "shim.so")
        subprocess.run([str(compiler()), "-O2", "-shared", "-fPIC", "-o", str(shim), str(SOURCE), "-ldl"], check=True)
        environment = {**os.environ, "LD_PRELOAD": str(shim), SHIM: str(shim)}
        return subprocess.run([sys.executable, *command], env=environment, check=False).returncode


@dataclass(frozen=True)
class Fault:
    """What happens, to which job, at which of its writes; errors to that write alone, or to all from then on."""

    number: int
    job: str
    at: int
    error: int
    once: bool

    def __str__(self) -> str:
        what = "is killed at" if self.error == KILL else \
            f"has {errno.errorcode[self.error]} at {'' if self.once else 'and after '}"
        return f"{self.job} {what} write {self.at}"


def _run(job: Job, folder: Path, at: int, error: int, once: bool) -> tuple[int, list[bytes], str, int, bool]:
    """Exit status of a copy of this process that does the job, its promises, its last words, how often it wrote, and
    whether there was something that it could not remove.
    """
    shim = ctypes.CDLL(os.environ[SHIM])
    shim.fault_arm.argtypes, shim.fault_count.restype = [ctypes.c_long, ctypes.c_int, ctypes.c_int], ctypes.c_long
    pipes = [os.pipe() for _ in range(3)]
    process = os.fork()
    if not process:
        os._exit(_child(job, folder, shim, (at, error, once), [there for _, there in pipes]))
    told: list[bytes] = []
    for here, there in pipes:
        os.close(there)
        with open(here, "rb") as stream:
            told.append(stream.read())
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    promised, rest = [], told[0]
    while rest:
        size = int.from_bytes(rest[:4])
        promised.append(rest[4: 4 + size])
        rest = rest[4 + size:]
    made, kept = map(int, told[2].split() or (0, 0))
    return status, promised, told[1].decode(), made, bool(kept)


def _child(job: Job, folder: Path, shim: Any, fault: tuple[int, int, bool], pipes: list[int]) -> int:
    promises, words, count = pipes
    warnings.simplefilter("ignore")
    code, said = DONE, ""
    shim.fault_arm(*fault)
    try:
        job.work(folder, lambda promise: os.write(promises, len(promise).to_bytes(4) + promise) and None)
    except GridcoreError as error:
        code, said = IN_WORDS, str(error)
    except BaseException:
        code, said = FOREIGN, traceback.format_exc()
    made, kept = shim.fault_count(), shim.fault_kept()
    shim.fault_arm(0, 0, 0)
    os.write(words, said.encode()[-4000:])
    os.write(count, f"{made} {kept}".encode())
    return code


def suffer(job: Job, fault: Fault) -> str:
    """What became of it: "done" (also where nothing depended on the write), "in words", "killed", or what is wrong."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        job.prepare(folder)
        status, promised, said, _, kept = _run(job, folder, fault.at, fault.error, fault.once)
        expected = {DONE: "done", IN_WORDS: "in words"} if fault.error else {DONE: "done", -signal.SIGKILL: "killed"}
        if status not in expected:
            return f"exit status {status}: {said}"
        if fault.error and status == IN_WORDS and "\n" in said:
            return f"several lines: {said}"
        if fault.error and not kept and (left := [path.name for path in folder.rglob(".*")]):
            return f"{left} left: {said}"
        try:
            with warnings.catch_warnings(action="ignore"):
                job.check(folder, promised)
        except (Broken, GridcoreError) as error:
            return f"{type(error).__name__}: {error}"
    return expected[status]


def faults(count: int, seed: int, made: dict[str, Job]) -> Iterator[Fault]:
    """So many kills, and so many errors: evenly over the jobs, of which those that are drawn are made, and at writes
    that are drawn.
    """
    writes = {}
    for name, job in made.items():
        with tempfile.TemporaryDirectory() as folder:
            job.prepare(Path(folder))
            status, _, said, writes[name], _ = _run(job, Path(folder), NEVER, errno.EIO, False)
            if status != DONE or not writes[name]:
                raise RuntimeError(f"{name} undisturbed: {writes[name]} writes, {said}")
    names = list(JOBS)
    for number in range(2 * count):
        rng, name = random.Random(f"{seed} {number}"), names[number // 2 % len(names)]
        error = KILL if number % 2 else rng.choice([errno.ENOSPC, errno.EIO])
        yield Fault(number, name, rng.randint(1, writes[name]), error, rng.random() < 0.5)


def campaign(count: int, seed: int, only: int | None = None) -> Iterator[tuple[Fault, str]]:
    """Each fault, and what became of the job."""
    count = count if only is None else only // 2 + 1
    made = jobs(list(JOBS)[:count])
    for fault in faults(count, seed, made):
        if only in (None, fault.number):
            yield fault, suffer(made[fault.job], fault)
