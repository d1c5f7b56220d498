"""Files with damage, read by every reader: all that may come of it is a case, or one line that says what is wrong.

``python -m tests.readers.mutants 2000`` reads 2000 of them and prints what became of them.
"""

from __future__ import annotations

import random
import shutil
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import gridcore as gc
from gridcore.case import load_case, save_case, validate
from gridcore.errors import GridcoreError

HERE = Path(__file__).parent
SLOW = 5.0  # s: the files are small; one that takes longer hangs
DYR = """\
1 'GENROU' 1  8.0 0.03 0.4 0.05 6.5 0 1.8 1.7 0.3 0.55 0.25 0.06 0.03 0.1 /
3, 'GENROU', 1, 8.0, 0.03, 0.4, 0.05,
   6.175, 0.0, 1.8, 1.7, 0.3, 0.55,
   0.25, 0.06, 0.03, 0.1 /USRWHT$
3 'TGOV1' 1 0.05 0.49 33 0.4 2.1 7 0 /
3 'SEXS' 1 0.1 10 200 0.05 0 5 /
"""
M = """\
function mpc = small
mpc.version = '2';
mpc.baseMVA = 100;
mpc.bus = [
	1	3	0	0	0	0	1	1.04	0	20	1	1.1	0.9;
	2	2	25	10	5	-10	1	1.02	-30	20	1	1.1	0.9;  % a remark
	7	1	10	0	0	0	1	1	0	20	1	1.1	0.9;
];
mpc.gen = [
	1	20	0	99	-99	1.04	100	1	90	0;
	2	30	5	30	-20	1.02	50	1	90	0;
];
mpc.branch = [
	1	2	0.01	0.1	0.02	0	0	0	0	0	1	-360	360;
	2	7	0	0.2	0	0	0	0	0.98	5	1	-360	360;
];
"""

WILD = ("nan", "inf", "-1", "0", "1e400", "1e-320", "99999999999999999999", "0x1", "1_0", "--2", "1.2.3", "")

Mutation = Callable[[random.Random, str], str]


def _cut(rng: random.Random, text: str) -> str:
    return text[: rng.randrange(len(text))]


def _line_lost(rng: random.Random, text: str) -> str:
    lines = text.splitlines(True)
    del lines[rng.randrange(len(lines))]
    return "".join(lines)


def _line_twice(rng: random.Random, text: str) -> str:
    lines = text.splitlines(True)
    at = rng.randrange(len(lines))
    return "".join([*lines[: at + 1], *lines[at:]])


def _lines_swapped(rng: random.Random, text: str) -> str:
    lines = text.splitlines(True)
    a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]
    return "".join(lines)


def _piece_lost(rng: random.Random, text: str) -> str:
    at = rng.randrange(len(text))
    return text[:at] + text[at + rng.randint(1, 12):]


def _symbol(rng: random.Random, text: str) -> str:
    at = rng.randrange(len(text))
    return text[:at] + rng.choice("'\"/,;= \n\t0-.eQ@![]{}#%\0\u20ac") + text[at + rng.randint(0, 1):]


def _number(rng: random.Random, text: str) -> str:
    spots = [k for k, letter in enumerate(text) if letter.isdigit()]
    if not spots:
        return text
    at = rng.choice(spots)
    return text[:at] + rng.choice(WILD) + text[at + 1:]


def _much(rng: random.Random, text: str) -> str:
    """A few bytes that ask for much: deep nesting, integers of any length, a cell without end."""
    at = rng.randrange(len(text))
    much = "[" * 3000, "{" * 3000, "a." * 500, "9" * 5000, "0x" + "f" * 5000, "x" * 200_000
    return text[:at] + rng.choice(much) + text[at:]


MUTATIONS: tuple[Mutation, ...] = (_cut, _line_lost, _line_twice, _lines_swapped, _piece_lost, _symbol, _number, _much)


def sources(folder: Path) -> dict[str, list[Path]]:
    """One small file for each format, in a folder: the files of a case, the damaged one last."""
    raw, dyr, m = folder / "a.raw", folder / "b.dyr", folder / "c.m"
    shutil.copy(HERE.parent / "data" / "transformer_codes.raw", raw)
    dyr.write_text(DYR)
    m.write_text(M)
    save_case(gc.load_case("wscc9"), folder / "d.toml")
    save_case(gc.load_case("smib"), folder / "e.xlsx")
    return {"raw": [raw], "dyr": [raw, dyr], "m": [m], "toml": [folder / "d.toml"], "xlsx": [folder / "e.xlsx"]}


def damaged(rng: random.Random, path: Path, target: Path) -> None:
    """Write a damaged copy of a file: one or more mutations of its text, or of a part of a workbook."""
    def mutate(text: str) -> str:
        for _ in range(rng.choice([1, 1, 1, 2, 4])):
            text = rng.choice(MUTATIONS)(rng, text) if text else text
        return text

    if path.suffix != ".xlsx":
        target.write_text(mutate(path.read_text()), encoding="utf-8")
        return
    if rng.random() < 0.3:
        content = bytearray(path.read_bytes())
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        target.write_bytes(bytes(content[: rng.choice([len(content), rng.randrange(len(content))])]))
        return
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(target, "w") as new:
        victim = rng.choice(old.namelist())
        for name in old.namelist():
            text = old.read(name).decode()
            new.writestr(name, mutate(text) if name == victim else text)


def outcomes(number: int, seed: int) -> Iterator[tuple[str, str, float]]:
    """(format, "read", or the name of the error with its text, seconds) of one mutant after another."""
    with tempfile.TemporaryDirectory() as folder:
        files = sources(Path(folder))
        for n in range(number):
            rng = random.Random(seed + n)
            kind = list(files)[n % len(files)]
            *others, victim = files[kind]
            target = Path(folder) / f"mutant{victim.suffix}"
            damaged(rng, victim, target)
            began = time.perf_counter()
            try:
                validate(load_case(*others, target) if others else load_case(target, alone=True))
                outcome = "read"
            except GridcoreError as error:
                outcome = f"{type(error).__name__}: {error}"
            except Exception as error:
                outcome = f"TRACEBACK (mutant {seed + n}): {type(error).__name__}: {error}"
            yield kind, outcome, time.perf_counter() - began


def main(number: int, seed: int = 0) -> int:
    """Read that many; the answer is 1 if any ended in a traceback or took too long."""
    count: Counter[tuple[str, str]] = Counter()
    slowest, bad = 0.0, []
    for kind, outcome, seconds in outcomes(number, seed):
        slowest = max(slowest, seconds)
        count[kind, outcome.partition(":")[0].partition(" (")[0]] += 1
        if outcome.startswith("TRACEBACK") or seconds > SLOW:
            bad.append(f"{kind}: {outcome} ({seconds:.1f} s)")
    for (kind, what), n in sorted(count.items()):
        print(f"{kind:<5} {what:<12} {n:>6}")
    print(f"{number} files, {len(bad)} with a traceback or longer than {SLOW:g} s; slowest {slowest:.2f} s")
    for line in bad[:20]:
        print(line)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
