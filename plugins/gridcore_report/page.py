"""The page: what a report consists of, put into one file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gridcore.errors import GridcoreError
from gridcore.results import whole_file
from gridcore_tables.labelled import heading

if TYPE_CHECKING:
    import xarray as xr

    from gridcore.results import Run
    from gridcore.sensitivity import Objective
    from gridcore_smallsignal.modes import Modes

_TEMPLATE = Path(__file__).with_name("page.html")
_MODES = 20  # rows of the table


def write(run: Run, path: Path, *, objectives: Sequence[Objective] = (), wrt: str | Iterable[str] = ()) -> None:
    """Write a report of a run.

    Parameters
    ----------
    run : Run
    path : Path
    objectives : sequence of Objective
        Their gradient is in the report, too.
    wrt : str or iterable of str
        In these parameters, as :func:`gridcore.adjoint` takes them.

    Raises
    ------
    GridcoreError
        If Bokeh is not installed, or finds no home directory; if there are objectives without parameters, or the
        reverse.
    """
    wrt = [wrt] if isinstance(wrt, str) else list(wrt)
    if bool(objectives) != bool(wrt):
        raise GridcoreError("a report with sensitivities needs both, objectives and parameters: objectives=[...], "
                            "wrt=[...]")
    try:
        from bokeh.document import Document
        from bokeh.embed import file_html
        from bokeh.resources import INLINE
    except ImportError:
        raise GridcoreError(f"{path}: reports are drawn by Bokeh, which is not installed: "
                            "pip install 'gridcore[report]'") from None
    except RuntimeError as error:  # whose settings would be there
        raise GridcoreError(f"{path}: Bokeh does not start ({error}): set HOME to a folder, and try again") from None
    gradient = _gradient(run, objectives, wrt) if objectives else None
    document = Document()
    sections = _compose(run, gradient, document)
    title = run.system.case.title or run.system.case.name
    page = file_html(document, INLINE, title=title, template=_TEMPLATE.read_text(encoding="utf-8"),
                     template_variables={"sections": sections, "heading": heading(run)})
    with whole_file(path) as temporary:
        temporary.write_text(page, encoding="utf-8")


def _gradient(run: Run, objectives: Sequence[Objective], wrt: Sequence[str]) -> xr.DataArray:
    from gridcore.sensitivity import adjoint

    return adjoint(run, list(objectives), list(wrt))


def _compose(run: Run, gradient: xr.DataArray | None, document: Any) -> list[dict[str, Any]]:
    """Sections: heading, HTML, and numbers of the figures in each, which are added to a document of Bokeh."""
    from gridcore_notebook import views
    from gridcore_plot.curves import look
    from gridcore_plot.events import instants
    from gridcore_plot.outstanding import colour_numbers
    from gridcore_plot.panels import panels

    from . import layers, oneline, series, spectrum
    from .diagram import diagram

    shown, system = panels(run), run.system
    numbers = colour_numbers(panel.named for panel in shown)
    colours = {device: look(n)[0] for panel, of in zip(shown, numbers, strict=True) for device, n in of.items()}
    modes, failed = _modes(run)
    sections: list[dict[str, Any]] = []

    def add(name: str, html: str = "", drawn: Sequence[Any] = (), folded: Mapping[str, str] | None = None) -> None:
        sections.append({"id": name.replace(" ", "-"), "name": name, "html": html, "folded": folded or {},
                         "figures": [len(document.roots) + k for k in range(len(drawn))]})
        for figure in drawn:
            document.add_root(figure)

    add("summary", views.run(run))
    drawn = diagram(system)
    if drawn.nodes:
        chosen = [*layers.participation(modes, drawn, system)] if modes is not None else []
        chosen += [*layers.sensitivity(gradient, drawn, system)] if gradient is not None else []
        figure, paint = oneline.one_line(run, drawn, layers.frames(run, drawn), chosen, colours)
        add("one-line diagram", drawn=[figure])
        document.js_on_event("document_ready", paint)
    add("time series", drawn=series.figures(run, shown, numbers, instants(run, fold=False)))
    add("operating point", views.system(system), folded=_buses(run))
    if modes is not None:
        from gridcore_smallsignal.report import mode_table

        add("modes", views.table(mode_table(modes, _MODES)), [spectrum.plane(modes)])
    else:
        add("modes", f"<p>{escape(failed)}</p>")
    if gradient is not None:
        add("sensitivities", drawn=spectrum.bars(gradient))
    add("provenance", views.lines((name.replace("_", " "), text) for name, text in run.provenance.items()),
        folded={"citations": f"<pre>{escape(run.citations())}</pre>"})
    return sections


def _modes(run: Run) -> tuple[Modes | None, str]:
    """Modes at the operating point that the run began at; or why there are none."""
    from gridcore_smallsignal.analysis import small_signal

    try:
        return small_signal(run.system), ""
    except GridcoreError as error:
        return None, str(error)


def _buses(run: Run) -> dict[str, str]:
    """The table of the power flow, where there is one."""
    from gridcore_notebook import views
    from gridcore_verbs.power_flow import bus_table

    point = run.system.operating_point
    if point is None or point.dispatch is None or point.power_flow is None:
        return {}
    return {"buses": views.table(bus_table(point.dispatch, point.power_flow))}
