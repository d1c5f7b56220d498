"""Studies of PSS/E's models of turbines with curves, stabilizers of power, and relays that trip and shed."""

from __future__ import annotations

from conventional_studies import new_controls, of
from industry_data import controls
from industry_studies import MORE, study, system
from studies import Study

import gridcore as gc


@study
def stabilizers_of_power() -> Study:
    """One whose washouts amplify the power's swing into its limit, one that falls silent at low power."""
    case = system("kundur", gc.BusFault(id="fault", bus=8, t=0.0513, clear=0.1523, x=0.01),
                  gc.BranchTrip(id="trip", branch="LINE8-9_2", t=0.1713))
    for k in (1, 2, 3, 4):
        controls(case, f"GEN{k}", "SEXS", "TGOV1")
    new_controls(case, 1, "STAB2A", K2=1.0, T2=2.0, K3=0.25, T3=0.5, K4=0.3, K5=1.5, T5=0.03, HLIM=0.05)
    new_controls(case, 2, "PSS2C", ICS1=1, ICS2=3, M=3, N=1, TW1=2.0, TW2=2.0, TW3=2.0, T7=2.0, KS2=0.2, T8=0.3,
                 T9=0.1, KS1=20.0, T1=0.2, T2=0.02, T3=0.2, T4=0.03, T10=0.1, T11=0.03, T12=0.05, T13=0.02,
                 PPSSON=0.75, PPSSOFF=0.385, VSTMAX=0.04, VSTMIN=-0.04)
    return Study(case, 0.4, 0.02, [*MORE, *of(
        "PSS_EXC_GEN1: K2 T2 K3 T3 K4 K5 T5 HLIM",
        "PSS_EXC_GEN2: KS1 KS2 TW1 T7 T9 T11 T12 T13 PPSSON PPSSOFF VSTMAX")],
        [("GEN1", "omega"), ("BUS8", "Vm"), ("PSS_EXC_GEN1", "Vs"), ("PSS_EXC_GEN2", "Vs")], [
        "PSS_EXC_GEN2.limited_at_VSTMAX", "PSS_EXC_GEN2.silent", "PSS_EXC_GEN1.limited_at_HLIM",
        "PSS_EXC_GEN2.limited_at_VSTMIN", "PSS_EXC_GEN2.heard_again", "PSS_EXC_GEN1.limited_off_HLIM"])
