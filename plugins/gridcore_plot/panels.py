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

from .outstanding import extremes, standing_first, standing_out

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
        Those that have a colour and a label, the rest being grey. By default those with the highest scores.
    scores : tuple of (devices,) arrays
        What makes a device stand out; by default how far it strays, rises, dips, moves.
    """

    heading: str
    devices: list[str]
    values: np.ndarray
    named: list[str] = field(default_factory=list)
    scores: tuple[np.ndarray, ...] = ()

    def __post_init__(self) -> None:
        if not self.scores:
            object.__setattr__(self, "scores", extremes(self.values))
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
        return named_alike(_chosen(run, of))
    machines = kept_rotors(run)
    rotors = [] if machines is None else _rotor_panels(machines)
    return named_alike([*rotors, *_voltages(run), *_fields(run)] or _states(run))


def named_alike(shown: Sequence[Panel]) -> list[Panel]:
    """Panels that share devices name the same: who stands out in any; a panel's own come first where those are many."""
    return [replace(panel, named=standing_out(panel.devices, *panel.scores, among=_among(panel, shown)))
            for panel in shown]


def _among(panel: Panel, shown: Iterable[Panel]) -> list[np.ndarray]:
    """The scores that this panel's devices have in all panels, where the first of them is one of them."""
    out = []
    for other in shown:
        at = {device: k for k, device in enumerate(other.devices)}
        if not at.keys().isdisjoint(panel.devices):
            out += [np.array([score[at[d]] if d in at else np.nan for d in panel.devices]) for score in other.scores
                    if standing_first(other.devices, score) in panel.devices]
    return out


def overlaid(runs: Sequence[Sequence[Panel]]) -> list[dict[int, Panel]]:
    """The panels of several runs, by number of the run, for each quantity; in all of them it names the same devices."""
    by_heading: dict[str, dict[int, Panel]] = {}
    for number, found in enumerate(runs):
        for panel in found:
            by_heading.setdefault(panel.heading, {})[number] = panel
    joined = [_joined(heading, list(members.values())) for heading, members in by_heading.items()]
    return [{number: replace(panel, named=[d for d in together.named if d in panel.devices])
             for number, panel in members.items()}
            for together, members in zip(named_alike(joined), by_heading.values(), strict=True)]


def _joined(heading: str, panels: Sequence[Panel]) -> Panel:
    """One panel for all runs: a device scores what it does in the run where that is highest."""
    devices = list(dict.fromkeys(device for panel in panels for device in panel.devices))
    column = {device: k for k, device in enumerate(devices)}
    scores = np.full((len(panels[0].scores), len(devices)), -np.inf)
    for panel in panels:
        at = [column[device] for device in panel.devices]
        scores[:, at] = np.fmax(scores[:, at], panel.scores)
    return Panel(heading, devices, np.empty((0, len(devices))), scores=tuple(scores))


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
    speeds, angles = np.where(machines.in_service, machines.omega, np.nan), np.degrees(machines.relative)
    reference = "infinite bus" if machines.infinite_buses else "centre of inertia"
    return [Panel("rotor speed (pu)", machines.devices, speeds),
            Panel(f"rotor angle to\n{reference} (degrees)", machines.devices, angles)]


def _voltages(run: Run) -> list[Panel]:
    buses = recorded(run, [i.id for i in run.system.layout.instances if issubclass(i.device, Bus)], "Vm")
    if not buses:
        return []
    return [Panel("bus voltage (pu)", buses, np.where(run.of(buses, "energised") == 1, run.of(buses, "Vm"), np.nan))]


def _fields(run: Run) -> list[Panel]:
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
    return [Panel("field voltage (pu)", excited, values)]


def _states(run: Run) -> list[Panel]:
    out = []
    for signal in signals(run.system, run=run)[:_STATES_SHOWN]:
        text = signal.doc or signal.quantity
        heading = f"{text} ({signal.unit})" if signal.unit else text
        out.append(Panel(heading, list(signal.devices), run.of(signal.devices, signal.quantity)))
    return out
