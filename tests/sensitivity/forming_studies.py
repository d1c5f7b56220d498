"""Studies of converters: grid-forming ones into their limits and back, distributed ones that trip in part."""

from __future__ import annotations

from typing import Any

from conventional_studies import of
from industry_studies import study
from scenes import record
from studies import Study

import gridcore as gc


def fault(x: float = 0.02) -> tuple[Any, ...]:
    """Records of one case: a fault, and the trip that ends it."""
    return (record("BusFault", id="fault", bus=2, t=0.0513, clear=0.1523, x=x),
            record("BranchTrip", id="trip", branch="SECOND", t=0.1523))


def feeder(*disturbance: Any, H: float = 0.0) -> gc.Case:
    """An infinite bus, or a machine, two circuits, a load, and bus 3 for a converter."""
    case = gc.Case("feeder", base_mva=100)
    for number in (1, 2, 3):
        case.add("Bus", id=number)
    if H:
        case.add("GENCLS", bus=1, control="slack", H=H, Xdp=0.2)
    else:
        case.add("InfiniteBus", bus=1, control="slack", X=0.02)
    for number, id in enumerate(("LINE1-2", "SECOND")):
        case.add("Line", id=id, bus1=1, bus2=2, r=0.01, x=0.1 + 0.02 * number, b=0.02)
    case.add("Line", bus1=2, bus2=3, r=0.002, x=0.05)
    case.add("ZIP", bus=2, P0=0.4, Q0=0.1, pI=0.5, pZ=0.5)
    for item in disturbance:
        case.add(item)
    return case


GRID = ("fault.t", "fault.clear", "fault.x", "trip.t", "LINE1-2.x", "LINE2-3.r", "LOAD2.P0", "INF1.V0", "INF1.X")
LCL = {"lf": 0.08, "rf": 0.003, "cf": 0.074, "lg": 0.2, "rg": 0.01}
LOOPS = {"kpv": 0.59, "kiv": 736.0, "kffi": 0.1, "kpc": 1.27, "kic": 14.3, "kffv": 0.2, "kad": 0.5, "wad": 50.0,
         "rv": 0.01, "lv": 0.2}
OUTER: dict[str, dict[str, float]] = {
    "VirtualInertia": {"Ta": 2.0, "kd": 400.0, "kw": 20.0, "kq": 0.2, "wf": 1000.0},
    "PowerDroop": {"kp": 0.02, "kq": 0.05, "wf": 30.0}, "VirtualOscillator": {"eta": 10.0, "alpha": 2.0, "kappa": 1.5}}


@study
def converters_of_exchangeable_parts() -> Study:
    """Three outer loops, one with a measured frequency."""
    case = feeder(*fault())
    for number, (outer, data) in enumerate(OUTER.items(), 3):
        if number > 3:
            case.add("Bus", id=number)
            case.add("Line", bus1=2, bus2=number, r=0.002, x=0.05)
        case.add("LCLConverter", bus=number, control="PQ", P0=0.2 * number - 0.4, Q0=0.05, **LCL)
        case.add("VoltageCascade", converter=f"CONV{number}", **LOOPS)
        case.add(outer, id=f"OUT{number}", loops=f"LOOPS_CONV{number}", **data)
    case.add("ConverterPLL", id="PLL", outer="OUT3", wlp=500.0, kp=0.084, ki=4.69)
    case.add("RLLoad", id="RL", bus=2, P0=0.3, Q0=0.1)
    case.add("LineInductor", bus1=1, bus2=2, line="LINE1-2")
    return Study(case, 0.25, 0.01, [*GRID, *of(
        "CONV3: P0 Q0 Sn lf rf cf lg rg", "LOOPS_CONV3: kpv kiv kffi kpc kic kffv kad wad rv lv",
        "LINE1-2: r", "RL: P0 Q0 k", "OUT3: Ta kd kw kq wf", "PLL: wlp kp ki", "OUT4: kp kq wf",
        "OUT5: eta alpha kappa")],
        [("BUS3", "Vm"), ("CONV3", "P"), ("OUT4", "theta"), ("CONV5", "Q")], ["fault.strikes", "trip.opens"], theta=0.6)


@study
def droop_between_its_limits() -> Study:
    """A current that is cut, powers that their controllers bring back, an internal voltage at its limit."""
    case = feeder(*fault(), gc.ParameterStep(id="more", parameter="GEN3.Pref", t=0.4137, by=2.0),
                  gc.ParameterStep(id="less", parameter="GEN3.Pref", t=0.7137, by=-3.0))
    case.add("REGFMA1", bus=3, control="PV", P0=0.7, V0=1.01, IMAX=1.5, PMAX=0.8, PMIN=0.6, QMAX=0.3, QMIN=-0.2,
             EMAX=1.1, kiv=5.86, mp=0.02, kppmax=0.02, kipmax=0.3)
    return Study(case, 1.2, 0.02, [*GRID, "more.t", "more.by", "less.by", *of(
        "GEN3: P0 V0 Sn Rs Xdp IMAX EMAX PMAX PMIN QMAX QMIN mp mq kppmax kipmax kpqmax kiqmax kiv kpv TPf TQf TVf")],
        [("BUS3", "Vm"), ("GEN3", "delta"), ("GEN3", "P"), ("GEN3", "E")], [
        "GEN3.I_at_IMAX", "GEN3.under_x_off_min", "GEN3.lower_x_off_max", "GEN3.E_x_at_EMAX", "GEN3.over_x_off_max",
        "GEN3.under_at_min", "GEN3.raised_x_off_min", "GEN3.raised_x_at_min", "GEN3.I_off_IMAX", "GEN3.E_x_off_EMAX",
        "GEN3.lower_x_at_max", "GEN3.I_at_IMAX", "GEN3.over_at_max", "GEN3.over_x_at_max"])


@study
def virtual_machine_between_its_limits() -> Study:
    case = feeder(*fault(), gc.ParameterStep(id="more", parameter="GEN3.Pref", t=0.8137, by=1.0))
    case.add("REGFMB1", bus=3, control="PV", P0=0.7, V0=1.01, IMAX=1.5, VFRZ=0.42, wPLLMAX=0.004, DwMAX=0.005)
    return Study(case, 1.2, 0.02, [*GRID, "more.t", "more.by", *of(
        "GEN3: P0 V0 Sn Rs Xdp IMAX mq kiv kpv mp kpPLL kiPLL wPLLMAX DwMAX H D1 D2 wD ISS Kf KI TPf TQf TVf TIf",
        "GEN3: VFRZ")], [("BUS3", "Vm"), ("GEN3", "dPLL"), ("GEN3", "P"), ("GEN3", "E")], [
        "GEN3.I_at_IMAX", "GEN3.wPLL_at_wPLLMAX", "GEN3.freezes", "GEN3.E_x_at_Emax", "GEN3.I_off_IMAX",
        "GEN3.slip_at_DwMAX", "GEN3.dIT_at_highest", "GEN3.follows", "GEN3.slip_off_DwMAX", "GEN3.dMAX_off_widest",
        "GEN3.dIT_off_highest", "GEN3.E_x_off_Emax", "GEN3.dMAX_at_widest", "GEN3.left_at_ISS", "GEN3.left_off_ISS"])


@study
def virtual_machine_with_priority_for_reactive_current() -> Study:
    case = feeder(*fault())
    case.add("REGFMB1", bus=3, control="PV", P0=0.7, V0=1.01, IMAX=1.5, PQFlag=0, ESFlag=0, Tp=0.05, VdrpFlag=1,
             wFlag=1)
    return Study(case, 0.5, 0.02, [*GRID, *of("GEN3: P0 Xdp IMAX mq mp Tp ISS Kf KI TIf H")],
                 [("BUS3", "Vm"), ("GEN3", "dIT"), ("GEN3", "P")], [
        "GEN3.dMAX_off_widest", "GEN3.left_at_ISS", "GEN3.dIT_at_highest", "GEN3.left_off_ISS"])


@study
def distributed_resources_that_trip_in_part() -> Study:
    """A deep dip in which a part is lost, a swell, and the rate at which the current comes back."""
    case = feeder(*fault(), gc.ParameterStep(id="swell", parameter="INF1.E", t=0.4137, by=0.16),
                  gc.ParameterStep(id="back", parameter="INF1.E", t=0.4637, by=-0.14))
    case.add("DERA1", bus=3, control="PQ", P0=0.5, Q0=0.1, Sn=60.0, vl0=0.1, vl1=0.8, tvl1=0.04, tvl0=0.3, vh1=1.08,
             vh0=1.2, tvh1=0.03, tvh0=0.3, Kqv=2.0, dbd1=-0.02, dbd2=0.02, rrpwr=3.0, Imax=1.2)
    return Study(case, 0.64, 0.005, [*GRID, "swell.t", "swell.by", "back.by", *of(
        "GEN3: P0 Q0 Sn Trv dbd1 dbd2 Kqv Tp Tiq Pmax Tpord Imax vl0 vl1 vh0 vh1 tvl1 tvh1 Vrfrac Tg rrpwr Tv",
        "GEN3: Iqh1 Iql1")],
        [("BUS3", "Vm"), ("GEN3", "P"), ("GEN3", "Ip"), ("GEN3", "Iq")], [
        "GEN3.within_at_dbd2", "GEN3.low_trips:delay started", "GEN3.Ip2_at_Ipmax", "GEN3.left_at_Imax",
        "GEN3.Iqv_at_Iqh1", "GEN3.low_trips", "GEN3.low_turns", "GEN3.Iq1_off_Imax", "GEN3.Ip_speed_at_Ip_speed_max",
        "GEN3.Ip_speed_off_Ip_speed_max", "GEN3.within_at_dbd1", "GEN3.high_trips", "GEN3.high_turns"])


@study
def distributed_resources_with_frequency_control() -> Study:
    """Storage that is charged while the frequency rises, at limited rates, and trips by frequency in the end."""
    case = feeder(gc.ParameterStep(id="step", parameter="GEN1.Pm", t=0.0513, by=0.5), H=3.0)
    case.add("DERA1", bus=3, control="PQ", P0=0.05, Q0=0.1, Sn=60.0, FreqFlag=1, PfFlag=0, PqFlag=1, GenFlag=0,
             Ddn=30.0, Dup=20.0, fdbd1=-0.001, fdbd2=0.001, Pmin=-0.4, dPmin=-2.0, dPmax=2.0, fh=1.0285, tfh=0.05,
             rrpwr=1.5, Imax=0.55, Kqv=5.0, dbd1=-0.01, dbd2=0.01, Vref0=1.0)
    return Study(case, 0.64, 0.005, ["step.t", "step.by", "GEN1.H", "GEN1.Xdp", "LINE2-3.x", *of(
        "GEN3: P0 Q0 Sn Trf Ta fdbd1 Ddn Kpg Kig Pmin dPmin Tpord Tp fh tfh rrpwr Imax Tv Tg Vref0 Kqv")],
        [("BUS3", "Vm"), ("GEN3", "P"), ("GEN3", "slip"), ("GEN1", "omega")], [
        "GEN3.fwithin_at_fdbd1", "GEN3.stores", "GEN3.Ip_speed_at_Ip_speed_min", "GEN3.Pord_speed_at_dPmin",
        "GEN3.Pord_speed_off_dPmin", "GEN3.order_x_at_Pmin", "GEN3.trips_high"])


@study
def follower_at_its_limit_of_current() -> Study:
    """A dip in which the active current takes what there is, and the PLL follows a voltage that turns."""
    case = feeder(*fault(x=0.1))
    case.add("LCLConverter", bus=3, control="PQ", P0=0.8, Q0=0.3, **LCL)
    case.add("CurrentControl", converter="CONV3", kpp=0.2, kip=30.0, kpq=0.3, kiq=30.0, Tm=0.005, Imax=1.0, kpc=1.27,
             kic=14.3, kffv=0.2, kad=0.5, wad=50.0, wlp=500.0, kp=0.1, ki=3.0)
    return Study(case, 0.22, 0.002, [*GRID, *of(
        "CONV3: P0 Q0 Sn lf rf cf lg rg", "LOOPS_CONV3: kpp kip kpq kiq Tm Imax kpc kic kffv kad wad wlp kp ki")],
        [("BUS3", "Vm"), ("CONV3", "P"), ("CONV3", "Q"), ("LOOPS_CONV3", "theta")], [
        "LOOPS_CONV3.reactive_at_rest", "LOOPS_CONV3.reactive_x_at_rest", "LOOPS_CONV3.left_at_Imax",
        "LOOPS_CONV3.active_at_Imax", "LOOPS_CONV3.active_x_off_Imax", "LOOPS_CONV3.left_off_Imax"], theta=0.6)
