"""The whole extension surface. A plugin is a module, named in the entry-point group ``gridcore``,
that implements any of these with ``@gridcore.hookimpl``; the built-in ones are found the same way.

Each hook is handed a ``register`` callable. Heavy imports belong inside what is registered, not at
the top of the plugin's module: all of them are loaded together, at the first look-up of any name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pluggy

hookspec = pluggy.HookspecMarker("gridcore")
hookimpl = pluggy.HookimplMarker("gridcore")


@hookspec
def register_devices(register: Callable[[type], None]) -> None:
    """``register(DeviceClass)``: a case file may use it under its class name."""


@hookspec
def register_integrators(register: Callable[[str, Any], None]) -> None:
    """``register(name, make)``: ``gc.simulate(..., method=name)`` steps with ``make(system, step, **options)``,
    an :class:`gridcore.integrate.driver.Stepper`.
    """


@hookspec
def register_linear_solvers(register: Callable[[str, Any], None]) -> None:
    """``register(name, make)``: ``gc.build(..., linear_solver=name)`` solves with ``make()``, a
    :class:`gridcore.linear.LinearSolver`.
    """


@hookspec
def register_analyses(register: Callable[[str, Callable[..., Any]], None]) -> None:
    """``register(name, function)``: callable as ``gc.analyses.<name>(...)``."""


@hookspec
def register_readers(register: Callable[..., None]) -> None:
    """``register(suffix, read, write=None)``: ``read(path) -> Case`` and ``write(case, path)`` for files
    named ``*suffix``. Keyword-only parameters of ``read`` are options of ``gc.load_case``.
    """


@hookspec
def register_companions(register: Callable[..., None]) -> None:
    """``register(suffix, extend, beside=())``: ``extend(case, path)`` adds what a file named ``*suffix`` says to a
    case that is read already, ``gc.load_case(path, companion)``. Beside a file of one of the formats `beside`, one
    with the same stem is taken by itself. Keyword-only parameters of ``extend`` are options of ``gc.load_case``.
    """


@hookspec
def register_jump_rules(register: Callable[[str, Any], None]) -> None:
    """``register(name, rule)``: how sensitivities cross an event, ``gc.adjoint(..., jumps=name)``."""


@hookspec
def register_commands(register: Callable[[Any], None]) -> None:
    """``register(command)``: a ``click`` command, a verb of ``gridcore`` on the command line."""
