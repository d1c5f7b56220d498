"""The modes of a linearised system: what :func:`small_signal` gives."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from gridcore.errors import CaseError
from gridcore.suggest import suggest
from gridcore_notebook import html

from .dense import Spectrum
from .linearisation import Linearisation
from .zeros import ZeroModes

if TYPE_CHECKING:
    import xarray as xr

    from .cover import Certificate


def damping_ratio(values: np.ndarray) -> np.ndarray:
    """``-Re / |lambda|``; nan for zero. Kundur (1994), eq. 12.46."""
    values = np.asarray(values, dtype=complex)
    size = np.abs(values)
    return np.divide(0.0 - values.real, size, out=np.full(values.shape, np.nan), where=size > 0)


def frequency(values: np.ndarray) -> np.ndarray:
    """Frequencies of oscillation (Hz)."""
    return np.abs(values.imag) / (2 * np.pi)


def by_damping(values: np.ndarray) -> np.ndarray:
    """An order: least damped first, zeros last, pairs together; among real ones the slowest first."""
    ratio = damping_ratio(values)
    return np.lexsort((-np.sign(values.imag), np.abs(values.imag), -values.real,
                       np.where(np.isnan(ratio), np.inf, ratio.round(12))))


@dataclass(frozen=True, eq=False)
class Modes:
    """Eigenvalues and eigenvectors of a system at an equilibrium, the least damped first.

    Of n_x states and m eigenvalues (all, or those that were asked for); both of a pair are there. Exact zeros
    stand last, see `labels`.

    Attributes
    ----------
    linear : Linearisation
        System, point and blocks of the Jacobian.
    eigenvalues : (m,) complex array
        In 1/s.
    right, left : (n_x, m) complex arrays
        Eigenvectors in columns: ``A right = right diag(eigenvalues)``, ``left.T A = diag(eigenvalues) left.T``;
        `left` is not conjugated, and ``left[:, k] @ right[:, k]`` is 1. Columns of `right` have length 1.
    labels : list of str
        ``"rotation"``, ``"common speed"``, ``"integrator"`` or ``"constant"`` for an exact zero, see
        :mod:`gridcore_smallsignal.zeros`; otherwise ``""``.
    method : str
        ``"dense"`` (all eigenvalues) or ``"sparse"``.
    certificate : Certificate or None
        Of the sparse method: where it has looked.
    timings : dict
        Seconds by stage.
    """

    linear: Linearisation
    eigenvalues: np.ndarray
    right: np.ndarray
    left: np.ndarray
    labels: list[str]
    method: str
    certificate: Certificate | None = None
    timings: dict[str, float] = field(default_factory=dict)

    _repr_html_ = html

    @property
    def states(self) -> list[tuple[str, str]]:
        """(device, variable) of each row of the eigenvectors."""
        return self.linear.states

    @cached_property
    def damping_ratio(self) -> np.ndarray:
        """(m,) damping ratios, ``-Re / |lambda|``; nan for zero."""
        return damping_ratio(self.eigenvalues)

    @property
    def damping(self) -> np.ndarray:
        """(m,) damping ratios: the same as `damping_ratio`."""
        return self.damping_ratio

    @cached_property
    def frequency(self) -> np.ndarray:
        """(m,) frequencies of oscillation (Hz)."""
        return frequency(self.eigenvalues)

    @cached_property
    def condition(self) -> np.ndarray:
        """(m,) how far a perturbation of A may move each eigenvalue: ``|left| |right| / |left.T right|``."""
        return np.linalg.norm(self.left, axis=0) * np.linalg.norm(self.right, axis=0)

    @cached_property
    def participation(self) -> np.ndarray:
        """(n_x, m) participation factors ``|left * right|`` of states in modes, each column with sum 1.

        I. J. Perez-Arriaga, G. C. Verghese, F. C. Schweppe, "Selective modal analysis", IEEE Trans. PAS-101, 1982.
        """
        factors = np.abs(self.left * self.right)
        return factors / factors.sum(axis=0)

    @property
    def stable(self) -> bool:
        """Whether no eigenvalue but exact zeros has a real part of zero or more."""
        return bool((self.eigenvalues.real[self.eigenvalues != 0] < 0).all())

    def __len__(self) -> int:
        return len(self.eigenvalues)

    def participants(self, mode: int, count: int = 5) -> dict[str, float]:
        """The states that have the largest part in a mode: ``{"GEN2.delta": 0.41, ...}``."""
        factors = np.abs(self.left[:, self._number(mode)] * self.right[:, mode])
        factors /= factors.sum()
        largest = np.argsort(-factors, kind="stable")[:count]
        return {".".join(self.states[i]): float(factors[i]) for i in largest}

    def pairs(self) -> list[int]:
        """Numbers of the modes, of each pair that with the positive imaginary part."""
        return [int(k) for k in np.flatnonzero(self.eigenvalues.imag >= 0)]

    def nearest(self, value: complex) -> int:
        """Number of the mode whose eigenvalue is nearest to `value`."""
        return int(np.argmin(np.abs(self.eigenvalues - value)))

    def shape(self, mode: int, name: str = "omega", devices: Iterable[str] | None = None) -> dict[str, complex]:
        """The mode shape: what a mode, excited alone, does to one quantity of several devices.

        Parameters
        ----------
        mode : int
        name : str
            A variable or quantity: ``"omega"`` of machines, ``"Vm"`` of buses.
        devices : iterable of str, optional
            By default all that have it.

        Returns
        -------
        dict of str to complex
            Relative to the largest, whose phase is zero.

        Raises
        ------
        CaseError
            If no device has the quantity; the nearest names are offered.
        """
        system = self.linear.system
        direction = self.linear.with_algebraic(self.right[:, [self._number(mode)]].T)[0]
        Z = self.linear.Z
        chosen = list(devices) if devices is not None else [
            i.id for i in system.layout.instances if name in _shown(i.device)]
        if not chosen:
            known = {n for i in system.layout.instances for n in _shown(i.device)}
            raise CaseError(f"no device has '{name}'{suggest(name, known)}")
        values = []
        for device in chosen:
            function, gather = system.system.quantity(device, name)
            slope = np.array(_gradient(function)(Z[gather])).ravel()
            moving = gather < system.n
            values.append(slope[moving] @ direction[gather[moving]])
        largest = max(range(len(values)), key=lambda k: abs(values[k]))
        if not values[largest]:
            return dict.fromkeys(chosen, 0j)
        shape = {device: complex(v / values[largest]) for device, v in zip(chosen, values, strict=True)}
        return {**shape, chosen[largest]: 1.0 + 0.0j}  # which a quotient of complex numbers need not be to the last bit

    def sensitivities(self, wrt: str | Iterable[str], modes: Iterable[int] | None = None, *,
                      dispatch: str = "power flow", operating_point: bool = True) -> xr.Dataset:
        """Derivatives of eigenvalues in parameters: see :func:`gridcore_smallsignal.sensitivities.sensitivities`."""
        from .sensitivities import sensitivities

        return sensitivities(self, wrt, modes, dispatch=dispatch, operating_point=operating_point)

    def to_xarray(self) -> xr.Dataset:
        """Everything with names and units, complex numbers in two variables, real and imaginary part."""
        from .report import to_xarray

        return to_xarray(self)

    def save(self, path: str | Path) -> None:
        """Write :meth:`to_xarray` to a NetCDF file; or, where the name ends in ``.csv``, the table of all modes."""
        from .report import save

        save(self, Path(path))

    def table(self, top: int | None = None, participants: int = 3) -> str:
        """A table as text: eigenvalue, damping ratio, frequency and the states with the largest part."""
        from .report import mode_table

        return mode_table(self, top, participants).text()

    def _number(self, mode: int) -> int:
        if not -len(self) <= mode < len(self):
            raise CaseError(f"no mode {mode}: there are {len(self)}, numbered from 0")
        return mode

    def __repr__(self) -> str:
        case = self.linear.system.case.name
        what = f"{len(self)} eigenvalues" if len(self) == len(self.states) else \
            f"{len(self)} of {len(self.states)} eigenvalues"
        zero = f", {len(self.labels) - self.labels.count('')} exact zeros" if any(self.labels) else ""
        ratio = self.damping_ratio[0] if len(self) else np.nan
        least = "" if np.isnan(ratio) else \
            f"; least damped {self.eigenvalues[0]:.4f} (ratio {ratio:.4f}, {self.frequency[0]:.3f} Hz)"
        return f"<Modes of '{case}': {what}{zero}{least}>"


def collect(linear: Linearisation, spectrum: Spectrum, zeros: ZeroModes, method: str,
            certificate: Certificate | None, timings: dict[str, float]) -> Modes:
    """Spectrum and exact zeros together, in order and in scale."""
    values = np.concatenate([spectrum.values, np.zeros(len(zeros))])
    labels = [""] * len(spectrum.values) + zeros.labels
    order = by_damping(values)
    place, own = np.argsort(order), len(spectrum.values)
    right, left = (np.empty((len(linear.x), len(values)), dtype=complex) for _ in range(2))
    for whole, part, zero in ((right, spectrum.right, zeros.right), (left, spectrum.left, zeros.left)):
        whole[:, place[:own]], whole[:, place[own:]] = part, zero
    length = np.linalg.norm(right, axis=0)
    right /= length
    left *= length
    return Modes(linear, values[order], right, left, [labels[k] for k in order], method, certificate, timings)


def _shown(device: Any) -> list[str]:
    declared = device.declares
    return [*declared.variables(), *declared.quantities]


def _gradient(function: ca.Function) -> ca.Function:
    x = ca.SX.sym("x", function.nnz_in(0))
    return ca.Function("gradient", [x], [ca.densify(ca.jacobian(function(x), x))])
