"""``gridcore models``: which models a file asks for, and which are there; ``gridcore faults``: what is wrong."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import click

from gridcore.commands import completing
from gridcore_verbs.tables import Table, json_option, show

from .psse import listed


@click.command("faults")
@json_option
@click.argument("case", metavar="CASE", shell_complete=completing("case"))
def faults(case: str) -> None:
    """List all that is wrong with the rows of a case, a line each; where there is anything the exit code is 1.

    Other verbs tell the first, and how many more there are.
    """
    from gridcore.case import load_case

    from .tolerance import found

    lines = [str(error) for error in found(load_case(case))]
    show("faults", Table({"fault": lines}), "\n".join([*lines, f"{len(lines)} faults"]))
    if lines:
        click.get_current_context().exit(1)


@click.command("models")
@json_option
@click.option("--all", "everything", is_flag=True, help="All buses of each model, not only the first ten.")
@click.argument("files", metavar="FILE.dyr...", nargs=-1, required=True, type=click.Path(path_type=Path))
def models(files: tuple[Path, ...], everything: bool) -> None:
    """List the dynamic models in DYR files.

    For each model its records and buses, and whether a device is there for it; where one is missing the exit code
    is 1.
    """
    from .dyr import available
    from .dyr_text import read_models

    found: dict[str, list[int]] = defaultdict(list)
    notes = []
    for file in files:
        records, skipped = read_models(file)
        notes += [f"{file.name} {note}" for note in skipped]
        for record in records:
            found[record.name].append(record.bus)
    there = available()
    width, models = max(map(len, found), default=0), sorted(found.items())
    lines = [f"{name:<{width}}  {'yes' if name in there else 'NO ':<3}  {len(buses):>5}  "
             f"buses {listed(buses, len(buses) if everything else 10)}" for name, buses in models]
    show("models", Table({
        "model": [name for name, _ in models], "device": [name in there for name, _ in models],
        "records": [len(buses) for _, buses in models], "buses": [", ".join(map(str, buses)) for _, buses in models]}),
        "\n".join(lines))
    missing = found.keys() - there.keys()
    click.echo(f"{sum(map(len, found.values()))} records of {len(found)} models, "
               + (f"{len(missing)} of them without a device" if missing else "a device for each"))
    for note in notes:
        click.echo(f"note: {note}", err=True)
    if missing:
        click.get_current_context().exit(1)
