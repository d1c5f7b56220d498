"""Modes over parameters: the root locus over one, the damping map over two. Power flow and initialisation are made
again for each value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from gridcore.case import Address, is_pattern, matching, patterns_of
from gridcore.equilibrium import as_system
from gridcore.errors import CaseError, GridcoreError
from gridcore_notebook import html
from gridcore_provenance.record import provenance
from gridcore_verbs.units import number

from .analysis import small_signal
from .modes import Modes, damping_ratio, frequency
from .tracking import changed, follow

if TYPE_CHECKING:
    from pathlib import Path

    import xarray as xr

    from gridcore.case import Case
    from gridcore.equilibrium import Equilibrium

Index = tuple[int, ...]


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
        Of each pair one, and both where it is none at some point. nan where there is no equilibrium, or one with other
        states, among which modes are followed by themselves.
    agreement : array of the same shape
        How well the vectors agree with those of the point before, 0 to 1, at the worst place on the way. Low where
        two modes met.
    dominant : list of str
        The state that takes the largest part in each mode, at the first point at which it is.
    failures : dict
        What went wrong where, by indices of the point.
    units : list of str
        Of the parameters.
    spectrum : (points, m) or (points, points, m) complex array
        All eigenvalues that were found at each point, followed or not, the least damped first; nan behind them.
    made : dict of str to str
        What made it: version, date, case, options; see ``run.provenance``.
    """

    case: str
    parameters: list[str]
    values: list[np.ndarray]
    eigenvalues: np.ndarray
    agreement: np.ndarray
    dominant: list[str]
    failures: dict[Index, str]
    units: list[str]
    spectrum: np.ndarray
    made: dict[str, str] = field(default_factory=dict)

    _repr_html_ = html

    @cached_property
    def damping_ratio(self) -> np.ndarray:
        """Damping ratios, of the shape of `eigenvalues`."""
        return damping_ratio(self.eigenvalues)

    @cached_property
    def frequency(self) -> np.ndarray:
        """Frequencies (Hz)."""
        return frequency(self.eigenvalues)

    def least(self, band: tuple[float, float] | None = None) -> np.ndarray:
        """The smallest damping ratio at each point, of all its modes, or of those with frequencies in a band (Hz).

        Whether they are followed or not; exact zeros aside, of which there is none.
        """
        ratios = damping_ratio(self.spectrum)
        if band is not None:
            check_band(band)
            hertz = frequency(self.spectrum)
            ratios = np.where((hertz >= band[0]) & (hertz <= band[1]), ratios, np.nan)
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
        Numbers of modes at the first value, with the other one of a pair that splits on the way. By default all but
        what is an exact zero all along, of each pair one as long as it is one.
    method : str
        As for ``small_signal``; a mode that is not among those found at a value is nan from there on.

    Raises
    ------
    CaseError
        If there is no such parameter or mode, or there are fewer than two values.
    GridcoreError
        If at one of the values there is no equilibrium, or one with other states: which.
    """
    system, asked = as_system(system), patterns_of(parameter)
    grid = _Grid(system, _values(system, dict.fromkeys(asked, values), 1), method)
    found = list(grid.found.items())
    told = grid.failures | {index: why for index, here in found if (why := changed(found[0][1], here))}
    if told:
        index = min(told)
        raise GridcoreError(f"{grid.names[0]} = {grid.points[index][0]:g}: {told[index]}")
    return grid.locus(modes)


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
        As for :func:`root_locus`. A point without an equilibrium is nan, and in `failures`. Points with other states
        than the first (a time constant is zero) have columns of their own; of `modes` that are chosen there are none
        among them.

    Raises
    ------
    CaseError
        If there is no such parameter or mode, both set one parameter, or there are fewer than two values.
    GridcoreError
        If there is no equilibrium at any point.
    """
    system = as_system(system)
    return _Grid(system, _values(system, values, 2), method).locus(modes)


def _values(system: Equilibrium, values: Mapping[Any, Sequence[float | str]], count: int) -> dict[str, np.ndarray]:
    if not isinstance(values, Mapping):
        raise CaseError(f"{values!r} must be a table: {{'GEN2.H': [4.0, 6.0], 'EXC2.KA': [20.0, 40.0]}}")
    names = patterns_of(values)
    if len(values) != count:
        raise CaseError(f"{count} parameter{'s' * (count > 1)} expected, got {', '.join(names) or 'none'}")
    known = [f"{i.id}.{name}" for i in system.instances for name in i.values]
    varied = [address for name in names for address in (matching(name, known, "parameter") if is_pattern(name)
                                                        else [name])]
    if len(set(varied)) < len(varied):
        raise CaseError(f"{next(a for a in varied if varied.count(a) > 1)} is varied twice")
    grid = {name: np.array([number(system.case, name, value) if isinstance(value, str) else value for value in given],
                           dtype=float) for name, given in zip(names, values.values(), strict=True)}
    for name, array in grid.items():
        if array.ndim != 1 or len(array) < 2 or not np.isfinite(array).all():
            raise CaseError(f"{name}: at least two finite values are needed")
    return grid


class _Grid:
    """The modes at each point of a grid.

    Attributes
    ----------
    names : list of str
        Of the parameters.
    points : dict of index to array
        Their values.
    found : dict of index to Modes
    failures : dict of index to str
        Why there is no equilibrium.
    """

    def __init__(self, system: Equilibrium, values: dict[str, np.ndarray], method: str):
        self.system, self.values, self.method, self.names = system, values, method, list(values)
        self.points = {index: np.array([v[i] for v, i in zip(values.values(), index, strict=True)])
                       for index in np.ndindex(*map(len, values.values()))}
        self.found: dict[Index, Modes] = {}
        self.failures: dict[Index, str] = {}
        for index, point in self.points.items():
            try:
                self.found[index] = self.at(point)
            except CaseError:
                raise
            except GridcoreError as error:
                self.failures[index] = str(error)
        if not self.found:
            raise GridcoreError(f"there is no equilibrium at any point: {next(iter(self.failures.values()))}")

    def at(self, point: np.ndarray) -> Modes:
        """The modes at a point, which need not be one of the grid."""
        return small_signal(self.system.with_values(dict(zip(self.names, point.tolist(), strict=True))),
                            method=self.method)

    def locus(self, modes: Iterable[int] | None) -> Locus:
        """Modes followed among all points that have the same states; chosen ones among those like the first."""
        alike: dict[tuple[tuple[str, str], ...], list[Index]] = {}
        for index, here in self.found.items():
            alike.setdefault(tuple(here.states), []).append(index)
        groups = list(alike.values())
        chosen = None
        if modes is not None:
            first = self.found[groups[0][0]]
            groups, chosen = groups[:1], [range(len(first))[first._number(k)] for k in modes]
        eigenvalues, agreement, dominant = zip(*(self._followed(indices, chosen) for indices in groups), strict=True)
        spectra = [here.eigenvalues for here in self.found.values()]
        longest = max(map(len, spectra))
        spectrum = np.array([np.pad(v, (0, longest - len(v)), constant_values=np.nan) for v in spectra])
        return Locus(self.system.case.name, self.names, list(self.values.values()),
                     np.concatenate(eigenvalues, axis=-1), np.concatenate(agreement, axis=-1),
                     [state for group in dominant for state in group], self.failures,
                     [_unit(self.system, name) for name in self.names], self._over_all(list(self.found), spectrum),
                     provenance(self.system, {"vary": self.values, "method": self.method}))

    def _followed(self, indices: list[Index], chosen: list[int] | None) -> tuple[np.ndarray, np.ndarray, list[str]]:
        """Eigenvalues and agreement over the grid, nan but at these points, and the dominant states.

        All modes are followed, both of each pair, so that none is lost where a pair splits or a zero moves; or with
        those that were chosen their conjugates.
        """
        first = self.found[indices[0]]
        asked = chosen or []
        others = range(len(first)) if chosen is None else [
            first.nearest(first.eigenvalues[k].conjugate()) for k in asked if first.eigenvalues[k].imag]
        start = list(dict.fromkeys([*asked, *others]))
        numbers, agreed = {indices[0]: start}, {indices[0]: np.ones(len(start))}
        for index in indices[1:]:
            beside = _neighbour(index, numbers)
            numbers[index], agreed[index] = follow(self.at, self.points[beside], self.found[beside], numbers[beside],
                                                   self.points[index], self.found[index])
        values = np.array([np.append(self.found[index].eigenvalues, np.nan)[numbers[index]] for index in indices])
        kept = apart(values, len(asked))
        return (self._over_all(indices, values[:, kept]),
                self._over_all(indices, np.array(list(agreed.values()))[:, kept]),
                [next(iter(first.participants(start[k], 1))) for k in kept])

    def _over_all(self, indices: list[Index], rows: np.ndarray) -> np.ndarray:
        """Rows of some points in an array over the grid, nan elsewhere."""
        out = np.full((*map(len, self.values.values()), rows.shape[1]), np.nan, dtype=rows.dtype)
        out[tuple(np.transpose(indices))] = rows
        return out


def apart(values: np.ndarray, asked: int) -> list[int]:
    """Of columns of eigenvalues the first, which were asked for; and of the others those that say more.

    Neither zero all along, nor the conjugate of one before.
    """
    kept: list[int] = []
    conjugates: set[tuple[complex, ...]] = set()
    for k, column in enumerate(np.nan_to_num(values).T):  # both of a pair may be lost
        known = bool(column.imag.any()) and tuple(column.tolist()) in conjugates
        if k < asked or (column.any() and not known):
            kept.append(k)
            conjugates.add(tuple(column.conj().tolist()))
    return kept


def _unit(system: Equilibrium, address: str) -> str:
    """Of a parameter; of a pattern, that of the first it matches."""
    from gridcore.sensitivity import unit_of

    first = matching(address, system.layout.parameter_names, "parameter")[0]
    return unit_of(system, *first.rsplit(".", 1))


def _neighbour(index: Index, known: Iterable[Index]) -> Index:
    """The nearest point that has modes already, the last parameter preferred."""
    return min(known, key=lambda other: (sum(abs(a - b) for a, b in zip(index, other)), abs(index[0] - other[0])))
