"""Points of a run as tables of pandas."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from gridcore.case import Address
from gridcore.errors import CaseError
from gridcore.results import Points, check_run

from .labelled import labelled
from .signals import signals

if TYPE_CHECKING:
    import pandas as pd


SIDES = {"left": "first", "right": "last"}  # of several points of one time


def data_frame(run: Points, patterns: str | Iterable[Address] | None = None, *, side: str = "right") -> pd.DataFrame:
    """A table with a row for each time, none of which stands twice: ``run.to_pandas("GEN*.omega")``.

    Parameters
    ----------
    run : Points
    patterns : str or iterable of str or (device, name), optional
        Addresses and shell-style patterns. By default what ``run.to_xarray()`` has.
    side : {"right", "left"}
        Of several points at the time of an event, what holds after all of them, or before.

    Returns
    -------
    pandas.DataFrame
        Indexed by time (s); a column for each address, units in ``table.attrs["units"]``.

    Raises
    ------
    CaseError
        If a pattern matches nothing; the nearest names are offered.
    """
    check_run(run, Points)
    if side not in SIDES:
        raise CaseError(f"side = {side!r} must be {' or '.join(map(repr, SIDES))}")
    if patterns is None:
        patterns = [(device, signal.quantity) for signal in signals(run.system, run=run) for device in signal.devices]
    data = labelled(run, patterns)
    table = data.drop_duplicates("time", keep=SIDES[side]).drop_vars(["switchings", "quantity_unit"]).to_pandas()
    table.columns.name = None
    table.attrs["units"] = dict(zip(table.columns, data["quantity_unit"].values.tolist(), strict=True))
    return table


def peaks(run: Points, patterns: str | Iterable[Address]) -> pd.DataFrame:
    """The smallest and the largest value of what patterns name, and when: ``run.peaks("GEN*.omega")``.

    Parameters
    ----------
    run : Points
    patterns : str or iterable of str or (device, name)

    Returns
    -------
    pandas.DataFrame
        A row for each address: ``min``, ``t_min`` (s), ``max``, ``t_max`` (s), ``unit``; of equal ones the first time.

    Raises
    ------
    CaseError
        If a pattern matches nothing; the nearest names are offered.
    """
    import pandas as pd

    data = labelled(run, patterns)
    low, high = (take(data.values, axis=0) for take in (np.argmin, np.argmax))
    column = np.arange(data.sizes["quantity"])
    return pd.DataFrame({
        "min": data.values[low, column], "t_min": run.t[low], "max": data.values[high, column], "t_max": run.t[high],
        "unit": data["quantity_unit"].values}, pd.Index(data["quantity"].values, name="quantity", dtype=object))
