"""The report figure has what the fit has."""

from __future__ import annotations

import matplotlib
import numpy as np
import pytest
from fabrication import CHANNELS, fabricated, smib
from matplotlib.text import Text

import gridcore as gc
from gridcore_estimation import Recording

matplotlib.use("Agg")


@pytest.fixture(scope="module")
def fit():
    data = fabricated(smib().with_values({"GEN1.H": 4.2}), noise=0.01)
    return gc.analyses.estimate(smib(), data, ["GEN1.H", "CCT1.x"])


def test_a_row_for_each_channel_and_one_for_the_way_there(fit, tmp_path):
    figure = gc.analyses.plot_fit(fit, tmp_path / "fit.svg")
    assert figure.get_suptitle() == f"{fit.system.case.title}\nfit by {fit.method}, {len(fit.residuals)} samples"
    axes = figure.axes
    assert len(axes) == 2 * (len(CHANNELS) + 1)
    assert [ax.get_ylabel().split(" ")[0] for ax in axes[0:6:2]] == list(CHANNELS)
    measured = axes[0].get_lines()[1]
    np.testing.assert_array_equal(np.sort(measured.get_xdata()), np.sort(fit.problem.attached[0].time[:40]))
    assert len(axes[6].get_lines()[0].get_ydata()) == fit.iterations + 1
    assert not any("$" in text.get_text() for text in figure.findobj(Text))  # which would begin no formula
    assert [label.get_text().split(" ")[0] for label in axes[7].get_yticklabels()] == ["CCT1.x", "GEN1.H"]
    assert (tmp_path / "fit.svg").stat().st_size > 0


def test_of_many_channels_those_that_fit_worst_are_drawn(tmp_path):
    channels = [f"BUS{k}.{name}" for k in (1, 2) for name in ("Vm", "Va")] + ["GEN1.omega", "CCT1.P1", "CCT1.Q1",
                                                                              "CCT1.I1"]
    recordings = [Recording(smib(), fabricated(smib(), channels=channels, noise=0.01), name="one")]
    fit = gc.analyses.estimate(recordings, wrt="GEN1.H")
    assert len(gc.analyses.plot_fit(fit, tmp_path / "fit.png").axes) == 14
