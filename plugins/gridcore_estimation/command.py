"""``gridcore fit``: parameters from measurements, with progress, a table and a report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gridcore.commands import Study, completing, file_of, seconds, simulation_options, system_options
from gridcore.registry import plots
from gridcore_verbs.tables import Table, json_option, show, write_csv
from gridcore_verbs.units import intervals

if TYPE_CHECKING:
    from .fit import Fit
    from .methods import Iterate
    from .problem import Recording


def _pairs(_: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    out = {}
    for text in values:
        name, equals, value = text.rpartition("=")
        if not equals:
            raise click.BadParameter(f"'{text}' is not NAME=VALUE")
        out[name.strip()] = value.strip()
    return out


@click.command("fit")
@system_options
@simulation_options
@click.option("--data", required=True, type=click.Path(path_type=Path), metavar="FILE",
              help="Measurements: .csv, .nc, or COMTRADE (.cfg, .cff).")
@click.option("--also", multiple=True, metavar="CASE=FILE",
              help="Another recording: its case, without the changes of --set, and its measurements. May be repeated.")
@click.option("--channel", "channels", multiple=True, callback=_pairs, metavar="NAME=QUANTITY",
              help="What a channel of the files measures: 'V6 rms=BUS6.Vm'. Others are then left out.")
@click.option("--shift", type=seconds, default=0.0, help="Added to the times of the files (s).")
@json_option
@click.option("--wrt", multiple=True, required=True, metavar="PATTERN",
              shell_complete=completing("parameter"),
              help="Parameters, event times, initial values: LINE14.b, 'RELAY*.delay'. May be repeated.")
@click.option("--start", multiple=True, callback=_pairs, metavar="NAME=VALUE",
              shell_complete=completing("parameter"),
              help="Where to start, by default the values of the case.")
@click.option("--bounds", multiple=True, callback=intervals, metavar="NAME=LOW:HIGH",
              shell_complete=completing("parameter"),
              help="Bounds of parameters, of which either may be left out. May be repeated.")
@click.option("--fit-method", metavar="NAME", help="trf (default), dogbox, gauss-newton or l-bfgs-b.")
@click.option("--loss", default="linear", show_default=True, help="linear, soft_l1, huber, cauchy or arctan.")
@click.option("--f-scale", default="1", show_default=True, metavar="NUMBER",
              help="Weighted residual that separates inliers from outliers: 3, or without weights with a unit, 0.5kV.")
@click.option("--absolute", is_flag=True, help="Weights are 1 / sigma^2: do not estimate the noise.")
@click.option("--hold", is_flag=True, help="Hold at the start what the measurements do not determine.")
@click.option("--check", is_flag=True, help="Only tell what the measurements determine.")
@click.option("--tolerance", default=1e-6, show_default=True, help="Of the step, as a part of each parameter.")
@click.option("--level", default=0.95, show_default=True, type=click.FloatRange(0, 1, min_open=True, max_open=True),
              help="Of the confidence intervals.")
@click.option("--out", type=click.Path(path_type=Path), default=".", help="Folder for data and figure.")
@click.option("--plot/--no-plot", default=True, help="Draw the report.")
def fit(data: Path, also: tuple[str, ...], channels: dict[str, str], shift: float, wrt: tuple[str, ...],
        start: dict[str, str], bounds: dict[str, tuple[str, str]], fit_method: str | None, loss: str,
        f_scale: str, absolute: bool, hold: bool, check: bool, tolerance: float, level: float, out: Path,
        plot: bool, t_end: float | None, **study: Any) -> None:
    """Estimate parameters of a case from measurements.

    Each iteration is shown; then the values with their intervals. They go to CASE_fit.csv and, with the
    samples and the covariance, to CASE_fit.nc in the folder --out, the report to CASE_fit.png.

    --t-end is taken as the time of the last sample where it is not given.
    """
    from .estimate import estimate, identifiability

    recordings = [_recording(study, study["case"], data, channels, shift, t_end)]
    recordings += [_recording({**study, "changes": {}}, *_case_and_file(text), channels, shift, t_end) for text in also]
    if check:
        found = identifiability(recordings, wrt=wrt, start=start)
        show("identifiability", found.table())
        click.echo(f"\ncollinearity index of all {found.collinearity:.4g}; "
                   f"to be estimated together: {', '.join(found.subset()) or 'none'}")
        for line in found.unidentifiable():
            click.echo(f"not determined: {line}")
        return
    result = estimate(recordings, wrt=wrt, start=start, bounds=bounds, method=fit_method, loss=loss, f_scale=f_scale,
                      absolute=absolute, unidentifiable="hold" if hold else "error", tolerance=tolerance, tell=_tell)
    _report(result, level, out, plot)


def _case_and_file(text: str) -> tuple[str, Path]:
    case, equals, file = text.rpartition("=")
    if not equals:
        raise click.BadParameter(f"'{text}' is not CASE=FILE", param_hint="--also")
    return case, Path(file)


def _recording(study: dict[str, Any], case: str, data: Path, channels: dict[str, str], shift: float,
               t_end: float | None) -> Recording:
    from .measurements import Measurements
    from .problem import Recording

    asked = Study(**{**study, "case": case}, t_end=t_end)
    measured = Measurements.read(data, channels or None)
    return Recording(asked.build(), measured.shifted(shift) if shift else measured, asked.step, data.stem, t_end,
                     asked.simulation)


def _tell(number: int, iterate: Iterate) -> None:
    values = "  ".join(f"{value:.8g}" for value in iterate.x[:6]) + (" ..." if len(iterate.x) > 6 else "")
    rejected = f"  ({iterate.rejected} trials failed)" if iterate.rejected else ""
    click.echo(f"iteration {number:3d}  cost {iterate.cost:.6e}  {values}{rejected}")


def _report(result: Fit, level: float, out: Path, plot: bool) -> None:
    from gridcore.results import whole_file
    from gridcore_netcdf.dataset import write_dataset
    from gridcore_provenance.record import provenance

    run = result.runs[0]
    click.echo()
    show("parameters", result.table(level))
    click.echo()
    click.echo(f"{result.iterations} iterations of {result.method} ({result.message}); "
               f"{result.problem.runs} simulations, {result.rejected} trials rejected; "
               f"{result.problem.samples} samples, {result.degrees_of_freedom} degrees of freedom")
    for remark in result.remarks():
        click.echo(f"note: {remark}")
    data = [file_of(run, out, f"_fit.{suffix}") for suffix in ("csv", "nc", "png")]
    low, high = result.intervals(level).T
    made = provenance(run)
    write_csv(Table({"parameter": result.names, "unit": result.units, "start": result.start.tolist(),
                     "value": result.values.tolist(), "standard_error": result.standard_errors.tolist(),
                     "low": low.tolist(), "high": high.tolist()}), data[0], made)
    write_dataset(result.to_xarray(), data[1], made)
    if plot:
        with whole_file(data[2]) as temporary:
            plots["fit"].draw(result, temporary)
    for path in data if plot else data[:2]:
        click.echo(str(path))
