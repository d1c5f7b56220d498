"""What is kept of a run in the table: how far machines came apart, extremes, and what the study asks for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gridcore.contract import Bus
from gridcore.errors import CaseError
from gridcore.registry import analyses
from gridcore.results import select
from gridcore.suggest import suggest

if TYPE_CHECKING:
    from gridcore.equilibrium import Equilibrium
    from gridcore.results import Run

TAKES = ("min", "max", "start", "end", "range")

#: Columns of every table, with their units.
UNITS = {"stable": "", "margin": "%", "angle": "deg", "angle_at": "s", "speed_min": "pu", "speed_max": "pu",
         "voltage_end": "pu", "voltage_end_bus": "", "islands": "", "reached": "s", "warning": ""}
SEARCHED = {"critical": "s", "unstable_from": "s", "runs": ""}
OTHERS = ("error", "scenario", "machine", "machine_angle")  # what tables have beside these


@dataclass(frozen=True)
class Measure:
    """``"min BUS*.Vm"``: the smallest value over time of all that the pattern matches.

    Attributes
    ----------
    name : str
        Heading of its column.
    take : {"min", "max", "start", "end", "range"}
        Over time: of several quantities the smallest for ``min``, the largest otherwise.
    pattern : str
    """

    name: str
    take: str
    pattern: str

    @classmethod
    def parse(cls, text: str, name: str = "") -> Measure:
        """From its words.

        Raises
        ------
        CaseError
        """
        if not isinstance(text, str):
            raise CaseError(f"measure {text!r} must be a text, as 'min BUS*.Vm'")
        take, _, pattern = text.strip().partition(" ")
        if take not in TAKES or not pattern.strip():
            raise CaseError(f"measure '{text}': write one of {', '.join(TAKES)} and a quantity, as 'min BUS*.Vm'"
                            + (suggest(take, TAKES) if take not in TAKES and pattern.strip() else ""))
        return cls(name or " ".join(text.split()), take, pattern.strip())

    def unit(self, system: Equilibrium) -> str:
        """The unit of what it matches, where all have the same.

        Raises
        ------
        CaseError
            If it matches nothing; the nearest names are offered.
        """
        layout = system.layout
        devices = {(layout.instances[layout.find(d)].device, q) for d, q in select(system, [self.pattern])}
        units = {str(device.declares.unit(q)) for device, q in devices}
        return units.pop() if len(units) == 1 else ""

    def value(self, run: Run) -> float:
        """Of a run."""
        found = select(run.system, [self.pattern])
        devices: dict[str, list[str]] = {}
        for device, quantity in found:
            devices.setdefault(quantity, []).append(device)
        V = np.concatenate([run.of(d, quantity) for quantity, d in devices.items()], axis=1)
        if self.take == "min":
            return float(V.min())
        if self.take == "range":
            return float((V.max(axis=0) - V.min(axis=0)).max())
        return float((V[0] if self.take == "start" else V[-1] if self.take == "end" else V).max())


def margin(spread: float) -> float:
    """Angle-based margin of transient stability (%): ``100 (360 - d) / (360 + d)``, d the largest difference (deg).

    100 when machines do not move against each other, 0 when one has slipped a pole against another, negative beyond.
    """
    return 100 * (360 - spread) / (360 + spread)


def measured(run: Run, measures: tuple[Measure, ...]) -> tuple[dict[str, Any], dict[str, float]]:
    """The columns of a run, and for each machine how far it came from the centre of inertia (deg)."""
    machines = analyses.rotors(run)
    row: dict[str, Any] = {}
    each: dict[str, float] = {}
    if machines.devices:
        worst = int(np.argmax(machines.spread))
        angle = float(np.degrees(machines.spread[worst]))
        row.update(stable=margin(angle) > 0, margin=margin(angle), angle=angle, angle_at=float(run.t[worst]))
        speeds = machines.omega[machines.in_service]
        if len(speeds):
            row.update(speed_min=float(speeds.min()), speed_max=float(speeds.max()))
        away = np.degrees(np.abs(np.nan_to_num(machines.relative))).max(axis=0)
        each = dict(zip(machines.devices, away.tolist(), strict=True))
    system = run.system
    buses = [i.id for i in system.layout.instances if issubclass(i.device, Bus)]
    live = [b for b, on in zip(buses, run.of(buses, "energised")[-1], strict=True) if on == 1] if buses else []
    if live:
        volts = run.of(live, "Vm")[-1]
        row.update(voltage_end=float(volts.min()), voltage_end_bus=live[int(np.argmin(volts))])
        _, island = system.islands.components(np.r_[np.zeros(system.n), run.tape.settings[-1], run.t[-1]])
        row["islands"] = len(set(island[system.islands.bus_places][[buses.index(b) for b in live]].tolist()))
    row["reached"] = float(run.t[-1])
    row.update({m.name: m.value(run) for m in measures})
    return row, each
