"""What the core itself registers, through the same hooks as everybody else."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from .contract import Bus
from .registry import Register, hookimpl


@hookimpl
def register_devices(register: Register) -> None:
    """The bus: all else is of plugins."""
    register(Bus)


@hookimpl
def register_cases(register: Register) -> None:
    """The cases that come with gridcore."""
    try:
        folder = Path(str(resources.files("gridcore_cases").joinpath("")))
    except ModuleNotFoundError:  # not installed: the folder beside the source
        folder = Path(__file__).parents[1] / "cases"
    register("gridcore", folder)


@hookimpl
def register_adjoints(register: Register) -> None:
    """The derivative of the numbers that a run has."""
    register("discrete", "gridcore.sensitivity.adjoint:discrete")


@hookimpl
def register_jump_rules(register: Register) -> None:
    """The exact derivative of the located event."""
    from .sensitivity import Discrete

    register("discrete", Discrete())
