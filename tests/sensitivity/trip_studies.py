"""Studies of PSS/E's models of turbines with curves, stabilizers of power, and relays that trip and shed."""

from __future__ import annotations

from conventional_studies import new_controls, of
from industry_data import controls
from industry_studies import LINES, MORE, new_england, study, system
from scenes import record
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


@study
def turbines_with_curves() -> Study:
    """Gates that move over the kinks of their curves, between limits of position, speed and power."""
    steps = {32: ("Pref", 2.0, -4.0), 33: ("Pref", 4.0, -8.0)}
    case = new_england(*(gc.ParameterStep(id=f"{what}{k}", parameter=f"GOV_GEN{k}.{name}", t=t, by=by)
                         for k, (name, up, down) in steps.items()
                         for what, t, by in (("more", 0.2137, up), ("less", 0.5137, down))))
    pid = {"Treg": 0.05, "Kp": 2.0, "Ki": 0.5, "Kd": 0.1, "Ta": 0.03, "Tb": 0.05, "G0": 0.1, "G1": 0.64, "P1": 0.6,
           "G2": 0.7, "P2": 0.7, "P3": 1.0, "Tw": 1.2}
    new_controls(case, 32, "PIDGOV", **pid, Feedback=1.0, Rperm=0.05, Dturb=0.2, Gmax=0.72, Gmin=0.6, Velmax=0.6,
                 Velmin=-0.8)
    new_controls(case, 33, "WPIDHY", **pid, Reg=-0.05, Velmx=0.2, Velmn=-0.3, Gatmx=0.72, Gatmn=0.6, Pmax=0.75,
                 Pmin=0.5, D=0.2)
    return Study(case, 0.9, 0.04, [*LINES, "more32.t", "less32.by", "more33.by", *of(
        "GOV_GEN32: Rperm Treg Kp Ki Kd Ta Tb G1 P1 P2 P3 Atw Tw Gmax Gmin Velmax Velmin Dturb",
        "GOV_GEN33: Reg Treg Kp Ki Kd Ta Tb G1 G2 P2 Tw Gatmx Gatmn Velmx Velmn Pmax Pmin D")],
        [("GEN36", "omega"), ("BUS16", "Vm"), ("GOV_GEN32", "Pm"), ("GOV_GEN32", "gate"), ("GOV_GEN33", "Pm"),
         ("GOV_GEN33", "gate")], [
        "GOV_GEN32.gate_speed_at_Velmax", "GOV_GEN32.power_above_2", "GOV_GEN33.speed_at_Velmx",
        "GOV_GEN32.gate_at_Gmax", "GOV_GEN33.power_above_2", "GOV_GEN32.gate_off_Gmax", "GOV_GEN33.gate_at_Gatmx",
        "GOV_GEN33.speed_off_Velmx", "GOV_GEN32.power_below_2", "GOV_GEN33.gate_off_Gatmx", "GOV_GEN32.power_below_1",
        "GOV_GEN32.gate_at_Gmin", "GOV_GEN33.speed_at_Velmn", "GOV_GEN33.held_at_Pmax"])


@study
def turbines_of_two_shafts_with_play() -> Study:
    """Dead bands, a valve behind its play, the curve of a valve, and machines that share a governor."""
    case = new_england(*(gc.ParameterStep(id=f"{what}{k}", parameter=f"GOV_GEN{k}.Pref", t=t, by=by)
                         for k, begin, up, down in ((32, 0.2137, 0.2, -0.4), (34, 0.2157, 0.3, -0.5),
                                                    (36, 0.0137, 0.1, 0.4))
                         for what, t, by in (("more", begin, up), ("less", begin + 0.3, down))))
    steam = {"K": 20.0, "T1": 0.1, "T2": 0.03, "T3": 0.08, "Uo": 0.6, "Uc": -0.7, "T4": 0.2, "T5": 5.0, "T6": 0.4,
             "T7": 0.1, "K1": 0.4, "K3": 0.3, "K5": 0.2, "K7": 0.1}
    low = {"K2": 0.3, "K4": 0.4, "K6": 0.2, "K8": 0.1}
    curve = {f"{name}{k}": x for k, point in enumerate(
        ((0.0, 0.0), (0.5, 0.52), (0.62, 0.65), (0.8, 0.86), (1.0, 0.97)), 1)
        for name, x in zip(("GV", "PGV"), point, strict=True)}
    for id in ("GOV_GEN33", "GOV_GEN35"):
        case.remove(id)
    new_controls(case, 32, "WSIEG1", **steam, **curve, PMAX=0.85, PMIN=0.3, DB1=0.002, ERR=0.0015, DB2=0.02)
    new_controls(case, 34, "CrossIEEEG1", second="GEN33", **steam, **low, PMAX=0.8, PMIN=0.4)
    new_controls(case, 36, "CrossWSIEG1", second="GEN35", **steam, **low, **curve, PMAX=0.8, PMIN=0.0, DB2=0.01,
                 IBLOCK=1.0)
    return Study(case, 0.9, 0.04, [*LINES, "more32.t", "less32.by", "more36.by", *of(
        "GOV_GEN32: K T1 T2 T3 DB1 ERR DB2 GV2 PGV3 PGV4 Uo Uc PMAX T4 K1 K5", "GEN33: P0", "GEN35: V0",
        "GOV_GEN34: K T3 Uo K1 K2 K4 K6 K8 T4 T5 T6 PMAX", "GOV_GEN36: K T3 DB2 GV4 PGV4 PGV5 K2 K4 PMAX")],
        [("GEN36", "omega"), ("BUS16", "Vm"), ("GOV_GEN32", "Pm"), ("GOV_GEN32", "gate"), ("GEN33", "Pm"),
         ("GOV_GEN36", "PmL")], [
        "GOV_GEN36.gate_up", "GOV_GEN32.band_above", "GOV_GEN36.gate_left_above", "GOV_GEN36.gate_down",
        "GOV_GEN32.gate_down", "GOV_GEN32.curve_below_2", "GOV_GEN32.gate_left_below", "GOV_GEN36.valve_at_lowest",
        "GOV_GEN32.gate_up", "GOV_GEN32.curve_above_2", "GOV_GEN36.valve_off_lowest", "GOV_GEN32.valve_speed_off_Uo",
        "GOV_GEN34.valve_speed_at_Uc", "GOV_GEN34.valve_at_PMIN", "GOV_GEN32.curve_below_1"])


@study
def relays_that_trip_and_shed() -> Study:
    """Generators that trip by frequency and voltage; loads that are shed in stages; a load in powers of the voltage."""
    case = system("kundur", gc.BusFault(id="fault", bus=8, t=0.0513, clear=0.1523, x=0.02),
                  gc.BranchTrip(id="trip", branch="LINE8-9_2", t=0.1713))
    for k in (1, 2, 3, 4):
        controls(case, f"GEN{k}", "SEXS", "TGOV1")
    case.add(record("FRQTPAT", id="frq", bus=7, machine="GEN2", FL=59.0, FU=60.2, TP=0.05, TB=0.0213))
    case.add(record("VTGTPAT", id="vtg", bus=10, machine="GEN4", VL=0.85, VU=1.2, TP=0.06, TB=0.03))
    case.add(record("LVS3BL", load="LOAD9", v1=0.6, t1=0.04, tb1=0.0213, frac1=0.2, v2=0.7, t2=0.2, tb2=0.01,
                    frac2=0.2))
    case.add(record("LDS3BL", load="LOAD7", f1=59.7, t1=0.03, tb1=0.0113, frac1=0.1, f2=58.0, t2=0.1, frac2=0.1))
    case.add(record("TransferTrip", relay="LVS3BL_LOAD9", device="LINE7-8_2", ttb=0.1371))
    return Study(case, 0.4, 0.02, [*MORE, *of(
        "TRANSFER_LVS3BL_LOAD9_LINE7-8_2: ttb",
        "frq: FL FU TP TB Ta Tf", "vtg: VL VU TP TB", "LVS3BL_LOAD9: v1 t1 tb1 frac1 v2 t2 frac2",
        "LDS3BL_LOAD7: f1 t1 tb1 frac1 f2 Ta Tf")],
        [("GEN1", "omega"), ("BUS8", "Vm"), ("LOAD9", "P"), ("LOAD7", "P"), ("frq", "slip")], [
        "LVS3BL_LOAD9.second_picks_up:delay started", "frq.high:delay started", "vtg.low", "frq.high", "vtg.trips",
        "frq.trips", "LVS3BL_LOAD9.first_sheds", "LDS3BL_LOAD7.first_sheds", "LVS3BL_LOAD9.second_sheds",
        "TRANSFER_LVS3BL_LOAD9_LINE7-8_2.trips"])
