"""The verbs of the core, what verbs share, and progress.

Imports from everything to its left; heavy imports stand inside the verbs.
"""

from .grad import products
from .main import main
from .options import (
    Study,
    file_of,
    load,
    method_options,
    placed,
    read_options,
    read_value,
    sensitivity_options,
    system_options,
    time_options,
)
from .progress import Progress
from .tables import Table, per, write_csv

__all__ = [
    "Progress", "Study", "Table", "file_of", "load", "main", "method_options", "per", "placed", "products",
    "read_options", "read_value", "sensitivity_options", "system_options", "time_options", "write_csv",
]
