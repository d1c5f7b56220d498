"""Modes as tables: text for the screen, CSV and NetCDF for other programs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gridcore.errors import GridcoreError
from gridcore_netcdf.dataset import write_dataset
from gridcore_provenance.record import provenance
from gridcore_verbs.tables import Table, write_csv

if TYPE_CHECKING:
    import xarray as xr

    from .modes import Modes


def shown(modes: Modes, top: int | None) -> list[int]:
    """Numbers of the modes of a table: of each pair one, the least damped, and all exact zeros behind them."""
    pairs = modes.pairs()
    zeros = [k for k in pairs if modes.labels[k]]
    return [k for k in pairs if not modes.labels[k]][:top] + zeros


def mode_table(modes: Modes, top: int | None = None, participants: int = 3) -> Table:
    """Eigenvalue, damping ratio, frequency and participants of each mode, pairs in one row."""
    numbers = shown(modes, top)
    return Table({
        "mode": [str(k) for k in numbers],
        "eigenvalue [1/s]": [_text(modes.eigenvalues[k]) for k in numbers],
        "damping ratio": ["" if modes.labels[k] else f"{modes.damping_ratio[k]:.4f}" for k in numbers],
        "frequency [Hz]": [f"{modes.frequency[k]:.4f}" if modes.eigenvalues[k].imag else "" for k in numbers],
        "participation": [_told(modes, k, participants) for k in numbers]})


def _text(value: complex) -> str:
    if value == 0:
        return "0"
    return f"{value.real:.4f} ± {value.imag:.4f}j" if value.imag else f"{value.real:.4f}"


def _told(modes: Modes, k: int, count: int) -> str:
    parts = ", ".join(f"{state} {factor:.3f}" for state, factor in modes.participants(k, count).items())
    return f"{modes.labels[k]}: {parts}" if modes.labels[k] else parts


def to_xarray(modes: Modes) -> xr.Dataset:
    """See :meth:`gridcore_smallsignal.modes.Modes.to_xarray`."""
    import xarray as xr

    system = modes.linear.system
    states = [".".join(state) for state in modes.states]
    vectors = ("state", "mode")
    variables: dict[str, Any] = {}
    for name, values, units in (("eigenvalue", modes.eigenvalues, "1/s"), ("right", modes.right, ""),
                                ("left", modes.left, "")):
        for part, of in (("real", values.real), ("imag", values.imag)):
            variables[f"{name}_{part}"] = (("mode",) if values.ndim == 1 else vectors, of, {"units": units})
    variables["damping_ratio"] = ("mode", modes.damping_ratio, {"long_name": "-Re / |eigenvalue|"})
    variables["frequency"] = ("mode", modes.frequency, {"units": "Hz"})
    variables["participation"] = (vectors, modes.participation, {"long_name": "|left right|, sum 1"})
    variables["condition"] = ("mode", modes.condition, {"long_name": "condition number of the eigenvalue"})
    head = {"case": system.case.name, "title": system.case.title or system.case.name, "method": modes.method}
    if modes.certificate is not None:
        discs = modes.certificate.discs
        for name, column in (("centre_real", [d.centre.real for d in discs]),
                             ("centre_imag", [d.centre.imag for d in discs]),
                             ("radius", [d.radius for d in discs])):
            variables[f"disc_{name}"] = ("disc", np.array(column, dtype=float), {"units": "1/s"})
        head["certificate"] = str(modes.certificate)
    return xr.Dataset(variables, {"state": states, "mode": np.arange(len(modes)),
                                  "label": ("mode", np.array(modes.labels, dtype=str))}, head)


def save(modes: Modes, path: Path) -> None:
    """See :meth:`gridcore_smallsignal.modes.Modes.save`.

    Raises
    ------
    GridcoreError
        If the name ends otherwise, or the file cannot be written.
    """
    if path.suffix == ".nc":
        write_dataset(to_xarray(modes), path, provenance(modes.linear.system))
    elif path.suffix == ".csv":
        write_csv(full_table(modes), path, provenance(modes.linear.system))
    else:
        raise GridcoreError(f"{path}: modes are written to .nc or .csv")


def full_table(modes: Modes, participants: int = 5) -> Table:
    """All modes with every digit, both of a pair."""
    numbers: Sequence[int] = range(len(modes))
    return Table({
        "mode": list(numbers), "real": modes.eigenvalues.real.tolist(), "imag": modes.eigenvalues.imag.tolist(),
        "damping_ratio": modes.damping_ratio.tolist(), "frequency_hz": modes.frequency.tolist(),
        "label": list(modes.labels),
        "participation": [", ".join(f"{s} {f:.6f}" for s, f in modes.participants(k, participants).items())
                          for k in numbers]})
