"""The command line: ``gridcore VERB``. Verbs come from the hook ``register_commands``, these among them.

Nothing heavy is imported before a verb needs it. Whatever gridcore raises on purpose is one line on
standard error and exit code 2; ``GRIDCORE_DEBUG=1`` shows the traceback.
"""

from __future__ import annotations

import os
import signal
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import click

from ..errors import GridcoreError, Interrupted
from ..registry import registries as plugins
from ..suggest import suggest
from .options import Study, file_of, file_options, load, located, simulation_options, system_options
from .progress import Progress
from .tables import bus_table, totals, write_csv

DEBUG = "GRIDCORE_DEBUG"


class Verbs(click.Group):
    """All verbs that plugins registered; errors on one line."""

    def list_commands(self, context: click.Context) -> list[str]:
        """Names of the verbs, in order."""
        return sorted(plugins.commands)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """The verb of that name; an error with the nearest ones where there is none."""
        if name not in plugins.commands:
            raise GridcoreError(f"there is no verb '{name}'{suggest(name, plugins.commands)}")
        return plugins.commands[name].command

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = None,  # type: ignore[override]
             **extra: Any) -> NoReturn:
        """Run a verb, and exit: 0 when all is well, 1 when a check failed, 2 for an error."""
        extra["standalone_mode"] = False
        try:
            code = super().main(args, prog_name or "gridcore", **extra)
        except Interrupted as error:
            click.echo(f"interrupted: {error}", err=True)
            code = 128 + error.signal
        except (GridcoreError, click.ClickException) as error:
            if os.environ.get(DEBUG):
                raise
            told = error.format_message() if isinstance(error, click.ClickException) else str(error)
            click.echo(f"error: {' '.join(told.split())}", err=True)
            code = 2
        except (KeyboardInterrupt, click.Abort) as error:
            click.echo("interrupted", err=True)
            code = 128 + next(iter((error.__cause__ or error).args), signal.SIGINT)
        except BrokenPipeError:  # whoever read the output has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = 1
        sys.exit(code if isinstance(code, int) else 0)


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="gridcore", message="%(version)s")
def gridcore() -> None:
    """Hybrid dynamics of electric power grids.

    'gridcore VERB --help' explains a verb.
    """


def main() -> NoReturn:
    """What the console script runs."""
    warnings.formatwarning = lambda message, *_args, **_named: f"warning: {message}\n"
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:  # nohup
            signal.signal(number, _stop)
    gridcore.main()


def _stop(number: int, frame: Any) -> NoReturn:
    """SIGTERM and SIGHUP are what Ctrl-C is."""
    raise KeyboardInterrupt(number)


@click.command("run")
@system_options
@simulation_options
@click.option("--record", multiple=True, metavar="PATTERN",
              help="Keep these quantities only: 'GEN*.omega', BUS7.Vm. May be repeated.")
@click.option("--memory", type=float, metavar="MB",
              help="States beyond this go to a temporary file; by default a quarter of what the machine has.")
@click.option("--out", type=click.Path(path_type=Path), default=".", help="Folder for data and figure.")
@click.option("--plot", is_flag=True, help="Draw a figure, too.")
@click.option("--quiet", is_flag=True, help="No summary.")
def run(out: Path, plot: bool, quiet: bool, **study: Any) -> None:
    """Simulate a case: a shipped one by name, or a file.

    The summary is shown; the data go to CASE.nc in the folder --out, the figure to CASE.png.
    """
    from ..integrate import Held
    from ..results import describe_run, describe_system, layout, whole_file

    asked = Study(**study)
    result = asked.simulate(asked.build(quiet), out, quiet)
    data = file_of(result, out)
    with Held():
        result.save(data)
    kept = [("data", str(data))]
    if plot:
        figure = data.with_suffix(".png")
        with whole_file(figure) as temporary:
            plugins.plots["run"].draw(result, temporary)
        kept.append(("figure", str(figure)))
    if not quiet:
        click.echo(layout([*describe_system(result.system), *describe_run(result), *kept]))


@click.command("pf")
@system_options
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Write the table to a CSV file.")
def pf(case: str, changes: dict[str, str], deenergise: bool, enforce_q_limits: bool,
       out: Path | None) -> None:
    """Power flow of a case: a table of its buses."""
    from ..equilibrium import Dispatch, build

    loaded = load(case, changes)
    with Progress("power flow"), located(loaded):
        system = build(loaded, deenergise=deenergise, initialise=False)
        if not system.islands.buses:
            raise GridcoreError(f"case '{loaded.name}' has no buses")
        dispatch = Dispatch(system.system, system.Z0.copy())
        flow = dispatch.solve(enforce_q_limits)
    table, told = bus_table(dispatch, flow), totals(system, flow)
    if out is not None:
        write_csv(table, out)
    click.echo(f"{table.text()}\n{told}" if out is None else f"{told}\n{out}")


@click.command("plugins")
def list_plugins() -> None:
    """What plugins registered, and who they are."""
    for registry in plugins.REGISTRIES:
        click.echo(registry.kind)
        width = max(map(len, registry), default=0)
        for name in sorted(registry):
            click.echo(f"  {name:<{width}}  {registry.origin(name)}")


@click.command("doctor")
@click.argument("device", metavar="DEVICE|all")
def doctor(device: str) -> None:
    """Check a device, or all of them.

    Derivatives against the complex step, equilibrium, permutation of instances, units and docs: what
    is wrong is said in words, and the exit code is 1.
    """
    from ..testing import examine

    sick = 0
    for name in sorted(plugins.devices) if device == "all" else [device]:
        report = examine(plugins.devices[name])
        click.echo(str(report))
        sick += not report.ok
    if sick:
        click.get_current_context().exit(1)


@click.command("convert")
@file_options
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO", type=click.Path(path_type=Path))
def convert(source: str, target: Path) -> None:
    """Convert a case file to another format.

    The suffixes say which: 'gridcore convert case9.m case9.toml'. What was left out or decided is shown.
    """
    from ..case import save_case, validate
    from ..results import whole_file

    case = load(source)
    validate(case)
    with whole_file(target) as temporary:
        save_case(case, temporary)
    click.echo(f"{target}: {len(case)} records")


@click.command("export")
@click.argument("run", metavar="RUN.nc", type=click.Path(path_type=Path))
@click.argument("target", metavar="TO", type=click.Path(path_type=Path, dir_okay=False))
def export(run: Path, target: Path) -> None:
    """Write a run that 'gridcore run' kept in another format.

    The suffix says which: 'gridcore export wscc9.nc wscc9.csv'.
    """
    from ..results import load_run

    load_run(run).save(target)
    click.echo(str(target))
