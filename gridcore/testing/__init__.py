"""Conformance checks for what plugins bring: the doctor of devices, and :func:`check_integrator`.

It may import all stages. A plugin's tests call these checks; built-in methods pass the same ones.
"""

from .doctor import examine
from .integrators import check_integrator
from .report import Report

__all__ = [
    "Report", "check_integrator", "examine",
]
