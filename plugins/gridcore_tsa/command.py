"""``gridcore tsa``: sensitivities over time, on disk and as a figure."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from gridcore.commands import Study, completing, file_of, simulation_options, system_options
from gridcore.registry import plots
from gridcore_verbs.sensitivity import sensitivity_options
from gridcore_verbs.tables import Table, json_option, per, show

if TYPE_CHECKING:
    import xarray as xr


@click.command("tsa")
@system_options
@simulation_options
@sensitivity_options
@json_option
@click.option("--of", "quantities", multiple=True, required=True, metavar="PATTERN",
              shell_complete=completing("quantity"), help="Quantities: 'GEN*.omega', BUS7.Vm. May be repeated.")
@click.option("--strategy", metavar="NAME", help="Find them together with the steps, and show what that took: "
              "'simultaneous corrector', or 'staggered direct', '... corrector', '... hybrid'.")
def tsa_command(quantities: tuple[str, ...], wrt: tuple[str, ...], joint: tuple[tuple[str, ...], ...], jumps: str,
                dispatch: str, out: Path, plot: bool, strategy: str | None, **study: Any) -> None:
    """Sensitivities of quantities along a run, by the forward sweep.

    The largest of each is shown; all go to CASE_tsa.csv and CASE_tsa.nc in the folder --out, the figure to
    CASE_tsa.png. Beside an event they are derivatives at a time that stands still.
    """
    from gridcore.commands import Progress
    from gridcore.results import select, whole_file
    from gridcore.sensitivity import Request
    from gridcore_netcdf.dataset import write_dataset
    from gridcore_provenance.beside import describe_table
    from gridcore_provenance.record import provenance

    from .sensitivities import check_method, replaying, tsa
    from .work import COUNTERS

    asked = Study(**study)
    system = asked.build()
    found = select(system, quantities)
    Request.of(system, wrt, dispatch, joint)  # a wrong pattern is told before the run
    replaying(strategy)
    check_method(strategy, asked.method)
    run = asked.simulate(system, out)
    with Progress("differentiating"):
        table = tsa(run, wrt, found, joint=joint, jumps=jumps, dispatch=dispatch, fixed_time=True, strategy=strategy)
    show("largest", _extremes(table))
    data = [file_of(run, out, f"_tsa.{suffix}") for suffix in ("csv", "nc", "png")]
    made = provenance(run)
    with whole_file(data[0]) as temporary:
        units = _write_csv(table, temporary)
    describe_table(data[0], units, made)
    write_dataset(table.to_dataset(name="sensitivity"), data[1], made)
    if plot:
        with whole_file(data[2]) as temporary:
            plots["sensitivities"].draw((run, table), temporary)
    click.echo()
    if strategy:
        click.echo(", ".join(f"{table.attrs[name]:.6g} {name.replace('_', ' ')}" for name in (*COUNTERS, "mflop")))
    for path in data if plot else data[:2]:
        click.echo(str(path))


def _extremes(table: xr.DataArray) -> Table:
    """The largest derivative of each quantity in each parameter, and when."""
    at = np.abs(table.values).argmax(axis=0)
    pairs = list(np.ndindex(at.shape))
    units = [per(table["quantity_unit"].values[i], table["unit"].values[j]) for i, j in pairs]
    return Table({
        "quantity": [table["quantity"].values[i] for i, _ in pairs],
        "parameter": [table["parameter"].values[j] for _, j in pairs],
        "largest derivative": [f"{table.values[at[i, j], i, j]: .6e}" for i, j in pairs],
        "unit": units, "at": [f"{table['time'].values[at[p]]:.6g} s" for p in pairs]})


def _write_csv(table: xr.DataArray, path: Path) -> dict[str, str]:
    """The time, then one column for each quantity and parameter, every digit kept; their units."""
    names = [f"{q}/{p}" for q in table["quantity"].values for p in table["parameter"].values]
    units = [per(of, to) for of in table["quantity_unit"].values for to in table["unit"].values]
    rows = np.column_stack([table["time"].values, table.values.reshape(len(table), -1)])
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["time", *names])
        writer.writerows(rows.tolist())
    return {"time": "s", **dict(zip(names, units, strict=True))}
