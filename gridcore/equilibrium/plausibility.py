"""What is allowed and hardly meant: data, and initial states, outside of what a device class calls plausible."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import numpy as np

from .. import numerics
from ..errors import InitialisationError
from ..system import System
from .equilibrium import Equilibrium
from .values import parameters

_STARTS = 8  # other first guesses
_AWAY = 3.0  # how far they are at most: half a turn of an angle


def implausible(system: Equilibrium | System, Z: np.ndarray, at_rest: bool = True) -> Iterator[str]:
    """Values in Z that are hardly meant, only those of parameters if not `at_rest`; the first of each group is told."""
    layout = system.layout
    for group in layout.groups:
        cls = group.shape.cls
        on = Z[layout.of_group(group, "energised" if "energised" in cls.declares.modes else "status")] == 1
        for name, bounds in cls.plausible.items():
            values = Z[layout.gather(group, (), name)]
            low, high = (Z[layout.of_group(group, b)] if isinstance(b, str) else b for b in bounds)
            beyond = np.flatnonzero(on & ~((low <= values) & (values <= high)))
            if len(beyond) and (at_rest or name in cls.declares.params):
                more = f" (and {len(beyond) - 1} more)" if len(beyond) > 1 else ""
                yield str(layout.instances[group.members[beyond[0]]].record.error(
                    f"{values[beyond[0]]:g} {cls.declares.unit(name)} is hardly meant: plausible is {bounds[0]} to "
                    f"{bounds[1]}{more}", name))


def other_solution(found: Equilibrium) -> Iterator[str]:
    """Sources whose class has no ``start``, where another solution is plausible and as near to the first guesses."""
    layout, rng, ws, unknowns = found.layout, np.random.default_rng(0), found.workspace(), found.initialisation.unknowns
    guess = parameters(found.system, found.case, found.instances)
    for number, instance in enumerate(found.instances):
        cls = instance.device
        if not cls.regulates or cls.function("start") is not None:
            continue
        items = {**cls.declares.variables(), **cls.declares.setpoints, **cls.declares.inputs}
        own = [(int(layout.index(number, cls, name)), item.unit == "rad") for name, item in items.items()]
        at, turns = np.array([(k, turns) for k, turns in own if k in unknowns], dtype=int).reshape(-1, 2).T

        def away(Z: np.ndarray, at: np.ndarray = at, turns: np.ndarray = turns) -> np.ndarray:
            return np.where(turns, np.angle(np.exp(1j * (Z[at] - guess[at]))), Z[at] - guess[at])

        mine = away(found.rest)
        for _ in range(_STARTS):
            Z = found.rest.copy()
            Z[at] += rng.uniform(-_AWAY, _AWAY, len(at))
            with contextlib.suppress(InitialisationError):
                found.initialisation.solve(Z, ws)
                other = away(Z)
                if (np.abs(other - mine).max(initial=0.0) > numerics.BALANCE and not any(implausible(found, Z))
                        and np.linalg.norm(other) <= np.linalg.norm(mine) + numerics.BALANCE):
                    k = at[np.argmax(np.where(turns, 0.0, np.abs(other - mine)))]
                    yield (f"{layout.label(k)} = {found.rest[k]:.6g} at t0 is one solution, {Z[k]:.6g} another, as "
                           f"near to first guesses: say by start, init or plausible of {cls.__name__} which is meant")
                    break
