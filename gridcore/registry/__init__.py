"""What has a name and comes from plugins: hooks, the manager that calls them, records, registries.

Imports from ``numerics`` and what is left of it. It offers the hooks' marker, a record for each kind of thing, a
registry for each kind, and registration for a session.
"""

from .hookspecs import API, Register, hookimpl
from .manager import loading
from .records import Adjoint, Analysis, Cases, Check, Command, Companion, DeviceClass, Exporter, Integrator, JumpRule
from .records import LinearSolver, ObjectiveKind, ObjectiveShape, Plot, Reader
from .registries import REGISTRIES, adjoints, analyses, cases, checks, commands, companions, devices, exporters
from .registries import integrators, jump_rules, linear_solvers, objective_kinds, objective_shapes, plots, readers
from .registries import register, registered, reload
from .registry import Registry

__all__ = ["API", "REGISTRIES", "Adjoint", "Analysis", "Cases", "Check", "Command", "Companion", "DeviceClass",
           "Exporter", "Integrator", "JumpRule", "LinearSolver", "ObjectiveKind", "ObjectiveShape", "Plot", "Reader",
           "Register", "Registry", "adjoints", "analyses", "cases", "checks", "commands", "companions", "devices",
           "exporters", "hookimpl", "integrators", "jump_rules", "linear_solvers", "loading", "objective_kinds",
           "objective_shapes", "plots", "readers", "register", "registered", "reload"]
