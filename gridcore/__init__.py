"""gridcore: hybrid dynamics of electric power grids, and exact derivatives of what was simulated.

The public names; each is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # isort: off
    from importlib.metadata import version

    from . import errors as errors
    from .case import Case as Case, load_case as load_case, save_case as save_case
    from .contract import Algebraic as Algebraic, Bus as Bus, Device as Device, Field as Field, Input as Input
    from .contract import Load as Load, Mode as Mode, Node as Node, Param as Param, PerUnit as PerUnit, Port as Port
    from .contract import Record as Record, Reference as Reference, Setpoint as Setpoint, Source as Source
    from .contract import State as State, guard as guard, quantity as quantity, timer as timer
    from .equilibrium.build import build as build
    from .errors import GridcoreError as GridcoreError
    from .integrate.simulate import simulate as simulate
    from .registry import analyses as analyses, hookimpl as hookimpl, register as register, registered as registered
    from .results import Run as Run, load_run as load_run
    from .sensitivity import At as At, Integral as Integral, Objective as Objective, Sampled as Sampled
    from .sensitivity import Terminal as Terminal
    from .sensitivity.adjoint import adjoint as adjoint
    from .system import System as System

    __version__ = version("gridcore")
    differences: Any
    jax: Any
    retrace: Any
    torch: Any
    BusFault: type[Device]
    BranchTrip: type[Device]
    Trip: type[Device]
    ParameterStep: type[Device]
    Ramp: type[Device]

_PACKAGE = {name: package for package, names in {
    "case": ("load_case", "save_case", "Case"),
    "equilibrium": ("build",),
    "system": ("System",),
    "integrate": ("simulate",),
    "results": ("Run", "load_run"),
    "sensitivity": ("adjoint", "Objective", "Integral", "Sampled", "Terminal", "At"),
    "registry": ("analyses", "register", "registered", "hookimpl"),
    "contract": ("Device", "Param", "Field", "Reference", "State", "Algebraic", "Input", "Setpoint", "Mode", "guard",
                 "timer", "quantity", "Source", "Load", "Node", "Bus", "Port", "Record", "PerUnit"),
    "errors": ("GridcoreError", "errors"),
}.items() for name in names}

# those of plugins that have a name here, too
_ANALYSES = ("differences", "jax", "retrace", "torch")
_DEVICES = ("BusFault", "BranchTrip", "Trip", "ParameterStep", "Ramp")

__all__ = ["__version__", *_ANALYSES, *_DEVICES, *_PACKAGE]


def __getattr__(name: str) -> Any:
    from importlib import import_module, metadata

    if name == "__version__":
        found: Any = metadata.version("gridcore")
    elif name in _PACKAGE:
        module = import_module(f".{_PACKAGE[name]}", __name__)
        found = module if name == _PACKAGE[name] else getattr(module, name)
    elif name in _ANALYSES:
        found = getattr(import_module(".registry", __name__).analyses, name)
    elif name in _DEVICES:
        found = import_module(".registry", __name__).devices[name]
    else:
        raise AttributeError(f"module 'gridcore' has no attribute '{name}'")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
