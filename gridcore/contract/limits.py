"""Non-windup limits: when a state reaches a bound, and when it leaves.

IEEE Std 421.5-2016, annex E: at the limit the state *is* the limit while its rate points outwards; it leaves when the
rate that it has inside points back. The row of the state is in
:mod:`gridcore.equations.trace`; ``<state>_rate`` is the rate that it would have inside.

A bound that moves, a voltage times a constant, is followed while the rate points outwards. It catches the state
only then: a state that falls by itself while the bound falls faster is let be. Otherwise it would be caught and
let go without end. A switch that takes the bound away from the state lets it go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import numerics

# The name of a parameter, set-point or quantity, a number, or None for no bound.
Bound = str | float | None


@dataclass(frozen=True)
class Reached:
    """What a guard compares that says when a limit is reached.

    Attributes
    ----------
    value : callable
        ``value(s)``, what is limited, on the device's own view.
    bound : str or float
        Its bound.
    label : str
        What the bound is called: the parameter that it follows from, where there is one.
    side : {1, -1}
        1 for an upper bound.
    """

    value: Callable[[Any], Any]
    bound: str | float
    label: str
    side: int


def bound_of(view: Any, bound: str | float) -> Any:
    """Value of a bound on a view: of the name, or the number that it is."""
    return getattr(view, bound) if isinstance(bound, str) else bound


def labels(bounds: tuple[Bound, Bound], names: tuple[str, str] | None = None) -> tuple[str, str]:
    """What two bounds are called, or the bounds in words."""
    low, high = ("no limit" if bound is None else bound if isinstance(bound, str) else f"{bound:g}" for bound in bounds)
    return names or (low, high)


def sides(bounds: tuple[Bound, Bound], called: tuple[str, str]) -> Iterator[tuple[int, str | float, str, str]]:
    """Of each bound that is there, the upper first: side, bound, what it is called, and how names of its guards end."""
    for side, bound, label in ((1, bounds[1], called[1]), (-1, bounds[0], called[0])):
        if bound is not None:
            word = label.isidentifier() and called[0] != called[1]  # or the guards of one would be those of the other
            yield side, bound, label, label if word else "max" if side > 0 else "min"


def leaving(name: str, side: int, moves: bool) -> Callable[[Any], Any]:
    """The guard function of leaving a bound: the rate that the state has inside. See :func:`reaching`.

    From a bound that moves it must point back by a little, or what leaves might be caught at once.
    """
    slack = 2 * numerics.AT_REST * side if moves else 0.0
    return lambda s: getattr(s, f"{name}_rate") + slack


def reaching(name: str, bound: str | float, side: int, T: str | None, moves: bool) -> Callable[[Any], Any]:
    """The guard function of the state `name` reaching a bound; `T` is its time constant.

    `moves`: whether the bound moves with the variables of the system.
    """
    def excess(s: Any) -> Any:
        return getattr(s, name) - bound_of(s, bound)

    def outwards(s: Any) -> Any:
        nearer = np.minimum if side > 0 else np.maximum
        both = nearer(excess(s), side + getattr(s, f"{name}_rate") / numerics.AT_REST)
        return both if T is None else np.where(getattr(s, T) > 0, both, excess(s))

    return outwards if moves else excess
