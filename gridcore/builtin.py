"""What the core itself registers, through the same hooks as everybody else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .case.disturbances import BranchTrip, BusFault, ParameterStep, Ramp, Trip
from .contract.node import Bus
from .registry.hookspecs import hookimpl


@hookimpl
def register_devices(register: Callable[[type], None]) -> None:
    for device in (Bus, BusFault, BranchTrip, Trip, ParameterStep, Ramp):
        register(device)


@hookimpl
def register_integrators(register: Callable[[str, Any], None]) -> None:
    from .integrate.ida import Ida
    from .integrate.theta.step import Theta

    for stepper in (Theta, Ida):
        register(stepper.name, stepper)


@hookimpl
def register_jump_rules(register: Callable[[str, Any], None]) -> None:
    from .sensitivity.jump_rules import Continuous, Discrete

    for rule in (Discrete(), Continuous()):
        register(rule.name, rule)


@hookimpl
def register_commands(register: Callable[[Any], None]) -> None:
    from .commands.grad import grad
    from .commands.main import VERBS

    for verb in (*VERBS, grad):
        register(verb)
