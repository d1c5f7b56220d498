"""Studies of PSS/E's conventional models on ieee39: every one of them, driven to its limits and back."""

from __future__ import annotations

from typing import Any

from industry_data import controls
from industry_studies import LINES, MORE, machine, new_england, study, system
from scenes import record
from studies import Study

import gridcore as gc
from gridcore.registry import devices


def new_controls(case: gc.Case, machine: int, model: str, /, **values: Any) -> None:
    """A control on a machine, in place of the one that has its name."""
    port = devices[model].attaches[0]
    item = record(model, **{port: f"EXC_GEN{machine}" if port == "exciter" else f"GEN{machine}"}, **values)
    id = item.device.naming.format(**item.fields)
    if id in case:
        case.remove(id)
    case.add(item)


def of(*names: str) -> list[str]:
    """``GOV_GEN33: R T1`` says two addresses."""
    return [f"{id}.{name}" for id, _, rest in (text.partition(": ") for text in names) for name in rest.split()]


@study
def governors_with_requests_gates_and_fuel() -> Study:
    """A temperature limit that takes over and gives back, gates and valves between limits of position and rate."""
    case = new_england(*(gc.ParameterStep(id=id, parameter=f"GOV_GEN{k}.{name}", t=t, by=by) for id, k, name, t, by in (
        ("more", 32, "Pref", 0.3137, 0.3), ("less", 32, "Pref", 0.5137, -0.3), ("pilot", 33, "Pref", 0.4137, 0.02),
        ("steam", 34, "Pref", 0.4147, 0.3), ("fuel", 35, "nref", 0.4157, 0.03))))
    new_controls(case, 32, "GAST", R=0.05, T1=0.1, T2=0.1, T3=0.4, AT=0.658, KT=2.0, VMAX=0.8, VMIN=0.645, Dturb=0.2)
    new_controls(case, 33, "IEEEG3", TG=0.2, TP=0.03, UO=0.02, UC=-0.01, PMAX=0.9, PMIN=0.6, SIGMA=0.05, DELTA=0.3,
                 TR=4.0, TW=1.0)
    new_controls(case, 34, "IEESGO", T1=0.1, T2=0.05, T3=0.05, T4=0.2, T5=5.0, T6=0.4, K1=20.0, K2=0.7, K3=0.3,
                 PMAX=0.9, PMIN=0.45)
    new_controls(case, 35, "DEGOV", T1=0.02, T2=0.1, T3=0.1, K=8.0, T4=0.1, T5=0.05, T6=0.05, TD=0.03, TMAX=0.9,
                 TMIN=0.66)
    new_controls(case, 36, "DEGOV1", T1=0.02, T2=0.1, T3=0.1, K=8.0, T4=0.1, T5=0.05, T6=0.05, TD=0.03, TMAX=0.565,
                 TMIN=0.5, M=1.0, DROOP=0.05, TE=0.05)
    return Study(case, 1.0, 0.04, [*LINES, "GEN35.torque", "more.t", "more.by", "fuel.by", *of(
        "GOV_GEN32: R T1 T3 AT KT VMIN Dturb", "GOV_GEN33: TG TP UC UO DELTA TR TW", "GOV_GEN34: T1 T2 K1 K2 K3 PMIN",
        "GOV_GEN35: T1 T2 T3 K T4 T5 TD TMIN", "GOV_GEN36: K T6 TD TMAX DROOP TE")],
        [("GEN36", "omega"), ("BUS16", "Vm"), ("GOV_GEN32", "Pm"), ("GOV_GEN33", "gate"), ("GOV_GEN35", "Pm")], [
        "GOV_GEN32.valve_at_VMIN", "GOV_GEN33.speed_at_UC", "GOV_GEN36.fuel_at_TMAX", "GOV_GEN34.valve_at_PMIN",
        "GOV_GEN36.fuel_off_TMAX", "GOV_GEN35.fuel_at_TMIN", "GOV_GEN32.request_to_second", "GOV_GEN32.valve_off_VMIN",
        "GOV_GEN33.speed_off_UC", "GOV_GEN34.valve_off_PMIN", "GOV_GEN33.speed_at_UO", "GOV_GEN35.fuel_off_TMIN",
        "GOV_GEN32.request_to_first"])


@study
def stabilizers_between_their_limits() -> Study:
    case = system("kundur", gc.BusFault(id="fault", bus=8, t=0.0513, clear=0.1523, x=0.01),
                  gc.BranchTrip(id="trip", branch="LINE8-9_2", t=0.1713))
    for k in (1, 2, 3, 4):
        controls(case, f"GEN{k}", "SEXS", "TGOV1")
    two = {"ICS1": 1, "ICS2": 3, "M": 3, "N": 1, "TW1": 2.0, "TW2": 2.0, "TW3": 2.0, "T7": 2.0, "KS2": 0.2, "T8": 0.3,
           "T9": 0.1, "KS1": 20.0, "T1": 0.2, "T2": 0.02, "T3": 0.2, "T4": 0.03}
    new_controls(case, 1, "STAB1", KT=20.0, T=1.5, T1T3=5.0, T3=0.04, T2T4=3.0, T4=0.05, HLIM=0.05)
    new_controls(case, 2, "PSS2A", **two | {"VSTMAX": 0.04, "VSTMIN": -0.04})
    new_controls(case, 3, "PSS2B", **two | {"ICS1": 2, "T10": 0.1, "T11": 0.03, "VS2MIN": 0.6, "VS1MAX": 0.002})
    new_controls(case, 4, "ST2CUT", ICS1=1, ICS2=3, K1=20.0, K2=-0.2, T1=0.02, T2=0.05, T3=1.5, T4=1.2, T5=0.3, T6=0.05,
                 T7=0.2, T8=0.04, LSMAX=0.05, LSMIN=-0.05, VCU=0.03, VCL=-0.05)
    return Study(case, 0.4, 0.02, [*MORE, *of(
        "PSS_EXC_GEN1: KT T T1T3 T3 HLIM", "PSS_EXC_GEN2: KS1 KS2 KS3 TW1 TW3 T7 T8 T9 T1 VSTMAX",
        "PSS_EXC_GEN3: T10 T11 Tw VS2MIN VS1MAX", "PSS_EXC_GEN4: K1 K2 T1 T3 T4 T5 LSMAX VCL")],
        [("GEN1", "omega"), ("BUS8", "Vm"), ("PSS_EXC_GEN3", "Vs")], [
        "PSS_EXC_GEN3.u1_at_VS1MAX", "PSS_EXC_GEN2.limited_at_VSTMAX", "PSS_EXC_GEN3.u2_at_VS2MIN",
        "PSS_EXC_GEN4.limited_at_LSMAX", "PSS_EXC_GEN1.limited_at_HLIM", "PSS_EXC_GEN3.u1_off_VS1MAX",
        "PSS_EXC_GEN3.u2_off_VS2MIN", "PSS_EXC_GEN2.limited_off_VSTMAX", "PSS_EXC_GEN2.limited_at_VSTMIN",
        "PSS_EXC_GEN4.limited_off_LSMAX", "PSS_EXC_GEN4.limited_at_LSMIN"])


@study
def exciters_and_a_compensator_at_their_limits() -> Study:
    case = system("kundur", gc.BusFault(id="fault", bus=8, t=0.0513, clear=0.1523, x=0.05),
                  gc.BranchTrip(id="trip", branch="LINE8-9_2", t=0.1713))
    curve = {"E1": 2.3, "SE1": 0.1, "E2": 3.1, "SE2": 0.33}
    for k in (1, 2, 3, 4):
        controls(case, f"GEN{k}", "SEXS", "TGOV1")
    new_controls(case, 1, "EXST1", TR=0.01, VIMAX=0.05, VIMIN=-0.05, TC=1.0, TB=10.0, KA=200.0, TA=0.02, VRMAX=3.0,
                 VRMIN=-3.0, KC=0.05, KF=0.01, TF=1.0)
    new_controls(case, 2, "IEEET2", TR=0.02, KA=40.0, TA=0.05, VRMAX=2.6, VRMIN=-1.0, KE=1.0, TE=0.4, KF=0.05, TF1=1.0,
                 TF2=0.1, **curve)
    new_controls(case, 3, "ESST3A", TR=0.02, VIMAX=0.1, VIMIN=-0.1, KM=8.0, TC=1.0, TB=5.0, KA=50.0, TA=0.02, VRMAX=2.5,
                 VRMIN=-2.5, KG=1.0, KP=5.0, KI=0.5, VBMAX=6.2, KC=0.1, XL=0.1, VGMAX=2.2, THETAP=10.0, TM=0.2,
                 VMMAX=0.42, VMMIN=-0.3)
    new_controls(case, 4, "EXDC1", TR=0.02, KA=40.0, TA=0.05, TB=0.3, TC=0.1, VRMAX=2.6, VRMIN=-1.0, KE=1.0, TE=0.4,
                 KF=0.05, TF1=1.0, **curve)
    case.add(record("CSVGN1", id="SVC", bus=8, control="PQ", Q0=0.5, Sn=200.0, K=20.0, T1=0.0, T2=0.5, T3=0.05, T4=0.4,
                    T5=0.02, RMIN=10.0, VMAX=0.9, VMIN=0.0, CBASE=150.0))
    return Study(case, 0.3, 0.02, [*MORE, *of(
        "EXC_GEN1: VIMAX VRMAX KA TC KC KF", "EXC_GEN2: KA TA VRMAX KF TF1 TF2 SE2",
        "EXC_GEN3: VIMAX VRMAX VMMAX VGMAX KM TM KG KC THETAP", "EXC_GEN4: KA VRMAX TB",
        "SVC: K T2 T3 T5 RMIN VMAX CBASE Sn Q0")],
        [("GEN1", "omega"), ("BUS8", "Vm"), ("SVC", "Q")], [
        "SVC.sum_at_VMIN", "EXC_GEN1.VI_at_VIMAX", "EXC_GEN2.VR_at_VRMAX", "EXC_GEN3.VM_at_VMMAX",
        "EXC_GEN3.VR_at_VRMAX", "SVC.y_at_RMIN", "EXC_GEN1.ceiling_at_VRMAX", "EXC_GEN1.ceiling_off_VRMAX",
        "EXC_GEN1.VI_off_VIMAX", "EXC_GEN3.VI_off_VIMAX", "EXC_GEN2.VR_off_VRMAX", "EXC_GEN3.VR_off_VRMAX",
        "EXC_GEN3.VG_at_VGMAX", "SVC.y_off_RMIN"])


@study
def pid_regulators_at_their_limits() -> Study:
    case = system("kundur", gc.BusFault(id="fault", bus=8, t=0.0513, clear=0.1523, x=0.01),
                  gc.BranchTrip(id="trip", branch="LINE8-9_2", t=0.1713),
                  gc.ParameterStep(id="less", parameter="EXC_GEN2.Vref", t=0.2137, by=-0.1),
                  gc.ParameterStep(id="low", parameter="EXC_GEN1.Vref", t=0.2137, by=-0.2))
    for k in (1, 2, 3, 4):
        controls(case, f"GEN{k}", "SEXS", "TGOV1")
    curve = {"E1": 2.3, "SE1": 0.1, "E2": 3.1, "SE2": 0.33}
    new_controls(case, 1, "AC8B", TR=0.01, KPR=20.0, KIR=15.0, KDR=1.0, TDR=0.05, VPIDMAX=4.0, VPIDMIN=-3.0, KA=1.5,
                 TA=0.02, VRMAX=4.8, VRMIN=-3.0, KC=0.1, KD=0.4, KE=1.0, TE=0.2, VFEMAX=3.5, VEMIN=1.5, **curve)
    new_controls(case, 2, "DC4B", OEL=2, UEL=2, TR=0.01, KP=20.0, KI=20.0, KD=1.0, TD=0.05, VRMAX=2.9, VRMIN=-2.0,
                 KA=1.5, TA=0.02, KE=1.0, TE=0.2, KF=0.02, TF=1.0, VEMIN=1.3, **curve)
    new_controls(case, 3, "ST6B", TR=0.01, KPA=15.0, KIA=20.0, KDA=0.3, TDA=0.05, VAMAX=2.9, VAMIN=1.0, KFF=0.8, KM=1.0,
                 KCI=1.05, KLR=3.0, ILR=3.0, VRMAX=3.0, VRMIN=-2.0, KG=0.9, TG=0.05)
    new_controls(case, 4, "ST8C", OEL=2, UEL=2, SW1=1, TR=0.01, KPR=15.0, KIR=10.0, VPIMAX=2.7, VPIMIN=0.5, KPA=1.2,
                 KIA=3.0, VAMAX=0.9, VAMIN=-0.5, KA=0.7, TA=0.02, VRMAX=0.5, VRMIN=-0.3, KF=1.0, TF=0.03, KC1=0.1,
                 KP=4.5, KI1=0.5, XL=0.05, THETAP=10.0, VB1MAX=5.2, KC2=0.05, KI2=0.5, VB2MAX=0.5)
    return Study(case, 0.4, 0.02, [*MORE, "less.by", *of(
        "EXC_GEN1: KPR KIR KDR TDR VPIDMAX VRMAX VFEMAX VEMIN KA KD KE SE2",
        "EXC_GEN2: KP KI KD TD VRMAX VEMIN KA TA KF SE2", "EXC_GEN3: KPA KIA KDA VAMAX KFF KM KLR ILR VRMAX KG TG",
        "EXC_GEN4: KPR KIR VPIMAX KPA KIA VAMAX KA VRMAX KF TF KC1 KP KI1 THETAP VB1MAX KC2 KI2 VB2MAX")],
        [("GEN1", "omega"), ("BUS8", "Vm"), ("EXC_GEN3", "Efd"), ("EXC_GEN4", "Efd")], [
        "EXC_GEN2.VPID_at_VRMAX", "EXC_GEN3.bridge_to_second", "EXC_GEN3.VR_at_VRMAX", "EXC_GEN3.VA_at_VAMAX",
        "EXC_GEN1.VPID_at_VPIDMAX", "EXC_GEN1.VR_at_VRMAX", "EXC_GEN1.VE_at_VFEMAX", "fault.clears",
        "EXC_GEN3.bridge_to_first", "EXC_GEN1.VPID_off_VPIDMAX", "EXC_GEN2.VPID_off_VRMAX", "EXC_GEN2.VPID_at_VRMIN",
        "EXC_GEN1.VE_off_VFEMAX", "EXC_GEN3.VA_off_VAMAX", "EXC_GEN1.VE_at_VEMIN", "EXC_GEN2.Efd_at_VEMIN"])


@study
def limiters_of_excitation() -> Study:
    """Field current and field voltage that stay too high; under-excitation at a sum, and at a gate."""
    case = system("kundur", gc.BusFault(id="fault", bus=8, t=0.2513, clear=0.2823, x=0.02),
                  gc.BranchTrip(id="trip", branch="LINE8-9_2", t=0.2913),
                  *(gc.ParameterStep(id=f"less{k}", parameter=f"EXC_GEN{k}.Vref", t=0.0137, by=-0.4) for k in (2, 4)))
    for k in (1, 2, 3, 4):
        controls(case, f"GEN{k}", "SEXS", "TGOV1")
    curve = {"E1": 2.3, "SE1": 0.1, "E2": 3.1, "SE2": 0.33}
    new_controls(case, 3, "EXST1", TR=0.01, TC=1.0, TB=10.0, KA=200.0, TA=0.02, VRMAX=4.0, VRMIN=-3.0, KC=0.05, KF=0.01,
                 TF=1.0)
    new_controls(case, 4, "DC4B", OEL=2, UEL=2, TR=0.01, KP=20.0, KI=20.0, KD=1.0, TD=0.05, VRMAX=4.0, VRMIN=-2.0,
                 KA=1.5, TA=0.02, KE=1.0, TE=0.2, KF=0.02, TF=1.0, VEMIN=0.0, **curve)
    times = {"EFD1": 1.1, "TIME1": 0.1, "EFD2": 1.3, "TIME2": 0.08, "EFD3": 1.6, "TIME3": 0.04, "KMX": 2.0}
    case.add(record("MAXEX2", exciter="EXC_GEN1", M=1, EFDRATED=1.8, VLOW=-0.02,
                    **times | {"TIME1": 0.06, "TIME2": 0.05}))
    case.add(record("MAXEX2", exciter="EXC_GEN3", M=0, EFDRATED=2.0, VLOW=-0.2, **times | {"TIME3": 0.05}))
    behind = {"KUF": 0.5, "KUI": 2.0, "KUL": 2.0, "VUIMAX": 0.3, "TU1": 0.02, "TU2": 0.05, "VULMAX": 0.15}
    case.add(record("UEL1", exciter="EXC_GEN2", KUR=1.645, KUC=1.7, VULMIN=-0.01, **behind))
    case.add(record("UEL2", exciter="EXC_GEN4", K1=1, K2=2, TUV=0.02, TUP=0.03, TUQ=0.01, P0=0.0, Q0=0.0, P1=0.6,
                    Q1=0.145, P2=0.9, Q2=0.26,
                    **behind | {"VULMAX": 1.5, "VULMIN": -1.1, "VUIMIN": -1.0, "VUIMAX": 1.5}))
    # UEL1's integral is off its limit for a moment only: what KUI does is round-off of two instants
    return Study(case, 0.45, 0.02, [*MORE, "less2.by", "less4.by", *of(
        "OEL_EXC_GEN1: EFDRATED EFD1 TIME1 EFD2 TIME2 EFD3 TIME3 EFDDES KMX VLOW passed0",
        "OEL_EXC_GEN3: EFDRATED EFD3 TIME3 KMX", "UEL_EXC_GEN2: KUR KUC KUF KUL VUIMAX TU1 TU2 VULMAX",
        "UEL_EXC_GEN4: K1 K2 TUV TUP TUQ KUI KUL VULMIN P1 Q1 P2 Q2", "EXC_GEN4: KP KA VRMAX")],
        [("GEN1", "omega"), ("BUS8", "Vm"), ("EXC_GEN2", "Efd"), ("EXC_GEN4", "Efd")], [
        "EXC_GEN4.above_to_second", "OEL_EXC_GEN1.takes_over", "OEL_EXC_GEN1.VOEL_at_VLOW",
        "UEL_EXC_GEN4.integral_off_VUIMIN", "UEL_EXC_GEN2.integral_off_VUIMIN", "OEL_EXC_GEN3.rises", "fault.strikes",
        "UEL_EXC_GEN2.VU_at_VUIMIN", "UEL_EXC_GEN2.limited_at_VULMIN", "UEL_EXC_GEN4.VU_at_VUIMIN",
        "UEL_EXC_GEN2.integral_at_VUIMIN", "fault.clears", "OEL_EXC_GEN3.takes_over", "OEL_EXC_GEN3.VOEL_off_zero",
        "OEL_EXC_GEN3.falls"])


@study
def motors_loads_and_compensated_voltages() -> Study:
    """A motor that its relay disconnects, a load in powers of the voltage, a salient machine, load compensation."""
    case = system("kundur", gc.BusFault(id="fault", bus=8, t=0.0513, clear=0.1523, x=0.01),
                  gc.BranchTrip(id="trip", branch="LINE8-9_2", t=0.1713))
    for k, (exciter, governor) in {1: ("SEXS", "TGOV1"), 2: ("IEEET1", "TGOV1"), 3: ("ESST1A", "TGOV1"),
                                   4: ("SCRX", "TGOV1")}.items():
        controls(case, f"GEN{k}", exciter, governor)
        case.add(record("IEEEVC", exciter=f"EXC_GEN{k}", RC=0.01, XC=-0.03 * k))
    machine(case, "GEN3", "GENSAE")
    case.set("GEN3.torque", 1)
    for load, model, values in (
            ("LOAD7", "IEELBL", dict(a1=0.5, a2=0.3, a3=0.2, a4=0.6, a5=-0.2, a6=0.6, a7=1.5, a8=-0.8, n2=1.1,
                                     Vlow=0.6)),
            ("LOAD9", "CIM5BL", dict(MBASE=2500.0, RA=0.02, XA=0.08, XM=3.0, R1=0.03, X1=0.1, R2=0.0, X2=0.0, H=0.8,
                                     VI=0.72, TI=0.05, TB=0.03, D=2.0))):
        fields = {name: case[load].fields[name] for name in ("bus", "P0", "Q0")}
        case.remove(load)
        case.add(record(model, id=load, **fields, **values))
    return Study(case, 0.3, 0.02, [*(name for name in MORE if not name.startswith("LOAD")), *of(
        "LOAD7: P0 Q0 a1 a5 a7 a8 n1 n2 n6 T", "LOAD9: P0 Q0 MBASE RA XM R1 H VI TI TB D", "COMP_EXC_GEN1: RC XC",
        "COMP_EXC_GEN2: XC", "COMP_EXC_GEN3: XC", "COMP_EXC_GEN4: XC", "GEN3: torque S10 S12 Xq Tq0pp Xl")],
        [("GEN1", "omega"), ("BUS8", "Vm"), ("LOAD7", "P"), ("LOAD9", "slip")], [
        "EXC_GEN2.VR_at_VRMAX", "EXC_GEN3.ceiling_at_VRMAX", "EXC_GEN1.Efd_at_EMAX", "EXC_GEN4.E_at_EMAX",
        "LOAD9.undervoltage", "LOAD9.trips", "EXC_GEN1.Efd_off_EMAX", "EXC_GEN4.E_off_EMAX"])


@study
def machines_that_saturate_with_their_current() -> Study:
    case = system("kundur", gc.BusFault(id="fault", bus=8, t=0.0513, clear=0.1523, x=0.01),
                  gc.BranchTrip(id="trip", branch="LINE8-9_2", t=0.1713))
    for k, model in enumerate(("GENTPF", "GENTPJ", "GENTPJ1", "GENTPJU1"), 1):
        controls(case, f"GEN{k}", "SEXS", "TGOV1")
        machine(case, f"GEN{k}", model, Xqpp=0.27, **{"Kis": 0.03 * k} if k > 1 else {}, torque=float(k > 2))
    return Study(case, 0.25, 0.025, [
        "fault.clear", "fault.x", "trip.t", "LINE6-7.x", *of(
            "GEN1: H S12 S10 Xl Xqpp P0 V0", "GEN2: Kis Xd Xq Td0p Tq0pp Xdpp", "GEN3: Kis torque Xqp Xdp",
            "GEN4: Kis Sn")],
        [("GEN1", "omega"), ("BUS8", "Vm"), ("GEN2", "S"), ("GEN4", "XadIfd")], [
        "fault.strikes", "EXC_GEN1.Efd_at_EMAX", "fault.clears", "trip.opens"])
