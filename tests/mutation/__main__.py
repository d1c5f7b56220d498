"""The command: see :mod:`tests.mutation`."""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import WorkResult

from .lines import Lines, Watch
from .mutants import GROUPS, group_of, mutants
from .survivors import change, listed
from .trial import killers, preload, run, tried

REPOSITORY = Path(__file__).parents[2]


def copied(root: Path) -> None:
    """The files of the repository as they are now, in a folder of their own."""
    shutil.rmtree(root, ignore_errors=True)
    names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=REPOSITORY,
                           capture_output=True, text=True, check=True).stdout
    for name in filter(None, names.split("\0")):
        if (REPOSITORY / name).exists():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(REPOSITORY / name, root / name)


def watched(root: Path, work: Path, groups: set[str], slow: bool) -> Lines:
    """Which tests run which lines, by a run of them all before anything is mutated."""
    folders = sorted({str(root / "tests" / folder) for name in groups for folder in GROUPS[name].tests})
    modules = [str(root / pattern) for group in GROUPS.values() for pattern in group.modules]
    watch = Watch(root, modules, work / "lines.json")
    code = run(root, [*folders, "-m", "" if slow else "not slow"], work / "log", bytecode=True, plugins=[watch])
    if code:
        raise SystemExit(f"the tests fail before anything is mutated:\n{(work / 'log').read_text()[-3000:]}")
    return Lines(root, work / "lines.json")


def report(outcomes: list[tuple[str, WorkResult]]) -> int:
    """Print scores and survivors; the exit code is 1 where one is not argued."""
    known, unknown = listed(), []
    count: dict[str, Counter[str]] = {name: Counter() for name in GROUPS}
    for name, result in outcomes:
        if result.is_killed:
            count[name]["killed"] += 1
            continue
        reason = known.get(change(result.diff), "open: not listed")
        count[name]["survived" if reason.startswith("open:") else "equivalent"] += 1
        if change(result.diff) not in known:
            unknown.append(result)
    for result in unknown:
        module, before, after = change(result.diff)
        print(f"\n{module}\n- {before}\n+ {after}\n{result.output}")
    count["all"] = sum(count.values(), Counter())
    print(f"\n{'':12} mutants  killed  equivalent  survived  of all  of all but equivalent")
    for name, c in count.items():
        if c:
            total, apart = c.total(), c.total() - c["equivalent"]
            print(f"{name:12}{total:8}{c['killed']:8}{c['equivalent']:12}{c['survived']:10}"
                  f"{c['killed'] / total:8.1%}{c['killed'] / max(apart, 1):12.1%}")
    return 1 if unknown else 0


def main() -> int:
    """Try mutants, and say what became of them."""
    ask = argparse.ArgumentParser(prog="python -m tests.mutation", description="mutation testing")
    ask.add_argument("--sample", type=int, help="so many mutants at random; by default all")
    ask.add_argument("--seed", type=int, default=1)
    ask.add_argument("--only", default="", help="a part of the path of modules")
    ask.add_argument("--again", action="store_true", help="what survived in the last session or was not tried")
    ask.add_argument("--slow", action="store_true", help="by all tests of their lines, slow ones too")
    ask.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "gridcore-mutation",
                     help="folder of the copy and the session")
    options = ask.parse_args()
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    root, log = options.work / "copy", options.work / "log"
    copied(root)
    with use_db(options.work / "session.sqlite", WorkDB.Mode.create) as session:
        if options.again:
            left = [*session.pending_work_items,
                    *(item for item, result in session.completed_work_items if not result.is_killed)]
        else:
            every = [item for item in mutants(root) if options.only in str(item.mutations[0].module_path)]
            size = min(options.sample or len(every), len(every))
            print(f"{size} of {len(every)} mutants")
            left = random.Random(options.seed).sample(every, size)
            session.clear()
            session.add_work_items(left)
        lines = watched(root, options.work, {group_of(item, root) for item in left}, options.slow)
        preload()
        found: dict[Path, list[tuple[int, str]]] = defaultdict(list)  # of a module: lines of mutants, and their killers
        for number, item in enumerate(left):
            (place,) = item.mutations
            result = tried(item, root, lines, log, options.slow, found[place.module_path])
            found[place.module_path] += [(place.start_pos[0], test) for test in killers(result.output)]
            session.set_result(item.job_id, result)
            print(f"{number + 1}/{len(left)} {result.test_outcome.value}", *change(result.diff), sep=" | ", flush=True)
        return report([(group_of(item, root), result) for item, result in session.completed_work_items])


if __name__ == "__main__":
    sys.exit(main())
