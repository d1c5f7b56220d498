"""The theta method, the default integrator: the trapezoidal rule, backward Euler, and what is between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gridcore.registry import Register, hookimpl

if TYPE_CHECKING:
    from .operator import ThetaOperator as ThetaOperator
    from .predictor import weights as weights
    from .stepper import StepWarning as StepWarning
    from .stepper import Theta as Theta

_MODULE = {"StepWarning": "stepper", "Theta": "stepper", "ThetaOperator": "operator", "weights": "predictor"}

__all__ = ["StepWarning", "Theta", "ThetaOperator", "weights"]


@hookimpl
def register_integrators(register: Register) -> None:
    """``method="theta"``."""
    register("theta", "gridcore_theta.stepper:Theta")


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _MODULE:
        raise AttributeError(f"module 'gridcore_theta' has no attribute '{name}'")
    return getattr(import_module(f".{_MODULE[name]}", __name__), name)
