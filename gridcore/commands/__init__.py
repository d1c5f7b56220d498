"""The verbs of the core, what verbs share, and progress.

Imports from everything to its left; whatever is heavy is imported inside functions: all verbs are loaded together.
"""

from .main import main
from .options import (
    Study,
    file_of,
    load,
    located,
    read_options,
    read_value,
    sensitivity_options,
    simulation_options,
    system_options,
)
from .progress import Progress
from .tables import Table, per, write_csv

__all__ = [
    "Progress", "Study", "Table", "file_of", "load", "located", "main", "per", "read_options", "read_value",
    "sensitivity_options", "simulation_options", "system_options", "write_csv",
]
