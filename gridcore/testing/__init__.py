"""Conformance checks for what plugins bring: the doctor of devices, and :func:`check_integrator`.

It may import all stages. A plugin's tests call these checks; built-in methods pass the same ones.
"""

from .doctor import Report, examine
from .integrators import check_integrator

__all__ = [
    "Report", "check_integrator", "examine",
]
