"""Studies of limiters that take over at the gates of exciters, and give back, on kundur."""

from __future__ import annotations

from typing import Any

from conventional_studies import new_controls, of
from industry_data import EXCITERS, controls
from industry_studies import MORE, study, system
from scenes import record
from studies import Study

import gridcore as gc

BEHIND = {"KUF": 0.0, "KUI": 0.0, "VUIMAX": 5.0, "VUIMIN": -5.0, "TU1": 0.02, "TU2": 0.05, "VULMAX": 5.0,
          "VULMIN": -5.0}
ESST3A = {"TR": 0.02, "VIMAX": 0.1, "VIMIN": -0.1, "KM": 8.0, "TC": 1.0, "TB": 5.0, "KA": 50.0, "TA": 0.02,
          "VRMAX": 2.5, "VRMIN": -2.5, "KG": 1.0, "KP": 5.0, "KI": 0.5, "VBMAX": 6.2, "KC": 0.1, "XL": 0.1,
          "THETAP": 10.0, "TM": 0.2, "VMMAX": 0.42, "VMMIN": -0.3}
SEEN = [("GEN1", "omega"), ("BUS8", "Vm"), ("EXC_GEN2", "Efd"), ("EXC_GEN4", "Efd")]


def kundur(*steps: tuple[str, float, float], **exciters: dict[str, float]) -> gc.Case:
    """With exciters EXC_GEN1 to EXC_GEN4 of these models, after a fault; inputs of limiters step."""
    case = system("kundur", gc.BusFault(id="fault", bus=8, t=0.2513, clear=0.2823, x=0.02),
                  gc.BranchTrip(id="trip", branch="LINE8-9_2", t=0.2913),
                  *(gc.ParameterStep(id=f"step{k}", parameter=name, t=t, by=by)
                    for k, (name, t, by) in enumerate(steps)))
    for k, (model, values) in enumerate(exciters.items(), 1):
        controls(case, f"GEN{k}", "SEXS", "TGOV1")
        new_controls(case, k, model.partition("_")[0], **EXCITERS.get(model.partition("_")[0], {}) | values)
    return case


def under(case: gc.Case, k: int, **values: Any) -> None:
    """A UEL2 on an exciter, whose limit is a straight line."""
    case.add(record("UEL2", exciter=f"EXC_GEN{k}", **BEHIND | {"P0": 0.0, "P1": 1.0} | values))


@study
def limiters_at_the_gates_of_dc_and_ac_exciters() -> Study:
    case = kundur(("EXC_GEN1.Vref", 0.0137, -0.1), ("EXC_GEN2.Vref", 0.0137, -0.4), ("EXC_GEN3.VUEL", 0.0437, 102.6),
                  ("EXC_GEN3.VUEL", 0.1137, -102.6), ("EXC_GEN3.VOEL", 0.1437, -97.5), ("EXC_GEN3.VOEL", 0.2137, 97.5),
                  ESDC1A={}, ESDC2A={}, ESAC1A={}, ESAC6A={})
    under(case, 1, KUL=0.5, Q0=-0.1, Q1=0.1)
    under(case, 2, KUL=0.5, Q0=-0.1, Q1=0.1)
    case.add(record("MAXEX2", exciter="EXC_GEN4", M=1, EFDRATED=1.8, VLOW=-0.02, EFD1=1.05, TIME1=0.06, EFD2=1.3,
                    TIME2=0.05, EFD3=1.6, TIME3=0.04, KMX=2.0))
    return Study(case, 0.4, 0.02, [*MORE, "step0.by", "step2.by", "step4.by", *of(
        "EXC_GEN1: KA TA VRMAX TE KF", "EXC_GEN2: KA TA VRMIN TE", "EXC_GEN3: KA TA VRMAX TE KC", "EXC_GEN4: KA TK TE",
        "UEL_EXC_GEN1: KUL TU1 TU2 Q0 P1", "UEL_EXC_GEN2: KUL Q1", "OEL_EXC_GEN4: EFD1 TIME1 KMX VLOW")], SEEN, [
        "EXC_GEN1.gate_to_second", "EXC_GEN2.gate_to_second", "EXC_GEN3.above_to_second", "OEL_EXC_GEN4.takes_over",
        "EXC_GEN3.above_to_first", "EXC_GEN3.gate_to_second", "EXC_GEN2.gate_to_first", "EXC_GEN1.gate_to_first",
        "EXC_GEN3.gate_to_first", "fault.strikes"])


@study
def limiters_at_the_gates_of_static_exciters() -> Study:
    case = kundur(("EXC_GEN1.Vref", 0.0137, -0.1), ("EXC_GEN3.Vref", 0.0137, -0.1), ("EXC_GEN2.VUEL", 0.0437, 102.5),
                  ("EXC_GEN2.VUEL", 0.1137, -102.5), ("EXC_GEN2.VOEL", 0.1437, -97.5), ("EXC_GEN2.VOEL", 0.2137, 97.5),
                  ("EXC_GEN4.VOEL", 0.0437, -98.75), ("EXC_GEN4.VOEL", 0.1837, 98.75), ("EXC_GEN4.VUEL", 0.0637, 0.02),
                  ESST1A={"UEL": 2.0}, ESST1A_3={"UEL": 3.0}, ESST3A=ESST3A, ESST4B={"VMMAX": 0.6})
    under(case, 1, KUL=0.2, Q0=-0.1, Q1=0.1)
    under(case, 3, KUL=0.2, Q0=-0.1, Q1=0.1)
    return Study(case, 0.4, 0.02, [*MORE, "step0.by", "step2.by", "step4.by", "step6.by", "step8.by", *of(
        "EXC_GEN1: KA TA TB VRMAX", "EXC_GEN2: KA TA KF VRMAX", "EXC_GEN3: KA KM TM TB", "EXC_GEN4: KPR KIR KPM KP",
        "UEL_EXC_GEN1: KUL TU1 TU2 Q0 P1", "UEL_EXC_GEN3: KUL Q1")], SEEN, [
        "EXC_GEN1.first_to_second", "EXC_GEN3.gate_to_second", "EXC_GEN2.above_to_second", "EXC_GEN4.gate_to_second",
        "EXC_GEN2.above_to_first", "EXC_GEN2.gate_to_second", "EXC_GEN4.gate_to_first", "EXC_GEN2.gate_to_first",
        "EXC_GEN3.gate_to_first", "EXC_GEN1.first_to_first", "EXC_GEN1.first_to_second"])
