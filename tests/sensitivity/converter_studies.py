"""Studies of converters on kundur: every model, through its limits, what it holds in a dip, and the recovery."""

from __future__ import annotations

from typing import Any

from conventional_studies import of
from industry_studies import MORE, study, system
from scenes import record
from studies import Study

import gridcore as gc


def converter(case: gc.Case, machine: str, **models: dict[str, Any]) -> None:
    """A converter and its controls in place of a machine and its; the first model is the converter's."""
    place = {name: case[machine].fields[name] for name in ("bus", "control", "P0", "V0", "Sn")
             if name in case[machine].fields}
    for id in (f"PSS_EXC_{machine}", f"EXC_{machine}", f"GOV_{machine}", machine):
        if id in case:
            case.remove(id)
    below = machine
    for model, values in models.items():
        item = record(model, **({"id": machine, **place} if below == machine and model.startswith("REG") else
                                {record(model).device.attaches[0]: below}), **values)
        case.add(item)
        below = item.fields.get("id") or item.device.naming.format(**item.fields)


FAULT = (gc.BusFault(id="fault", bus=8, t=0.0513, clear=0.1523, x=0.02),
         gc.BranchTrip(id="trip", branch="LINE8-9_2", t=0.1713))


def asks(*replaced: str) -> list[str]:
    """Parameters of the rest of the system."""
    gone = tuple(f"{machine}.{name}" for machine in replaced for name in "STHX")
    return [name for name in MORE if not name.startswith(gone)]


@study
def solar_plants_in_a_fault() -> Study:
    """A dip that holds the controls, the power logic, reactive support, a plant control behind dead bands."""
    case = system("kundur", *FAULT)
    converter(case, "GEN2", REGCA1={"Lvplsw": 1.0, "Rrpwr": 5.0, "Lvpnt1": 0.9, "Lvpl1": 0.8, "Iqrmax": 8.0,
                                    "Iqrmin": -8.0, "Volim": 1.1, "Khv": 0.7},
              REECB1={"QFlag": 1.0, "VFlag": 1.0, "Kqp": 0.2, "Kqi": 2.0, "Kvp": 1.0, "Kvi": 20.0, "Imax": 1.1,
                      "Vdip": 0.84, "Kqv": 2.0, "dbd1": -0.02, "dbd2": 0.02, "Tpord": 0.05},
              REPCA1={"RefFlag": 1.0, "Fflag": 1.0, "Kp": 18.0, "Kc": 0.02, "dbd1": -0.002, "dbd2": 0.002,
                      "fdbd1": -2e-4, "fdbd2": 2e-4, "Ddn": 20.0, "Dup": 10.0, "Vfrz": 0.7, "Tft": 0.02, "Qmax": 0.4})
    return Study(case, 0.4, 0.02, [*asks("GEN2"), *of(
        "GEN2: Tg Rrpwr Brkpt Zerox Lvpl1 Lvpnt1 Lvpnt0 Tfltr Iqrmax Khv Volim",
        "REEC_GEN2: Vdip Trv dbd1 Kqv Kqp Kqi Kvp Kvi Imax Tpord",
        "REPC_REEC_GEN2: Tfltr Kp Ki Tft Tfv Vfrz Kc emax dbd1 dbd2 Qmax Kpg Kig Tp Ddn Dup Tg fdbd1")],
        [("GEN2", "P"), ("GEN2", "Q"), ("BUS8", "Vm")], [
        "GEN2.gain_below_2", "REEC_GEN2.dip_below", "REPC_REEC_GEN2.low_below", "REPC_REEC_GEN2.band_beyond_above",
        "REPC_REEC_GEN2.reactive_at_reactive_max", "REEC_GEN2.band_beyond_above", "GEN2.Iq_speed_at_Iq_speed_max",
        "GEN2.logic_below_2", "GEN2.Ip_at_LVPL", "REEC_GEN2.dip_from_below", "fault.clears",
        "GEN2.over_to_first", "GEN2.logic_above_2", "REPC_REEC_GEN2.reactive_off_reactive_max",
        "trip.opens", "GEN2.over_to_second"])


# 1 pu of current at 1 pu voltage, less below
TABLE = {"Vq1": 0.3, "Iq1": 0.3, "Vq2": 0.7, "Iq2": 0.6, "Vq3": 0.9, "Iq3": 1.0, "Vp1": 0.2, "Ip1": 0.2, "Vp2": 0.6,
         "Ip2": 0.5, "Vp3": 0.95, "Ip3": 1.1}


@study
def wind_turbines_whose_dip_is_followed_by_a_hold() -> Study:
    """Tables of limits, either priority, a reactive current that is frozen or goes on, a limit that is held."""
    case = system("kundur", *FAULT)
    controls = {"PfFlag": 1.0, "Vdip": 0.85, "Kqv": 2.0, "dbd1": -0.05, "dbd2": 0.05, "Imax": 1.05, "Tiq": 0.03,
                **TABLE}
    converter(case, "GEN2", REGCA1={"Brkpt": 0.88}, REECA1={**controls, "Thld": 0.06, "Thld2": 0.08, "Iqfrz": 0.1})
    converter(case, "GEN4", REGCB1={"Xdp": 0.15, "Rs": 0.01, "Imax": 1.0, "Rrpwr": 8.0, "Iqrmax": 5.0, "RateFlag": 1.0},
              REECA1={**controls, "PQFlag": 1.0, "Thld": -0.05, "QFlag": 1.0, "Kqi": 1.0, "Kvp": 0.5, "Kvi": 10.0,
                      "PfFlag": 0.0})
    return Study(case, 0.4, 0.02, [*asks("GEN2", "GEN4"), *of(
        "REEC_GEN2: Vdip Thld Thld2 Iqfrz Kqv Imax Tiq Tp Vq2 Iq2 Vp3 Ip2 Trv",
        "REEC_GEN4: Vdip Thld Kqi Kvp Kvi Imax Vq3 Iq3 Vp2 Ip3", "GEN4: Tg Te Tfltr Imax Rrpwr Iqrmax Xdp Rs")],
        [("GEN2", "P"), ("GEN4", "Q"), ("BUS8", "Vm")], [
        "REEC_GEN2.dip_below", "REEC_GEN2.VDL2_below_3", "REEC_GEN4.dip_below", "REEC_GEN2.Iptop_to_first",
        "REEC_GEN2.current_at_Ipmax", "GEN4.Iq_speed_at_Iq_speed_max", "GEN4.ip_at_ipmax",
        "REEC_GEN4.total_at_total_max", "REEC_GEN4.Iqtop_to_first", "GEN4.ip_off_ipmax", "fault.clears",
        "REEC_GEN2.dip_from_below", "REEC_GEN4.Iqtop_to_second", "REEC_GEN2.current_off_Ipmax",
        "REEC_GEN4.total_off_total_max", "REEC_GEN4.after_ends", "REEC_GEN2.after_ends", "REEC_GEN2.limited_ends"])


@study
def batteries_and_blocked_converters() -> Study:
    """A state of charge that comes to its end, momentary cessation, and currents held after it."""
    case = system("kundur", *FAULT)
    case.set("GEN4.P0", 2.0)
    case.set("LOAD9.P0", 12.67)
    controls = {"Vdip": 0.85, "Kqv": 1.0, "dbd1": -0.05, "dbd2": 0.05, "Imax": 1.1, "Tiq": 0.03, **TABLE}
    converter(case, "GEN2", REGCB1={"Xdp": 0.2, "PQFlag": 1.0, "Te": 0.02}, REECC1={
        **controls, "T": 5.0, "SOCini": 0.5, "SOCmin": 0.46, "VFlag": 0.0, "QFlag": 1.0, "Kvp": 0.5, "Kvi": 10.0})
    converter(case, "GEN4", REGCA1={"Brkpt": 0.88}, REECD1={
        **controls, "Thld": 0.05, "Thld2": 0.06, "Vblkl": 0.74, "Tblk": 0.04, "QFlag": 1.0, "Kqi": 1.0, "Kqp": 0.1,
        "Kvp": 0.5, "Kvi": 10.0, "Kc": 0.02, "Ke": 0.5, "Vq4": 1.0, "Iq4": 1.05})
    return Study(case, 0.4, 0.02, [*asks("GEN2", "GEN4"), *of(
        "REEC_GEN2: T SOCini SOCmin Vdip Kvp Kvi Imax Vp2 Ip2 Vq3", "GEN2: Tg Te Tfltr Xdp P0",
        "REEC_GEN4: Vdip Thld Thld2 Vblkl Tblk Kqi Kqp Kvi Kc Ke Tr1 Imax Vp3 Ip3 Iq4 Vq4")],
        [("GEN2", "P"), ("GEN4", "Q"), ("GEN4", "P"), ("BUS8", "Vm")], [
        "REEC_GEN4.VDL1_below_4", "REEC_GEN4.dip_below", "REEC_GEN2.dip_below", "REEC_GEN4.outside_below",
        "REEC_GEN4.total_at_total_max", "fault.clears", "REEC_GEN4.total_off_total_max", "REEC_GEN2.dip_from_below",
        "REEC_GEN4.outside_from_below", "REEC_GEN4.still_ends", "GEN4.Ip_speed_at_Rrpwr", "GEN4.Ip_speed_off_Rrpwr",
        "REEC_GEN4.dip_from_below", "REEC_GEN2.charge_below", "REEC_GEN4.after_ends", "REEC_GEN4.limited_ends"])


@study
def wind_turbines_with_their_mechanics() -> Study:
    """Two masses, pitch and torque between their limits and rates; a torque control of speed, another of power."""
    case = system("kundur", *FAULT, gc.ParameterStep(id="less", parameter="REPC_REEC_GEN2.Plant", t=0.2137, by=-0.2))
    train = {"H": 4.0, "Htfrac": 0.8, "Freq1": 1.6, "Dshaft": 1.5, "DAMP": 0.5}
    pitch = {"Tp": 0.2, "TetaMax": 20.0, "TetaMin": -1.0, "Kcc": 0.5, "RTetaMax": 8.0, "RTetaMin": -8.0,
             "Kpw": 500.0}
    for machine, flags in (("GEN2", {"Tflag": 0.0}), ("GEN4", {"Tflag": 1.0, "TRATE": 850.0})):
        converter(case, machine, REGCA1={}, REECA1={"Vdip": 0.85, "Imax": 1.2, "Thld2": 0.05, "Tpord": 0.05},
                  WTDTA1=train, WTARA1={"Ka": 0.007, "Theta0": 2.0}, WTPTA1=pitch)
        case.add(record("WTTQA1", train=f"WTDT_REEC_{machine}", Kpp=5.0, Kip=1.0, Twref=2.0, Temax=0.9, p3=0.7,
                        **flags))
    case.add(record("REPCA1", control="REEC_GEN2", Fflag=1.0, Pmax=1.1))
    wind = "WTAR_WTDT_REEC"
    return Study(case, 0.4, 0.02, [*asks("GEN2", "GEN4"), "less.t", "less.by", *of(
        "WTDT_REEC_GEN2: H Htfrac Freq1 Dshaft DAMP", f"{wind}_GEN4: Ka Theta0",
        f"WTPT_{wind}_GEN4: Kiw Kpw Kic Kpc Kcc Tp TetaMin RTetaMax",
        "WTTQ_WTDT_REEC_GEN2: Kpp Kip Tp Twref p2 spd3 p3", "WTTQ_WTDT_REEC_GEN4: Kpp Kip Tp Temax TRATE",
        "REEC_GEN2: Thld2 Tpord")],
        [("WTDT_REEC_GEN2", "wg"), (f"WTPT_{wind}_GEN4", "dpitch"), ("GEN4", "P"), ("BUS8", "Vm")], [
        "REEC_GEN2.dip_below", "WTTQ_WTDT_REEC_GEN4.change_at_change_max", f"WTPT_{wind}_GEN4.dpitch_speed_at_RTetaMax",
        f"WTPT_{wind}_GEN2.control_at_lowest", f"WTPT_{wind}_GEN2.control_off_lowest",
        "WTTQ_WTDT_REEC_GEN2.optimum_above_3", "WTTQ_WTDT_REEC_GEN2.change_off_change_max", "REEC_GEN2.limited_ends",
        "less.steps", f"WTPT_{wind}_GEN4.dpitch_speed_off_RTetaMin"])


@study
def plants_of_several_units_and_of_other_buses() -> Study:
    """A plant whose commands a converter and an exciter share up to limits; controls of the voltage of other buses."""
    case = system("kundur", *FAULT)
    converter(case, "GEN2", REGCA1={"Brkpt": 0.88}, REECA1={"Vdip": 0.8, "Imax": 1.2, "Kqv": 1.0, "dbd1": -0.05,
                                                              "dbd2": 0.05, "Tpord": 0.05})
    converter(case, "GEN4", REGCA1={"Brkpt": 0.88}, RemoteREECB1={
        "regulated": 10, "QFlag": 1.0, "VFlag": 0.0, "Kvp": 1.0, "Kvi": 20.0, "Vdip": 0.75, "Imax": 1.1})
    if "PSS_EXC_GEN1" in case:
        case.remove("PSS_EXC_GEN1")
    for item in (
            record("REPCB1", bus=6, branch="TRANSFORMER2-6", end=1.0, RefFlag=1.0, Fflag=1.0, VCFlag=1.0, Xc=0.05,
                   Rc=0.01, Kp=2.0, Ki=8.0, MVAb=900.0, Dup=10.0, Ddn=20.0, fdbd1=-2e-4, fdbd2=2e-4, Vfrz=0.6),
            record("REAX4BU1", control="REEC_GEN2", plant="REPC6", T=0.02, Kw=0.7, Kz=0.9, Qmax=0.08, Pmin=-0.02),
            record("PlantVars", regulator="EXC_GEN1", plant="REPC6", T=0.03, Kw=0.2, Vmax=0.03),
            record("MonitoringREPCA1", control="REEC_GEN4", bus=11, branch="LINE10-11", end=2.0, RefFlag=1.0,
                   VCFlag=1.0, Xc=0.01, Kp=0.5, Ki=4.0, Tft=0.02, Qmax=1.05, Qmin=0.9)):
        case.add(item)
    return Study(case, 0.4, 0.02, [*asks("GEN2", "GEN4"), *of(
        "REPC6: Tfltr Kp Ki Tfv Rc Xc Kpg Kig Tp Dup Ddn Tg MVAb fdbd1 emax", "REAX_REEC_GEN2: T Kw Kz Qmax",
        "VARS_EXC_GEN1: T Kw Vmax", "REEC_GEN4: Trv Kvp Kvi Vdip Imax", "REPC_REEC_GEN4: Tfltr Kp Ki Tft Tfv Xc emax",
        "TRANSFORMER2-6: x", "LINE10-11: x")],
        [("GEN2", "P"), ("GEN2", "Q"), ("GEN4", "Q"), ("BUS10", "Vm"), ("EXC_GEN1", "Vs")], [
        "fault.strikes", "REEC_GEN2.dip_below", "REEC_GEN4.dip_below", "REPC6.error_at_emax",
        "REPC_REEC_GEN4.error_at_emax", "REAX_REEC_GEN2.Pmore_at_Pmin", "REPC_REEC_GEN4.reactive_at_reactive_max",
        "REAX_REEC_GEN2.Qmore_at_Qmax", "VARS_EXC_GEN1.Vs_at_Vmax", "fault.clears", "trip.opens"])


@study
def controls_of_the_voltage_of_other_buses() -> Study:
    """An inner control of another bus at its limits, below a plant control of a third; a battery with a share."""
    case = system("kundur", *FAULT)
    controls = {"regulated": 7, "QFlag": 1.0, "Kvp": 1.0, "Kvi": 20.0, "Vdip": 0.7, "Imax": 1.05, **TABLE}
    converter(case, "GEN2", REGCA1={"Brkpt": 0.88}, RemoteREECA1={**controls, "VFlag": 0.0, "Thld2": 0.05})
    converter(case, "GEN4", REGCA1={"Brkpt": 0.88}, RemoteREECC1={
        **controls, "regulated": 10, "VFlag": 1.0, "Kqp": 0.2, "Kqi": 2.0, "T": 5.0, "SOCini": 0.5})
    for item in (record("RemoteREPCA1", control="REEC_GEN2", bus=6, RefFlag=1.0, Kp=1.0, Ki=4.0, Qmax=1.05, Qmin=0.9),
                 record("REPCB1", bus=10, branch="TRANSFORMER4-10", Fflag=1.0, Kp=1.0, Ki=5.0, Kpg=2.0, MVAb=900.0,
                        Pmin=-0.05),
                 record("REAX3BU1", control="REEC_GEN4", plant="REPC10", T=0.02, Kw=0.7, Kz=0.9, Qmin=-0.05)):
        case.add(item)
    return Study(case, 0.4, 0.01, ["fault.t", "fault.clear", "fault.x", "trip.t", "GEN1.H", "LOAD9.P0", *of(
        "REEC_GEN2: Vdip Trv Kvp Kvi Vmax Vref1 Thld2", "REEC_GEN4: Vdip Trv Kqp Kqi Kvp Kvi Vmax T Vq3 Iq3",
        "REPC_REEC_GEN2: Tfltr Kp Ki Tfv emax Qmax", "REPC10: Tfltr Kp Ki Kpg Kig Tp Tg MVAb Pmin",
        "REAX_REEC_GEN4: T Kw Kz Qmin")],
        [("GEN2", "Q"), ("GEN4", "P"), ("GEN4", "Q"), ("BUS7", "Vm")], [
        "fault.strikes", "REEC_GEN2.inner_at_inner_max", "REPC10.error_at_emin", "REEC_GEN4.inner_at_inner_max",
        "REEC_GEN4.inner_off_inner_max", "REEC_GEN4.outer_at_outer_min", "fault.clears",
        "REPC_REEC_GEN2.reactive_off_reactive_max", "REEC_GEN2.inner_off_inner_max",
        "REPC_REEC_GEN2.reactive_at_reactive_min", "trip.opens", "REAX_REEC_GEN4.Qmore_at_Qmin",
        "REEC_GEN4.outer_off_outer_min", "REPC10.error_off_emin", "REAX_REEC_GEN4.Qmore_off_Qmin",
        "REPC_REEC_GEN2.reactive_off_reactive_min"])
