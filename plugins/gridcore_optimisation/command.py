"""``gridcore optimise`` and ``gridcore critical``: what was found on screen, how it was found on disk."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import click

from gridcore.commands import Study, completing, end_of, file_of, simulation_options, system_options
from gridcore_verbs.tables import json_option, show, write_csv
from gridcore_verbs.units import intervals

Limit = tuple[Path, str]
_LIMIT = (click.Path(path_type=Path), str)


@click.command("optimise")
@system_options
@simulation_options
@click.option("--objective", "file", required=True, type=click.Path(path_type=Path), metavar="FILE.toml",
              help="What becomes least: the sum of the objectives in a file, as for 'gridcore grad'.")
@click.option("--at-most", multiple=True, type=_LIMIT, metavar="FILE.toml LIMIT",
              help="Each objective of this file is to stay below the limit: 0.001, '2 MW'. May be repeated.")
@click.option("--at-least", multiple=True, type=_LIMIT, metavar="FILE.toml LIMIT", help="The same, above it.")
@json_option
@click.option("--outside", is_flag=True, help="Data that these files name may lie outside their folders.")
@click.option("--wrt", multiple=True, required=True, metavar="PATTERN",
              shell_complete=completing("parameter"),
              help="Parameters that are varied: 'GEN*.P0', EXC1.KA. May be repeated.")
@click.option("--bounds", multiple=True, callback=intervals, metavar="NAME=LOW:HIGH",
              shell_complete=completing("parameter"),
              help="Bounds of parameters, of which either may be left out. May be repeated.")
@click.option("--solver", metavar="NAME", help="L-BFGS-B, SLSQP, trust-constr or ipopt; by default L-BFGS-B without "
              "constraints and SLSQP with them.")
@click.option("--plot", is_flag=True, help="Draw the run at the start and at the optimum.")
@click.option("--out", type=click.Path(path_type=Path), default=".", help="Folder for what is written.")
def optimise_command(file: Path, at_most: tuple[Limit, ...], at_least: tuple[Limit, ...], wrt: tuple[str, ...],
                     bounds: dict[str, tuple[str, str]], solver: str | None, outside: bool, plot: bool,
                     out: Path, **study: Any) -> None:
    """Parameters that make objectives of a run least, within limits.

    Gradients are exact. The case with the values found goes to CASE_optimum.toml in the folder --out, the iterations to
    CASE_optimum.csv, everything to CASE_optimum.nc. The exit code is 1 where the solver did not converge.
    """
    from gridcore.case import save_case
    from gridcore.registry import analyses, plots
    from gridcore.results import whole_file
    from gridcore_netcdf.dataset import write_dataset
    from gridcore_provenance.record import provenance

    from .measures import Constraint
    from .report import iterations, limits, parameters
    from .search import optimise

    asked = Study(**study)
    system = asked.build()
    load_objectives = functools.partial(analyses["load_objectives"].function, system=system, outside=outside)
    constraints = [Constraint(load_objectives(path), **{side: limit})
                   for side, given in (("high", at_most), ("low", at_least)) for path, limit in given]
    found = optimise(system, load_objectives(file), wrt, t_end=end_of(system.case, asked.t_end), step=asked.step,
                     constraints=constraints, bounds=bounds, method=solver, simulate=asked.simulation)
    run = asked.simulate(found.system, out)
    show("parameters", parameters(found))
    if len(found.constraints):
        click.echo()
        show("limits", limits(found))
    click.echo()
    click.echo(f"objective {found.start:.9g} -> {found.value:.9g}")
    made = f"{len(found.trials)} simulations" + (f", {found.failures} failed" if found.failures else "")
    click.echo(f"{found.method}: {found.message}; {found.iterations} iterations, {made}; "
               f"optimality {found.optimality:.1e}, violation {found.violation:.1e}")
    files = [file_of(run, out, f"_optimum.{suffix}") for suffix in ("toml", "csv", "nc", "png")]
    save_case(found.system.case, files[0])
    by_whom = provenance(run)
    write_csv(iterations(found), files[1], by_whom)
    write_dataset(found.to_xarray(), files[2], by_whom)
    if plot:
        with whole_file(files[3]) as temporary:
            plots["runs"].draw({"start": asked.simulate(system, out), "optimum": run}, temporary)
    for path in files if plot else files[:3]:
        click.echo(str(path))
    if not found.success:
        click.get_current_context().exit(1)


@click.command("critical")
@system_options
@simulation_options
@json_option
@click.option("--between", required=True, nargs=2, metavar="STABLE UNSTABLE",
              help="Two values between which stability is lost: 80ms 0.25.")
@click.option("--parameter", default="fault.clear", show_default=True,
              shell_complete=completing("parameter"), help="What is varied.")
@click.option("--wrt", multiple=True, metavar="PATTERN", shell_complete=completing("parameter"),
              help="Parameters in which the critical value is derived: 'GEN*.H'. May be repeated.")
@click.option("--tolerance", default="1e-6", show_default=True, help="In the parameter's unit, or with one: 1us.")
@click.option("--out", type=click.Path(path_type=Path), default=".", help="Folder for the table of derivatives.")
def critical_command(between: tuple[str, str], parameter: str, wrt: tuple[str, ...], tolerance: str, out: Path,
                     **study: Any) -> None:
    """The critical clearing time, by Newton's iteration, and what it depends on.

    Or the critical value of another parameter. With --wrt its derivatives are shown and go to CASE_critical.csv in the
    folder --out.
    """
    from gridcore_provenance.record import provenance

    from .critical import critical_value
    from .report import attempts, sensitivities

    asked = Study(**study)
    system = asked.build()
    found = critical_value(system, parameter, between=between, t_end=end_of(system.case, asked.t_end), step=asked.step,
                           wrt=wrt, simulate=asked.simulation, tolerance=tolerance)
    show("attempts", attempts(found))
    click.echo()
    click.echo(f"{parameter} = {found.value:.9g}" + ("" if found.newton else ": by halving"))
    if not wrt:
        return
    if found.sensitivities is None or found.run is None:
        click.echo("there are no derivatives: the closest runs do not part; a longer --t-end or smaller --tolerance "
                   "may let them", err=True)
        click.get_current_context().exit(1)
    table, path = sensitivities(found.sensitivities), file_of(found.run, out, "_critical.csv")
    click.echo()
    show("derivatives", table)
    write_csv(table, path, provenance(found.run))
    click.echo(str(path))
