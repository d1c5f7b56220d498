"""What there is to see in a run: the quantities of a stability study, as arrays with names and units."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from gridcore.contract import Bus
from gridcore.results import recorded, signals
from gridcore_rotors.rotors import Rotors, kept_rotors

from .outstanding import standing_out, stray

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
        default those that stray farthest.
    """

    heading: str
    devices: list[str]
    values: np.ndarray
    named: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not self.named:
            self.named.extend(standing_out(self.devices, stray(self.values)))


def panels(run: Run) -> list[Panel]:
    """Speeds, rotor angles, bus voltages, field voltages, as far as there are any; else the states."""
    machines = kept_rotors(run)
    angles = None if machines is None else np.degrees(machines.relative)
    named = [] if machines is None or angles is None else standing_out(
        machines.devices, np.max(np.nan_to_num(np.abs(angles)), axis=0), stray(_speeds(machines)))
    found = [*_rotor_panels(machines, angles, named), *_voltages(run), *_fields(run, named)]
    return found or _states(run)


def _speeds(machines: Rotors) -> np.ndarray:
    return np.where(machines.in_service, machines.omega, np.nan)


def _rotor_panels(machines: Rotors | None, angles: np.ndarray | None, named: list[str]) -> list[Panel]:
    if machines is None or angles is None:
        return []
    reference = "infinite bus" if machines.infinite_buses else "centre of inertia"
    return [Panel("rotor speed (pu)", machines.devices, _speeds(machines), named),
            Panel(f"rotor angle to\n{reference} (degrees)", machines.devices, angles, named)]


def _voltages(run: Run) -> list[Panel]:
    """Voltages of buses; who dips most is among those that are named."""
    buses = recorded(run, [i.id for i in run.system.layout.instances if issubclass(i.device, Bus)], "Vm")
    if not buses:
        return []
    live = run.of(buses, "energised") == 1
    values = np.where(live, run.of(buses, "Vm"), np.nan)
    lowest = np.min(np.where(live, values, np.inf), axis=0)
    return [Panel("bus voltage (pu)", buses, values, standing_out(buses, -lowest, stray(values)))]


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
