"""Studies of the industry's models on kundur and ieee39: every one of them, driven to its limits and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from industry_data import ASKED, SATURATED, controls
from scenes import record
from studies import Study

import gridcore as gc
from gridcore.case import validate
from gridcore.registry import devices

INDUSTRY: dict[str, Callable[[], Study]] = {}


def study(make: Callable[[], Study]) -> Callable[[], Study]:
    """The function's name says what it is a study of."""
    INDUSTRY[make.__name__] = make
    return make


def machine(case: gc.Case, id: str, model: str, **changes: Any) -> None:
    """Another model in place of a machine, with the data that both have."""
    fields = {**case[id].fields, "id": id, **changes}
    known = devices[model].declares
    case.remove(id)
    case.add(record(model, **{name: value for name, value in fields.items()
                              if name in {**known.params, **known.fields, "id": None, "bus": None}}))


def system(name: str, *disturbance: Any) -> gc.Case:
    """A case with saturated machines and another disturbance."""
    case = gc.load_case(name)
    for id in ("fault", "trip"):
        case.remove(id)
    for generator in case.of("GENROU"):
        generator.fields.update(SATURATED)
    for item in disturbance:
        case.add(item)
    return case


def asked(case: gc.Case, *more: str) -> list[str]:
    """Parameters of every control of the case, its limits among them, and more."""
    out = []
    for instance in validate(case).records:
        if instance.device.attaches in (("machine",), ("exciter",)):
            out += [f"{instance.id}.{name}" for name, value in instance.values.items() if name in ASKED and value]
    return [*out, *more]


MORE = ("fault.t", "fault.clear", "fault.x", "trip.t", "GEN1.H", "GEN2.V0", "GEN3.V0", "GEN4.P0", "GEN2.S12",
        "GEN3.Td0p", "GEN1.Xdpp", "GEN4.Sn", "LOAD7.P0", "LOAD9.Q0", "SHUNT9.b", "LINE6-7.x", "LINE8-9.b",
        "TRANSFORMER3-11.x")


@study
def bus_fed_exciters() -> Study:
    """Limits that move with the voltage, and jump with it; four governors; three kinds of stabilizing signal."""
    case = system("kundur", gc.BusFault(id="fault", bus=8, t=0.0513, clear=0.1523, x=0.01),
                  gc.BranchTrip(id="trip", branch="LINE8-9_2", t=0.1713),
                  record("OverCurrentRelay", id="relay", branch="LINE7-8", threshold=4.0, delay=0.08))
    controls(case, "GEN1", "EXDC2", "IEEEG1", ICS=1)
    controls(case, "GEN2", "ESST1A", "GGOV1", ICS=2, KS=2.0)
    controls(case, "GEN3", "ESST4B", "HYGOV", ICS=3, KS=0.05)
    controls(case, "GEN4", "ESAC6A", "TGOV1", ICS=4, KS=-0.05)
    machine(case, "GEN3", "GENSAL")
    return Study(case, 0.4, 0.02, asked(case, *MORE), [("GEN1", "omega"), ("BUS8", "Vm")], [
        "fault.strikes", "relay.overload:delay started", "EXC_GEN3.VR_off_VRMIN", "PSS_EXC_GEN2.limited_off_LSMAX",
        "EXC_GEN1.VR_at_VRMAX", "EXC_GEN2.VA_at_VAMAX", "GOV_GEN3.speed_at_speed_min", "relay.overload",
        "EXC_GEN2.VA_off_VAMAX", "fault.clears", "EXC_GEN3.VB_at_VBMAX", "EXC_GEN1.VR_at_VRMAX", "trip.opens",
        "EXC_GEN2.ceiling_off_VRMAX", "GOV_GEN3.speed_off_speed_min", "EXC_GEN3.VM_x_at_VMMAX",
        "GOV_GEN1.valve_speed_at_Uc", "EXC_GEN4.VA_off_VAMAX", "EXC_GEN4.VR_off_VRMAX", "GOV_GEN2.low_to_first"])


@study
def alternators() -> Study:
    case = system("kundur", gc.BusFault(id="fault", bus=9, t=0.0513, clear=0.1523, x=0.01),
                  gc.BranchTrip(id="trip", branch="LINE7-8_2", t=0.1523))
    controls(case, "GEN1", "EXAC1", "HYGOV", ICS=5, KS=1.0)
    controls(case, "GEN2", "EXAC2", "IEEEG1", ICS=6, KS=0.02)
    controls(case, "GEN3", "ESAC1A", "TGOV1", ICS=1)
    controls(case, "GEN4", "EXPIC1", "GGOV1", ICS=1)
    machine(case, "GEN2", "GENROE")
    return Study(case, 0.4, 0.02, asked(case, *MORE), [("GEN1", "omega"), ("BUS8", "Vm")], [
        "EXC_GEN3.VR_at_VRMAX", "EXC_GEN4.VA_at_VR1", "EXC_GEN2.inner_to_second", "EXC_GEN1.VR_at_VRMAX",
        "fault.clears", "EXC_GEN4.E0_at_EFDMAX", "EXC_GEN4.VA_off_VR1", "EXC_GEN4.VR_x_at_VRMAX",
        "EXC_GEN1.VR_off_VRMAX", "EXC_GEN2.inner_to_first", "GOV_GEN4.valve_speed_at_Rclose",
        "EXC_GEN4.VR_x_off_VRMAX", "GOV_GEN1.speed_off_speed_min", "GOV_GEN4.valve_speed_off_Rclose",
        "PSS_EXC_GEN1.limited_off_LSMIN"])


@study
def commutators_and_load_shedding() -> Study:
    case = system("kundur", gc.BusFault(id="fault", bus=7, t=0.0513, clear=0.1523, x=0.01),
                  gc.BranchTrip(id="trip", branch="LINE7-8_2", t=0.1523))
    controls(case, "GEN1", "IEEET1", "TGOV1", ICS=1, KS=5.0)
    controls(case, "GEN2", "IEEEX1", "HYGOV", ICS=1, VCL=0.8)
    controls(case, "GEN3", "SCRX", "IEEEG1", ICS=1)
    controls(case, "GEN4", "ESDC2A", "GGOV1", ICS=1)
    case.add(record("UnderVoltageLoadShedding", id="uvls", load="LOAD9", threshold=0.9, delay=0.05, shed=0.1))
    return Study(case, 0.4, 0.02, asked(case, *MORE), [("GEN1", "omega"), ("BUS8", "Vm")], [
        "PSS_EXC_GEN2.below", "uvls.undervoltage:delay started", "EXC_GEN1.VR_at_VRMAX", "EXC_GEN3.E_at_EMAX",
        "EXC_GEN2.VR_at_VRMAX", "uvls.undervoltage", "EXC_GEN4.VR_at_VRMAX", "fault.clears",
        "PSS_EXC_GEN2.back_above", "EXC_GEN3.E_off_EMAX", "GOV_GEN1.x1_at_VMIN"])


@study
def limiters_that_act_at_t0() -> Study:
    """Modes that initialisation finds: a limiter at work, a signal cut, a valve's speed governor beyond its band."""
    case = system("kundur", gc.ParameterStep(id="step", parameter="EXC_GEN1.Vref", t=0.0513, by=0.05),
                  gc.BusFault(id="fault", bus=8, t=0.1013, clear=0.1523, x=0.05),
                  gc.BranchTrip(id="trip", branch="LINE7-8_2", t=0.1523))
    controls(case, "GEN1", "EXDC2", "TGOV1", VCU=1.0, KS=2.0)
    controls(case, "GEN2", "ESST1A", "IEEEG1", VCL=1.02, KS=2.0)
    controls(case, "GEN3", "ESST4B", "HYGOV")
    controls(case, "GEN4", "ESAC6A", "GGOV1")
    case.set("EXC_GEN1.VRMAX", 2.75)
    case.set("EXC_GEN2.ILR", 1.5)
    case.set("EXC_GEN3.VBMAX", 5.0)
    case.set("EXC_GEN3.VMMAX", 0.5)
    case.set("EXC_GEN4.VFELIM", 2.0)
    case.set("EXC_GEN4.KH", 0.5)
    return Study(case, 0.4, 0.02, asked(case, "step.t", "step.by", *MORE), [("GEN1", "omega"), ("BUS8", "Vm")], [
        "PSS_EXC_GEN1.back_below", "EXC_GEN4.VR_at_VRMAX", "EXC_GEN1.VR_at_VRMAX", "EXC_GEN3.VM_at_VMMAX",
        "PSS_EXC_GEN1.above", "EXC_GEN2.VA_off_VAMAX", "EXC_GEN2.ceiling_off_VRMAX", "EXC_GEN3.VM_off_VMMAX",
        "EXC_GEN4.VR_off_VRMAX"])


def new_england(*disturbance: Any) -> gc.Case:
    return system("ieee39", gc.BusFault(id="fault", bus=16, t=0.0513, clear=0.1723, x=0.005),
                  gc.BranchTrip(id="trip", branch="LINE16-17", t=0.1723), *disturbance)


LINES = ("fault.t", "fault.clear", "fault.x", "trip.t", "LINE15-16.x", "LINE16-21.b", "LOAD16.P0", "LOAD4.Q0",
         "SHUNT5.b", "GEN31.H", "GEN39.V0", "GEN34.V0", "GEN36.P0", "GEN38.Xqp", "GEN33.Tq0p", "GEN32.S12")


@study
def new_england_as_it_is_with_stabilizers_and_relays() -> Study:
    case = new_england(
        record("OverCurrentRelay", id="relay", branch="LINE4-14", threshold=4.5, delay=0.05),
        record("UnderVoltageLoadShedding", id="uvls", load="LOAD15", threshold=0.7, delay=0.06, shed=0.2),
        gc.ParameterStep(id="more", parameter="GOV_GEN36.Pref", t=0.5137, by=0.5))
    for k in (33, 35, 36):
        case.add(record("IEEEST", exciter=f"EXC_GEN{k}", ICS=1, T1=0.1, T2=0.02, T5=1.65, T6=1.65, KS=10.0, LSMAX=0.03,
                        LSMIN=-0.03))
    case.set("EXC_GEN36.VRMAX", 4.0)
    case.set("GOV_GEN38.VMAX", 0.8325)
    case.set("GOV_GEN36.VMIN", 0.545)
    return Study(case, 0.9, 0.04, [
        *LINES, "relay.threshold", "relay.delay", "uvls.threshold", "uvls.delay", "uvls.shed", "PSS_EXC_GEN33.KS",
        "PSS_EXC_GEN36.LSMAX", "PSS_EXC_GEN35.T1", "EXC_GEN36.VRMAX", "EXC_GEN34.KA", "EXC_GEN32.SE2",
        "GOV_GEN38.VMAX", "GOV_GEN36.VMIN", "GOV_GEN30.R", "more.t", "more.by"],
        [("GEN36", "omega"), ("BUS16", "Vm"), ("GEN38", "delta"), ("GOV_GEN38", "Pm")], [
        "EXC_GEN36.VR_at_VRMAX", "PSS_EXC_GEN36.limited_at_LSMAX", "uvls.undervoltage:delay started",
        "uvls.undervoltage", "GOV_GEN36.x1_at_VMIN", "relay.overload:delay started", "EXC_GEN34.VR_off_VRMAX",
        "relay.overload", "more.steps", "GOV_GEN36.x1_off_VMIN", "PSS_EXC_GEN35.limited_off_LSMAX"])


@study
def new_england_with_other_controls() -> Study:
    """A model each, an implicit method, and the powers and voltages at t0 as parameters."""
    case = new_england()
    for k, (exciter, governor) in {33: ("SEXS", "IEEEG1"), 34: ("ESST4B", "HYGOV"), 35: ("ESST1A", "TGOV1"),
                                   36: ("EXDC2", "GGOV1")}.items():
        controls(case, f"GEN{k}", exciter, governor, KS=3.0)
    case.set("GOV_GEN35.VMIN", 0.4)
    case.set("GOV_GEN36.Trate", 0.0)
    case.set("EXC_GEN34.VMMAX", 0.75)
    return Study(case, 0.3, 0.025, [
        *LINES, "EXC_GEN33.EMAX", "EXC_GEN34.VMMAX", "EXC_GEN34.KC", "EXC_GEN35.VRMAX", "EXC_GEN35.KA",
        "EXC_GEN36.VRMAX", "PSS_EXC_GEN33.LSMAX", "PSS_EXC_GEN36.KS", "GOV_GEN33.Uc", "GOV_GEN34.VELM",
        "GOV_GEN36.aset", "GEN35.Q0", "BUS16.Va0", "BUS36.Vm0"],
        [("GEN36", "omega"), ("BUS16", "Vm"), ("GEN33", "delta"), ("EXC_GEN34", "Efd")], [
        "EXC_GEN35.ceiling_at_VRMAX", "EXC_GEN33.Efd_at_EMAX", "EXC_GEN34.VB_off_VBMAX",
        "PSS_EXC_GEN35.limited_at_LSMAX", "GOV_GEN34.speed_at_speed_min", "PSS_EXC_GEN34.limited_off_LSMAX",
        "EXC_GEN36.VR_at_VRMAX", "EXC_GEN35.VI_off_VIMAX", "EXC_GEN35.VA_off_VAMAX", "EXC_GEN34.VB_at_VBMAX"],
        theta=0.6, dispatch="direct")


# Those of the ACTIVSg200 data, but for the relay's delays, which have to pass within a fault, and its voltage: it acts
# at VI, where the static parts must have a derivative, which they have not at Vlow = 0.7.
COMPOSITE = {"PL": 20.0, "QL": 20.0, "IP": 20.0, "IQ": 20.0, "YP": 30.0, "YQ": 60.0, "VI": 0.72, "TI": 0.05, "TB": 0.03}


def composite(case: gc.Case, load: str, **values: float) -> None:
    """A composite load, motor and all, in place of a static one."""
    fields = {name: case[load].fields[name] for name in ("bus", "P0", "Q0")}
    case.remove(load)
    case.add(record("COMPLOAD", id=load, **fields, **COMPOSITE | values))


@study
def composite_loads() -> Study:
    """Motors: one that its relay disconnects, one whose relay goes back in time; and a classical machine."""
    case = system("kundur", gc.BusFault(id="fault", bus=8, t=0.0513, clear=0.1523, x=0.01),
                  gc.BranchTrip(id="trip", branch="LINE8-9_2", t=0.1713),
                  gc.ParameterStep(id="more", parameter="LOAD7.Tm", t=0.2137, scale=1.1))
    composite(case, "LOAD9", PMULT=1.3, D=2.0)
    composite(case, "LOAD7", RA=0.05, X1=0.07, YP=15.0, QL=10.0)
    case.set("LOAD7.TI", 0.12)
    for control in ("PSS_EXC_GEN4", "EXC_GEN4", "GOV_GEN4"):
        case.remove(control)
    machine(case, "GEN4", "GENCLS", D=1.0)
    motors = ("P0", "Q0", "PL", "QL", "IP", "IQ", "YP", "YQ", "RA", "XA", "XM", "R1", "X1", "PMULT", "H", "VI", "TI",
              "TB", "D", "Vlow")
    return Study(case, 0.4, 0.02, [
        *(f"{load}.{name}" for load in ("LOAD7", "LOAD9") for name in motors), "more.t", "more.scale",
        "GEN4.H", "GEN4.D", "GEN4.Xdp", *(name for name in MORE if not name.startswith("LOAD"))],
        [("LOAD7", "slip"), ("LOAD9", "slip"), ("LOAD7", "Q"), ("GEN1", "omega"), ("BUS8", "Vm")], [
        "fault.strikes", "LOAD7.undervoltage:delay started", "LOAD9.undervoltage:delay started", "LOAD9.undervoltage",
        "LOAD9.trips:delay started", "fault.clears", "LOAD7.undervoltage:cancelled", "trip.opens", "LOAD9.trips",
        "more.steps"])
