"""Cases of PowerSystems.jl: what is in them is what the same system says in gridcore's own format, and in a DYR."""

from __future__ import annotations

import copy
import json
import re
import uuid

import numpy as np
import pytest

import gridcore as gc
from gridcore.errors import CaseError
from gridcore.registry import devices
from gridcore_readers.power_systems import ALPHA, BETA
from gridcore_readers.power_systems_types import EXCITERS, GOVERNORS, MACHINES, STABILIZERS

# Fields in the order of the model's record in PSS/E: `-` a pair whose upper limit comes first, `+` whose lower does,
# `/` two pairs in turn, `0` a value that there is no field for, `?` a field without a value in the record.
RECORDS = {
    "RoundRotorQuadratic": "Td0_p Td0_pp Tq0_p Tq0_pp H D Xd Xq Xd_p Xq_p Xd_pp Xl Se+",
    "RoundRotorExponential": "Td0_p Td0_pp Tq0_p Tq0_pp H D Xd Xq Xd_p Xq_p Xd_pp Xl Se+",
    "SalientPoleQuadratic": "Td0_p Td0_pp Tq0_pp H D Xd Xq Xd_p Xd_pp Xl Se+",
    "SalientPoleExponential": "Td0_p Td0_pp Tq0_pp H D Xd Xq Xd_p Xd_pp Xl Se+",
    "BaseMachine": "H D",
    "IEEET1": "Tr Ka Ta Vr_lim- Ke Te Kf Tf switch E_sat/Se",
    "ESDC1A": "Tr Ka Ta Tb Tc Vr_lim- Ke Te Kf Tf switch E_sat/Se",
    "ESDC2A": "Tr Ka Ta Tb Tc Vr_lim- Ke Te Kf Tf switch E_sat/Se",
    "ESAC1A": "Tr Tb Tc Ka Ta Va_lim- Te Kf Tf Kc Kd Ke E_sat/Se Vr_lim-",
    "ESAC6A": "Tr Ka Ta Tk Tb Tc Va_lim- Vr_lim- Te VFE_lim Kh VH_max Th Tj Kc Kd Ke E_sat/Se",
    "EXAC1": "Tr Tb Tc Ka Ta Vr_lim- Te Kf Tf Kc Kd Ke E_sat/Se",
    "EXAC2": "Tr Tb Tc Ka Ta Va_lim- Kb Vr_lim- Te Kl Kh Kf Tf Kc Kd Ke V_lr E_sat/Se",
    "EXPIC1": "Tr Ka Ta Va_lim- Ta_2 Ta_3 Ta_4 Vr_lim- Kf Tf_1 Tf_2 Efd_lim- Ke Te E_sat/Se Kp Ki Kc",
    "ESST1A": "UEL_flags PSS_flags Tr Vi_lim- Tc Tb Tc1 Tb1 Ka Ta Va_lim- Vr_lim- Kc Kf Tf K_lr I_lr",
    "ESST4B": "Tr K_pr K_ir Vr_lim- Ta K_pm K_im Vm_lim- Kg Kp Ki VB_max Kc Xl θp",
    "EXST1": "Tr Vi_lim- Tc Tb Ka Ta Vr_lim- Kc Kf Tf",
    "SCRX": "Ta_Tb Tb K Te Efd_lim+ switch rc_rfd", "SEXS": "Ta_Tb Tb K Te V_lim+",
    "SteamTurbineGov1": "R T1 valve_position_limits- T2 T3 D_T",
    "GasTG": "R T1 T2 T3 AT Kt V_lim- D_turb",
    "HydroTurbineGov": "R r Tr Tf Tg VELM gate_position_limits- Tw At D_T q_nl",
    "IEEETurbineGov1": "0 0 K T1 T2 T3 U0 U_c valve_position_limits- T4 K1 K2 T5 K3 K4 T6 K5 K6 T7 K7 K8",
    "GeneralGovModel": "Rselect fuel_flag R Tpelec speed_error_signal- Kp_gov Ki_gov Kd_gov Td_gov "
                       "valve_position_limits- T_act K_turb Wf_nl Tb Tc T_eng Tf_load Kp_load Ki_load Ld_ref Dm R_open "
                       "R_close Ki_mw A_set Ka Ta T_rate db Tsa Tsb R_lim-",
    "IEEEST": "input_code remote_bus_control A1 A2 A3 A4 A5 A6 T1 T2 T3 T4 T5 T6 Ks Ls_lim- Vcu Vcl",
}
MODEL = {**MACHINES, **EXCITERS, **GOVERNORS, **STABILIZERS}


def component(type, **fields):
    """As PowerSystems.jl writes one."""
    return {**fields, "__metadata__": {"module": "PowerSystems", "type": type},
            "internal": {"uuid": {"value": str(uuid.uuid4())}, "ext": None, "units_info": None}}


def of(one):
    return None if one is None else {"value": one["internal"]["uuid"]["value"]}


def bus(number, kind, **fields):
    return component("ACBus", number=number, name=f"BUS {number}", bustype=kind, **{
        "base_voltage": 138.0, "magnitude": 1.02, "angle": 0.0, **fields})


def dynamic(base, **parts):
    fixed = {"machine": component("BaseMachine", R=0.0, Xd_p=0.2, eq_p=0.7), "pss": component("PSSFixed", V_pss=0.0),
             "shaft": component("SingleMass", H=4.0, D=1.0), "avr": component("AVRFixed", Vf=0.0, V_ref=1.0),
             "prime_mover": component("TGFixed", P_ref=1.0, efficiency=1.0)}
    return component("DynamicGenerator", name="generator", base_power=base, ext={}, **fixed | parts)


def thermal(at, injector, P=0.5, Q=0.1, base=100.0, **fields):
    return component("ThermalStandard", name="generator", bus=of(at), dynamic_injector=of(injector), base_power=base,
                     active_power=P, reactive_power=Q, available=True, status=True,
                     reactive_power_limits={"min": -1.0, "max": 1.0}, **fields)


def system(*components, base=100.0):
    return {"data": {"components": [copy.deepcopy(one) for one in components]}, "frequency": 50.0,
            "units_settings": {"base_value": base, "unit_system": "SYSTEM_BASE"}}


def read(folder, *components, **options):
    (folder / "x.json").write_text(json.dumps(system(*components)), encoding="utf-8")
    return gc.load_case(folder / "x.json", **options)


ROUND = component("RoundRotorQuadratic", R=0.003, Td0_p=8.0, Td0_pp=0.03, Tq0_p=0.4, Tq0_pp=0.05, Xd=1.8, Xq=1.7,
                  Xd_p=0.3, Xq_p=0.55, Xd_pp=0.25, Xl=0.2, Se=[0.04, 0.2], saturation_coeffs=[0.8, 2.0])
TWO = component("OneDOneQMachine", R=0.0, Td0_p=5.89, Tq0_p=0.6, Xd=1.3125, Xq=1.2578, Xd_p=0.1813, Xq_p=0.25)
TYPE_I = component("AVRTypeI", Ka=20.0, Ke=0.01, Kf=0.063, Ta=0.2, Te=0.314, Tf=0.35, Tr=0.001,
                   Va_lim={"min": -5.0, "max": 5.0}, Ae=0.0039, Be=1.555)
STEAM = component("SteamTurbineGov1", R=0.05, T1=0.2, valve_position_limits={"min": 0.0, "max": 1.2}, T2=2.0, T3=8.0,
                  D_T=0.0, DB_h=0.0, DB_l=0.0, T_rate=0.0, P_ref=1.0)
STATIC = component("SEXS", Ta_Tb=0.1, Tb=10.0, K=100.0, Te=0.1, V_lim={"min": 0.0, "max": 5.0})
PSS = component("IEEEST", input_code=1, remote_bus_control=0, **{f"A{k}": 0.0 for k in range(1, 7)}, T1=0.1, T2=0.05,
                T3=0.1, T4=0.05, T5=5.0, T6=5.0, Ks=5.0, Ls_lim={"min": -0.1, "max": 0.1}, Vcu=0.0, Vcl=0.0)
ONE, MID, END = bus(1, "REF"), bus(7, "PQ", magnitude=1.0), bus(3, "PV", magnitude=1.01)
ROTOR = dynamic(250.0, machine=ROUND, avr=STATIC, prime_mover=STEAM, pss=PSS)
OTHER = dynamic(80.0, machine=TWO, avr=TYPE_I, shaft=component("SingleMass", H=3.01, D=0.5))
ARCS = [component("Arc", **{"from": of(ONE), "to": of(MID)}), component("Arc", **{"from": of(MID), "to": of(END)})]
BRANCHES = [
    component("Line", name="a", arc=of(ARCS[0]), r=0.01, x=0.12, b={"from": 0.1, "to": 0.1}, available=True),
    component("Line", name="b", arc=of(ARCS[0]), r=0.01, x=0.12, b={"from": 0.1, "to": 0.16}, g={"from": 0, "to": 0.0},
              available=True),
    component("TapTransformer", name="c", arc=of(ARCS[1]), base_power=200.0, r=0.0, x=0.1, tap=1.05,
              primary_shunt={"real": 0.002, "imag": -0.01}, available=True)]
LOADS = [
    component("StandardLoad", name="l", bus=of(MID), base_power=50.0, available=True, constant_active_power=0.4,
              current_active_power=0.2, impedance_active_power=1.0, constant_reactive_power=0.0,
              current_reactive_power=0.0, impedance_reactive_power=0.6),
    component("PowerLoad", name="m", bus=of(END), base_power=100.0, available=True, active_power=0.2,
              reactive_power=0.05),
    component("ExponentialLoad", name="n", bus=of(END), base_power=100.0, available=True, active_power=0.1,
              reactive_power=0.02, **{ALPHA: 1.2, BETA: 2.1})]
SHUNT = component("FixedAdmittance", name="s", bus=of(MID), available=True, Y={"real": 0.0, "imag": 0.2})
AREA = component("Area", name="1")
WHOLE = [AREA, ROTOR, OTHER, thermal(ONE, ROTOR, 0.2, base=250.0), thermal(END, OTHER, 0.4, base=80.0), *LOADS, SHUNT,
         *BRANCHES, *ARCS, ONE, MID, END]


def same():
    """The same system, in gridcore's own words."""
    case = gc.Case("x", base_mva=100, frequency=50)
    for number, V in ((1, 1.02), (7, 1.0), (3, 1.01)):
        case.add("Bus", id=number, kv=138.0, Vm0=V, Va0=0.0)
    case.add("Line", id="LINE1-7", bus1=1, bus2=7, r=0.01, x=0.12, b=0.2)
    case.add("Line", id="LINE1-7_2", bus1=1, bus2=7, r=0.01, x=0.12, b=0.2)
    case.add("Shunt", id="far", bus=7, b=0.06)
    case.add("Transformer", id="TRANSFORMER7-3", bus1=7, bus2=3, x=0.05, tap=1.05)
    case.add("Shunt", id="magnetisation", bus=7, g=0.004, b=-0.02)
    case.add("Shunt", id="SHUNT7", bus=7, b=0.2)
    case.add("ZIP", id="LOAD7", bus=7, P0=0.8, Q0=0.3, pZ=0.5 / 0.8, pI=0.1 / 0.8, pP=0.2 / 0.8, qZ=1, qI=0, qP=0)
    case.add("ZIP", id="LOAD3", bus=3, P0=0.2, Q0=0.05, pZ=0, pP=1, qZ=0, qP=1)
    case.add("Exponential", id="LOAD3_2", bus=3, P0=0.1, Q0=0.02, alpha=1.2, beta=2.1)
    case.add("GENROU", id="GEN1", bus=1, control="slack", Sn=250.0, P0=0.5, Q0=0.25, V0=1.02, Qmin=-2.5, Qmax=2.5,
             H=4.0, D=1.0, Rs=0.003, Td0p=8.0, Td0pp=0.03, Tq0p=0.4, Tq0pp=0.05, Xd=1.8, Xq=1.7, Xdp=0.3, Xqp=0.55,
             Xdpp=0.25, Xl=0.2, S10=0.04, S12=0.2)
    case.add("SEXS", machine="GEN1", TATB=0.1, TB=10.0, K=100.0, TE=0.1, EMIN=0.0, EMAX=5.0)
    case.add("TGOV1", machine="GEN1", R=0.05, T1=0.2, VMIN=0.0, VMAX=1.2, T2=2.0, T3=8.0)
    case.add("IEEEST", exciter="EXC_GEN1", ICS=1, T1=0.1, T2=0.05, T3=0.1, T4=0.05, T5=5.0, T6=5.0, KS=5.0, LSMIN=-0.1,
             LSMAX=0.1)
    case.add("TwoAxis", id="GEN3", bus=3, control="PV", Sn=80.0, P0=0.32, Q0=0.08, V0=1.01, Qmin=-0.8, Qmax=0.8, H=3.01,
             D=0.5, Td0p=5.89, Tq0p=0.6, Xd=1.3125, Xq=1.2578, Xdp=0.1813, Xqp=0.25)
    case.add("IEEEType1", machine="GEN3", KA=20.0, KE=0.01, KF=0.063, TA=0.2, TE=0.314, TF=0.35, TR=0.001, VRMIN=-5.0,
             VRMAX=5.0, Ax=0.0039, Bx=1.555)
    return case


def test_a_run_of_a_stored_system_is_that_of_the_same_system(tmp_path):
    found, expected = read(tmp_path, *WHOLE), same()
    runs = []
    for case in (found, expected):
        case.add("BranchTrip", id="trip", branch="LINE1-7_2", t=0.1)
        runs.append(gc.simulate(gc.build(case), 1.0, 0.01))
    for device, name in (("GEN1", "omega"), ("GEN3", "omega"), ("BUS7", "Vm"), ("EXC_GEN1", "Efd"), ("EXC_GEN3", "Efd"),
                         ("PSS_EXC_GEN1", "Vs"), ("GOV_GEN1", "Pm"), ("LOAD3_2", "P"), ("LOAD7", "P")):
        assert np.abs(runs[0][device, name] - runs[1][device, name]).max() < 1e-10
    assert np.ptp(runs[0]["GEN3", "omega"]) > 1e-4
    assert found.frequency == 50.0
    assert found.notes == ["without effect here, left out: 1 Area, 2 Arc"]


def test_order_of_the_components_does_not_matter(tmp_path):
    first, second = (gc.build(read(tmp_path, *order)) for order in (WHOLE, WHOLE[::-1]))
    assert sorted(first.variables) == sorted(second.variables)
    assert sorted(first.Z0) == pytest.approx(sorted(second.Z0), abs=1e-12)


def values_of(type):
    """Field to value, and the values of a record of PSS/E."""
    fields, record = {}, []
    for word in RECORDS[type].split():
        name, how = re.fullmatch(r"(\w+)(\W.*)?", word).groups()
        value = round(1.0 + 0.013 * len(record), 6)
        if name == "0":
            record.append(0.0)
        elif how == "/Se":
            E, S = [2.0 + value, 3.0 + value], [0.1, 0.2 + value]
            fields |= {name: E, "Se": S}
            record += [E[0], S[0], E[1], S[1]]
        elif how:
            low, high = (value, value + 0.007) if name == "Se" else (-value, value)
            fields[name] = [low, high] if name == "Se" else {"min": low, "max": high}
            if name == "R_lim":
                fields[name] = {"down": low, "up": high}
            record += [high, low] if how == "-" else [low, high]
        else:
            fields[name] = 0 if name in ("switch", "remote_bus_control", "fuel_flag") else (
                1 if name in ("input_code", "Rselect", "UEL_flags", "PSS_flags") else value)
            record.append(fields[name])
    return fields, record


@pytest.mark.parametrize("type", RECORDS)
def test_a_part_has_the_parameters_that_a_record_of_PSSE_with_the_same_data_has(tmp_path, type):
    fields, record = values_of(type)
    model = MODEL[type]
    machine = {"H": fields.pop("H"), "D": fields.pop("D")} if type in MACHINES else {}
    static = {"R": 0.0} | ({"Xd_p": 0.2} if type == "BaseMachine" else {})
    own = component(type, **fields, **(static if machine else {}))
    parts = {"machine": own, "shaft": component("SingleMass", **machine)} if machine else {"machine": ROUND}
    for name, types in (("avr", EXCITERS), ("prime_mover", GOVERNORS), ("pss", STABILIZERS)):
        parts |= {name: own} if type in types else {}
    if type in STABILIZERS:
        parts["avr"] = STATIC
    rotor = dynamic(100.0, **parts)
    found = read(tmp_path, ONE, rotor, thermal(ONE, rotor))
    (tmp_path / "y.raw").write_text(
        "0, 100.0, 33, 0, 1, 60.0 /\n\n\n1,'ONE', 20.0, 3, 1, 1, 1, 1.0, 0.0\n0 /\n0 /\n0 /\n"
        "1,'1',50.0,10.0,100,-100,1.02,0,100,0,0.2,0,0,1,1\n" + "0 /\n" * 15 + "Q\n")
    host = "" if machine else f"1 'GENROU' 1 {' '.join(map(str, values_of('RoundRotorQuadratic')[1]))} /\n"
    if type in STABILIZERS:
        host += "1 'SEXS' 1 0.1 10 100 0.1 0 5 /\n"
    (tmp_path / "y.dyr").write_text(f"{host}1 '{model}' 1 {' '.join(map(str, record))} /\n")
    expected = gc.load_case(tmp_path / "y.raw")
    here, there = (next(r.fields for r in case if r.model == model) for case in (found, expected))
    names = set(devices[model].declares.params) - {"P0", "Q0", "V0", "Qmin", "Qmax", "Sn", "torque"}
    unsaid = {"JBUS": 0.0, "Rs": 0.0}
    assert unsaid | {k: v for k, v in here.items() if k in names} == unsaid | {
        k: v for k, v in there.items() if k in names}


# ---------------------------------------------------------------- what is not there


def test_components_without_a_device_are_refused_by_type_and_number_and_may_be_dropped(tmp_path):
    strange = dynamic(80.0, avr=component("AVRTypeII", K0=200.0))
    inverter = component("DynamicInverter", name="i")
    parts = [ONE, MID, END, *ARCS, *BRANCHES, strange, inverter, thermal(ONE, None), thermal(END, strange),
             thermal(MID, inverter)]
    with pytest.raises(CaseError, match=r"DynamicInverter \(1\), AVRTypeII \(1\).*--drop DynamicInverter --drop AVR"):
        read(tmp_path, *parts)
    case = read(tmp_path, *parts, drop=["DynamicInverter", "AVRTypeII"])
    assert [case[id].model for id in ("GEN1", "GEN3", "GEN7")] == ["StaticGenerator", "GENCLS", "StaticGenerator"]
    assert any("left out, as asked for: 1 DynamicInverter, 1 AVRTypeII" in note for note in case.notes)
    with pytest.raises(CaseError, match="no type 'AVRTypeX'"):
        read(tmp_path, *parts, drop=["AVRTypeX"])


def test_a_machine_that_is_dropped_takes_its_controls_along_and_that_is_said(tmp_path):
    odd = dynamic(80.0, machine=component("AndersonFouadMachine", R=0.0), avr=STATIC)
    case = read(tmp_path, ONE, odd, thermal(ONE, odd), drop=["AndersonFouadMachine"])
    assert case["GEN1"].model == "StaticGenerator"
    assert any("without a machine, and so without its controls: " in note for note in case.notes)


def test_fields_without_effect_are_said_where_they_are_not_zero(tmp_path):
    rotor = dynamic(100.0, machine=ROUND, pss=PSS, prime_mover=STEAM | {"DB_h": 0.01})
    case = read(tmp_path, ONE, rotor, thermal(ONE, rotor))
    assert any(note.startswith("DB_h of SteamTurbineGov1 has no effect here") for note in case.notes)
    assert any(note.startswith("everything of IEEEST has no effect here") for note in case.notes)  # no exciter


def test_what_is_out_of_service_and_what_is_isolated(tmp_path):
    off, gone = thermal(END, None) | {"available": False}, bus(9, "ISOLATED")
    load = component("PowerLoad", name="far", bus=of(gone), base_power=100.0, active_power=1.0, reactive_power=0.0)
    case = read(tmp_path, ONE, MID, END, gone, *ARCS, *BRANCHES, thermal(ONE, None), off, load)
    assert case["GEN3"].fields["status"] == 0
    assert "BUS9" not in case
    assert any("bus 9 is isolated" in note for note in case.notes)
    assert any("'far'" in note for note in case.notes)


def test_a_source_is_an_infinite_bus_behind_its_impedance_and_loads_may_be_asked_for(tmp_path):
    source = component("Source", name="s", bus=of(ONE), available=True, R_th=0.0, X_th=5e-6, internal_voltage=1.0,
                       internal_angle=0.0, active_power=0.0, reactive_power=0.0)
    case = read(tmp_path, source, ONE, MID, END, *ARCS, *BRANCHES, *LOADS, thermal(END, None), loads="I/Z")
    assert case["INF1"].model == "InfiniteBus"
    assert case["INF1"].fields["X"] == 5e-6
    assert {case[id].fields["pI"] for id in ("LOAD7", "LOAD3", "LOAD3_2")} == {1.0}
    gc.build(case)


def test_a_magnetising_reactance_without_a_conductance_draws_its_number(tmp_path):
    plain = BRANCHES[2] | {"primary_shunt": 0.01}
    case = read(tmp_path, ONE, MID, END, *ARCS, *BRANCHES[:2], plain, thermal(ONE, None))
    assert case["SHUNT_TRANSFORMER7-3_1"].fields["b"] == pytest.approx(-0.02)


@pytest.mark.parametrize(("damage", "words"), [
    (lambda one: one[-3].pop("internal"), "its UUID is wanted"),
    (lambda one: one[-3].update(bustype=["REF"]), "is none of REF"),
    (lambda one: one[-2].update(number=1), "1 is not a number of its own"),
    (lambda one: one[-4].update({"from": {"value": "nothing"}}), "there is no component nothing"),
    (lambda one: one[-4].update({"from": of(AREA)}), "is no bus"),
    (lambda one: one[3].update(active_power="much"), r"component 4 \(ThermalStandard .*'much' is not a number"),
    (lambda one: one[1].pop("machine"), "None is no component"),
    (lambda one: one[1]["avr"].update(V_lim=[1.0]), r"'generator'\), avr.*no pair of numbers"),
    (lambda one: one[11].update(tap=0), "must be above 0"),
    (lambda one: one.append(one[0]), "that of another component")])
def test_a_damaged_system_is_an_error_that_says_where(tmp_path, damage, words):
    data = system(*WHOLE)
    damage(data["data"]["components"])
    (tmp_path / "x.json").write_text(json.dumps(data))
    with pytest.raises(CaseError, match=words):
        gc.load_case(tmp_path / "x.json")
