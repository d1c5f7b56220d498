"""PSS/E's excitation systems: against their block diagrams, at rest, and their gradients."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import diagrams
import numpy as np
import pid_diagrams
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from workbench import BenchMachine, built

import gridcore as gc
import gridcore_devices
from gridcore.errors import CaseError
from gridcore_conformance.testbed import testbed

# Figures of the size of those in IEEE Std 421.5-2005, annex H, with limits that the steps below reach.
SATURATION = dict(E1=3.0, SE1=0.1, E2=4.0, SE2=0.3)
LEAD_LAG = dict(TB=0.5, TC=0.2)
DC = dict(TR=0.02, KA=50.0, TA=0.05, VRMAX=4.5, VRMIN=-3.0, KE=1.0, TE=0.5, KF=0.05, **SATURATION)
AC = dict(TR=0.02, TE=0.6, KC=0.2, KD=0.4, KE=1.0, **SATURATION)
REGULATOR = dict(KA=100.0, TA=0.03, KF=0.03, TF=1.0, **LEAD_LAG)
ESST1A = dict(VOS=1.0, TR=0.01, VIMAX=0.1, VIMIN=-0.3, TC=1.0, TB=5.0, TC1=0.1, TB1=0.2, KA=150.0, TA=0.02, VAMAX=6.0,
              VAMIN=-3.0, VRMAX=5.0, VRMIN=-2.0, KC=0.1, KF=0.01, TF=1.0, KLR=1.5, ILR=2.5)
ST8C = dict(SW1=1.0, TR=0.02, KPR=15.0, KIR=12.0, VPIMAX=3.0, VPIMIN=0.8, KPA=1.2, KIA=3.0, VAMAX=1.6, VAMIN=-0.9,
            KA=0.6, TA=0.03, VRMAX=0.85, VRMIN=-0.5, KF=1.0, TF=0.05, KC1=0.1, KP=5.0, KI1=0.5, XL=0.1, THETAP=10.0,
            VB1MAX=5.3, KC2=0.05, KI2=0.6, VB2MAX=0.45)
SCRX = dict(TATB=0.1, TB=10.0, K=100.0, TE=0.02, EMIN=-3.0, EMAX=4.0, CSWITCH=0.0, RCRFD=2.0)
CASES: dict[str, tuple[str, dict[str, float], Callable[[Any], diagrams.Diagram]]] = {
    "IEEET1": ("IEEET1", DC | dict(TF=1.0), diagrams.ieeet1),
    "IEEEX1": ("IEEEX1", DC | LEAD_LAG | dict(TF1=1.0), diagrams.dc),
    "ESDC1A": ("ESDC1A", DC | LEAD_LAG | dict(TF1=1.0), diagrams.esdc1a),
    "ESDC2A": ("ESDC2A", DC | LEAD_LAG | dict(TF1=1.0), diagrams.esdc2a),
    "EXDC2": ("EXDC2", DC | LEAD_LAG | dict(TF1=1.0), diagrams.dc_fed),
    "EXAC1": ("EXAC1", AC | REGULATOR | dict(VRMAX=7.0, VRMIN=-6.0), diagrams.exac1),
    "ESAC1A": ("ESAC1A", AC | REGULATOR | dict(VAMAX=9.0, VAMIN=-7.0, VRMAX=6.0, VRMIN=-5.0), diagrams.esac1a),
    "EXAC2": ("EXAC2", AC | REGULATOR | dict(VAMAX=9.0, VAMIN=-7.0, KB=5.0, VRMAX=20.0, VRMIN=-15.0, KL=2.0, KH=0.5,
                                             VLR=7.0), diagrams.exac2),
    "ESAC6A": ("ESAC6A", AC | LEAD_LAG | dict(KA=60.0, TA=0.15, TK=0.05, VAMAX=9.0, VAMIN=-7.0, VRMAX=8.0, VRMIN=-3.5,
                                              VFELIM=3.2, KH=1.5, VHMAX=0.3, TH=0.1, TJ=0.03), diagrams.esac6a),
    "ESST1A": ("ESST1A", ESST1A, diagrams.esst1a),
    "ESST1A, VOS 2": ("ESST1A", ESST1A | dict(VOS=2.0), diagrams.esst1a),
    "ESST4B": ("ESST4B", dict(TR=0.02, KPR=4.0, KIR=4.0, VRMAX=1.0, VRMIN=-0.8, TA=0.02, KPM=1.0, KIM=1.5, VMMAX=0.9,
                              VMMIN=-0.8, KG=0.1, KP=6.0, KI=0.5, VBMAX=6.3, KC=0.1, XL=0.1, THETAP=10.0),
               diagrams.esst4b),
    "EXPIC1": ("EXPIC1", dict(TR=0.02, KA=8.0, TA1=1.0, VR1=1.0, VR2=-0.87, TA2=0.02, TA3=0.03, TA4=0.05, VRMAX=0.9,
                              VRMIN=-0.8, KF=0.02, TF1=1.0, TF2=0.1, EFDMAX=5.0, EFDMIN=-2.0, KE=1.0, TE=0.2, KP=6.0,
                              KI=0.5, KC=0.1, **SATURATION), diagrams.expic1),
    "EXST1": ("EXST1", dict(TR=0.01, VIMAX=0.1, VIMIN=-0.3, TC=1.0, TB=5.0, KA=150.0, TA=0.02, VRMAX=5.0, VRMIN=-2.0,
                            KC=0.1, KF=0.01, TF=1.0), diagrams.exst1),
    "IEEET2": ("IEEET2", DC | dict(TF1=1.0, TF2=0.2), diagrams.ieeet2),
    "ESST3A": ("ESST3A", dict(TR=0.02, VIMAX=0.1, VIMIN=-0.06, KM=3.0, TC=0.3, TB=0.5, KA=30.0, TA=0.05, VRMAX=2.8,
                              VRMIN=0.5, KG=1.0, KP=6.0, KI=0.5, VBMAX=6.3, KC=0.1, XL=0.1, VGMAX=4.5, THETAP=10.0,
                              TM=0.4, VMMAX=0.6, VMMIN=0.15), diagrams.esst3a),
    "EXDC1": ("EXDC1", DC | LEAD_LAG | dict(TF1=1.0), diagrams.dc),
    "AC8B": ("AC8B", AC | dict(KPR=20.0, KIR=30.0, KDR=1.5, TDR=0.1, VPIDMAX=3.3, VPIDMIN=-2.5, KA=2.0, TA=0.03,
                               VRMAX=6.0, VRMIN=-4.0, VFEMAX=4.6, VEMIN=1.2), pid_diagrams.ac8b),
    "DC4B": ("DC4B", DC | dict(KA=2.0, KP=20.0, KI=25.0, KD=2.0, TD=0.1, TF=1.0, VEMIN=1.1),
             pid_diagrams.dc4b),
    "ST6B": ("ST6B", dict(TR=0.02, KPA=18.0, KIA=25.0, KDA=0.5, TDA=0.05, VAMAX=3.6, VAMIN=1.5, KFF=0.8, KM=1.0,
                          KCI=1.1, KLR=3.0, ILR=3.2, VRMAX=4.6, VRMIN=-0.2, KG=0.9, TG=0.1), pid_diagrams.st6b),
    "ST8C": ("ST8C", ST8C, pid_diagrams.st8c),
    "ST8C, own source": ("ST8C", ST8C | dict(SW1=2.0, KI2=0.0), pid_diagrams.st8c),
    "SCRX": ("SCRX", SCRX, diagrams.scrx),
    "SCRX, solid-fed": ("SCRX", SCRX | dict(CSWITCH=1.0, RCRFD=0.0), diagrams.scrx),
    "SEXS": ("SEXS", dict(TATB=0.1, TB=10.0, K=100.0, TE=0.05, EMIN=-3.0, EMAX=4.0), diagrams.sexs),
}
NAMES = sorted({name for name, _, _ in CASES.values()})
# reference up and down, a fault and its clearing, field current up and below zero, stabilizing signal, overvoltage
STEPS = [(0.1, "dVref", 0.03), (0.6, "dVref", -0.1), (1.0, "dVref", 0.07), (1.3, "V", -0.4), (1.5, "V", 0.42),
         (2.0, "Ifd", 1.5), (2.4, "Ifd", -4.0), (2.7, "Ifd", 2.5), (3.0, "Vs", 0.05), (3.3, "Vs", -0.05),
         (3.4, "V", 0.4), (3.8, "V", -0.45)]
AGREE = 1e-7  # absolute and relative; what the two integrations are asked for is 1e-9 a step
everyone = pytest.mark.parametrize("name", NAMES)


@pytest.fixture(autouse=True)
def bench_machine():
    with testbed(BenchMachine):
        yield


def cls_of(name):
    return getattr(gridcore_devices, name)


def changes(steps):
    """The inputs of a diagram, from steps that add."""
    now, out = dict(diagrams.INPUTS), []
    for t, signal, by in steps:
        now[signal] += by
        out.append((t, {signal: now[signal]}))
    return out


def respond(name, data, make, steps=STEPS, t_end=5.5, after=1e-6, plain=None):
    """Field voltage here and of the diagram, away from the steps; and the run."""
    system = built(cls_of(name), data, steps=steps)
    run = gc.simulate(system, t_end=t_end, step=0.01, method="ida", rtol=1e-9, atol=1e-10)
    away = np.all([(run.t < t - 1e-6) | (run.t > t + after) for t, _, _ in steps], axis=0)
    reference = make(SimpleNamespace(**(plain or data))).run(2.0, changes(steps), run.t[away])
    return run["EXC", "Efd"][away], reference, run


@pytest.mark.parametrize("case", CASES)
def test_response_to_steps_is_that_of_the_block_diagram(case):
    found, reference, run = respond(*CASES[case])
    assert_allclose(found, reference, rtol=AGREE, atol=AGREE)
    assert np.ptp(reference) > 1.0
    assert run.system.operating_point.violations == []


REACHED = {
    "IEEET1": {"VR_at_VRMAX", "VR_at_VRMIN"}, "IEEEX1": {"VR_at_VRMAX", "VR_at_VRMIN"},
    "ESDC1A": {"VR_at_VRMAX", "VR_at_VRMIN", "Efd_at_min"}, "ESDC2A": {"VR_at_VRMAX", "VR_at_VRMIN", "Efd_at_min"},
    "EXDC2": {"VR_at_VRMAX", "VR_at_VRMIN"}, "EXAC1": {"VR_at_VRMAX", "VR_at_VRMIN", "rectified_unloaded"},
    "ESAC1A": {"VA_at_VAMAX", "VA_at_VAMIN", "VR_at_VRMAX", "VR_at_VRMIN", "rectified_unloaded"},
    "EXAC2": {"VA_at_VAMAX", "VA_at_VAMIN", "VR_at_VRMAX", "VR_at_VRMIN", "inner_to_second", "rectified_shorted"},
    "ESAC6A": {"VA_at_VAMAX", "VA_at_VAMIN", "VR_at_VRMAX", "VR_at_VRMIN", "over_off_min", "over_at_VHMAX"},
    "ESST1A": {"VI_at_VIMAX", "VI_at_VIMIN", "VA_at_VAMIN", "ceiling_at_VRMAX", "ceiling_at_VRMIN", "limiter_off_min"},
    "ESST4B": {"VR_at_VRMAX", "VR_at_VRMIN", "VM_at_VMMAX", "VB_at_VBMAX"},
    "EXPIC1": {"VA_at_VR1", "VR_at_VRMAX", "E0_at_EFDMAX", "E0_at_EFDMIN"},
    "EXST1": {"VI_at_VIMAX", "VI_at_VIMIN", "ceiling_at_VRMAX", "ceiling_at_VRMIN"},
    "IEEET2": {"VR_at_VRMAX", "VR_at_VRMIN"},
    "ESST3A": {"VI_at_VIMAX", "VI_at_VIMIN", "VR_at_VRMAX", "VR_at_VRMIN", "VM_at_VMMAX", "VM_at_VMMIN"},
    "EXDC1": {"VR_at_VRMAX", "VR_at_VRMIN"},
    "AC8B": {"VPID_at_VPIDMAX", "VPID_at_VPIDMIN", "VPID_x_at_VPIDMAX", "VR_at_VRMAX", "VE_at_VFEMAX", "VE_at_VEMIN"},
    "DC4B": {"VPID_at_VRMAX", "VPID_at_VRMIN", "VPID_x_at_VRMAX", "Efd_at_VEMIN"},
    "ST6B": {"VA_at_VAMAX", "VA_at_VAMIN", "VA_x_at_VAMAX", "VR_at_VRMAX", "bridge_to_second"},
    "ST8C": {"VPI_at_VPIMAX", "VPI_at_VPIMIN", "VA_at_VAMAX", "VA_at_VAMIN", "VR_at_VRMAX", "VR_at_VRMIN"},
    "SCRX": {"E_at_EMAX", "E_at_EMIN", "current_turns_negative"}, "SEXS": {"Efd_at_EMAX", "Efd_at_EMIN"},
}


@everyone
def test_the_steps_reach_the_limits_and_each_is_left_again(name):
    run = gc.simulate(built(cls_of(name), CASES[name][1], steps=STEPS), t_end=5.5, step=0.005)
    items = [event.item for event in run.events if event.device == "EXC"]
    assert REACHED[name] <= set(items)
    for item in items:
        if "_at_" in item:
            # an output leaves its limit together with the lag or integrator in its block
            assert {item.replace("_at_", "_off_"), item.replace("_at_", "_x_off_")} & set(items), item


# A time constant of zero takes its block away; the diagram, which divides by it, gets this instead (s).
SHORT = 1e-4
ZEROS = {
    "IEEET1": dict(TR=SHORT, TA=SHORT), "ESDC1A": dict(TR=SHORT, TA=SHORT, TB=1.0, TC=1.0),
    "ESDC2A": dict(TR=SHORT, TA=SHORT, TB=1.0, TC=1.0), "EXAC1": dict(TR=SHORT, TB=1.0, TC=1.0),
    "ESAC1A": dict(TR=SHORT, TA=SHORT, TB=1.0, TC=1.0), "EXAC2": dict(TR=SHORT, TB=1.0, TC=1.0),
    "ESAC6A": dict(TR=SHORT, TB=1.0, TC=1.0, TH=1.0, TJ=1.0), "ESST1A": dict(TR=SHORT, TA=SHORT, TB=1.0, TC=1.0),
    "ESST4B": dict(TR=SHORT, TA=SHORT), "SEXS": dict(TE=SHORT), "SCRX": dict(TE=SHORT),
    "EXST1": dict(TR=SHORT, TA=SHORT, TB=1.0, TC=1.0), "ESST3A": dict(TA=SHORT, TB=1.0, TC=1.0),
    "IEEET2": dict(TR=SHORT, TA=SHORT, TF2=SHORT),
    "AC8B": dict(TR=SHORT, TA=SHORT), "DC4B": dict(TA=SHORT), "ST6B": dict(TR=SHORT, TG=SHORT),
    "ST8C": dict(TR=SHORT, TA=SHORT, TF=SHORT),
    "EXPIC1": dict(TR=SHORT, TA2=SHORT, TA3=1.0, TA4=1.0, TF2=SHORT, TE=SHORT),
}
WITHOUT = {"EXPIC1": dict(KE=1.0, SE1=0.0, SE2=0.0)}  # TE = 0 leaves out what KE and saturation belong to


@pytest.mark.parametrize("name", ZEROS)
def test_a_time_constant_of_zero_is_what_a_short_one_tends_to(name):
    _, data, make = CASES[name]
    data = data | WITHOUT.get(name, {})
    found, reference, _ = respond(name, data | dict.fromkeys(ZEROS[name], 0.0), make, STEPS[:5], 1.9, 0.02,
                                  data | ZEROS[name])
    assert_allclose(found, reference, atol=3e-3 * np.ptp(reference))


@pytest.mark.parametrize("left_out", ["TA2", "TA4"])
def test_a_lead_over_two_lags_stays_with_the_one_that_is_left(left_out):
    _, data, make = CASES["EXPIC1"]
    data = data | dict(VR1=0.9, VR2=-0.8)  # the lag that is left is then not beyond the limits of VR
    found, reference, _ = respond("EXPIC1", data | {left_out: 0.0}, make, STEPS[:5], 1.9, 0.02,
                                  data | {left_out: SHORT})
    assert_allclose(found, reference, atol=3e-3 * np.ptp(reference))


# ---------------------------------------------------------------- at rest


def between(low, high):
    return st.floats(low, high, allow_nan=False)


@st.composite
def parameters(draw, name):
    """Random valid ones, zero time constants among them; limits mostly wide enough."""
    declared, values = cls_of(name).declares.params, {}
    for param, item in declared.items():
        if param.startswith(("T", "A")) and item.unit == "s":
            zero = [st.just(0.0)] if "ge" in item.bounds else []
            values[param] = draw(st.one_of(*zero, between(0.05, 2.0)))
        elif param in ("E1", "SE1", "E2", "SE2", "CSWITCH", "VOS", "THETAP", "OEL", "UEL", "SW1"):
            continue
        elif param.endswith(("MAX", "VR1")):
            values[param] = draw(between(0.5, 20.0))
        elif param.endswith(("MIN", "VR2")):
            values[param] = -draw(between(0.5, 20.0))
        elif param in ("KA", "K"):
            values[param] = draw(between(5.0, 500.0))
        elif param == "KE":
            values[param] = draw(st.one_of(st.just(0.0) if name in DC_NAMES else st.just(1.0), between(0.2, 1.2)))
        elif param == "KP":
            values[param] = draw(between(4.0, 8.0))  # a source that the rectifier does not short
        elif param in ("VLR", "VFELIM"):
            values[param] = draw(between(2.0, 20.0))
        elif param in ("KIR", "KIM", "KI", "KC", "KC1", "KC2", "KI1", "KI2", "XL", "RCRFD", "KH", "KF", "KG", "KLR"):
            values[param] = draw(st.one_of(st.just(0.0), between(0.05, 1.0)))
        else:
            values[param] = draw(between(0.1, 5.0))
    if "E1" in declared:
        E1, SE1 = draw(between(1.0, 4.0)), draw(st.one_of(st.just(0.0), between(0.01, 0.5)))
        values |= dict(E1=E1, SE1=SE1, E2=E1 + draw(between(0.5, 2.0)), SE2=SE1 * draw(between(1.0, 4.0)))
    if "VOS" in declared:
        values["VOS"] = draw(st.sampled_from([1.0, 2.0]))
    if "THETAP" in declared:
        values["THETAP"] = draw(between(-90.0, 90.0))
    if "TF" in declared and "gt" in declared["TF"].bounds:
        values["TF"] = draw(between(0.1, 2.0))
    return values


DC_NAMES = ("IEEET1", "IEEET2", "IEEEX1", "ESDC1A", "ESDC2A", "EXDC2")


@everyone
@settings(max_examples=settings.default.max_examples // 10)
@given(data=st.data())
def test_it_rests_with_any_valid_parameters_or_says_which_limit_it_is_beyond(name, data):
    values = data.draw(parameters(name))
    Efd, Ifd = data.draw(between(0.5, 3.5)), data.draw(between(0.3, 2.5))
    assume(cls_of(name).check({k: p.default for k, p in cls_of(name).declares.params.items()} | values) is None)
    system = built(cls_of(name), values, Efd, Ifd)
    point = system.operating_point
    assert point.residual < 1e-9
    Z, layout = system.Z0, system.layout
    assert Z[layout.address("EXC.Efd")] == pytest.approx(Efd, rel=1e-9)
    # whatever is not reported is inside its limits: nothing happens in a run without events
    if not point.violations:
        run = gc.simulate(system, t_end=0.1, step=0.02)
        assert not run.events
        assert np.ptp(run["EXC", "Efd"]) < 1e-8


SHARED = Path(__file__).parents[2].parent / "shared" / "data"


def records(path):
    """(model, values) of the records of a DYR file."""
    for record in path.read_text().split("/"):
        words = record.replace(",", " ").replace("'", " ").split()
        if len(words) > 3:
            yield words[1], words[3:]


@pytest.mark.parametrize("folder", ["activsg2000", "activsg200", "ieee39", "npcc140", "kundur"])
def test_every_record_of_the_shared_data_rests_or_says_which_limit_it_is_beyond(folder):
    files = sorted((SHARED / folder).glob("*.dyr"))
    if not files:
        pytest.skip(f"no DYR files in {SHARED / folder}")
    found = [(model, values) for path in files for model, values in records(path) if model in NAMES]
    case = gc.Case(folder)
    for k, (model, values) in enumerate(found):
        data = {name: float(v) for name, v in zip(cls_of(model).dyr, values, strict=False) if name is not None}
        assert len(values) >= len(cls_of(model).dyr)
        case.add(gc.Record("Bus", {"id": f"B{k}"}))
        case.add(gc.Record("InfiniteBus", {"id": f"INF{k}", "bus": f"B{k}", "control": "slack"}))
        case.add(gc.Record("BenchMachine", {"id": f"M{k}", "bus": f"B{k}", "control": "PQ", "Efd0": 1.8}))
        case.add(gc.Record(model, {"id": f"EXC{k}", "machine": f"M{k}", **data}))
    system = gc.build(case)
    point = system.operating_point
    assert len(found) >= 4
    assert point.residual < 1e-9
    beyond = {line.split(":")[0] for line in point.violations}
    print(f"{folder}: {len(found)} records, {len(beyond)} beyond a limit at Efd = 1.8")
    run = gc.simulate(system, t_end=0.05, step=0.01)
    assert {event.device for event in run.events} <= beyond
    inside = [f"EXC{k}" for k in range(len(found)) if f"EXC{k}" not in beyond]
    assert np.ptp(run.of(inside, "Efd"), axis=0).max() < 1e-8


@pytest.mark.parametrize(("name", "change", "words"), [
    ("IEEET1", dict(VRMAX=1.5), "EXC: VR reaches VRMAX at t0 already (by 0.5"),
    ("ESDC2A", dict(VRMAX=1.5), "EXC: VR reaches VRMAX at t0 already (by 0.5"),
    ("SEXS", dict(EMAX=1.5), "EXC: Efd reaches EMAX at t0 already (by 0.5)"),
    ("ESST1A", dict(VRMAX=1.5), "EXC: ceiling reaches VRMAX at t0 already (by 0.68)"),
    ("EXAC2", dict(VLR=3.0), "EXC: inner takes its second input at t0 already"),
    ("ESST4B", dict(VMMAX=0.1), "EXC: VM reaches VMMAX at t0 already"),
])
def test_a_limit_that_is_broken_at_t0_is_reported_by_name(name, change, words):
    system = built(cls_of(name), CASES[name][1] | change)
    assert any(line.startswith(words) for line in system.operating_point.violations), system.operating_point.violations


@pytest.mark.parametrize("name", DC_NAMES)
def test_zero_stands_for_what_pss_e_computes(name):
    _, data, _ = CASES[name]
    saturation = diagrams.saturation(SimpleNamespace(**data), 2.0)
    at = built(cls_of(name), data | dict(VRMAX=0.0, KE=0.0))
    ceiling = 0.3 * 4.0
    read = {k: at.Z0[at.layout.address(f"EXC.{k}")] for k in ("VRmax", "VRmin", "KEt", "VR")}
    assert read["VRmax"] == pytest.approx(ceiling)
    assert read["VRmin"] == pytest.approx(-ceiling)
    assert read["VR"] == pytest.approx(ceiling / 10)
    assert read["KEt"] * 2.0 + saturation == pytest.approx(ceiling / 10)
    assert built(cls_of(name), data | dict(VRMAX=0.0)).Z0[at.layout.address("EXC.VRmax")] == pytest.approx(1.3 * 4.0)


def test_either_point_of_the_saturation_may_be_the_lower_one():
    data = CASES["ESDC1A"][1]
    other = data | dict(E1=data["E2"], SE1=data["SE2"], E2=data["E1"], SE2=data["SE1"])
    systems = [built(cls_of("ESDC1A"), values, Efd=3.4) for values in (data, other)]
    Z = [system.Z0[system.layout.address("EXC.VR")] for system in systems]
    assert Z[0] == pytest.approx(Z[1], rel=1e-13)
    assert Z[0] - 3.4 == pytest.approx(diagrams.saturation(SimpleNamespace(**data), 3.4), rel=1e-12)


@pytest.mark.parametrize(("name", "change", "words"), [
    ("ESDC1A", dict(VRMIN=5.0), "VRMIN must be below VRMAX"), ("EXAC1", dict(VRMIN=8.0), "VRMIN must be below VRMAX"),
    ("ESDC1A", dict(VRMAX=0.0, KE=-1.0, SE1=0.0, SE2=0.0), "must be above zero"),
    ("EXAC1", dict(E1=5.0), "saturation must grow"), ("ESST1A", dict(VIMIN=1.0), "VIMIN must be below VIMAX"),
    ("ESST4B", dict(KPR=0.0, KIR=0.0), "KPR and KIR are both zero"), ("EXPIC1", dict(VR2=2.0), "VR2 must be below VR1"),
    ("SEXS", dict(EMIN=5.0), "EMIN must be below EMAX"), ("SCRX", dict(CSWITCH=2.0), "CSWITCH"),
])
def test_data_that_make_no_sense_are_refused(name, change, words):
    with pytest.raises(CaseError, match=words):
        built(cls_of(name), CASES[name][1] | change)


# ---------------------------------------------------------------- gradients

WRT = {"IEEET1": "KA VRMAX TE", "IEEEX1": "KA VRMAX TB", "ESDC1A": "KA VRMIN KE", "ESDC2A": "KA VRMAX TE",
       "EXDC2": "VRMAX VRMIN TF1", "EXAC1": "KC VRMAX KD", "ESAC1A": "VAMAX VRMAX KC", "EXAC2": "VLR VAMIN KH",
       "ESAC6A": "VFELIM VAMAX TK", "ESST1A": "VIMAX VRMAX KLR", "ESST4B": "KIR VMMAX THETAP",
       "EXPIC1": "VR1 EFDMAX KC", "SCRX": "EMAX RCRFD TATB", "SEXS": "EMAX TB K",
       "EXDC1": "KA VRMAX TB", "AC8B": "VPIDMAX VFEMAX KDR", "DC4B": "KD VRMAX VEMIN", "ST6B": "VAMAX VRMAX ILR",
       "ST8C": "VPIMAX VAMAX KI2", "EXST1": "VIMAX VRMAX KF", "IEEET2": "KA VRMAX TF2", "ESST3A": "VMMAX VRMAX VGMAX"}


@everyone
def test_gradients_are_exact_across_the_limits(name):
    system = built(cls_of(name), CASES[name][1], steps=STEPS)
    run = gc.simulate(system, t_end=5.5, step=0.01)
    assert len([e for e in run.events if e.device == "EXC"]) >= 2
    effort = gc.Integral(lambda v: v["EXC", "Efd"] ** 2, name="effort")
    wrt = [f"EXC.{param}" for param in WRT[name].split()] + ["M.XadIfd"]
    exact, differences = gc.adjoint(run, effort, wrt=wrt), gc.differences(run, effort, wrt=wrt, relative_step=1e-5)
    assert_allclose(exact.values, differences.values, rtol=2e-6, atol=1e-7)
