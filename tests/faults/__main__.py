"""The command line of the campaign; the exit code is 1 where something was lost, or something damaged was taken."""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter

from . import __doc__ as about
from .campaign import KILL, SHIM, campaign, compiler, preloaded


def main() -> int:
    """Suffer that many kills and errors."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=40, help="of kills, and of errors")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="this one alone, in words")
    asked = parser.parse_args()
    if SHIM not in os.environ:
        if compiler() is None:
            raise SystemExit("no compiler")
        return preloaded(["-m", __spec__.name.removesuffix(".__main__"), *sys.argv[1:]])
    counts: Counter[tuple[str, str, str]] = Counter()
    for fault, what in campaign(asked.count, asked.seed, asked.only):
        good = what in ("done", "in words", "killed")
        counts[fault.job, "kills" if fault.error == KILL else "errors", what if good else "FAILED"] += 1
        if not good or asked.only is not None:
            print(f"{fault} (--seed {asked.seed} --only {fault.number}): {what}", flush=True)
    for (job, kind, what), number in sorted(counts.items()):
        print(f"{job:<10} {kind:<7} {what:<9} {number:>5}")
    bad = sum(number for (_, _, what), number in counts.items() if what == "FAILED")
    print(f"{counts.total()} faults, {bad} failed")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
