"""``gridcore eig``, ``gridcore locus`` and ``gridcore damping``."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gridcore.commands import completing, file_of, load, located, system_options
from gridcore.registry import plots
from gridcore_readers.sources import SCENARIOS
from gridcore_verbs.tables import Table, json_option, show, write_csv
from gridcore_verbs.units import measured, number

if TYPE_CHECKING:
    from collections.abc import Callable

    from gridcore.equilibrium import Equilibrium

    from .locus import Locus
    from .modes import Modes

_out = click.option("--out", type=click.Path(path_type=Path), help="Folder for data and figure; without it, and "
                    "without --plot, nothing is written.")
_plot = click.option("--plot", is_flag=True, help="Draw a figure, too.")


@click.command("eig")
@system_options
@json_option
@_out
@_plot
@click.option("--wrt", multiple=True, metavar="PATTERN", shell_complete=completing("parameter"),
              help="Derivatives in these parameters, the operating point moving with them: 'EXC*.KA'. May be repeated.")
@click.option("--participants", default=3, show_default=True, type=click.IntRange(0),
              help="States to show for each mode.")
@click.option("--eigensolver", default="auto", show_default=True, type=click.Choice(["auto", "dense", "sparse"]),
              help="All eigenvalues, or of a large system the least damped.")
@click.option("--top", default=10, show_default=True, type=click.IntRange(1),
              help="How many modes, the least damped first.")
def eig_command(case: str, top: int, eigensolver: str, participants: int, wrt: tuple[str, ...], plot: bool,
                out: Path | None, **options: Any) -> None:
    """Modes of a case at its operating point, the least damped first.

    With --out all go to CASE_eig.csv and CASE_eig.nc in that folder, derivatives to CASE_eig_sensitivities.csv; with
    --plot the figure to CASE_eig.png.
    """
    from gridcore.commands import Progress
    from gridcore.sensitivity import Request
    from gridcore_provenance.record import provenance

    from .analysis import small_signal
    from .report import mode_table, shown

    system = _build(case, **options)
    if wrt:
        Request.of(system, wrt, "power flow")  # a wrong pattern is told before anything is shown
    with Progress("eigenvalues"):
        modes = small_signal(system, method=eigensolver, count=top)
    show("modes", mode_table(modes, top, participants))
    click.echo()
    for line in _verdict(modes):
        click.echo(line)
    table = None
    if wrt:
        numbers = [k for k in shown(modes, top) if not modes.labels[k]]
        table = _sensitivity_table(modes, wrt, numbers)
        click.echo()
        show("sensitivities", table)
    for path in _written(system, out, plot, "_eig", {
            ".csv": modes.save, ".nc": modes.save,
            "_sensitivities.csv": None if table is None else lambda path: write_csv(table, path, provenance(system)),
            ".png": lambda path: plots["modes"].draw(modes, path)}):
        click.echo(str(path))


@click.command("locus")
@system_options
@json_option
@_out
@_plot
@click.option("--top", type=click.IntRange(1),
              help="Follow so many modes, those least damped at the first value; all by default.")
@click.option("--vary", required=True, metavar="PARAMETER=VALUES", shell_complete=completing("parameter"),
              help="EXC1.KA=10,20,50 or EXC1.KA=10:200:20 (from, to, how many).")
def locus_command(case: str, vary: str, top: int | None, plot: bool, out: Path | None, **options: Any) -> None:
    """Root locus: modes of a case over a parameter, followed by their vectors.

    Shown is each mode at the first and at the last value; with --out all values go to CASE_locus.nc, with --plot the
    figure to CASE_locus.png.
    """
    from gridcore.commands import Progress

    from .analysis import small_signal
    from .locus import root_locus
    from .report import shown

    (asked,) = _asked(vary)
    system = _build(case, **options)
    parameter, values = asked[0], _values(system, *asked)
    with Progress("eigenvalues"):
        numbers = None
        if top is not None:
            start = small_signal(system.with_values({parameter: values[0]}), method="dense")
            numbers = [k for k in shown(start, top) if not start.labels[k]]
        locus = root_locus(system, parameter, values, numbers)
    ratio, frequency = locus.damping_ratio, locus.frequency
    columns: dict[str, list[Any]] = {"mode": locus.dominant}
    for k, value in ((0, values[0]), (-1, values[-1])):
        columns[f"{parameter} = {value:g}"] = [_told(v) for v in locus.eigenvalues[k]]
        columns["damping" if k == 0 else "damping "] = [f"{v:.4f}" for v in ratio[k]]
        columns["Hz" if k == 0 else "Hz "] = [f"{v:.4f}" for v in frequency[k]]
    show("locus", Table(columns))
    for path in _written(system, out, plot, "_locus", {
            ".nc": lambda path: _dataset(locus, path),
            ".png": lambda path: plots["locus"].draw(locus, path)}):
        click.echo(str(path))


@click.command("damping")
@system_options
@json_option
@_out
@_plot
@click.option("--band", metavar="FROM:TO", help="Frequencies of the modes that count: 0.1:2.5 (Hz), 100mHz:2.5. By "
              "default all.")
@click.option("--vary", multiple=True, required=True, metavar="PARAMETER=VALUES",
              shell_complete=completing("parameter"),
              help="Twice: EXC1.KA=10:200:20, and another parameter.")
def damping_command(case: str, vary: tuple[str, ...], band: str | None, plot: bool, out: Path | None,
                    **options: Any) -> None:
    """Damping map: the smallest damping ratio over two parameters.

    With --out every mode at every point goes to CASE_damping.nc, with --plot the map to CASE_damping.png.
    """
    import numpy as np

    from gridcore.commands import Progress

    from .locus import damping_map

    asked = _asked(*vary)
    system = _build(case, **options)
    limits = _band(system, band)
    grid = {name: _values(system, name, parts, count) for name, parts, count in asked}
    with Progress("eigenvalues"):
        found = damping_map(system, grid)
    least = found.least(limits)
    x, y = found.parameters
    rows = {f"{x} \\ {y}": [f"{value:g}" for value in found.values[0]]}
    rows.update({f"{value:g}": [f"{v:.4f}" for v in least[:, k]] for k, value in enumerate(found.values[1])})
    show("damping", Table(rows))
    if np.isfinite(least).any():
        i, j = np.unravel_index(np.nanargmax(least), least.shape)
        click.echo(f"\nbest: {least[i, j]:.4f} at {x} = {found.values[0][i]:g}, {y} = {found.values[1][j]:g}")
    elif limits is not None:
        click.echo(f"no mode is between {limits[0]:g} and {limits[1]:g} Hz", err=True)
    for told in list(dict.fromkeys(found.failures.values()))[:3]:
        click.echo(f"no equilibrium at {list(found.failures.values()).count(told)} points: {told}", err=True)
    for path in _written(system, out, plot, "_damping", {
            ".nc": lambda path: _dataset(found, path),
            ".png": lambda path: plots["damping map"].draw(found, path, band=limits)}):
        click.echo(str(path))


def _build(case: str, changes: dict[str, str], deenergise: bool, enforce_q_limits: bool) -> Equilibrium:
    from gridcore.commands import Progress
    from gridcore.equilibrium import build

    loaded = load(case, changes)
    with Progress("building"), located(loaded):
        return build(loaded, deenergise=deenergise, enforce_q_limits=enforce_q_limits)


def _asked(*vary: str) -> list[tuple[str, list[str], int | None]]:
    """What each is varied over; together no more points than a map may have."""
    asked = list(map(_varied, vary))
    points = math.prod(count or len(parts) for _, parts, count in asked)
    if points > SCENARIOS:
        raise click.BadParameter(f"{points:,} points are asked for, of at most {SCENARIOS:,}", param_hint="--vary")
    return asked


def _varied(text: str) -> tuple[str, list[str], int | None]:
    """``EXC1.KA=10,20,50``, or ``EXC1.KA=10:200:20``: the name, two values or more, and of two ends how many."""
    name, equals, values = (part.strip() for part in text.partition("="))
    parts, count = values.split(":"), None
    try:
        if not equals or not name or len(parts) not in (1, 3):
            raise ValueError
        if len(parts) == 3:
            count = int(parts.pop())
    except ValueError:
        raise click.BadParameter(f"'{text}' is not PARAMETER=VALUE,VALUE,... or PARAMETER=FROM:TO:COUNT",
                                 param_hint="--vary") from None
    parts = parts if count is not None else values.split(",")
    if len(parts) < 2 or (count is not None and count < 2):
        raise click.BadParameter(f"'{text}': at least two values are needed", param_hint="--vary")
    return name, parts, count


def _values(system: Equilibrium, name: str, parts: list[str], count: int | None) -> list[float]:
    """Numbers in the unit of the parameter."""
    import numpy as np

    found = [number(system.case, name, part.strip()) for part in parts]
    return found if count is None else np.linspace(found[0], found[1], count).tolist()


def _band(system: Equilibrium, text: str | None) -> tuple[float, float] | None:
    from .locus import check_band

    if text is None:
        return None
    parts = text.split(":")
    if len(parts) != 2:
        raise click.BadParameter(f"'{text}' is not FROM:TO", param_hint="--band")
    low, high = (measured(system.case, part.strip(), "Hz") for part in parts)
    check_band((low, high))
    return low, high


def _verdict(modes: Modes) -> list[str]:
    """Stability in words; of the sparse method, what was covered."""
    unstable = [k for k in modes.pairs() if modes.eigenvalues[k].real >= 0 and not modes.labels[k]]
    zeros = [label for label in modes.labels if label]
    lines = [f"UNSTABLE: {len(unstable)} modes with a real part of zero or more" if unstable else "stable"]
    lines[0] += f"; {len(modes)} of {len(modes.states)} eigenvalues" if len(modes) < len(modes.states) \
        else f"; {len(modes)} eigenvalues"
    if zeros:
        lines[0] += f", exact zeros: {', '.join(zeros)}"
    if modes.certificate is not None:
        lines.append(f"covered: {modes.certificate}")
    return lines


def _told(value: complex) -> str:
    return f"{value.real:.4f} ± {abs(value.imag):.4f}j" if value.imag else f"{value.real:.4f}"


def _sensitivity_table(modes: Modes, wrt: tuple[str, ...], numbers: list[int]) -> Table:
    """Derivatives of the modes shown, one row for each mode and parameter."""
    found = modes.sensitivities(wrt, numbers)
    pairs = [(i, j) for i in range(found.sizes["mode"]) for j in range(found.sizes["parameter"])]
    d, ratio, hertz = (found[name].values for name in ("eigenvalue", "damping_ratio", "frequency"))
    return Table({
        "mode": [str(numbers[i]) for i, _ in pairs],
        "parameter": [str(found["parameter"].values[j]) for _, j in pairs],
        "d eigenvalue": [f"{d[p].real: .6e} {'-' if d[p].imag < 0 else '+'} {abs(d[p].imag):.6e}j" for p in pairs],
        "d damping ratio": [f"{ratio[p]: .6e}" for p in pairs], "d frequency [Hz]": [f"{hertz[p]: .6e}" for p in pairs],
        "per": [str(found["unit"].values[j]) or "1" for _, j in pairs]})


def _dataset(locus: Locus, path: Path) -> None:
    from gridcore_netcdf.dataset import write_dataset

    write_dataset(locus.to_xarray(), path, locus.made)


def _written(system: Equilibrium, out: Path | None, plot: bool, ending: str,
             writers: dict[str, Callable[[Path], Any] | None]) -> list[Path]:
    """Write what is asked for; the files that were written."""
    from gridcore.results import whole_file

    paths = []
    for suffix, write in writers.items():
        if write is None or not (plot if suffix == ".png" else out is not None):
            continue
        path = file_of(system.case, out or Path(), ending + suffix)
        path.parent.mkdir(parents=True, exist_ok=True)
        if suffix == ".png":
            with whole_file(path) as temporary:
                write(temporary)
        else:
            write(path)
        paths.append(path)
    return paths
