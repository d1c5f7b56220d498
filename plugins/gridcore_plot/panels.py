"""What there is to see in a run: the quantities of a stability study, as arrays with names and units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gridcore.contract import Bus
from gridcore.results import recorded, signals
from gridcore_rotors.rotors import Rotors, kept_rotors

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
    told_by : (points, devices) array or None
        Of many devices those that stray farthest in this quantity are shown; by default the panel's own.
        One for all panels of the machines, so that a machine keeps its colour.
    """

    heading: str
    devices: list[str]
    values: np.ndarray
    told_by: np.ndarray | None = None


def panels(run: Run) -> list[Panel]:
    """Speeds, rotor angles, bus voltages, field voltages, as far as there are any; else the states."""
    machines = kept_rotors(run)
    found = [*_rotor_panels(run, machines), *_voltages(run), *_fields(run, machines)]
    return found or _states(run)


def _rotor_panels(run: Run, machines: Rotors | None) -> list[Panel]:
    if machines is None:
        return []
    speed = np.where(machines.in_service, machines.omega, np.nan)
    reference = "infinite bus" if machines.infinite_buses else "centre of inertia"
    return [Panel("rotor speed (pu)", machines.devices, speed),
            Panel(f"rotor angle to\n{reference} (degrees)", machines.devices, np.degrees(machines.relative), speed)]


def _voltages(run: Run) -> list[Panel]:
    buses = recorded(run, [i.id for i in run.system.layout.instances if issubclass(i.device, Bus)], "Vm")
    if not buses:
        return []
    live = run.of(buses, "energised") == 1
    return [Panel("bus voltage (pu)", buses, np.where(live, run.of(buses, "Vm"), np.nan))]


def _fields(run: Run, machines: Rotors | None) -> list[Panel]:
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
    on = run.of(excited, "status") == 1
    speed = run.of(excited, "omega") if machines is not None and set(excited) <= set(machines.devices) else None
    return [Panel("field voltage (pu)", excited, np.where(on, run.of(excited, "Efd"), np.nan), speed)]


def _states(run: Run) -> list[Panel]:
    out = []
    for signal in signals(run.system, run=run)[:_STATES_SHOWN]:
        text = signal.doc or signal.quantity
        heading = f"{text} ({signal.unit})" if signal.unit else text
        out.append(Panel(heading, list(signal.devices), run.of(signal.devices, signal.quantity)))
    return out
