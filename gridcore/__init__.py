"""gridcore: hybrid dynamics of electric power grids, and exact derivatives of what was simulated.

The public names; each is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.metadata import version

    from . import errors as errors
    from .case import Case as Case
    from .case import Record as Record
    from .dae import System as System
    from .dae import build as build
    from .device import Algebraic as Algebraic
    from .device import Device as Device
    from .device import Field as Field
    from .device import Input as Input
    from .device import Mode as Mode
    from .device import Param as Param
    from .device import Reference as Reference
    from .device import Setpoint as Setpoint
    from .device import State as State
    from .device import guard as guard
    from .device import quantity as quantity
    from .device import timer as timer
    from .differencing import differences as differences
    from .errors import GridcoreError as GridcoreError
    from .events import BranchTrip as BranchTrip
    from .events import BusFault as BusFault
    from .events import ParameterStep as ParameterStep
    from .events import Ramp as Ramp
    from .events import Trip as Trip
    from .files import load_case as load_case
    from .files import save_case as save_case
    from .hookspecs import hookimpl as hookimpl
    from .injectors import Load as Load
    from .injectors import Source as Source
    from .integrate.driver import simulate as simulate
    from .integrate.retrace import retrace as retrace
    from .objective import At as At
    from .objective import Integral as Integral
    from .objective import Sampled as Sampled
    from .objective import Terminal as Terminal
    from .plugins import analyses as analyses
    from .reverse import adjoint as adjoint
    from .run import Run as Run
    from .run import load_run as load_run
    from .widening import widen_limits as widen_limits

    __version__ = version("gridcore")

_CONTENTS = {
    # a case, and what happens in it
    "files": ("load_case", "save_case"),
    "case": ("Case", "Record"),
    "events": ("BusFault", "BranchTrip", "Trip", "ParameterStep", "Ramp"),
    # from the case to results
    "dae": ("build", "System"),
    "widening": ("widen_limits",),
    "integrate.driver": ("simulate",),
    "integrate.retrace": ("retrace",),
    "run": ("Run", "load_run"),
    "objective": ("Integral", "Sampled", "Terminal", "At"),
    "reverse": ("adjoint",),
    "differencing": ("differences",),
    "plugins": ("analyses",),
    # writing a plugin
    "hookspecs": ("hookimpl",),
    "device": ("Device", "Param", "Field", "Reference", "State", "Algebraic", "Input", "Setpoint", "Mode",
               "guard", "timer", "quantity"),
    "injectors": ("Source", "Load"),
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
