"""``gridcore plot run.nc``."""

from __future__ import annotations

from pathlib import Path

import click

from gridcore.commands import completing


@click.command("plot")
@click.argument("runs", metavar="RUN.nc...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--of", multiple=True, metavar="PATTERN", shell_complete=completing("quantity"),
              help="Quantities in place of the usual ones: 'GEN*.omega', BUS7.Vm. May be repeated.")
@click.option("--to", "target", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="File to write: .png, .pdf or .svg. By default RUN.png beside the data of the first run.")
def plot_command(runs: tuple[Path, ...], of: tuple[str, ...], target: Path | None) -> None:
    """Draw the figure of a run that 'gridcore run' kept, or of several over each other.

    Speeds, rotor angles, bus voltages and field voltages, with the events marked.
    """
    from gridcore.case import existing
    from gridcore.results import load_run, whole_file

    from .figures import plot

    target = target or existing(runs[0]).with_suffix(".png")
    names = [run.stem for run in runs] if len({run.stem for run in runs}) == len(runs) else [str(run) for run in runs]
    loaded = {name: load_run(run) for name, run in zip(names, runs, strict=True)}
    with whole_file(target) as temporary:
        plot(loaded, temporary, of)
    click.echo(str(target))
