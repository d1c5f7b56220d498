"""The verbs of a run, of files and of plugins.

Nothing heavy is imported before a verb needs it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from gridcore.commands import Study, completing, file_of, file_options, load, simulation_options, system_options
from gridcore.registry import REGISTRIES, analyses, companions, devices, exporters, plots

from .tables import Table, as_tables, json_option, show
from .units import memory

if TYPE_CHECKING:
    from gridcore.case import Case
    from gridcore.equilibrium import Equilibrium
    from gridcore.results import Run


@click.command("run")
@json_option
@system_options
@simulation_options
@click.option("--record", multiple=True, metavar="PATTERN", shell_complete=completing("quantity"),
              help="Keep these quantities only: 'GEN*.omega', BUS7.Vm. May be repeated.")
@click.option("--memory", type=memory, metavar="MB",
              help="States beyond this (MB, or 2GB) go to a temporary file; by default a quarter of the machine's.")
@click.option("--out", type=click.Path(path_type=Path), default=".", help="Folder for data and figure.")
@click.option("--plot", is_flag=True, help="Draw a figure, too.")
@click.option("--quiet", is_flag=True, help="No summary.")
def run(out: Path, plot: bool, quiet: bool, **study: Any) -> None:
    """Simulate a case: a shipped one by name, or a file; or continue a run that was kept, to --t-end.

    The summary is shown; the data go to CASE.nc in the folder --out, the figure to CASE.png. A run, 'gridcore run
    CASE.nc --t-end 5', goes on by its own method and step unless others are given.
    """
    from gridcore.integrate import Held
    from gridcore.results import whole_file

    from .summary import describe_run, describe_system, layout

    asked = Study(**study)
    form = exporters.of_file(Path(asked.case))
    begun: Equilibrium | Run
    asked, begun = _continued(asked) if form and form.read else (asked, asked.build(quiet))
    with Held():  # what comes behind the end of the run waits until it is kept
        result = asked.simulate(begun, out, quiet)
        data = file_of(result, out)
        result.save(data)
    kept = [("data", str(data))]
    if plot:
        figure = data.with_suffix(".png")
        with whole_file(figure) as temporary:
            plots["run"].draw(result, temporary)
        kept.append(("figure", str(figure)))
    if as_tables():
        found = result.summary()
        show("summary", Table({"stable": [found.stable], "parted": [" ".join(found.parted)],
                               "largest angle [deg]": [found.angle], "at [s]": [found.angle_at], **{
                                   name: [value] for name, value in (*result.counters.items(), *kept)}}))
        show("events", Table({"t [s]": [e.t for e in result.events], "place": [e.place for e in result.events],
                              "what": [e.what for e in result.events], "kind": [e.kind for e in result.events]}))
    if not quiet:
        click.echo(layout([*describe_system(result.system), *describe_run(result), *kept]))


def _continued(asked: Study) -> tuple[Study, Run]:
    """How the run that a file has goes on, by its own step and method, unless they are given; and that run."""
    from gridcore.results import load_run

    context = click.get_current_context()
    given = {parameter.name for parameter in context.command.params if parameter.name is not None
             and context.get_parameter_source(parameter.name) is ParameterSource.COMMANDLINE}
    its_own = given - {"case", "t_end", "step", "theta", "rtol", "atol", "method", "options", "out", "plot", "quiet"}
    if its_own:
        options = ", ".join(parameter.opts[0] for parameter in context.command.params if parameter.name in its_own)
        raise click.UsageError(f"{options}: a run that is continued has its own system, and keeps what it kept")
    run = load_run(asked.case)
    goes_on = {"step": run.settings["step"], "method": run.settings["method"]}
    asked = replace(asked, **{name: value for name, value in goes_on.items() if name not in given})
    return asked, run


@click.command("plugins")
@json_option
def list_plugins() -> None:
    """What plugins registered, and who they are."""
    for registry in REGISTRIES:
        names = sorted(registry)
        width = max(map(len, names), default=0)
        lines = [f"  {name:<{width}}  {registry.origin(name)}" for name in names]
        show(registry.kind, Table({"name": names, "by": [registry.origin(name) for name in names]}),
             "\n".join([registry.kind, *lines]))


@click.command("doctor")
@click.argument("device", metavar="DEVICE|all", shell_complete=completing("device"))
def doctor(device: str) -> None:
    """Check a device, or all of them.

    Derivatives against the complex step, equilibrium, permutation of instances, units and docs: what
    is wrong is said in words, and the exit code is 1.
    """
    sick = 0
    for name in sorted(devices) if device == "all" else [device]:
        report = analyses.device_checks.report(devices[name])
        click.echo(str(report))
        sick += not report.ok
    if sick:
        click.get_current_context().exit(1)


@click.command("convert")
@file_options
@click.argument("source", metavar="FROM", shell_complete=completing("case"))
@click.argument("target", metavar="TO", type=click.Path(path_type=Path))
def convert(source: str, target: Path) -> None:
    """Convert a case file to another format.

    The suffixes say which: 'gridcore convert case9.m case9.toml'. What was left out or decided is shown.
    """
    from gridcore.case import save_case, validate

    case = load(source)
    validate(case)
    save_case(case, target)
    had, has = (Counter(record.model for record in of) for of in (case, _read_back(case, target)))
    if lost := had - has:
        instead = f"; instead there are {_counted(has - had)}" if has - had else ""
        click.echo(f"note: {target} has no records of {_counted(lost)}{instead}", err=True)
    click.echo(f"{target}: {has.total()} records")


def _read_back(case: Case, target: Path) -> Case:
    """What is in a file that was written; in one that adds to a case, beside what is written of the same case."""
    from gridcore.case import load_case, save_case

    companion = companions.of_file(target)
    if companion is None or not companion.beside:
        return load_case(target, alone=True)
    with TemporaryDirectory() as folder:
        beside = Path(folder, f"case{companion.beside[0]}")
        save_case(case, beside)
        return load_case(beside, target)


def _counted(models: Counter[str]) -> str:
    return ", ".join(f"{count} {model}" for model, count in models.items())


@click.command("export")
@click.argument("run", metavar="RUN.nc", type=click.Path(path_type=Path))
@click.argument("target", metavar="TO", type=click.Path(path_type=Path, dir_okay=False))
def export(run: Path, target: Path) -> None:
    """Write a run that 'gridcore run' kept in another format.

    The suffix says which: 'gridcore export wscc9.nc wscc9.csv'.
    """
    from gridcore.results import load_run

    load_run(run).save(target)
    click.echo(str(target))
