"""What the core itself registers, through the same hooks as everybody else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .events import BranchTrip, BusFault, ParameterStep, Ramp, Trip
from .hookspecs import hookimpl
from .network import Bus


@hookimpl
def register_devices(register: Callable[[type], None]) -> None:
    for device in (Bus, BusFault, BranchTrip, Trip, ParameterStep, Ramp):
        register(device)


@hookimpl
def register_integrators(register: Callable[[str, Any], None]) -> None:
    from .integrate.theta import Theta

    register("theta", Theta)
