"""Data of the industry's controls, and how to put them on the machines of a case.

They are those of the DYR files of ``shared/data`` or of IEEE Std 421.5, annex H; what is narrower than there is the
limits, so that one disturbance of half a second reaches and leaves them.
"""

from __future__ import annotations

from typing import Any

import gridcore as gc

EXCITERS: dict[str, dict[str, Any]] = {
    "SEXS": {"TATB": 0.1, "TB": 10.0, "K": 100.0, "TE": 0.1, "EMIN": 0.0, "EMAX": 2.3},
    "EXDC2": {"KA": 46.0, "TA": 0.06, "TB": 0.5, "TC": 0.1, "VRMAX": 2.6, "VRMIN": -0.9, "KE": 1.0, "TE": 0.46,
              "KF": 0.1, "TF1": 1.0, "E1": 2.3, "SE1": 0.1, "E2": 3.1, "SE2": 0.33, "TR": 0.02},
    "ESDC2A": {"KA": 9.3, "TA": 0.05, "TB": 0.0, "TC": 0.0, "VRMAX": 2.6, "VRMIN": -1.17, "KE": 1.0, "TE": 0.5,
               "KF": 0.05, "TF1": 1.0, "E1": 2.36, "SE1": 0.2246, "E2": 3.1467, "SE2": 0.5, "TR": 0.025},
    "ESDC1A": {"KA": 40.0, "TA": 0.05, "TB": 0.0, "TC": 0.0, "VRMAX": 2.6, "VRMIN": -1.0, "KE": 0.0, "TE": 0.4,
               "KF": 0.0378, "TF1": 1.0, "E1": 2.3636, "SE1": 0.127, "E2": 3.1515, "SE2": 0.381, "TR": 0.06},
    "IEEEX1": {"KA": 50.0, "TA": 0.06, "TB": 0.4, "TC": 0.1, "VRMAX": 2.5, "VRMIN": -1.0, "KE": -0.02, "TE": 0.5,
               "KF": 0.08, "TF1": 1.0, "E1": 2.0, "SE1": 0.06, "E2": 3.0, "SE2": 0.4},
    "IEEET1": {"KA": 20.0, "TA": 0.2, "VRMAX": 0.0, "VRMIN": -3.0, "KE": 1.0, "TE": 0.314, "KF": 0.064, "TF": 0.35,
               "E1": 1.5, "SE1": 0.018, "E2": 2.2, "SE2": 0.087, "TR": 0.02},
    "SCRX": {"TATB": 0.1, "TB": 10.0, "K": 100.0, "TE": 0.05, "EMIN": 0.0, "EMAX": 2.5, "RCRFD": 10.0},
    "ESST1A": {"TR": 0.01, "VOS": 2.0, "VIMAX": 0.2, "VIMIN": -0.2, "TC": 1.0, "TB": 10.0, "TC1": 0.1, "TB1": 0.05,
               "KA": 200.0, "TA": 0.02, "VAMAX": 5.0, "VAMIN": -4.0, "VRMAX": 3.2, "VRMIN": -3.0, "KC": 0.05,
               "KF": 0.01, "TF": 1.0, "KLR": 2.0, "ILR": 2.3},
    "ESST4B": {"KPR": 3.9436, "KIR": 3.9436, "VRMAX": 1.0, "VRMIN": -0.87, "TA": 0.02, "KPM": 0.5, "KIM": 1.0,
               "VMMAX": 0.4, "VMMIN": -0.3, "KG": 0.02, "KP": 6.8885, "KI": 0.1, "VBMAX": 6.2, "KC": 0.08, "XL": 0.05,
               "THETAP": 5.0, "TR": 0.01},
    "EXAC1": {"KA": 100.0, "TA": 0.05, "TB": 0.2, "TC": 0.1, "VRMAX": 4.0, "VRMIN": -4.0, "TE": 0.6, "KF": 0.035,
              "TF": 1.0, "KC": 0.2469, "KD": 0.5, "KE": 1.0, "E1": 2.7077, "SE1": 0.0366, "E2": 3.6102, "SE2": 0.1831,
              "TR": 0.01},
    "EXAC2": {"KA": 100.0, "TA": 0.05, "TB": 1.0, "TC": 1.0, "VAMAX": 100.0, "VAMIN": -100.0, "KB": 1.0, "VRMAX": 7.0,
              "VRMIN": -5.0, "TE": 1.0, "KL": 4.0, "KH": 0.5, "KF": 0.03, "TF": 1.0, "KC": 0.1, "KD": 0.6, "KE": 1.0,
              "VLR": 5.2, "E1": 3.6225, "SE1": 0.01, "E2": 4.83, "SE2": 0.05},
    "ESAC1A": {"KA": 300.0, "TA": 0.05, "TB": 0.0, "TC": 0.0, "VAMAX": 6.0, "VAMIN": -6.0, "TE": 0.9361, "KF": 0.0243,
               "TF": 1.0, "KC": 0.2, "KD": 0.4, "KE": 1.0, "E1": 4.181, "SE1": 0.0615, "E2": 5.5747, "SE2": 0.5533,
               "VRMAX": 5.0, "VRMIN": -4.0, "TR": 0.02},
    "ESAC6A": {"KA": 150.0, "TA": 0.2092, "TK": 0.2, "TB": 3.0, "TC": 3.0, "VAMAX": 8.0, "VAMIN": -8.0, "VRMAX": 6.0,
               "VRMIN": -5.0, "TE": 0.8, "VFELIM": 3.2, "KH": 10.0, "VHMAX": 4.0, "TH": 0.1, "TJ": 0.02, "KC": 0.1,
               "KD": 0.2, "KE": 1.0, "E1": 4.5, "SE1": 0.0277, "E2": 6.0, "SE2": 0.1846, "TR": 0.02},
    "EXPIC1": {"KA": 3.0, "TA1": 1.0, "VR1": 1.2, "VR2": -0.87, "TA2": 0.02, "TA3": 0.05, "TA4": 0.1, "VRMAX": 0.9,
               "VRMIN": -0.8, "KF": 0.02, "TF1": 1.0, "TF2": 0.1, "EFDMAX": 3.3, "EFDMIN": -2.0, "KE": 1.0, "TE": 0.3,
               "E1": 2.0, "SE1": 0.02, "E2": 3.0, "SE2": 0.1, "KP": 4.5, "KI": 0.5, "KC": 0.08, "TR": 0.01},
}
GOVERNORS: dict[str, dict[str, Any]] = {
    "TGOV1": {"R": 0.05, "T1": 0.1, "VMAX": 0.9, "VMIN": 0.7, "T2": 2.1, "T3": 7.0, "Dt": 0.5},
    "IEEEG1": {"K": 20.0, "T1": 0.2511, "T2": 0.05, "T3": 0.2, "Uo": 0.1, "Uc": -0.1, "PMAX": 1.1911, "PMIN": 0.0,
               "T4": 0.4242, "K1": 0.4, "T5": 4.0, "K3": 0.3, "T6": 0.5, "K5": 0.3},
    "GGOV1": {"Rselect": 1.0, "Flag": 1.0, "R": 0.04, "Tpelec": 0.2, "maxerr": 0.05, "minerr": -0.05, "Kpgov": 10.0,
              "Kigov": 2.0, "VMAX": 1.0, "VMIN": 0.1, "Tact": 0.15, "Kturb": 1.3041, "Wfnl": 0.2, "Tb": 0.5,
              "Kdgov": 0.1, "Tdgov": 0.2, "Ropen": 0.1, "Rclose": -0.1, "aset": 0.01, "Ka": 10.0, "Ta": 0.1,
              "Ldref": 1.0, "Trate": 950.0, "db": 2e-4, "Kimw": 0.002, "Dm": 0.3},
    "HYGOV": {"R": 0.05, "r": 0.5, "Tr": 5.0, "Tf": 0.05, "Tg": 0.4, "VELM": 0.02, "GMAX": 1.0, "GMIN": 0.1, "TW": 1.2,
              "At": 1.2, "Dturb": 0.5, "qNL": 0.08},
}
# What the limits of a control are called.
LIMITS = {"VRMAX", "VRMIN", "VAMAX", "VAMIN", "EMAX", "EFDMAX", "VMMAX", "VIMAX", "VIMIN", "VBMAX", "Uo", "Uc", "Ropen",
          "Rclose", "VELM", "LSMAX", "LSMIN", "VLR", "VFELIM", "ILR", "VMIN", "VR1", "VHMAX"}
# Parameters that move a control's answer, whatever its model.
ASKED = {*LIMITS, "KA", "K", "TA", "TE", "KF", "KC", "KPR", "KIM", "KLR", "KH", "SE2", "TATB", "R", "T1", "T3", "Kpgov",
         "db", "aset", "r", "TW", "KS", "T5", "A6"}
STABILIZER = {"ICS": 1, "A1": 1.013, "A2": 0.013, "A3": 0.0, "A4": 0.0, "A5": 1.013, "A6": 0.113, "T1": 0.1, "T2": 0.02,
              "T3": 0.1, "T4": 0.05, "T5": 1.65, "T6": 1.65, "KS": 10.0, "LSMAX": 0.05, "LSMIN": -0.05}
SATURATED = {"S10": 0.0392, "S12": 0.2672}


def controls(case: gc.Case, machine: str, exciter: str = "", governor: str = "", **stabilizer: Any) -> None:
    """Other controls on a machine: the models named, a stabilizer where some of its data are given."""
    old = [id for id in (f"PSS_EXC_{machine}", f"EXC_{machine}", f"GOV_{machine}") if id in case]
    for id in old:
        case.remove(id)
    case.add(gc.Record(exciter, {"machine": machine, **EXCITERS[exciter]}))
    case.add(gc.Record(governor, {"machine": machine, **GOVERNORS[governor]}))
    if stabilizer:
        case.add(gc.Record("IEEEST", {"exciter": f"EXC_{machine}", **STABILIZER, **stabilizer}))
