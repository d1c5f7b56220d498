"""Derivatives of eigenvalues in parameters: total ones, the operating point moving with the parameter.

With right and left vectors of all variables, v and w, and ``w_x^T v_x = 1``,

    d(lambda)/dp = w^T (dF_X/dp) v,   dF_X/dp = F_Xp + F_XX dX0/dp + F_XS dS/dp

X0 and the set-points S being what power flow and initialisation find. The three terms are one gradient of
``w^T F_X v`` in the buffer Z, the second and third taken back to p by one transposed solve of initialisation and power
flow: the cost is that of one adjoint for each mode, however many parameters there are. The first term is in every text
book: Kundur (1994), eq. 12.34; H. M. Zein El-Din and R. T. H. Alden, "Second order eigenvalue sensitivities applied to
power system dynamics", IEEE Trans. PAS-96, 1977.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from gridcore.equilibrium import InitialSensitivity
from gridcore.errors import CaseError
from gridcore.sensitivity import Request

from .bilinear import BilinearGradient

if TYPE_CHECKING:
    import xarray as xr

    from .modes import Modes

# Of two eigenvalues that are closer than this, relative to their size, neither has a derivative to rely on.
_TOGETHER = 1e-6


class MultipleEigenvalueWarning(UserWarning):
    """Eigenvalues that (nearly) coincide have no derivatives of their own."""


def sensitivities(modes: Modes, wrt: str | Iterable[str], numbers: Iterable[int] | None = None, *,
                  dispatch: str = "power flow", operating_point: bool = True) -> xr.Dataset:
    """Derivatives of eigenvalues, damping ratios and frequencies in parameters.

    Parameters
    ----------
    modes : Modes
        Of a system at its operating point (not of a point of a run).
    wrt : str or iterable of str
        Parameters by address and pattern: ``"EXC*.KA"``.
    numbers : iterable of int, optional
        Modes; all by default.
    dispatch : {"power flow", "direct"}
        As in :func:`gridcore.adjoint`.
    operating_point : bool
        Without it the operating point and the set-points are held where they are: the partial derivative, for
        comparison.

    Returns
    -------
    xarray.Dataset
        ``eigenvalue`` (complex), ``damping_ratio`` and ``frequency`` (Hz) over the dimensions mode and parameter;
        the eigenvalues themselves are the coordinate ``value``.

    Raises
    ------
    CaseError
        If a name matches no parameter (the nearest are offered), or there is no name, there is no such mode, or the
        point is not the operating point.
    """
    import xarray as xr

    system, linear = modes.linear.system, modes.linear
    if system.operating_point is None or not np.array_equal(linear.Z, system.rest):
        raise CaseError("sensitivities of eigenvalues are those at the operating point, which moves with the "
                        "parameters by power flow and initialisation; a point of a run does not")
    wanted = Request.of(system, wrt, dispatch)
    if not wanted.names:
        raise CaseError("wrt is empty: name parameters, by address or pattern: 'EXC*.KA'")
    if not len(wanted.parameters):
        raise CaseError(f"{wanted.names[0]} is an initial value: eigenvalues at an equilibrium do not depend on it")
    chosen = [modes._number(k) for k in (range(len(modes)) if numbers is None else numbers)]
    _warn_of_multiple(modes, chosen)
    carried = np.array(sorted({int(k) for k in (
        *wanted.parameters, *system.initialisation.setpoints, *wanted.operating_point)}), dtype=int)
    gradient = BilinearGradient.of(system)
    v, w = linear.with_algebraic(modes.right[:, chosen].T), linear.with_algebraic_left(modes.left[:, chosen].T)
    slopes = np.array([gradient.evaluate(linear.Z, w[k], v[k]) for k in range(len(chosen))]).reshape(-1, len(linear.Z))
    rows = np.concatenate([slopes.real, slopes.imag])
    found = rows[:, carried]
    if operating_point:
        through = InitialSensitivity.of(system, carried, dispatch == "power flow")
        found = through.transpose(rows[:, : system.n], found)
    both = found[:, np.searchsorted(carried, wanted.parameters)]
    d = both[: len(chosen)] + 1j * both[len(chosen):]
    values = modes.eigenvalues[chosen]
    names = [n for n, kept in zip(wanted.names, wanted.is_parameter, strict=True) if kept]
    units = [u for u, kept in zip(wanted.units, wanted.is_parameter, strict=True) if kept]
    coordinates = {"mode": chosen, "value": ("mode", values), "parameter": names, "unit": ("parameter", units),
                   "at": ("parameter", system.rest[wanted.parameters])}
    dims = ("mode", "parameter")
    return xr.Dataset({"eigenvalue": (dims, d), "damping_ratio": (dims, _of_damping(values, d)),
                       "frequency": (dims, np.sign(values.imag)[:, None] * d.imag / (2 * np.pi), {"units": "Hz"})},
                      coordinates)


def _of_damping(values: np.ndarray, d: np.ndarray) -> np.ndarray:
    """Derivatives of ``-Re / |lambda|``: ``-Im (Im Re' - Re Im') / |lambda|^3``; nan at zero."""
    a, b, size = values.real[:, None], values.imag[:, None], np.abs(values)[:, None]
    return np.divide(b * (a * d.imag - b * d.real), size**3, out=np.full(d.shape, np.nan), where=size > 0)


def _warn_of_multiple(modes: Modes, chosen: list[int]) -> None:
    values = modes.eigenvalues
    for k in chosen:
        distance = np.abs(values - values[k])
        distance[k] = np.inf
        if not modes.labels[k] and distance.min(initial=np.inf) < _TOGETHER * abs(values[k]):
            warnings.warn(f"mode {k}: {values[k]:.6g} is (nearly) a multiple eigenvalue; its derivatives are those of "
                          "the vectors as they were found", MultipleEigenvalueWarning, stacklevel=4)
