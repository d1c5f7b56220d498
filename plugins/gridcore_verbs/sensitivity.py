"""What verbs share that differentiate a run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from gridcore.commands import completing


def sensitivity_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options of every verb that differentiates a run; what comes of them goes to the folder --out."""
    for option in (
            click.option("--plot", is_flag=True, help="Draw a figure, too."),
            click.option("--out", type=click.Path(path_type=Path), default=".", help="Folder for data and figure."),
            click.option("--dispatch", default="power flow", show_default=True, metavar='"power flow"|direct',
                         help="P0, Q0 and V0 act through the power flow, or power and voltage at t0 by themselves."),
            click.option("--jumps", default="discrete", show_default=True, metavar="RULE",
                         shell_complete=completing("jump rule"),
                         help="How sensitivities cross events: discrete (exact), continuous, or a plugin's rule."),
            click.option("--joint", multiple=True, metavar="A,B", callback=_groups,
                         shell_complete=completing("parameter"),
                         help="Parameters that move together: fault.clear,trip.t. May be repeated."),
            click.option("--wrt", multiple=True, metavar="PATTERN", shell_complete=completing("parameter"),
                         help="Parameters or initial values: 'GEN*.H', fault.clear. May be repeated.")):
        command = option(command)
    return command


def _groups(context: click.Context, _: click.Parameter, values: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """The groups of --joint; one must be there where there is no --wrt."""
    if not values and not context.params.get("wrt"):
        raise click.UsageError("Missing option '--wrt' (or '--joint').")
    return tuple(tuple(name.strip() for name in value.split(",")) for value in values)
