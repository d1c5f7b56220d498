"""The group of the verbs that plugins register, what verbs share, and progress.

Imports from ``testing`` and what is left of it; what is heavy, inside functions: all verbs are loaded together.
"""

from .main import main
from .options import Study, completing, end_of, file_of, file_options, load, located, read_options, read_value, seconds
from .options import simulation_options, system_options
from .progress import Progress

__all__ = ["Progress", "Study", "completing", "end_of", "file_of", "file_options", "load", "located", "main",
           "read_options", "read_value", "seconds", "simulation_options", "system_options"]
