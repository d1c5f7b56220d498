"""Mutants, read by a process that may fail: in words, or else the mutant is found that did it."""

from __future__ import annotations

import functools
import multiprocessing
import random
import resource
import shutil
import signal
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from gridcore.errors import GridcoreError

from . import cases, sealed, studies
from .formats import Format

SECONDS, MEMORY = 2.0, 500_000_000  # of the processor, and bytes, for one file
# In turn; those that are sealed again take fifty times as long.
RUNS_AND_STORES = ("run", "store", "run", "journal", "run", "store", "journal", "run, resealed")
PATIENCE = 120.0  # s: a process that says nothing for so long waits for ever


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant.

    Attributes
    ----------
    number : int
    format : str
    what : str
        "read", "refused", or what should not be.
    text : str
        Of the error.
    seconds : float
        Of the processor.
    """

    number: int
    format: str
    what: str
    text: str = ""
    seconds: float = 0.0

    @property
    def failed(self) -> bool:
        """Whether it is neither a result nor an error in words."""
        return self.what not in ("read", "refused")


@functools.cache
def formats() -> dict[str, Format]:
    """All of them, by name."""
    made = [*cases.formats(), *studies.formats(), *sealed.formats()]
    return {each.name: each for each in made}


def format_of(number: int) -> Format:
    """The format of a mutant: every fourth one is of runs and stores."""
    if number % 4 == 0:
        return formats()[RUNS_AND_STORES[number // 4 % len(RUNS_AND_STORES)]]
    others = [each for name, each in formats().items() if name not in RUNS_AND_STORES]
    return others[(number - number // 4 - 1) % len(others)]


def lay(number: int, seed: int, name: str | None, folder: Path) -> tuple[Format, Path]:
    """Write a mutant into an empty folder, with the good files beside it."""
    chosen = formats()[name] if name else format_of(number)
    for file, good in chosen.files.items():
        (folder / file).write_bytes(good)
    path = folder / chosen.victim
    path.write_bytes(chosen.mutant(random.Random(f"{chosen.name} {seed} {number}")))
    return chosen, path


def judge(chosen: Format, path: Path) -> tuple[str, str]:
    """What comes of reading a file, and what was said of it."""
    try:
        return ("other numbers", "") if chosen.read(path) is False else ("read", "")
    except GridcoreError as error:
        if _ran_out(error):
            return f"more than {MEMORY / 1e6:.0f} MB", str(error)
        return ("several lines" if "\n" in str(error) else "refused"), f"{type(error).__name__}: {error}"
    except MemoryError:
        return f"more than {MEMORY / 1e6:.0f} MB", traceback.format_exc()
    except Exception as error:
        return "foreign exception", f"{type(error).__name__}: {error}\n{traceback.format_exc()}"


def _ran_out(error: BaseException | None) -> bool:
    """Whether an error hides that there was no memory."""
    while error is not None:
        if isinstance(error, MemoryError):
            return True
        error = error.__context__
    return False


def _work(numbers: Sequence[int], seed: int, name: str | None, parents: Connection, pipe: Connection) -> None:
    """The outcome of one mutant after another; where the process ends, the parent knows at which."""
    parents.close()
    warnings.simplefilter("ignore")
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, size + MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGVTALRM, signal.SIG_DFL)
    for number in numbers:
        with tempfile.TemporaryDirectory() as made:
            chosen, path = lay(number, seed, name, Path(made))
            pipe.send((number, chosen.name))
            signal.setitimer(signal.ITIMER_VIRTUAL, 5 * SECONDS)
            began = time.process_time()
            what, text = judge(chosen, path)
            seconds = time.process_time() - began
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            pipe.send(Outcome(number, chosen.name, what if seconds < SECONDS else f"longer than {SECONDS:g} s", text,
                              seconds))


def campaign(numbers: Sequence[int], seed: int, name: str | None = None) -> Iterator[Outcome]:
    """What became of each mutant, all of them of a format if its name is given."""
    formats()  # made once: a process that is copied from this one has them
    fork = multiprocessing.get_context("fork")
    left = list(numbers)
    while left:
        ours, theirs = fork.Pipe(duplex=False)
        process = fork.Process(target=_work, args=(left[:1000], seed, name, ours, theirs))
        process.start()
        theirs.close()
        begun = None
        try:
            while left:
                if not ours.poll(PATIENCE):
                    process.kill()
                found = ours.recv()
                if isinstance(found, Outcome):
                    begun = None
                    left.remove(found.number)
                    yield found
                else:
                    begun = found
        except EOFError:
            process.join()
            if begun is not None:
                left.remove(begun[0])
                yield Outcome(*begun, _end(process.exitcode))
            elif process.exitcode:
                raise RuntimeError(f"a mutant could not be made (exit code {process.exitcode})") from None
        finally:
            process.kill()
            process.join()


def _end(code: int | None) -> str:
    """What ended a process."""
    known = {-signal.SIGVTALRM: "hangs", -signal.SIGKILL: "waits for ever"}
    return known.get(code or 0, f"crash (exit code {code})")


def keep(number: int, seed: int, name: str | None, folder: Path) -> Outcome:
    """One mutant again, with its files in a folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    lay(number, seed, name, folder)
    return next(campaign([number], seed, name))
