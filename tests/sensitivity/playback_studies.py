"""Studies of recordings as inputs: a machine behind sources that play them back, and its set-points."""

from __future__ import annotations

from typing import Any

import numpy as np
from industry_studies import study
from scenes import case_of, record
from studies import Study

import gridcore as gc

SEEN = [("GEN2", "omega"), ("BUS2", "Vm"), ("T", "P1"), ("T", "Q1")]
MACHINE = ["GEN2.H", "GEN2.Xdp", "GEN2.Td0p", "EXC.KA", "T.x", "GEN2.P0", "GEN2.V0"]


def machine(*rows: Any) -> gc.Case:
    """A machine with its exciter behind a transformer, at the bus of the source."""
    return case_of(
        record("Bus", id=1), record("Bus", id=2), record("Transformer", id="T", bus1=1, bus2=2, x=0.1),
        record("TwoAxis", bus=2, P0=0.8, V0=1.01, H=3.0, D=1.0, Xd=1.2, Xq=1.1, Xdp=0.2, Xqp=0.25, Td0p=5.0, Tq0p=0.6),
        record("IEEEType1", id="EXC", machine="GEN2", KA=20.0, TA=0.2, KE=1.0, TE=0.3, KF=0.06, TF=0.35, VRMIN=-4.0,
               VRMAX=7.0),
        *rows)


@study
def voltage_and_frequency_of_a_profile() -> Study:
    """A dip with edges, through lags: steps end at the corners."""
    case = machine(record("PLBVFU1", id="SRC", bus=1, control="slack", V0=1.0, V="V", f="f", Vscale=400.0, fscale=50.0,
                          Tv=0.02, Tf=0.05))
    gc.analyses.add_time_series(case, "V", [0.0, 0.113, 0.113, 0.213, 0.313, 1.0], [400, 401, 340, 350, 396, 398])
    gc.analyses.add_time_series(case, "f", [0.0, 0.157, 0.457, 1.0], [50.0, 50.0, 50.2, 49.9])
    return Study(case, 0.6, 0.02, [
        *MACHINE, *(f"SRC.{name}" for name in ("Vscale", "fscale", "Tv", "Tf", "Vflag")), "V_0.v", "V_1.v", "V_1.jump",
        "f_2.v"], SEEN, ["V_1.passes", "f_1.passes", "V_2.passes", "V_3.passes", "f_2.passes"])


@study
def phasors_and_set_points_of_recordings() -> Study:
    """Evenly sampled, more than a step ends at: magnitude and angle, a reference, a mechanical power behind a lag."""
    t = np.arange(121) / 120
    case = machine(record("PlaybackSource", id="SRC", bus=1, control="slack", V="V", theta="angle", radian=57.3),
                   record("Playback", id="ref", signal="Vref", parameter="EXC.Vref", scale=0.5),
                   record("Playback", id="power", signal="P", parameter="GEN2.Pm", scale=0.01, T=0.1))
    gc.analyses.add_time_series(case, "V", t, 1.0 - 0.1 * np.sin(9 * t) ** 2)
    gc.analyses.add_time_series(case, "angle", t, 5 * np.sin(7 * t))
    gc.analyses.add_time_series(case, "Vref", t, 0.1 * np.sin(11 * t))
    gc.analyses.add_time_series(case, "P", t, 80 + 10 * np.sin(5 * t))
    return Study(case, 0.5, 0.0217, [*MACHINE, "SRC.Vscale", "SRC.radian", "ref.scale", "power.scale", "power.T",
                                     "V_20.v", "angle_31.v", "P_40.v"], SEEN)
