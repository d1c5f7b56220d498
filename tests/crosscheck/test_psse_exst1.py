"""What is between EXST1 and PSS/E's trajectory: its integration holds the voltage for a step.

The diagram is driven by PSS/E's own terminal voltage, so that nothing else of the system matters.
"""

import itertools

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from .psse import FOLDER, STEP

TR, TC, TB, KA, TA, VRMAX, VRMIN = 0.01, 10.0, 20.0, 200.0, 0.1, 6.0, 0.0  # EXST1/TVC_System.dyr; KC = KF = 0
CSV = FOLDER / "EXST1" / "results_PSSe.csv"
EVENT, T_END, PARTS = 1.0, 8.0, 10


def field(voltage, V0, Efd0, late):
    """Efd at the ends of the steps after the event, the voltage as it is or held for a step, by Heun's method."""
    Vref = V0 + Efd0 / KA
    x = np.array([V0, Efd0 / KA, Efd0])

    def rates(x, V):
        error = Vref - x[0]
        return np.array([(V - x[0]) / TR, (error - x[1]) / TB, (KA * (x[1] + TC / TB * (error - x[1])) - x[2]) / TA])

    found, h = [], STEP / PARTS
    for t in np.arange(EVENT, T_END, STEP):
        V = [float(voltage(t if late else t + k * h)) for k in range(PARTS + 1)]
        for here, there in itertools.pairwise(V):
            first = rates(x, here)
            x = x + h / 2 * (first + rates(x + h * first, there))
        found.append(np.clip(x[2], VRMIN * V[-1], VRMAX * V[-1]))
    return np.arange(EVENT, T_END, STEP) + STEP, np.array(found)


@pytest.mark.skipif(not CSV.exists(), reason=f"{CSV} is not there")
def test_driven_by_psses_own_voltage_held_for_each_step_the_diagram_gives_its_field_voltage():
    table = np.genfromtxt(CSV, delimiter=",")
    table = table[np.isfinite(table).all(axis=1)]
    t, V, Efd = np.round(table[:, 0] / STEP) * STEP, table[:, 2], table[:, 6]
    after = (t > EVENT + STEP / 2) & (t <= T_END)
    voltage = CubicSpline(t[t > EVENT + STEP / 2], V[t > EVENT + STEP / 2])
    largest = {}
    for late in (False, True):
        ts, found = field(voltage, V[0], Efd[0], late)
        largest[late] = np.abs(np.interp(t[after], ts, found) - Efd[after]).max()
    assert largest[True] < 5e-3  # of 3.9
    assert largest[False] > 7 * largest[True]
