"""The parameters of an optimisation: names, start, bounds and scale."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gridcore.errors import CaseError
from gridcore.sensitivity import Request
from gridcore_verbs.units import number, spread

if TYPE_CHECKING:
    from gridcore.case import Address, Case
    from gridcore.equilibrium import Equilibrium

Pair = tuple[float | str | None, float | str | None]
_USUAL = 0.1  # a usual change, as a part of the value


@dataclass(frozen=True)
class Parameters:
    """What is varied.

    Attributes
    ----------
    names, units : list of str
    start, low, high : (n,) arrays
        In the parameters' units.
    scale : (n,) array
        A solver sees (parameter - start) / scale.
    """

    names: list[str]
    units: list[str]
    start: np.ndarray
    low: np.ndarray
    high: np.ndarray
    scale: np.ndarray

    @classmethod
    def of(cls, system: Equilibrium, wrt: Address | Iterable[Address], bounds: Mapping[Any, Any] | Pair | None,
           scale: Mapping[Any, float] | float | None) -> Parameters:
        """The parameters that patterns name.

        Raises
        ------
        CaseError
            If a pattern matches nothing that a case gives, a value is infinite, or bounds are wrong.
        """
        wanted = Request.of(system, wrt, "power flow")
        if not wanted.names:
            raise CaseError("wrt is empty: name what is varied, by address or pattern: 'GEN*.H'")
        units = {name: unit for name, unit in zip(wanted.names, wanted.units, strict=True) if _given(system, name)}
        if not units:
            raise CaseError(f"{', '.join(wanted.names[:3])}: no parameter that a case gives, so it cannot be varied")
        names = list(units)
        start = np.array([system.Z0[system.layout.address(name)] for name in names])
        for name, x in zip(names, start, strict=True):
            if not math.isfinite(x):
                raise CaseError(f"{name} is {x:g} in the case: there is nothing to start from")
        declared = np.array([_declared(system, name) for name in names])
        low, high = declared.T.copy()
        for at, pair in spread(names, bounds, "bounds"):
            lower, upper = _pair(system.case, names[at], pair)
            low[at], high[at] = max(low[at], lower), min(high[at], upper)
        for name, x, a, b in zip(names, start, low, high, strict=True):
            if not a <= b:
                raise CaseError(f"{name}: no value is within its bounds {a:g} to {b:g}")
            if not a <= x <= b:
                raise CaseError(f"{name} = {x:g} starts outside its bounds {a:g} to {b:g}")
        width = np.where(np.isfinite(high - low) & (high > low), high - low, 1 / _USUAL)
        size = _USUAL * np.where(start != 0, np.abs(start), width)
        for at, value in spread(names, scale, "scale"):
            if not (isinstance(value, int | float | np.number) and 0 < value < math.inf):
                raise CaseError(f"the scale of {names[at]} must be a number above 0, not {value!r}")
            size[at] = value
        return cls(names, list(units.values()), start, low, high, size)

    def values(self, z: np.ndarray) -> np.ndarray:
        """Parameters from what a solver sees, within their bounds to the last bit."""
        return np.clip(self.start + z * self.scale, self.low, self.high)

    def scaled(self, x: np.ndarray) -> np.ndarray:
        """What a solver sees: 0 at the start."""
        return (x - self.start) / self.scale


def _given(system: Equilibrium, name: str) -> bool:
    device, _, parameter = name.rpartition(".")
    number = system.layout.number.get(device)
    return number is not None and parameter in system.instances[number].values


def _declared(system: Equilibrium, name: str) -> tuple[float, float]:
    """The range of values that the device allows; what must be greater than a number may come close to it."""
    device, _, parameter = name.rpartition(".")
    instance = system.instances[system.layout.find(device)]
    allowed = instance.device.declares.params[parameter].bounds
    low = max((b if kind == "ge" else np.nextafter(b, math.inf) for kind, b in allowed.items() if kind in ("gt", "ge")),
              default=-math.inf)
    high = min((b if kind == "le" else np.nextafter(b, -math.inf) for kind, b in allowed.items()
                if kind in ("lt", "le")), default=math.inf)
    return float(low), float(high)


def _pair(case: Case, name: str, pair: Any) -> tuple[float, float]:
    try:
        ends = [none if value is None else value for value, none in zip(pair, (-math.inf, math.inf), strict=True)]
        low, high = (number(case, name, value) if isinstance(value, str) else float(value) for value in ends)
    except (TypeError, ValueError):
        raise CaseError(f"the bounds of {name} must be two numbers, or None for no bound, not {pair!r}") from None
    if not low <= high:
        raise CaseError(f"the bounds of {name} contradict each other: {low:g} to {high:g}")
    return low, high
