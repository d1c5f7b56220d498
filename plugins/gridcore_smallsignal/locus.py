"""Modes over parameters: the root locus over one, the damping map over two. Power flow and initialisation are made
again for each value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gridcore.case import Address, matching, patterns_of
from gridcore.equilibrium import as_system
from gridcore.errors import CaseError, GridcoreError
from gridcore_notebook import html
from gridcore_provenance.record import provenance
from gridcore_verbs.units import number

from .analysis import small_signal
from .modes import Modes, damping_ratio
from .tracking import follow

if TYPE_CHECKING:
    from pathlib import Path

    import xarray as xr

    from gridcore.case import Case
    from gridcore.equilibrium import Equilibrium


@dataclass(frozen=True, eq=False)
class Locus:
    """Eigenvalues over a grid of parameter values, each followed by its vectors.

    Attributes
    ----------
    case : str
    parameters : list of str
        One (a root locus) or two (a damping map).
    values : list of arrays
        Of each parameter.
    eigenvalues : (points, modes) or (points, points, modes) complex array
        nan where there is no equilibrium.
    agreement : array of the same shape
        How well the vectors agree with those of the point before, 0 to 1, at the worst place on the way. Low where
        two modes met.
    dominant : list of str
        The state that takes the largest part in each mode, at the first point.
    failures : dict
        What went wrong where, by indices of the point.
    units : list of str
        Of the parameters.
    made : dict of str to str
        What made it: version, date, case, options; see ``run.provenance``.
    """

    case: str
    parameters: list[str]
    values: list[np.ndarray]
    eigenvalues: np.ndarray
    agreement: np.ndarray
    dominant: list[str]
    failures: dict[tuple[int, ...], str]
    units: list[str]
    made: dict[str, str] = field(default_factory=dict)

    _repr_html_ = html

    @cached_property
    def damping_ratio(self) -> np.ndarray:
        """Damping ratios, of the shape of `eigenvalues`."""
        return damping_ratio(self.eigenvalues)

    @cached_property
    def frequency(self) -> np.ndarray:
        """Frequencies (Hz)."""
        return np.abs(self.eigenvalues.imag) / (2 * np.pi)

    def least(self, band: tuple[float, float] | None = None) -> np.ndarray:
        """The smallest damping ratio at each point, of the modes with frequencies in a band (Hz), or of all."""
        ratios = self.damping_ratio
        if band is not None:
            check_band(band)
            ratios = np.where((self.frequency >= band[0]) & (self.frequency <= band[1]), ratios, np.inf)
        smallest = np.where(np.isnan(ratios), np.inf, ratios).min(axis=-1, initial=np.inf)
        return np.where(np.isinf(smallest), np.nan, smallest)

    def to_xarray(self) -> xr.Dataset:
        """Real and imaginary parts, damping ratios, frequencies and agreement, over the parameters and modes."""
        import xarray as xr

        dims = (*self.parameters, "mode")
        data = {"real": self.eigenvalues.real, "imag": self.eigenvalues.imag, "damping_ratio": self.damping_ratio,
                "frequency": self.frequency, "agreement": self.agreement}
        return xr.Dataset({name: (dims, of) for name, of in data.items()},
                          {**dict(zip(self.parameters, self.values, strict=True)),
                           "dominant": ("mode", np.array(self.dominant, dtype=str))}, {"case": self.case})

    def __repr__(self) -> str:
        where = ", ".join(f"{name} from {v[0]:g} to {v[-1]:g}" for name, v in zip(self.parameters, self.values))
        return f"<Locus of '{self.case}': {self.eigenvalues.shape[-1]} modes over {where}>"


def check_band(band: tuple[float, float]) -> None:
    """Refuse frequencies that no mode could be between."""
    low, high = band
    if not 0 <= low <= high:
        raise CaseError(f"band {low:g} to {high:g} Hz: it must be two frequencies, at least 0, the lower one first")


def root_locus(system: Equilibrium | Case | str | Path, parameter: Address, values: Sequence[float | str],
               modes: Iterable[int] | None = None, *, method: str = "dense") -> Locus:
    """Eigenvalues over a parameter.

    Parameters
    ----------
    system : Equilibrium or Case or str
        A system, or what :func:`gridcore.build` takes.
    parameter : str
        Address of a parameter that the case gives; all that a pattern matches have each value together.
    values : sequence of float or str
        Numbers, or texts with a unit, in the order in which to go through them; between two of them more points are
        made where modes could be mistaken for each other.
    modes : iterable of int, optional
        Numbers of modes at the first value. By default all but exact zeros, of each pair one.
    method : str
        As for ``small_signal``.

    Raises
    ------
    CaseError
        If there is no such parameter or mode, or there are fewer than two values.
    GridcoreError
        If at one of the values there is no equilibrium: which.
    """
    system, asked = as_system(system), patterns_of(parameter)
    made = _follow_grid(system, _grid(system.case, dict.fromkeys(asked, values), 1), modes, method)
    if made.failures:
        (k,), told = next(iter(made.failures.items()))
        raise GridcoreError(f"{made.parameters[0]} = {made.values[0][k]:g}: {told}")
    return made


def damping_map(system: Equilibrium | Case | str | Path, values: Mapping[Any, Sequence[float | str]],
                modes: Iterable[int] | None = None, *, method: str = "dense") -> Locus:
    """Eigenvalues over two parameters; ``.least()`` is the map of the smallest damping ratio.

    Parameters
    ----------
    system : Equilibrium or Case or str
        As for :func:`root_locus`.
    values : mapping of str to sequence of float or str
        Two parameters, or patterns of them, and their values: numbers, or texts with a unit.
    modes, method
        As for :func:`root_locus`. A point without an equilibrium is nan, and in `failures`.
    """
    system = as_system(system)
    return _follow_grid(system, _grid(system.case, values, 2), modes, method)


def _grid(case: Case, values: Mapping[Any, Sequence[float | str]], count: int) -> dict[str, np.ndarray]:
    if not isinstance(values, Mapping):
        raise CaseError(f"{values!r} must be a table: {{'GEN2.H': [4.0, 6.0], 'EXC2.KA': [20.0, 40.0]}}")
    names = patterns_of(values)
    if len(values) != count:
        raise CaseError(f"{count} parameter{'s' * (count > 1)} expected, got {', '.join(names) or 'none'}")
    grid = {name: np.array([number(case, name, value) if isinstance(value, str) else value for value in given],
                           dtype=float) for name, given in zip(names, values.values(), strict=True)}
    for name, array in grid.items():
        if array.ndim != 1 or len(array) < 2 or not np.isfinite(array).all():
            raise CaseError(f"{name}: at least two finite values are needed")
    return grid


def _follow_grid(system: Equilibrium, grid: dict[str, np.ndarray], modes: Iterable[int] | None, method: str) -> Locus:
    names, values = list(grid), list(grid.values())
    at = partial(_modes_at, system, names, method)
    shape = tuple(map(len, values))
    known: dict[tuple[int, ...], tuple[Modes, list[int]]] = {}
    failures: dict[tuple[int, ...], str] = {}
    first: Modes | None = None
    eigenvalues = agreement = np.zeros(0)
    for index in np.ndindex(shape):
        point = np.array([v[i] for v, i in zip(values, index, strict=True)])
        try:
            here = at(point)
            if first is None:
                first, numbers, agreed = here, _chosen(here, modes), np.ones(1)
                eigenvalues = np.full((*shape, len(numbers)), np.nan, dtype=complex)
                agreement = np.full((*shape, len(numbers)), np.nan)
                dominant = [next(iter(here.participants(k, 1))) for k in numbers]
            else:
                beside = _neighbour(index, known)
                before, old = known[beside]
                begin = np.array([v[i] for v, i in zip(values, beside, strict=True)])
                numbers, agreed = follow(at, begin, before, old, point, here)
        except GridcoreError as error:
            if isinstance(error, CaseError):
                raise
            failures[index] = str(error)
            continue
        known[index] = here, numbers
        eigenvalues[index], agreement[index] = here.eigenvalues[numbers], agreed
    if first is None:
        raise GridcoreError(f"there is no equilibrium at any point: {next(iter(failures.values()))}")
    return Locus(system.case.name, names, values, eigenvalues, agreement, dominant, failures,
                 [_unit(system, name) for name in names], provenance(system, {"vary": grid, "method": method}))


def _unit(system: Equilibrium, address: str) -> str:
    """Of a parameter; of a pattern, that of the first it matches."""
    from gridcore.sensitivity import unit_of

    first = matching(address, system.layout.parameter_names, "parameter")[0]
    return unit_of(system, *first.rsplit(".", 1))


def _modes_at(system: Equilibrium, names: list[str], method: str, point: np.ndarray) -> Modes:
    return small_signal(system.with_values(dict(zip(names, point.tolist(), strict=True))), method=method)


def _chosen(modes: Modes, numbers: Iterable[int] | None) -> list[int]:
    if numbers is None:
        return [k for k in modes.pairs() if not modes.labels[k]]
    return [modes._number(k) for k in numbers]


def _neighbour(index: tuple[int, ...], known: dict[tuple[int, ...], tuple[Modes, list[int]]]) -> tuple[int, ...]:
    """The nearest point that has modes already, the last parameter preferred."""
    return min(known, key=lambda other: (sum(abs(a - b) for a, b in zip(index, other)), abs(index[0] - other[0])))
