"""Forward trajectory sensitivities: the tangent of every operation on the tape, in order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gridcore.registry.hookspecs import hookimpl


@hookimpl
def register_analyses(register: Callable[[str, Any], None]) -> None:
    register("tsa", _tsa)
    register("forward_gradient", _forward_gradient)


@hookimpl
def register_commands(register: Callable[[Any], None]) -> None:
    from .command import tsa_command

    register(tsa_command)


def _tsa(*args: Any, **options: Any) -> Any:
    """Trajectory sensitivities of a run: see :func:`gridcore_tsa.sensitivities.tsa`."""
    from .sensitivities import tsa

    return tsa(*args, **options)


def _forward_gradient(*args: Any, **options: Any) -> Any:
    """Derivatives of objectives by the forward sweep: see :func:`gridcore_tsa.gradient.forward_gradient`."""
    from .gradient import forward_gradient

    return forward_gradient(*args, **options)
