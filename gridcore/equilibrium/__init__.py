"""A system at its equilibrium: power flow, dispatch, initial state, their derivatives, given initial values.

Imports from ``system`` and what is left of it.
"""

from .build import as_system, build, doubts, starting_at
from .derivative import InitialSensitivity
from .dispatch import Dispatch
from .equilibrium import Equilibrium
from .powerflow import PQ, PV, SLACK, PowerFlow

__all__ = ["PQ", "PV", "SLACK", "Dispatch", "Equilibrium", "InitialSensitivity", "PowerFlow", "as_system", "build",
           "doubts", "starting_at"]
