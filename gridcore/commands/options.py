"""What verbs about a case share: options, a case with changes, a run with progress and errors that say where."""

from __future__ import annotations

import contextlib
import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import GridcoreError, Interrupted
from ..registry import analyses
from .progress import Progress

if TYPE_CHECKING:
    from ..case import Case
    from ..equilibrium import Equilibrium
    from ..results import Run
    from ..tape import Spacing

Command = Callable[..., Any]
T_END = 2.0  # s
_READING, _TOLERANCES = "gridcore.reading", "gridcore.tolerances"


def _pairs(_: click.Context, parameter: click.Parameter, texts: Sequence[str]) -> dict[str, str]:
    """Both sides of the equals sign in texts such as ``NAME=VALUE``, the metavar of their option."""
    found = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals and value):
            raise click.BadParameter(f"'{text}' is not {parameter.metavar}")
        found[name] = value
    return found


def completing(kind: str) -> Callable[..., Any]:
    """What completes an option or argument, ``click.option(..., shell_complete=completing("parameter"))``."""
    return lambda *place: analyses["completions"].function(kind, *place)


def system_options(command: Command) -> Command:
    """Options of every verb that builds a system from a case."""
    return _all(
        file_options(command),
        click.option("--enforce-q-limits", is_flag=True, help="PV buses become PQ at their reactive limits."),
        click.option("--deenergise", is_flag=True, help="Islands without a source go out of service."),
        click.option("--set", "changes", multiple=True, metavar="DEVICE.FIELD=VALUE", callback=_pairs,
                     shell_complete=completing("field"),
                     help="Change a field of the case: GEN2.H=6.5, fault.clear='250 ms'. May be repeated."),
        click.argument("case", metavar="CASE", shell_complete=completing("case")))


def file_options(command: Command) -> Command:
    """Options of every verb that reads a case file; :func:`load` reads as they say."""
    return _all(
        command,
        _reading("--loads", metavar="Z|I|P", help="Loads at constant impedance, current, power; I/Z: P and Q apart."),
        _reading("--controls", is_flag=True, help="Switched shunts and remote regulation of a RAW file act."),
        _reading("--drop", multiple=True, metavar="MODEL", shell_complete=completing("device"),
                 help="Leave out records of a model. May be repeated."),
        _reading("--substitute", multiple=True, metavar="MODEL=OTHER", callback=_pairs,
                 help="Read the records of a model as those of another. May be repeated."),
        _reading("--tolerate", is_flag=True, help="Put aside what makes no sense in a file, with a note of each."),
        _reading("--widen-limits", is_flag=True,
                 help="Move limits that the operating point breaks to 0.1 % beyond it."),
        _reading("--alone", is_flag=True, help="Do not read x.dyr beside x.raw."),
        _reading("--with", "companions", multiple=True, metavar="FILE", type=click.Path(path_type=Path),
                 help="A file that adds to the case: a DYR, or events as rows in TOML. May be repeated."))


def _kept(place: str, *names: str, callback: Callable[..., Any] = lambda *given: given[-1], **extra: Any) -> Any:
    """An option that is kept in the context and out of the arguments of the verb."""
    def keep(context: click.Context, parameter: click.Parameter, value: Any) -> None:
        if value is not None and value is not False and value != ():
            context.meta.setdefault(place, {})[parameter.name] = callback(context, parameter, value)

    return click.option(*names, expose_value=False, callback=keep, **extra)


_reading = partial(_kept, _READING)  # for :func:`load`


def _spacing(_: click.Context, __: click.Parameter, value: str) -> Spacing:
    """One step, or steps that change: ``0.001,0.4:0.01``; or those that a tolerance allows: ``auto``."""
    from ..tape import AUTO

    first, *later = value.split(",")
    try:
        if not later:
            return AUTO if first == AUTO else seconds(first)
        return [(0.0, seconds(first)), *((seconds(begin), seconds(h)) for begin, h in (p.split(":") for p in later))]
    except (ValueError, click.BadParameter):
        raise click.BadParameter(f"'{value}' is neither a number of seconds nor STEP,FROM:STEP nor auto") from None


def seconds(given: Any) -> float:
    """A time of an option, by its ``type``: a number of seconds, or a text with a unit, ``500ms``."""
    from ..case import Base, convert

    try:
        return convert(str(given), "s", Base(frequency=0.0))
    except (GridcoreError, ZeroDivisionError):  # cycles: of what frequency is not known yet
        raise click.BadParameter(f"'{given}' is neither a number of seconds nor has it a unit, as 500ms") from None


def end_of(case: Case, given: float | None = None, otherwise: float = T_END) -> float:
    """The end of a run (s), as it is given, or else as the case recommends under ``t_end``, or else this."""
    return seconds(case.about.get("t_end", otherwise)) if given is None else given


def simulation_options(command: Command) -> Command:
    """Options of every verb that runs a case: span, grid, method; :attr:`Study.simulation` has them together."""
    return _all(
        command,
        click.option("--option", "options", multiple=True, metavar="NAME=VALUE", callback=_pairs,
                     help="An option of the method: --method ida --option rtol=1e-8. May be repeated."),
        _kept(_TOLERANCES, "--atol", type=float, help="Besides, in parts of a variable's scale."),
        _kept(_TOLERANCES, "--rtol", type=float,
              help="Error that is tolerated, in parts of a variable: of --step auto, or a method such as ida."),
        click.option("--theta", type=float, help="Of theta: 0.5 (trapezoidal, the default) to 1 (backward Euler)."),
        click.option("--method", default="theta", show_default=True, shell_complete=completing("integrator"),
                     help="Integrator: theta, trbdf2, bdf, ida, or another plugin's."),
        click.option("--step", default="0.01", show_default=True, callback=_spacing, metavar="STEP[,FROM:STEP...]|auto",
                     help="Grid of the run (s); 0.001,0.4:0.01 is 1 ms, and 10 ms from 0.4 s on; auto: steps "
                          "as long as --rtol and --atol allow."),
        click.option("--t-end", type=seconds, show_default=f"what the case recommends, or {T_END:g}",
                     help="End of the run (s, or 500ms)."))


def read_options(options: Mapping[str, str], theta: float | None = None) -> dict[str, int | float | str]:
    """Options of a method, as ``--option NAME=VALUE``, ``--theta``, ``--rtol`` and ``--atol`` give them."""
    from ..integrate import simulate

    for name in options.keys() & inspect.signature(simulate).parameters.keys():
        raise click.BadParameter(f"'{name}' is no option of a method", param_hint="--option")
    context = click.get_current_context(silent=True)
    given: dict[str, int | float | str] = {} if theta is None else {"theta": theta}
    given |= context.meta.get(_TOLERANCES, {}) if context else {}
    return {**given, **{name: read_value(value) for name, value in options.items()}}


def _all(command: Command, *options: Callable[[Command], Command]) -> Command:
    for option in options:
        command = option(command)
    return command


def load(name: str, changes: Mapping[str, str] | None = None, quiet: bool = False) -> Case:
    """A case, read as the options of the verb say, with the changes of ``--set``; shows the notes of the reader."""
    from ..case import load_case

    context = click.get_current_context(silent=True)
    reading = dict(context.meta.get(_READING, {})) if context else {}
    widen = reading.pop("widen_limits", False)
    case = load_case(name, *reading.pop("companions", ()), **reading)
    try:
        for address, value in (changes or {}).items():
            case.set(address, read_value(value))
        if widen and context and not context.resilient_parsing:
            asked = {option: context.params.get(option, False) for option in ("deenergise", "enforce_q_limits")}
            with Progress("operating point", quiet=quiet), located(case):
                case = analyses["widen_limits"].function(case, **asked)
    finally:
        for note in () if quiet else case.notes:
            click.echo(f"note: {note}", err=True)
    return case


def read_value(text: str) -> int | float | str:
    """A number where the text is one, else the text."""
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(text)
    return text


@contextlib.contextmanager
def located(case: Case) -> Iterator[None]:
    """What goes wrong with the whole network is told with file and row of the device it names first."""
    try:
        yield
    except GridcoreError as error:
        if not getattr(error, "file", ""):
            words, ids = re.findall(r"[^\s.,;:()]+", str(error)), case.ids()
            record = next((case.records[ids.index(word)] for word in words if word in ids), None)
            place = [record.file, record.row] if record else [next((r.file for r in case), "")]
            error.args = (": ".join([*filter(None, place), str(error)]),)
        raise


@dataclass(frozen=True)
class Study:
    """A case to run: the values of :func:`system_options` and :func:`simulation_options`, as click gives them.

    Attributes
    ----------
    changes, options : mapping of str to str
        Of the case, by address; of the method, by name.
    step : float or list of (float, float)
        Seconds; pairs are (from time, step).
    record : sequence of str
        What is kept; all of it where there is nothing.
    memory : float or None
        Bytes of states beyond which they go to a file.
    """

    case: str
    changes: Mapping[str, str]
    t_end: float | None
    step: Spacing
    theta: float | None
    deenergise: bool
    enforce_q_limits: bool
    method: str
    options: Mapping[str, str]
    record: Sequence[str] = ()
    memory: float | None = None

    @property
    def simulation(self) -> dict[str, Any]:
        """The method and its options, as arguments of :func:`gridcore.simulate`."""
        return {"method": self.method, **read_options(self.options, self.theta)}

    def build(self, quiet: bool = False) -> Equilibrium:
        """The system, at its operating point."""
        from ..equilibrium import build

        loaded = load(self.case, self.changes, quiet)
        with Progress("building", quiet=quiet), located(loaded):
            return build(loaded, deenergise=self.deenergise, enforce_q_limits=self.enforce_q_limits)

    def simulate(self, system: Equilibrium | Run, out: Path, quiet: bool = False) -> Run:
        """A run of it, or one continued; of what fails or is interrupted, all that was computed is kept in `out`."""
        from ..case import as_case
        from ..integrate import Held, simulate

        t_end = end_of(as_case(system), self.t_end)
        with Held():
            try:
                with Progress("simulating", t_end, quiet) as progress:
                    return simulate(system, t_end, self.step, progress=progress, record=self.record or None,
                                    memory=self.memory, **self.simulation)
            except (Exception, KeyboardInterrupt) as error:
                partial: Run | None = getattr(error, "run", None)
                if partial is None or not len(partial.t):
                    raise
                data = file_of(partial, out)
                partial.save(data)
                kept = f"what was computed up to {partial.t[-1]:.6g} s is in {data}"
                if isinstance(error, KeyboardInterrupt):
                    raise Interrupted(f"the run was stopped; {kept}", *error.args) from None
                error.args = (f"{error}; {kept}",)
                raise


def file_of(of: Run | Case, folder: Path, ending: str = ".nc") -> Path:
    """The file in a folder that data of a run or a case go to: ``CASE.nc``, ``CASE_gradient.csv``."""
    from ..case import as_case

    name = re.sub(r"[^\w.-]+", "_", as_case(of).name).strip("._")
    return folder / f"{name or 'run'}{ending}"
