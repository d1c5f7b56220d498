"""What both programs are asked: files, disturbance, and which models stand for the same equations in each."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import gridcore as gc

DATA = Path(__file__).parents[3] / "shared" / "data"
FAULT_X = 1e-4  # pu
ANDES_ADDS = 1e-8  # pu; to resistance and reactance of every branch
_SAME = 1e-9  # s


@dataclass(frozen=True)
class Study:
    """A fault at a bus, cleared by opening a line.

    Attributes
    ----------
    raw, dyr : str
        In the folder of the data.
    bus : int
    line : (int, int, int)
        Its buses, and which of those in parallel, in the order of the RAW file.
    t, clear : float
        Seconds.
    ours, theirs : dict of str to str
        Models to be read as others, by gridcore and by ANDES, where the two give a name to different equations.
    records : str
        DYR records added to those of the file.
    changes : dict of str to str
        Patterns in the DYR file, and what stands in place of what they match.
    """

    raw: str
    dyr: str
    bus: int
    line: tuple[int, int, int]
    t: float = 1.0
    clear: float = 1.05
    ours: dict[str, str] = field(default_factory=dict)
    theirs: dict[str, str] = field(default_factory=dict)
    records: str = ""
    changes: dict[str, str] = field(default_factory=dict)

    @property
    def files(self) -> tuple[Path, Path]:
        """RAW and DYR."""
        return DATA / self.raw, DATA / self.dyr

    @property
    def there(self) -> bool:
        """Whether the files are."""
        return all(file.exists() for file in self.files)

    def dynamics(self, folder: Path, names: dict[str, str]) -> Path:
        """The DYR file with the added records, and models by other names; without what is no record of a model."""
        text = "\n".join(line for line in self.files[1].read_text().splitlines()
                         if not line.split() or line.split()[0] != "Line") + self.records
        for pattern, other in self.changes.items():
            text, count = re.subn(pattern, other, text)
            assert count, f"{self.files[1]}: nothing matches {pattern!r}"
        for name, other in names.items():
            for quoted in (f"'{name}'", f"'{name} '"):
                text = text.replace(quoted, f"'{other}'")
        file = folder / "study.dyr"
        file.write_text(text)
        return file

    def case(self, folder: Path, as_named: bool = False) -> gc.Case:
        """The case in gridcore; every load of constant impedance, as in ANDES by default.

        Parameters
        ----------
        folder : Path
            For a file that is made.
        as_named : bool
            Every model as its name says here, even where ANDES means other equations by it.
        """
        case = gc.load_case(self.files[0], self.dynamics(folder, {} if as_named else self.ours), loads="Z")
        for record in () if as_named else case.records:
            if record.model in ("Line", "Transformer"):
                for name in ("r", "x"):
                    record.fields[name] = record.fields.get(name, 0.0) + ANDES_ADDS
        case.add_event(gc.BusFault(bus=self.bus, t=self.t, clear=self.clear, x=FAULT_X))
        case.add_event(gc.BranchTrip(branch=self.branch(case), t=self.clear))
        return case

    def branch(self, case: gc.Case) -> str:
        """The id of the line that opens."""
        one, two, nth = self.line
        found = [id for id, record in zip(case.ids(), case.records, strict=True)
                 if record.model == "Line" and {record.fields["bus1"], record.fields["bus2"]} == {one, two}]
        return found[nth - 1]

    def away(self, t: np.ndarray, margin: float = 0.01) -> np.ndarray:
        """Which instants are away from the switchings."""
        return np.all([np.abs(t - s) > margin for s in (self.t, self.clear)], axis=0)


def stabilizers(buses: range | tuple[int, ...]) -> str:
    """IEEEST records, input: speed; two leads and a washout, as for a static exciter (Kundur 1994, example 12.6)."""
    one = "0 0 0 0 0 0 0.05 0.02 3.0 5.4 10.0 10.0 20.0 0.1 -0.1 0 0"
    return "\n" + "\n".join(f"{bus} 'IEEEST' 1 1 0 {one} /" for bus in buses) + "\n"


# VRMAX and VRMIN of exciters of type DC, where they are never reached
OPEN = {r"('(?:EXDC2 |ESDC1A|IEEEX1)'(?:\s+\S+){6})\s+\S+\s+\S+": r"\1 99 -99"}
# ANDES 2.0's EXDC2 has constant limits and multiplies its output by the speed, its ESDC1A leaves the transducer out and
# does not start at rest. Its IEEEX1 is IEEEX1, which has the records of both.
STUDIES = {
    "wscc9": Study("wscc9/ieee9_v33.raw", "wscc9/ieee9bus_TGOV1.dyr", 7, (5, 7, 1)),
    "kundur": Study("kundur/11BUS_KUNDUR.raw", "kundur/11BUS_KUNDUR_TGOV.dyr", 8, (7, 8, 2)),
    "kundur, EXDC2": Study("kundur/kundur.raw", "kundur/kundur_full.dyr", 7, (7, 8, 2), ours={"EXDC2": "IEEEX1"},
                           theirs={"EXDC2": "IEEEX1"}),
    "kundur, EXDC2, no limits": Study("kundur/kundur.raw", "kundur/kundur_full.dyr", 7, (7, 8, 2),
                                      ours={"EXDC2": "IEEEX1"}, theirs={"EXDC2": "IEEEX1"}, changes=OPEN),
    "kundur, IEEEST": Study("kundur/11BUS_KUNDUR.raw", "kundur/11BUS_KUNDUR_TGOV.dyr", 8, (7, 8, 2),
                            records=stabilizers((1, 2, 3, 4))),
    "ieee39": Study("ieee39/IEEE39.raw", "ieee39/IEEE39.dyr", 16, (16, 17, 1), theirs={"ESDC1A": "IEEEX1"}),
    "ieee39, no limits": Study("ieee39/IEEE39.raw", "ieee39/IEEE39.dyr", 16, (16, 17, 1),
                               theirs={"ESDC1A": "IEEEX1"}, changes=OPEN),
    "ieee39, IEEEST": Study("ieee39/IEEE39.raw", "ieee39/IEEE39.dyr", 16, (16, 17, 1), theirs={"ESDC1A": "IEEEX1"},
                            records=stabilizers(range(30, 39))),
    "npcc140": Study("npcc140/npcc.raw", "npcc140/npcc_full.dyr", 37, (37, 43, 1)),
    "npcc140, no limits": Study("npcc140/npcc.raw", "npcc140/npcc_full.dyr", 37, (37, 43, 1), changes=OPEN),
}


@dataclass
class Trajectories:
    """What the two are compared by: times (s); rotor angles (rad), speeds (pu), voltages (pu), columns by name.

    Attributes
    ----------
    t : (points,)
    delta, omega : (points, machines)
    v, a : (points, buses)
    """

    t: np.ndarray
    delta: np.ndarray
    omega: np.ndarray
    v: np.ndarray
    a: np.ndarray

    def at(self, t: np.ndarray) -> Trajectories:
        """At these instants, which must be among its own."""
        nearest = np.searchsorted(self.t, t - _SAME).clip(max=len(self.t) - 1)
        if np.abs(self.t[nearest] - t).max(initial=0.0) > _SAME:
            raise ValueError("an instant that is not among the points")
        return Trajectories(t, *(x[nearest] for x in (self.delta, self.omega, self.v, self.a)))

    def against(self, other: Trajectories) -> dict[str, float]:
        """Largest differences, of trajectories at the same instants."""
        turned = np.angle(np.exp(1j * (self.a - other.a)))
        return {"speed": float(np.abs(self.omega - other.omega).max()),
                "angle": max(float(np.abs(self.delta - other.delta).max()), float(np.abs(turned).max())),
                "voltage": float(np.abs(self.v - other.v).max())}


def grid(points: np.ndarray, parts: int = 1) -> list[tuple[float, float]]:
    """The spacing of a run whose steps end at these points, in order, or are each so many parts of those."""
    steps = np.diff(points, prepend=0.0)
    begins = np.concatenate([[0.0], points[:-1]])
    new = np.flatnonzero(np.abs(np.diff(steps, prepend=0.0)) > 1e-6 * steps)
    return [(float(begins[k]), float(steps[k]) / parts) for k in new]


def trajectories(run: gc.Run, machines: list[str], buses: list[str]) -> Trajectories:
    """Of a run."""
    return Trajectories(run.t, *(run.of(machines, name) for name in ("delta", "omega")),
                        *(run.of(buses, name) for name in ("Vm", "Va")))
