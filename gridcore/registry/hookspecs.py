"""The whole extension surface. A plugin is a module, named in the entry-point group ``gridcore``,
that implements any of these with ``@gridcore.hookimpl``; the built-in ones are found the same way.

Each hook is handed a ``register`` callable. It takes the fields of one record of :mod:`gridcore.registry.records`,
by position or by name, or the record itself. Where it takes a function, ``"module:name"`` does as well: that
module is imported when the name is first asked for. All plugins' modules are imported together, at the first
look-up of any name: heavy imports belong inside what is registered.

A plugin may state ``gridcore_api = 1``, the version of this contract that it was written for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pluggy

API = 1
"""The version of the contract: raised when a plugin that was right before would be wrong."""

Register = Callable[..., Any]

hookspec = pluggy.HookspecMarker("gridcore")
hookimpl = pluggy.HookimplMarker("gridcore")


@hookspec
def register_devices(register: Register) -> None:
    """``register(DeviceClass)``: a case file may use it under its class name."""


@hookspec
def register_integrators(register: Register) -> None:
    """``register(name, make)``: ``gc.simulate(..., method=name)`` steps with ``make(system, step, **options)``,
    an :class:`gridcore.integrate.driver.Stepper`.
    """


@hookspec
def register_linear_solvers(register: Register) -> None:
    """``register(name, make)``: ``gc.build(..., linear_solver=name)`` solves with ``make()``, a
    :class:`gridcore.linear.LinearSolver`.
    """


@hookspec
def register_analyses(register: Register) -> None:
    """``register(name, function)``: callable as ``gc.analyses.<name>(...)``."""


@hookspec
def register_readers(register: Register) -> None:
    """``register(suffix, read, write=None)``: ``read(path) -> Case`` and ``write(case, path)`` for files
    named ``*suffix``. Keyword-only parameters of ``read`` are options of ``gc.load_case``.
    """


@hookspec
def register_companions(register: Register) -> None:
    """``register(suffix, extend, beside=())``: ``extend(case, path)`` adds what a file named ``*suffix`` says to a
    case that is read already, ``gc.load_case(path, companion)``. Beside a file of one of the formats `beside`, one
    with the same stem is taken by itself. Keyword-only parameters of ``extend`` are options of ``gc.load_case``.
    """


@hookspec
def register_cases(register: Register) -> None:
    """``register(name, folder)``: every ``folder/CASE/case.toml`` is a case that ``gc.load_case("CASE")`` finds."""


@hookspec
def register_adjoints(register: Register) -> None:
    """``register(name, sweep, jumps="discrete", exact=True)``: ``gc.adjoint(..., method=name)`` goes backwards with
    ``sweep(replay, run, objectives, weights, rule)``, by default under the jump rule `jumps`. One that is not `exact`
    takes any run, and its results come with the discrete gradient beside them.
    """


@hookspec
def register_jump_rules(register: Register) -> None:
    """``register(name, rule)``: how sensitivities cross an event, ``gc.adjoint(..., jumps=name)``."""


@hookspec
def register_objective_kinds(register: Register) -> None:
    """``register(name, make, fields=(), shaped=False)``: a ``kind`` of objective files, whose objective for a
    quantity is ``make(table, quantity)``; `fields` are those of the table that it reads.
    """


@hookspec
def register_objective_shapes(register: Register) -> None:
    """``register(name, make, fields=())``: a ``shape`` of objective files: ``make(table, quantity)`` is the
    ``Density`` of a quantity.
    """


@hookspec
def register_plots(register: Register) -> None:
    """``register(kind, draw)``: ``draw(result, path)`` draws results of that kind: ``run``, ``gradient``, ..."""


@hookspec
def register_exporters(register: Register) -> None:
    """``register(suffix, write)``: ``write(run, path)`` is what ``run.save("x" + suffix)`` does; its keyword-only
    parameters are options of that.
    """


@hookspec
def register_commands(register: Register) -> None:
    """``register(command)``, or ``register(name, "module:command")``: a ``click`` command, a verb of ``gridcore`` on
    the command line.
    """
