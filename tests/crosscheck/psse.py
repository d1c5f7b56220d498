"""Studies that PSS/E computed: files, disturbance, and what each column of its trajectories is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import gridcore as gc
from gridcore_readers.dyr import available
from gridcore_readers.dyr_text import read_models

FOLDER = Path(__file__).parents[3] / "shared" / "reference" / "psse"
HERE = Path(__file__).parents[1] / "data" / "psse"  # what shared/reference has not: see SOURCE.txt there
# what a trajectory may be off by: voltage and speed in pu, angle in degrees; or 1 % of its range where that is larger
BOUNDS = {"voltage": 5e-4, "angle": 0.1, "speed": 5e-5, "other": 1e-6}
RANGE = 0.01
STEP = 0.005
MARGIN = 0.02  # s

Column = tuple[str, str, str, Callable[[np.ndarray], np.ndarray]]  # device, variable, kind, what PSS/E prints of it


def _same(values: np.ndarray) -> np.ndarray:
    return values


def V(bus: int) -> Column:
    """Voltage of a bus, pu."""
    return f"BUS{bus}", "Vm", "voltage", _same


def theta(bus: int) -> Column:
    """Angle of a bus, degrees."""
    return f"BUS{bus}", "Va", "angle", np.rad2deg


def delta(bus: int) -> Column:
    """Rotor angle of the machine at a bus, degrees."""
    return f"GEN{bus}", "delta", "angle", np.rad2deg


def speed(bus: int, offset: float = 0.0) -> Column:
    """Speed of the machine at a bus, pu, above an offset."""
    return f"GEN{bus}", "omega", "speed", lambda omega: omega - offset


def other(device: str, variable: str, scale: float = 1.0) -> Column:
    """Anything else."""
    return device, variable, "other", lambda values: scale * values


Event = Callable[[], gc.Record]


def opens(line: str, t: float = 1.0) -> Event:
    """A line opens."""
    return lambda: gc.Record("BranchTrip", {"id": "trip", "branch": line, "t": t})


def sets(parameter: str, value: float, t: float = 1.0, scale: float = 0.0) -> Event:
    """A parameter takes a value, or is scaled."""
    return lambda: gc.Record("ParameterStep", {"id": "step", "parameter": parameter, "t": t, "scale": scale,
                                               "by": value})


OPENS = opens("LINE101-102")


@dataclass(frozen=True)
class Study:
    """One study: files, a disturbance, the columns of its trajectories.

    Attributes
    ----------
    dyr, csv : str
        Files, ``folder/name``.
    columns : tuple of Column
    raw : str
        File, in the folder of the others.
    event : Event
        Disturbance.
    t : float
        When it acts (s).
    t_end : float
        Seconds.
    loads : str
        How loads depend on voltage.
    step : float
        Seconds.
    torque : tuple of str
        Machines whose torque is shaft power over speed.
    frequency : float
        Hz, where the RAW file does not say that of the run; 0: it does.
    margin : float
        How near the event is not compared (s).
    """

    dyr: str
    csv: str
    columns: tuple[Column, ...]
    raw: str = "ThreeBusMulti.raw"
    event: Event = OPENS
    t: float = 1.0
    t_end: float = 20.0
    loads: str = "Z"
    step: float = STEP
    torque: tuple[str, ...] = ("GENROU", "GENROE", "GENSAL")
    frequency: float = 0.0
    margin: float = MARGIN

    @property
    def lacks(self) -> str:
        """What is not there to run it: its files, or devices for its models."""
        dyr = FOLDER / self.dyr
        for path in (dyr, dyr.parent / self.raw):
            if not path.exists():
                return f"{path} is not there"
        missing = {model.name for model in read_models(dyr)[0]} - set(available())
        return f"there is no {', '.join(sorted(missing))}" if missing else ""

    def case(self) -> gc.Case:
        """The files as a case, with the disturbance; machines have the torque that those of the program have."""
        dyr = FOLDER / self.dyr
        case = gc.load_case(dyr.parent / self.raw, dyr, loads=self.loads)
        for record in case:
            if record.model in self.torque:
                record.fields["torque"] = 1.0
        if self.frequency:
            case.frequency = self.frequency
        case.add(self.event())
        return case

    def differences(self, **options: Any) -> Iterator[tuple[Column, float, float]]:
        """Each column, its largest difference away from the disturbance, and what it may be."""
        table = np.genfromtxt(FOLDER / self.csv, delimiter=",")
        table = table[np.isfinite(table).all(axis=1)]
        run = gc.simulate(gc.build(self.case()), self.t_end, self.step, **options)
        t = table[:, 0]
        away = (np.abs(t - self.t) > self.margin) & (t <= self.t_end)
        for column, values in zip(self.columns, table[:, 1:].T, strict=True):
            device, variable, kind, printed = column
            ours = np.interp(t[away], run.t, printed(run[device, variable]))
            yield column, np.abs(ours - values[away]).max(), max(BOUNDS[kind], RANGE * np.ptp(values))


STUDIES = {
    "GENROU": Study("GENROU/ThreeBus_GENROU.dyr", "GENROU/TEST_GENROU.csv", (delta(102),)),
    "GENROU, S(1.0) = 0": Study("GENROU/ThreeBus_GENROU_NO_SAT.dyr", "GENROU/TEST_GENROU_NO_SAT.csv", (delta(102),)),
    "GENROU, high saturation": Study("GENROU/ThreeBus_GENROU_HIGH_SAT.dyr", "GENROU/TEST_GENROU_HIGH_SAT.csv",
                                     (delta(102),)),
    "GENROE": Study("GENROE/ThreeBus_GENROE.dyr", "GENROE/TEST_GENROE.csv", (delta(102),)),
    "GENSAL": Study("GENSAL/ThreeBus_GENSAL.dyr", "GENSAL/TEST_GENSAL.csv", (delta(102),)),
    "ESAC1A": Study("AC1A/ThreeBus_ESAC1A.dyr", "AC1A/TEST_ESAC1A.csv", (delta(102), V(102))),
    "SEXS": Study("SEXS/ThreeBus_SEXS.dyr", "SEXS/SEXS_RESULTS.csv", (
        V(102), other("LINE101-103", "P1", 100.0), other("LINE101-103", "Q1", 100.0),
        other("LINE101-103", "P2", 100.0), other("LINE101-103", "Q2", 100.0), other("GEN102", "Efd"),
        other("GEN102", "Pm"))),
    "TGOV1": Study("TGOV1/ThreeBus_TGOV1.dyr", "TGOV1/TEST_TGOV1.csv", (delta(102), other("GEN102", "Efd"))),
    "HYGOV": Study("HYGOV/ThreeBus_HYGOV.dyr", "HYGOV/HYGOV_RESULTS.csv", (V(102), delta(102), speed(102, 1.0))),
    "IEEEST": Study("IEEEST/ThreeBus_IEEEST.dyr", "IEEEST/IEEEST_SEXS_RESULTS_NOFILT.csv", (
        other("GEN102", "Efd"), V(102))),
    "LOAD": Study("LOAD/ThreeBus_GENROU.dyr", "LOAD/constantpower.csv", (V(102), theta(102), V(103), theta(103)),
                  loads="P"),
    "GAST": Study("GAST/ThreeBus_GAST.dyr", "GAST/GAST_TEST.csv", (delta(102), other("GEN102", "Efd"))),
    "EXST1": Study("EXST1/TVC_System.dyr", "EXST1/results_PSSe.csv", (
        V(1), V(2), V(3), V(4), speed(2, 1.0), other("GEN2", "Efd")), "TVC_System_32.raw", opens("LINE1-4")),
    "ESST1A": Study("ESST1A/TVC_System_ESST1A.dyr", "ESST1A/results_PSSe.csv", (
        V(2), V(3), speed(2), other("GEN2", "Efd")), "TVC_System_32.raw", opens("LINE1-4")),
    "STAB1": Study("STAB1/OMIB_SSS.dyr", "STAB1/results_PSSe.csv", (V(1), speed(1, 1.0), delta(1)), "OMIB_SSS.raw",
                   sets("EXC_GEN1.Vref", 1.0472), frequency=60.0),
    "PSS2A": Study("PSS2A/OMIB_PSS2A.dyr", "PSS2A/results_PSSe.csv", (other("GEN1", "P"), V(1), speed(1)), "OMIB.raw",
                   sets("EXC_GEN1.Vref", 1.04691)),
    **{model: Study(f"{HERE}/OMIB_{model}.dyr", f"{HERE}/{model}.csv", (other("GEN1", "P"), V(1), speed(1)),
                    f"{FOLDER}/PSS2A/OMIB.raw", sets("EXC_GEN1.Vref", 1.04691), t_end=2.2)
       for model in ("PSS2B", "PSS2C")},
    "CSVGN1": Study("CSVGN1/3_BUS_System_svc.dyr", "CSVGN1/results_PSSe.csv", (V(1), V(2), V(3)),
                    "3_BUS_System_svc.raw", sets("LOAD2.P0", 0.0, 0.005, 400 / 455),
                    0.005, 0.07, step=1e-4),
    "DERA1": Study("DERA/ThreeBus_DERA1_freqflag0.dyr", "DERA/dera_freqflag0.csv", (V(102), theta(102)),
                   event=opens("LINE101-102", 2.0), t=2.0, t_end=4.0, loads="I/Z", margin=0.05),
    "DEGOV": Study("DEGOV/ThreeBus_DEGOV_nodelay.dyr", "DEGOV/degov_nodelay_speed_final.csv", (speed(102),), t_end=5.0,
                   step=1 / 240, torque=("GENCLS",)),  # by PowerWorld: see docs/models.md
    "DEGOV, with a droop": Study(f"{HERE}/ThreeBus_DEGOV1.dyr", f"{FOLDER}/DEGOV/degov_nodelay_speed_final.csv",
                                 (speed(102),), f"{FOLDER}/DEGOV/ThreeBusMulti.raw", t_end=5.0, step=1 / 240,
                                 torque=("GENCLS",)),
    # columns 1 and 2 follow a jump by halves, and do so for 50 ms
    "RENA": Study("RENA/ThreeBus_REN_A_DEFAULT_FLAG.dyr", "RENA/TEST_RENA_DEFAULT_FLAGS.csv", (
        other("GEN103", "P"), other("GEN103", "Q"), V(103)), "ThreeBusRenewable.raw", opens("LINE101-103"), t_end=5.0,
        margin=0.05),
    "RENA, plant control of the voltage": Study(
        "RENA/ThreeBus_REN_A_NOFREQFLAG_with_REF_FLAG.dyr", "RENA/TEST_RENA_NOFREQ_REF_FLAG.csv", (theta(103), V(103)),
        "ThreeBusRenewable.raw", opens("LINE101-103"), t_end=10.0, margin=0.05),
    "GENCLS": Study("Test01/OMIB.dyr", "Test01/Test01_delta.csv", (delta(102),), "OMIB.raw"),
    "GENCLS by PSAT": Study("Test01/OMIB.dyr", "Test01/psat_Test01_delta.csv", (other("GEN102", "delta"),), "OMIB.raw"),
}
