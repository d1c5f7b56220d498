"""Sources that luck brings to rest where they are."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import numpy as np

from gridcore.equilibrium import Equilibrium
from gridcore.errors import InitialisationError
from gridcore.system import System

from .values import implausible

_STARTS = 8  # other first guesses
_AWAY = 3.0  # how far they are at most: half a turn of an angle
_SAME = 1e-8  # differences of one solution


def other_solution(system: System, Z: np.ndarray, found: Equilibrium | None) -> Iterator[str]:
    """Of a class without ``start``: another solution that is plausible, and as near to the first guesses."""
    left = [number for number, instance in enumerate(system.layout.instances)
            if instance.device.regulates and instance.device.function("start") is None]
    if found is None or not left:
        return
    layout, unknowns, ws = found.layout, found.initialisation.unknowns, found.workspace()
    for number in left:
        cls, rng = layout.instances[number].device, np.random.default_rng(0)
        items = {**cls.declares.variables(), **cls.declares.setpoints, **cls.declares.inputs}
        places = [(layout.index(number, cls, name), item.unit == "rad", getattr(item, "init", 0.0))
                  for name, item in items.items()]
        own = np.array([place for place in places if place[0] in unknowns]).reshape(-1, 3)
        at, turns, guess = own[:, 0].astype(int), own[:, 1], own[:, 2]

        mine = _away(found.rest[at], guess, turns)
        for _ in range(_STARTS):
            other = found.rest.copy()
            other[at] += rng.uniform(-_AWAY, _AWAY, len(at))
            with contextlib.suppress(InitialisationError):
                found.initialisation.solve(other, ws)
                theirs = _away(other[at], guess, turns)
                moved = np.where(turns, 0.0, np.abs(theirs - mine))
                if (moved.max(initial=0.0) > _SAME and np.linalg.norm(theirs) <= np.linalg.norm(mine) + _SAME
                        and not any(implausible(system, other, found))):
                    k = at[moved.argmax()]
                    yield (f"{layout.label(k)} = {found.rest[k]:.6g} at t0 is one solution, {other[k]:.6g} another, as "
                           f"near to first guesses: say by start, init or plausible of {cls.__name__} which is meant")
                    break


def _away(values: np.ndarray, guess: np.ndarray, turns: np.ndarray) -> np.ndarray:
    """How far they are from first guesses; angles up to whole turns."""
    return np.where(turns, np.angle(np.exp(1j * (values - guess))), values - guess)
