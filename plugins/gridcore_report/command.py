"""``gridcore report run.nc``."""

from __future__ import annotations

from pathlib import Path

import click

from gridcore.commands import completing


@click.command("report")
@click.argument("run", metavar="RUN.nc", type=click.Path(path_type=Path))
@click.option("--to", "target", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="File to write; by default RUN.html beside the data.")
@click.option("--objective", "file", type=click.Path(path_type=Path), metavar="FILE.toml",
              help="Sensitivities of these objectives, too; the file is that of 'gridcore grad'.")
@click.option("--wrt", multiple=True, metavar="PATTERN", shell_complete=completing("parameter"),
              help="Their parameters: 'GEN*.H', fault.clear. May be repeated.")
def report(run: Path, target: Path | None, file: Path | None, wrt: tuple[str, ...]) -> None:
    """Write a report of a run that 'gridcore run' kept: one HTML file, which needs no network.

    The one-line diagram with a slider of time, time series to zoom into, the operating point, modes, sensitivities if
    objectives are given, counters and provenance.
    """
    from gridcore.case import existing
    from gridcore.commands import Progress
    from gridcore.results import load_run

    from .page import write

    if (file is None) != (not wrt):
        raise click.UsageError("--objective FILE.toml and --wrt PATTERN go together")
    target = target or existing(run).with_suffix(".html")
    loaded = load_run(run)
    with Progress("report"):
        objectives = []
        if file is not None:
            from gridcore_objectives.files import load_objectives

            objectives = load_objectives(file, loaded.system)
        write(loaded, target, objectives=objectives, wrt=wrt)
    click.echo(str(target))
