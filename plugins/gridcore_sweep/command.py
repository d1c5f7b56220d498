"""``gridcore sweep``: many runs of one case, ranked."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gridcore.commands import (
    completing,
    end_of,
    load,
    read_options,
    read_value,
    seconds,
    simulation_options,
    system_options,
)
from gridcore.errors import GridcoreError, Interrupted
from gridcore_verbs.tables import json_option, show

from .defaults import T_END

if TYPE_CHECKING:
    from .study import Study
    from .table import Table

_STUDY = ("faults", "line_faults", "trips", "at", "clear", "longest", "within", "vary", "measures", "t_end", "step",
          "theta", "rtol", "atol", "method", "options", "own_events", "changes", "deenergise", "enforce_q_limits",
          "keep", "record")


@click.command("sweep")
@system_options
@simulation_options
@click.option("--faults", multiple=True, metavar="BUS|all", shell_complete=completing("bus"),
              help="Three-phase faults at these buses. May be repeated.")
@click.option("--line-faults", multiple=True, metavar="BRANCH|all", shell_complete=completing("branch"),
              help="Faults at either end of these branches, cleared by opening them.")
@click.option("--trips", multiple=True, metavar="DEVICE|all", shell_complete=completing("id"),
              help="Devices that trip; all: every branch.")
@click.option("--at", type=seconds, default=0.1, show_default=True, help="When it happens (s, or 100ms).")
@click.option("--clear", default="0.1", show_default=True, metavar="SECONDS|critical",
              help="How long faults last; critical: find the longest that is survived, by bisection.")
@click.option("--longest", type=seconds, default=1.0, show_default=True, help="Longest fault to try (s).")
@click.option("--within", type=seconds, default=0.001, show_default=True,
              help="How closely to find the critical one (s).")
@click.option("--vary", multiple=True, metavar="PARAMETER=VALUES", shell_complete=completing("parameter"),
              help="GEN2.H=4,5,6 or GEN2.H=4:8:9 (from, to, how many). Repeated: all combinations.")
@click.option("--measure", "measures", multiple=True, metavar="'min|max|start|end|range QUANTITY'",
              help="One more column: 'min BUS*.Vm'. May be repeated.")
@click.option("--own-events", is_flag=True, help="The events of the case happen, too, beside contingencies.")
@click.option("--processes", type=int, help="Processes of this machine; by default one for each CPU.")
@click.option("--dask", metavar="ADDRESS", help="Address of a Dask scheduler, in place of processes: tcp://host:8786.")
@click.option("--store", type=click.Path(path_type=Path, dir_okay=False),
              help="File of results in place of CASE_sweep.db; all others go beside it.")
@click.option("--keep", default="none", show_default=True, metavar="none|unstable|all",
              help="Runs to keep as NetCDF files, in the folder CASE_sweep.")
@click.option("--record", multiple=True, metavar="PATTERN", shell_complete=completing("quantity"),
              help="What of them is kept; all by default.")
@click.option("--retry-failed", is_flag=True, help="Run again what failed before.")
@click.option("--rank", metavar="COLUMN", help="Rank by this column, the smallest first; -COLUMN: the largest.")
@click.option("--top", default=20, show_default=True, type=click.IntRange(0), help="How many rows to show.")
@click.option("--outside", is_flag=True, help="Files that a sweep file names may lie outside its folder.")
@click.option("--plot", is_flag=True, help="Draw the heat map, too.")
@click.option("--out", type=click.Path(path_type=Path), default=".", help="Folder for results.")
@json_option
@click.pass_context
def sweep_command(context: click.Context, /, case: str, processes: int | None, dask: str | None, store: Path | None,
                  retry_failed: bool, rank: str | None, top: int, outside: bool, plot: bool, out: Path,
                  **asked: Any) -> None:
    """Run a case in many scenarios, and rank them: the worst first.

    CASE is a case, or a sweep file (TOML). Results go to CASE_sweep.db as they come: what is there is not run again,
    so a sweep that was interrupted goes on with the same command. The table goes to CASE_sweep.csv and CASE_sweep.nc,
    the heat map to CASE_sweep.png.

    \b
    gridcore sweep wscc9 --faults all --clear 0.1
    gridcore sweep wscc9 --line-faults all --clear critical
    gridcore sweep wscc9 --vary GEN2.H=4:8:9 --vary fault.clear=0.15,0.18
    """  # noqa: D301
    from gridcore.commands import Progress
    from gridcore.results import whole_file
    from gridcore_netcdf.dataset import write_dataset
    from gridcore_provenance.beside import describe_table

    from .files import is_sweep
    from .sweep import stored, sweep

    if store is not None and store.suffix.lower() in (".csv", ".nc", ".png"):
        raise click.BadParameter(f"{store}: the table or the figure goes there, over the store; name it "
                                 f"{store.with_suffix('.db')}", param_hint="--store")
    with Progress("preparing"):
        made, stem = (_of_file(context, case, outside) if is_sweep(Path(case)) else _of_options(case, **asked))
    store = store or out / f"{stem}_sweep.db"
    files = {ending: store.with_suffix(f".{ending}") for ending in ("csv", "nc", "png")}
    try:
        with Progress("sweeping", len(made.tasks), unit="scenarios") as bar:
            table = sweep(made, processes=processes, dask=dask, store=store, retry_failed=retry_failed,
                          progress=lambda done, of: bar(done))
    except KeyboardInterrupt as stopped:
        raise Interrupted(f"{stored(made, store)} of {len(made.tasks)} scenarios are in {store}; the same command "
                          "goes on from there", *stopped.args) from None
    by, descending = (rank.lstrip("-"), rank.startswith("-")) if rank else (None, False)
    shown = table.worst(top, by, descending)  # a wrong name is told before files are written
    show("scenarios", shown)
    click.echo(_counted(table, top))
    table.to_csv(files["csv"])
    describe_table(files["csv"], dict.fromkeys(table.headings, ""), table.made)
    write_dataset(table.to_xarray(), files["nc"], table.made)
    if plot:
        from .figures import heat_map

        with whole_file(files["png"]) as temporary:
            heat_map(table, temporary.with_suffix(".png"), by)
    for path in (store, files["csv"], files["nc"], *([files["png"]] if plot else [])):
        click.echo(str(path))
    if len(table.failed) == len(table):
        context.exit(1)


for parameter in sweep_command.params:
    if isinstance(parameter, click.Option) and parameter.name == "t_end":
        parameter.show_default = f"what the case recommends, or {T_END:g}"


def _counted(table: Table, top: int) -> str:
    """How many there are, and what became of them."""
    unstable = sum(r.row.get("stable") is False and not r.error for r in table.results)
    parts = [f"{len(table)} scenarios" if len(table) != 1 else "1 scenario"]
    if unstable:
        parts.append(f"{unstable} unstable")
    if table.failed:
        parts.append(f"{len(table.failed)} failed")
    if len(table) > top:
        parts.append(f"the worst {top} shown")
    return ", ".join(parts)


def _of_file(context: click.Context, path: str, outside: bool) -> tuple[Study, str]:
    """The study of a sweep file; options that belong into it are refused."""
    from .files import load_sweep
    from .study import study

    given = [name for name in _STUDY
             if context.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT]
    if given:
        option = next(p.opts[0] for p in context.command.params if p.name == given[0])
        raise GridcoreError(f"{path} is a sweep file: {option} is to be said in it")
    asked = load_sweep(path, outside=outside)
    case = load(asked.pop("case"))
    for address, value in asked.pop("set", {}).items():
        case.set(address, value)
    try:
        return study(case, **{"t_end": end_of(case, None, T_END), **asked}), Path(path).stem
    except GridcoreError as error:
        if not getattr(error, "file", ""):
            error.args = (f"{path}: {error}",)
        raise


def _of_options(case: str, changes: dict[str, str], faults: tuple[str, ...], line_faults: tuple[str, ...],
                trips: tuple[str, ...], at: float, clear: Any, longest: float, within: float, vary: tuple[str, ...],
                theta: float | None, options: dict[str, str], own_events: bool, t_end: float | None, **asked: Any
                ) -> tuple[Study, str]:
    """The study that the options say."""
    from .study import study

    with contextlib.suppress(click.BadParameter):  # it may be a word
        clear = seconds(clear)
    contingencies = {"faults": faults, "line_faults": line_faults, "trips": trips, "at": at, "clear": clear,
                     "longest": longest, "within": within} if faults or line_faults or trips else None
    loaded = load(case, changes)
    return study(loaded, contingencies=contingencies, vary=dict(map(_varied, vary)),
                 options=read_options(options, theta), own_events=own_events or None,
                 t_end=end_of(loaded, t_end, T_END), **asked), loaded.name


def _varied(text: str) -> tuple[str, Any]:
    """``GEN2.H=4,5,6`` or ``GEN2.H=4:8:9``."""
    pattern, equals, values = (part.strip() for part in text.partition("="))
    parts = values.split(":")
    if not equals or not pattern or not values or len(parts) not in (1, 3):
        raise click.BadParameter(f"'{text}' is not PARAMETER=VALUE,VALUE,... or PARAMETER=FROM:TO:COUNT",
                                 param_hint="--vary")
    if len(parts) == 1:
        return pattern, [read_value(value.strip()) for value in values.split(",")]
    return pattern, dict(zip(("from", "to", "count"), map(read_value, parts), strict=True))
