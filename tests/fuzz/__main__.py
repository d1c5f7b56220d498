"""The command line of the campaign; the exit code is 1 where a mutant is neither read nor refused in words."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path

os.environ.setdefault("GRIDCORE_NO_COMPILER", "1")  # mutants have devices of other shapes: compilers would take hours

from . import __doc__ as about
from .campaign import Outcome, campaign, formats, keep


def table(found: list[Outcome]) -> str:
    """How many of each format ended as what."""
    count: defaultdict[str, Counter[str]] = defaultdict(Counter)
    slowest: defaultdict[str, float] = defaultdict(float)
    for each in found:
        count[each.format].update(["failed" if each.failed else each.what])
        slowest[each.format] = max(slowest[each.format], each.seconds)
    heading = ("read", "refused", "failed")
    lines = [f"{'':<16}" + "".join(f"{name:>9}" for name in (*heading, "slowest"))]
    lines += [f"{name:<16}" + "".join(f"{count[name][what]:>9}" for what in heading) + f"{slowest[name]:>7.2f} s"
              for name in formats() if name in count]
    total = Counter("failed" if each.failed else each.what for each in found)
    lines.append(f"{'all':<16}" + "".join(f"{total[what]:>9}" for what in heading)
                 + f"{max(slowest.values(), default=0):>7.2f} s")
    return "\n".join(lines)


def main() -> int:
    """Read that many."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=2000, help="mutants")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--format", choices=list(formats()), help="of this format alone")
    parser.add_argument("--only", type=int, help="this one alone, in words")
    asked = parser.parse_args()
    if asked.only is not None:
        folder = Path(tempfile.gettempdir(), f"mutant-{asked.seed}-{asked.only}")
        found = keep(asked.only, asked.seed, asked.format, folder)
        print(f"{found.format}, {folder}: {found.what}\n{found.text}")
        return int(found.failed)
    outcomes, last = [], time.monotonic()
    for each in campaign(range(asked.count), asked.seed, asked.format):
        outcomes.append(each)
        if each.failed:
            of = f" --format '{asked.format}'" if asked.format else ""
            again = f"--seed {asked.seed} --only {each.number}{of}"
            said = (each.text.splitlines() or [""])[0][:150]
            print(f"{each.format}: {each.what}: {said!r}\n    python -m tests.fuzz {again}", flush=True)
        if time.monotonic() > last + 30:
            last = time.monotonic()
            print(f"... {len(outcomes)}", flush=True)
    print(table(outcomes))
    return int(any(each.failed for each in outcomes))


if __name__ == "__main__":
    sys.exit(main())
