"""``gridcore plot run.nc``."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("plot")
@click.argument("run", metavar="RUN.nc", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False),
              help="File to write: .png, .pdf or .svg. By default RUN.png beside the data.")
def plot_command(run: Path, out: Path | None) -> None:
    """Draw the figure of a run that 'gridcore run' kept.

    Speeds, rotor angles, bus voltages and field voltages, with the events marked.
    """
    from gridcore.results import load_run, whole_file

    from .figures import plot

    target = out or run.with_suffix(".png")
    loaded = load_run(run)
    with whole_file(target) as temporary:
        plot(loaded, temporary)
    click.echo(str(target))
