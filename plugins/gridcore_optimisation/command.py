"""``gridcore optimise`` and ``gridcore critical``: what was found on screen, how it was found on disk."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gridcore.options import Study, file_of, system_options, time_options
from gridcore.tables import Table, write_csv

if TYPE_CHECKING:
    from .result import Optimum

Limit = tuple[Path, float]
_LIMIT = (click.Path(path_type=Path), float)


@click.command("optimise")
@system_options
@time_options
@click.option("--objective", "file", required=True, type=click.Path(path_type=Path), metavar="FILE.toml",
              help="What becomes least: the sum of the objectives in a file, as for 'gridcore grad'.")
@click.option("--at-most", multiple=True, type=_LIMIT, metavar="FILE.toml LIMIT",
              help="Each objective of this file is to stay below the limit. May be repeated.")
@click.option("--at-least", multiple=True, type=_LIMIT, metavar="FILE.toml LIMIT", help="The same, above it.")
@click.option("--wrt", multiple=True, required=True, metavar="PATTERN",
              help="Parameters that are varied: 'GEN*.P0', EXC1.KA. May be repeated.")
@click.option("--bounds", multiple=True, type=(str, float, float), metavar="PATTERN LOW HIGH",
              help="Bounds of parameters, in their units. May be repeated.")
@click.option("--method", metavar="NAME", help="L-BFGS-B, SLSQP, trust-constr or ipopt; by default L-BFGS-B without "
              "constraints and SLSQP with them.")
@click.option("--plot", is_flag=True, help="Draw the run at the optimum.")
@click.option("--out", type=click.Path(path_type=Path), default=".", help="Folder for what is written.")
def optimise_command(file: Path, at_most: tuple[Limit, ...], at_least: tuple[Limit, ...], wrt: tuple[str, ...],
                     bounds: tuple[tuple[str, float, float], ...], method: str | None, plot: bool, out: Path,
                     **study: Any) -> None:
    """Parameters that make objectives of a run least, within limits.

    Gradients are exact. The case with the values found goes to CASE_optimum.toml in the folder --out, the iterations to
    CASE_optimum.csv, everything to CASE_optimum.nc. The exit code is 1 where the solver did not converge.
    """
    from gridcore import plugins
    from gridcore.export import whole_file, write_dataset
    from gridcore.files import save_case
    from gridcore.objective_files import load_objectives

    from .measures import Constraint
    from .search import optimise

    asked = Study(**study)
    system = asked.build()
    constraints = [Constraint(load_objectives(path, system), **{side: limit})
                   for side, given in (("high", at_most), ("low", at_least)) for path, limit in given]
    found = optimise(system, load_objectives(file, system), wrt, t_end=asked.t_end, step=asked.step,
                     constraints=constraints, bounds={pattern: (low, high) for pattern, low, high in bounds},
                     method=method, simulate={} if asked.theta is None else {"theta": asked.theta})
    run = asked.simulate(found.system, out)
    click.echo(_parameters(found).text())
    if len(found.constraints):
        click.echo()
        click.echo(_limits(found).text())
    click.echo()
    click.echo(f"objective {found.start:.9g} -> {found.value:.9g}")
    made = f"{len(found.trials)} simulations" + (f", {found.failures} failed" if found.failures else "")
    click.echo(f"{found.method}: {found.message}; {found.iterations} iterations, {made}; "
               f"optimality {found.optimality:.1e}, violation {found.violation:.1e}")
    files = [file_of(run, out, f"_optimum.{suffix}") for suffix in ("toml", "csv", "nc", "png")]
    with whole_file(files[0]) as temporary:
        save_case(found.system.case, temporary)
    write_csv(_iterations(found), files[1])
    write_dataset(found.to_xarray(), files[2])
    if plot:
        with whole_file(files[3]) as temporary:
            plugins.analyses["plot"](run, temporary)
    for path in files if plot else files[:3]:
        click.echo(str(path))
    if not found.success:
        click.get_current_context().exit(1)


def _parameters(found: Optimum) -> Table:
    """Start and optimum of each parameter, and which bound it is at."""
    x = found.x
    at = ["at its lower bound" if value <= low else "at its upper bound" if value >= high else ""
          for value, low, high in zip(x.values, x["low"].values, x["high"].values)]
    return Table({"parameter": x["parameter"].values.tolist(), "start": [f"{v: .6g}" for v in x["start"].values],
                  "optimum": [f"{v: .6g}" for v in x.values], "unit": x["unit"].values.tolist(), "": at})


def _limits(found: Optimum) -> Table:
    """The constraints, and what their limits cost."""
    c = found.constraints
    numbers = {"value": c, "at least": c["low"], "at most": c["high"], "multiplier": c["multiplier"]}
    return Table({"constraint": c["constraint"].values.tolist(),
                  **{heading: [f"{v: .6g}" for v in column.values] for heading, column in numbers.items()}})


def _iterations(found: Optimum) -> Table:
    """One row for each iteration, every digit kept."""
    history = found.history
    columns = {name: history[name].values.tolist() for name in ("trial", "objective", "optimality", "violation")}
    return Table({**columns, **{name: history["x"].values[:, k].tolist()
                                for k, name in enumerate(history["parameter"].values.tolist())}})


@click.command("critical")
@system_options
@time_options
@click.option("--between", required=True, nargs=2, type=float, metavar="STABLE UNSTABLE",
              help="Two values between which stability is lost.")
@click.option("--parameter", default="fault.clear", show_default=True, help="What is varied.")
@click.option("--wrt", multiple=True, metavar="PATTERN",
              help="Parameters in which the critical value is derived: 'GEN*.H'. May be repeated.")
@click.option("--tolerance", default=1e-6, show_default=True, help="In the parameter's unit.")
@click.option("--out", type=click.Path(path_type=Path), default=".", help="Folder for the table of derivatives.")
def critical_command(between: tuple[float, float], parameter: str, wrt: tuple[str, ...], tolerance: float, out: Path,
                     **study: Any) -> None:
    """The critical clearing time, by Newton's iteration, and what it depends on.

    Or the critical value of another parameter. With --wrt its derivatives are shown and go to CASE_critical.csv in the
    folder --out.
    """
    from .critical import critical_value

    asked = Study(**study)
    system = asked.build()
    found = critical_value(system, parameter, between=between, t_end=asked.t_end, step=asked.step, wrt=wrt,
                           tolerance=tolerance, simulate={} if asked.theta is None else {"theta": asked.theta})
    click.echo(Table({"tried": [f"{a.value:.9g}" for a in found.attempts],
                      "": ["stable" if a.stable else "unstable" for a in found.attempts],
                      "Newton leads to": [f"{a.estimate:.9g}".replace("nan", "") for a in found.attempts]}).text())
    click.echo()
    click.echo(f"{parameter} = {found.value:.9g}" + ("" if found.newton else ": by halving, no saddle is passed there"))
    if found.sensitivities is None or found.run is None or not wrt:
        return
    s = found.sensitivities
    order = (-abs(s * s["at"])).argsort().values
    table = Table({"parameter": s["parameter"].values[order].tolist(), "at": s["at"].values[order].tolist(),
                   "unit": s["unit"].values[order].tolist(), "derivative": s.values[order].tolist()})
    click.echo()
    click.echo(table.text())
    path = file_of(found.run, out, "_critical.csv")
    write_csv(table, path)
    click.echo(str(path))
