"""What ten seconds cost per unknown, with fixed steps and with chosen ones: ``python -m tests.bench unknowns``.

The systems of :mod:`.suite`, as they are shipped; the 2000-bus system, where its files are, with its bolted fault.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import gridcore as gc

from .ratios import Ratio, best, show
from .suite import LARGE, SIZES, build

T_END, STEP, MOST = 10.0, 0.01, 2.0
HOW: dict[str, dict[str, Any]] = {"steps of 10 ms": {"step": STEP},
                                  "BDF, rtol = 1e-3": {"step": "auto", "method": "bdf", "rtol": 1e-3, "atol": 1e-5}}

COUNTS = ("steps", "locations", "newton_iterations", "location_iterations", "resolve_iterations", "factorisations")


def measure(rounds: int = 3, t_end: float = T_END, most: int = 2000) -> Iterator[Ratio]:
    """Time of a run over its unknowns, over that of ieee118."""
    found: dict[tuple[str, str], tuple[int, float, str]] = {}
    for buses, name in SIZES.items():
        system = build(name) if buses <= most else None
        if system is None:
            continue
        runs = [partial(gc.simulate, system, t_end, **options) for options in HOW.values()]
        times = best(*runs, rounds=1 if buses > LARGE else rounds, clock=time.process_time)
        for how, spent, run in zip(HOW, times, runs, strict=True):
            made = run()
            counted = {name: made.counters.get(name, 0) for name in COUNTS}
            found[name, how] = buses, 1e6 * spent / system.n, (
                f"{spent:.3f} s, {system.n} unknowns, {len(made.events)} events, "
                + ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counted.items()))
    for (name, how), (buses, each, detail) in found.items():
        yield Ratio(f"{name}, {how}: time per unknown / ieee118", each / found["ieee118", how][1],
                    MOST if buses > LARGE else None, f"{each:.0f} µs per unknown and {t_end:g} s; {detail}")


if __name__ == "__main__":
    sys.exit(0 if show(__doc__.splitlines()[0], measure()) else 1)
