"""What there is to see in a run: the quantities of a stability study, as arrays with names and units."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from gridcore.contract import Bus
from gridcore.results import recorded, select
from gridcore_rotors.rotors import Rotors, kept_rotors
from gridcore_tables.signals import signals

from .outstanding import FEW, standing_out, stray

if TYPE_CHECKING:
    from gridcore.results import Run

# States are shown one panel each where there is no network; more than this would be unreadable.
_STATES_SHOWN = 6


@dataclass(frozen=True)
class Panel:
    """One quantity of several devices along a run.

    Attributes
    ----------
    heading : str
        What the axis says, unit included.
    devices : list of str
    values : (points, devices) array
        nan where a device is out of service.
    named : list of str
        Those that have a colour and a label, the rest being grey: the same machines in all panels of machines. By
        default those with the highest scores.
    scores : tuple of (devices,) arrays
        What makes a device stand out; by default how far it strays.
    """

    heading: str
    devices: list[str]
    values: np.ndarray
    named: list[str] = field(default_factory=list)
    scores: tuple[np.ndarray, ...] = ()

    def __post_init__(self) -> None:
        if not self.scores:
            object.__setattr__(self, "scores", (stray(self.values),))
        if not self.named:
            self.named.extend(standing_out(self.devices, *self.scores))


def panels(run: Run, of: str | Iterable[str] = ()) -> list[Panel]:
    """What a figure of a run shows.

    Parameters
    ----------
    run : Run
    of : str or iterable of str
        Quantities, by address or shell-style pattern. By default speeds, rotor angles, bus voltages, field voltages, as
        far as there are any; else the states.

    Raises
    ------
    CaseError
        If a pattern matches nothing; the nearest are offered.
    NotRecorded
        If the run did not keep what it matches.
    """
    if of:
        return _chosen(run, of)
    machines = kept_rotors(run)
    rotors = [] if machines is None else _rotor_panels(machines)
    found = [*rotors, *_voltages(run), *_fields(run, rotors[0].named if rotors else [])]
    return found or _states(run)


def overlaid(runs: Sequence[Sequence[Panel]]) -> list[dict[int, Panel]]:
    """The panels of several runs, by number of the run, for each quantity; in all of them it names the same devices.

    Those have a colour each, and lines tell the runs: so they are fewer than of one run.
    """
    by_heading: dict[str, dict[int, Panel]] = {}
    for number, found in enumerate(runs):
        for panel in found:
            by_heading.setdefault(panel.heading, {})[number] = panel
    out: list[dict[int, Panel]] = []
    before: list[str] = []
    for members in by_heading.values():
        devices = list(dict.fromkeys(device for panel in members.values() for device in panel.devices))
        scores = [np.array([score[panel.devices.index(d)] if d in panel.devices else np.nan for d in devices])
                  for panel in members.values() for score in panel.scores]
        named = [d for d in before if d in devices] or standing_out(devices, *scores, few=FEW)
        before += [d for d in named if d not in before]
        out.append({number: replace(panel, named=[d for d in named if d in panel.devices])
                    for number, panel in members.items()})
    return out


def _chosen(run: Run, of: str | Iterable[str]) -> list[Panel]:
    """A panel for each quantity that patterns match."""
    found: dict[str, tuple[str, list[str]]] = {}
    for device, name in select(run.system, of):
        declared = run.system.layout.instances[run.system.layout.find(device)].device.declares
        tables = (declared.variables(), declared.quantities, declared.inputs, declared.modes)
        doc = next(str(table[name].doc) for table in tables if name in table).split("\n")[0]
        unit = declared.unit(name)
        heading = f"{name}: {doc}" if doc else name
        found.setdefault(heading + (f" ({unit})" if unit else ""), (name, []))[1].append(device)
    return [Panel(heading, devices, run.of(devices, name)) for heading, (name, devices) in found.items()]


def _rotor_panels(machines: Rotors) -> list[Panel]:
    """Speeds and angles; who parts most is among those that are named."""
    speeds, angles = np.where(machines.in_service, machines.omega, np.nan), np.degrees(machines.relative)
    scores = np.max(np.nan_to_num(np.abs(angles)), axis=0), stray(speeds)
    reference = "infinite bus" if machines.infinite_buses else "centre of inertia"
    return [Panel("rotor speed (pu)", machines.devices, speeds, scores=scores),
            Panel(f"rotor angle to\n{reference} (degrees)", machines.devices, angles, scores=scores)]


def _voltages(run: Run) -> list[Panel]:
    """Voltages of buses; who dips most is among those that are named."""
    buses = recorded(run, [i.id for i in run.system.layout.instances if issubclass(i.device, Bus)], "Vm")
    if not buses:
        return []
    live = run.of(buses, "energised") == 1
    values = np.where(live, run.of(buses, "Vm"), np.nan)
    lowest = np.min(np.where(live, values, np.inf), axis=0)
    return [Panel("bus voltage (pu)", buses, values, scores=(-lowest, stray(values)))]


def _fields(run: Run, machines: list[str]) -> list[Panel]:
    """Field voltages of the machines that have an exciter: elsewhere they are constant."""
    instances = run.system.layout.instances
    excited = sorted({instances[host].id for number, instance in enumerate(instances)
                      for item in instance.device.declares.variables().values()
                      for port, _, target in [(item.drives or "").rpartition(".")]
                      if target == "Efd" and (host := run.system.layout.ports[number].get(port)) is not None},
                     key=run.system.layout.find)
    excited = recorded(run, excited, "Efd")
    if not excited:
        return []
    values = np.where(run.of(excited, "status") == 1, run.of(excited, "Efd"), np.nan)
    return [Panel("field voltage (pu)", excited, values, [device for device in machines if device in excited])]


def _states(run: Run) -> list[Panel]:
    out = []
    for signal in signals(run.system, run=run)[:_STATES_SHOWN]:
        text = signal.doc or signal.quantity
        heading = f"{text} ({signal.unit})" if signal.unit else text
        out.append(Panel(heading, list(signal.devices), run.of(signal.devices, signal.quantity)))
    return out
