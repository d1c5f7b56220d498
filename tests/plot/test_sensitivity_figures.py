"""Figures of gradients and of sensitivities over time: their numbers, and what is chosen of many."""

import numpy as np
import pytest
import xarray as xr

import gridcore as gc
from gridcore_plot.sensitivities import PANELS_SHOWN, plot_sensitivities, sensitivity_panels
from gridcore_plot.tornado import BARS, plot_gradient
from gridcore_plot.tornado import PANELS_SHOWN as OBJECTIVES_SHOWN


@pytest.fixture(scope="module")
def run():
    return gc.simulate(gc.build("wscc9"), t_end=0.4)


def gradient(values, at=None) -> xr.DataArray:
    values = np.asarray(values, dtype=float)
    m, n = values.shape
    return xr.DataArray(values, dims=("objective", "parameter"), coords={
        "objective": [f"f{k}" for k in range(m)], "value": ("objective", np.ones(m)),
        "objective_unit": ("objective", ["pu"] * m), "parameter": [f"p{k}" for k in range(n)],
        "unit": ("parameter", ["s"] * n), "at": ("parameter", np.ones(n) if at is None else np.asarray(at))})


def test_bars_are_derivative_times_parameter_largest_on_top(tmp_path):
    figure = plot_gradient(gradient([[1.0, -3.0, 2.0]], at=[10.0, 1.0, 0.0]), tmp_path / "g.png")
    [axes] = figure.axes
    assert [t.get_text() for t in axes.get_yticklabels()] == ["p0", "p1"]  # p2 is zero: nothing to compare
    assert [bar.get_width() for bar in axes.patches] == [10.0, -3.0]
    assert axes.get_ylim()[0] > axes.get_ylim()[1]
    assert axes.get_xlabel() == "derivative * parameter (pu)"
    assert axes.patches[0].get_facecolor() != axes.patches[1].get_facecolor()


def test_axes_of_different_units_say_their_own(tmp_path):
    table = gradient([[1.0], [2.0]]).assign_coords(objective_unit=("objective", ["pu", "pu s"]))
    figure = plot_gradient(table, tmp_path / "g.png")
    told = [axes.get_xlabel() for axes in figure.axes]
    assert told == ["derivative * parameter (pu)", "derivative * parameter (pu s)"]


def test_of_many_the_largest_are_drawn_and_the_rest_is_told(tmp_path):
    m, n = OBJECTIVES_SHOWN + 3, BARS + 5
    values = np.outer(np.arange(m), np.arange(1, n + 1))  # the first is zero
    figure = plot_gradient(gradient(values), tmp_path / "g.png")
    assert len(figure.axes) == OBJECTIVES_SHOWN
    assert [len(axes.patches) for axes in figure.axes] == [BARS] * OBJECTIVES_SHOWN
    texts = [t.get_text() for t in figure.texts]
    assert f"f{m - 1} = 1 pu" in texts
    assert "3 more objectives; the gradient of 1 is zero" in texts


def test_a_gradient_that_is_zero_makes_a_figure_that_says_so(tmp_path):
    figure = plot_gradient(gradient(np.zeros((1, 2))), tmp_path / "g.png")
    assert "1 more objective: its gradient is zero" in [t.get_text() for t in figure.texts]
    assert (tmp_path / "g.png").stat().st_size > 1000


def test_an_event_that_never_comes_matters_nothing(tmp_path):
    figure = plot_gradient(gradient([[0.0, 2.0]], at=[np.inf, 1.0]), tmp_path / "g.png")
    assert [bar.get_width() for bar in figure.axes[0].patches] == [2.0]


def test_there_is_a_panel_for_each_parameter_and_kind_of_quantity(run, tmp_path):
    table = gc.analyses.tsa(run, ["GEN2.H", "fault.clear"], [("GEN1", "omega"), ("GEN2", "omega"), ("EXC1", "VR")],
                            fixed_time=True)
    figure = plot_sensitivities(run, table, tmp_path / "t.png")
    assert len(figure.axes) == 4
    panels = sensitivity_panels(table)
    assert [p.devices for p in panels] == [["GEN1", "GEN2"], ["EXC1"]] * 2
    assert [p.heading.splitlines()[0] for p in panels] == ["d omega / d GEN2.H", "d VR / d GEN2.H",
                                                          "d omega / d fault.clear", "d VR / d fault.clear"]
    assert np.array_equal(figure.axes[3].lines[0].get_ydata(), table.values[:, 2, 1])


def test_small_numbers_are_scaled_and_the_axis_says_so(run):
    table = gc.analyses.tsa(run, ["GEN2.H"], [("GEN2", "omega")], fixed_time=True)
    [panel] = sensitivity_panels(table)
    assert panel.heading.splitlines()[1] == "(1e-3 pu / s)"
    assert np.allclose(panel.values * 1e-3, table.values[:, :, 0], rtol=1e-14)


def test_of_many_panels_those_that_matter_most_are_drawn_in_order(run):
    table = gc.analyses.tsa(run, ["GEN*.H", "GEN*.D", "EXC*.KA", "fault.clear"], [("GEN2", "omega")], fixed_time=True)
    shown = [p.heading.split()[4] for p in sensitivity_panels(table)]
    assert len(shown) == PANELS_SHOWN
    assert "fault.clear" in shown
    names = list(table["parameter"].values)
    assert [names.index(name) for name in shown] == sorted(names.index(name) for name in shown)
