"""What the core itself registers, through the same hooks as everybody else."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from .case.disturbances import BranchTrip, BusFault, ParameterStep, Ramp, Trip
from .contract.node import Bus
from .registry.hookspecs import hookimpl

if TYPE_CHECKING:
    from .integrate.driver import Stepper
    from .linear import LinearSolver
    from .system.system import System


@hookimpl
def register_devices(register: Callable[[type], None]) -> None:
    for device in (Bus, BusFault, BranchTrip, Trip, ParameterStep, Ramp):
        register(device)


@hookimpl
def register_integrators(register: Callable[[str, Any], None]) -> None:
    register("theta", _theta)
    register("ida", _ida)


def _theta(system: System, step: float, **options: Any) -> Stepper:
    from .integrate.theta.step import Theta

    return Theta(system, step, **options)


def _ida(system: System, step: float, **options: Any) -> Stepper:
    from .integrate.ida import Ida

    return Ida(system, step, **options)


@hookimpl
def register_linear_solvers(register: Callable[[str, Any], None]) -> None:
    if find_spec("nbklu"):
        register("klu", _klu)


def _klu() -> LinearSolver:
    from .linear.klu import KLU

    return KLU()


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
