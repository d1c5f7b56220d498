"""The last checkpoint of a run in its file: from there it can be continued."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from gridcore.tape import Checkpoint, Tape

from .checks import Part

if TYPE_CHECKING:
    from gridcore.equilibrium import Equilibrium

_HAS = ("t", "clock", "points", "records", "clocks", "settings", "reached", "timers", "pending", "counters")
_OF: dict[str, tuple[str, type]] = {"X": ("variable", float), "noise": ("variable", float),
                                   "active": ("guard", int), "side": ("guard", int)}
_SIDES = (-1, 0, 1)


def write_checkpoint(last: Checkpoint | None, group: Any, write: Callable[..., Any]) -> None:
    """Numbers and texts as one attribute; arrays as variables."""
    has = last and {name: getattr(last, name) for name in _HAS}
    group.attrs["last"] = json.dumps(has)
    if last is not None:
        for name, (dimension, kind) in _OF.items():
            write(group, f"last_{name}", (dimension,), np.asarray(getattr(last, name), dtype=kind))


def read_checkpoint(part: Part, system: Equilibrium, tape: Tape) -> Checkpoint | None:
    """A checkpoint of a tape, each number in its range."""
    has = part.json("last", dict, type(None))
    if has is None:
        return None
    sizes, timers = {"variable": system.n, "guard": len(system.switching.guards)}, len(system.switching.timers)
    clocks = range(len(tape.clocks))
    X, noise, active, side = (part.numbers(f"last_{name}", kind, (sizes[of],)) for name, (of, kind) in _OF.items())
    pending = {int(guard): (float(t), int(clock)) for guard, (t, clock) in has["pending"].items()}
    coming = [(float(t), int(number), int(clock)) for t, number, clock in has["timers"]]
    numbers = {name: int(has[name]) for name in ("clock", "points", "records", "clocks", "settings", "reached")}
    most = {"clock": len(clocks) - 1, "points": tape.points, "records": len(tape.records), "clocks": len(clocks),
            "settings": len(tape.settings), "reached": tape.points}
    if not (all(0 <= number <= most[name] for name, number in numbers.items()) and np.isfinite(X).all()
            and np.all((noise >= 0) & (noise < np.inf)) and np.isfinite(has["t"])
            and np.isin(active, (0, 1)).all() and np.isin(side, _SIDES).all()
            and coming and coming[-1][1] == -1
            and all(-1 <= number < timers and clock in clocks for _, number, clock in coming)
            and all(0 <= guard < len(active) and clock in clocks for guard, (_, clock) in pending.items())
            and all(isinstance(count, int | float) for count in has["counters"].values())):
        raise part.error("last", "is no checkpoint of this run")
    return Checkpoint(X=X, noise=noise, t=float(has["t"]), timers=coming, active=active.astype(bool), side=side,
                      pending=pending, counters=has["counters"], **numbers)
