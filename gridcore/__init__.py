"""gridcore: hybrid dynamics of electric power grids, and exact derivatives of what was simulated.

The public names; each is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.metadata import version

    from . import errors as errors
    from .case.disturbances import BranchTrip as BranchTrip
    from .case.disturbances import BusFault as BusFault
    from .case.disturbances import ParameterStep as ParameterStep
    from .case.disturbances import Ramp as Ramp
    from .case.disturbances import Trip as Trip
    from .case.files import load_case as load_case
    from .case.files import save_case as save_case
    from .case.records import Case as Case
    from .contract.device import Algebraic as Algebraic
    from .contract.device import Device as Device
    from .contract.device import Field as Field
    from .contract.device import Input as Input
    from .contract.device import Mode as Mode
    from .contract.device import Param as Param
    from .contract.device import Reference as Reference
    from .contract.device import Setpoint as Setpoint
    from .contract.device import State as State
    from .contract.device import guard as guard
    from .contract.device import quantity as quantity
    from .contract.device import timer as timer
    from .contract.injectors import Load as Load
    from .contract.injectors import Source as Source
    from .contract.node import Bus as Bus
    from .contract.node import Node as Node
    from .contract.node import Port as Port
    from .contract.record import Record as Record
    from .equilibrium.build import build as build
    from .errors import GridcoreError as GridcoreError
    from .integrate.retrace import retrace as retrace
    from .integrate.simulate import simulate as simulate
    from .registry.hookspecs import hookimpl as hookimpl
    from .registry.registries import analyses as analyses
    from .registry.registries import register as register
    from .registry.registries import registered as registered
    from .results.run import Run as Run
    from .results.run import load_run as load_run
    from .sensitivity.adjoint import adjoint as adjoint
    from .sensitivity.finite_differences import differences as differences
    from .sensitivity.objective import At as At
    from .sensitivity.objective import Integral as Integral
    from .sensitivity.objective import Objective as Objective
    from .sensitivity.objective import Sampled as Sampled
    from .sensitivity.objective import Terminal as Terminal
    from .system.system import System as System

    __version__ = version("gridcore")

_CONTENTS = {
    # a case, and what happens in it
    "case.files": ("load_case", "save_case"),
    "case.records": ("Case",),
    "contract.record": ("Record",),
    "case.disturbances": ("BusFault", "BranchTrip", "Trip", "ParameterStep", "Ramp"),
    # from the case to results
    "equilibrium.build": ("build",),
    "system.system": ("System",),
    "integrate.simulate": ("simulate",),
    "integrate.retrace": ("retrace",),
    "results.run": ("Run", "load_run"),
    "sensitivity.objective": ("Objective", "Integral", "Sampled", "Terminal", "At"),
    "sensitivity.adjoint": ("adjoint",),
    "sensitivity.finite_differences": ("differences",),
    "registry.registries": ("analyses", "register", "registered"),
    # writing a plugin
    "registry.hookspecs": ("hookimpl",),
    "contract.device": ("Device", "Param", "Field", "Reference", "State", "Algebraic", "Input", "Setpoint", "Mode",
               "guard", "timer", "quantity"),
    "contract.injectors": ("Source", "Load"),
    "contract.node": ("Node", "Bus", "Port"),
    # what goes wrong
    "errors": ("GridcoreError", "errors"),
}
_MODULE = {name: module for module, names in _CONTENTS.items() for name in names}

__all__ = ["__version__", *_MODULE]


def __getattr__(name: str) -> Any:
    from importlib import import_module, metadata

    if name == "__version__":
        found: Any = metadata.version("gridcore")
    elif name in _MODULE:
        module = import_module(f".{_MODULE[name]}", __name__)
        found = module if name == _MODULE[name] else getattr(module, name)
    else:
        raise AttributeError(f"module 'gridcore' has no attribute '{name}'")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
