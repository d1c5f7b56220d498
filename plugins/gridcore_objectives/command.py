"""``gridcore grad``: the gradient of the objectives in a file, on screen, on disk and as a figure."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from gridcore.commands import Study, file_of, simulation_options, system_options
from gridcore.errors import GridcoreError
from gridcore.registry import plots
from gridcore_verbs.sensitivity import sensitivity_options
from gridcore_verbs.tables import Table, json_option, per, show, write_csv

if TYPE_CHECKING:
    import xarray as xr

    from gridcore.results import Run
    from gridcore.sensitivity import Objective


@click.command("grad")
@system_options
@simulation_options
@sensitivity_options
@json_option
@click.option("--objective", "file", required=True, type=click.Path(path_type=Path), metavar="FILE.toml",
              help="The objectives: a file, or one that is shipped, wscc9_paper/frequency.toml. 'pydoc "
                   "gridcore_objectives.files' has the format.")
@click.option("--outside", is_flag=True, help="Data that the file names may lie outside its folder.")
@click.option("--top", default=20, show_default=True, type=click.IntRange(1), help="Rows shown.")
def grad(file: Path, wrt: tuple[str, ...], joint: tuple[tuple[str, ...], ...], jumps: str, dispatch: str, out: Path,
         plot: bool, outside: bool, top: int, **study: Any) -> None:
    """Gradient of objectives of a run, by the discrete adjoint.

    The largest derivatives, by |derivative * parameter|, are shown; all go to CASE_gradient.csv and
    CASE_gradient.nc in the folder --out, the figure to CASE_gradient.png.
    """
    from gridcore.commands import Progress
    from gridcore.results import whole_file
    from gridcore.sensitivity import Request, adjoint
    from gridcore_netcdf.dataset import write_dataset
    from gridcore_provenance.record import provenance

    from .files import load_objectives

    asked = Study(**study)
    system = asked.build()
    objectives = load_objectives(file, system, outside=outside)
    Request.of(system, wrt, dispatch, joint)  # a wrong pattern is told before the run
    run = asked.simulate(system, out)
    with Progress("differentiating"):
        try:
            gradient = adjoint(run, objectives, wrt, joint=joint, jumps=jumps, dispatch=dispatch)
        except GridcoreError:
            _blame(file, run, objectives)
            raise
    show("objectives", _values(gradient, top))
    if len(gradient) > top:
        click.echo(f"and {len(gradient) - top} more")
    click.echo()
    show("derivatives", _largest(gradient, top))
    if not gradient.values.any():
        click.echo(f"all {gradient.size} are zero")
    data = [file_of(run, out, f"_gradient.{suffix}") for suffix in ("csv", "nc", "png")]
    write_csv(long_table(gradient), data[0], made := provenance(run))
    write_dataset(gradient.to_dataset(name="gradient"), data[1], made)
    if plot:
        with whole_file(data[2]) as temporary:
            plots["gradient"].draw(gradient, temporary, of=run)
    click.echo()
    for path in data if plot else data[:2]:
        click.echo(str(path))


def _blame(file: Path, run: Run, objectives: Sequence[Objective]) -> None:
    """Name the file of objectives that cannot be evaluated: times not reached, values that are not finite."""
    from gridcore.sensitivity import evaluate

    try:
        evaluate(run, objectives)
    except GridcoreError as error:
        error.args = (f"{file}: {error}",)
        raise


def long_table(gradient: xr.DataArray) -> Table:
    """One row for each derivative, every digit kept."""
    from gridcore.sensitivity import products

    m, n = gradient.shape

    def objective(name: str) -> list[Any]:
        return np.repeat(gradient[name].values, n).tolist()

    def parameter(name: str) -> list[Any]:
        return np.tile(gradient[name].values, m).tolist()

    return Table({
        "objective": objective("objective"), "value": objective("value"), "objective_unit": objective("objective_unit"),
        "parameter": parameter("parameter"), "at": parameter("at"), "unit": parameter("unit"),
        "derivative": gradient.values.ravel().tolist(),
        "derivative_times_parameter": products(gradient).ravel().tolist()})


def _values(gradient: xr.DataArray, top: int) -> Table:
    """The objectives; of many the largest, in their order."""
    shown = gradient[np.sort(np.argsort(-np.abs(gradient["value"].values), kind="stable")[:top])]
    return Table({"objective": shown["objective"].values.tolist(),
                  "value": [f"{value: .6g}" for value in shown["value"].values],
                  "": shown["objective_unit"].values.tolist()})


def _largest(gradient: xr.DataArray, top: int) -> Table:
    """The derivatives that matter most; those that are zero are left out."""
    from gridcore.sensitivity import products

    size, slope = np.abs(products(gradient)).ravel(), np.abs(gradient.values).ravel()
    order = [k for k in np.lexsort((-slope, -size)) if slope[k] > 0][:top]
    i, j = np.unravel_index(order, gradient.shape) if order else (np.array([], dtype=int),) * 2
    units = [per(gradient["objective_unit"].values[a], gradient["unit"].values[b]) for a, b in zip(i, j)]
    return Table({
        "objective": gradient["objective"].values[i].tolist(), "parameter": gradient["parameter"].values[j].tolist(),
        "at": [f"{at: .6g} {unit}" for at, unit in zip(gradient["at"].values[j], gradient["unit"].values[j])],
        "derivative": [f"{value: .6e}" for value in gradient.values[i, j]], "unit": units,
        "derivative * parameter": [f"{value: .3e}" for value in products(gradient)[i, j]]})
