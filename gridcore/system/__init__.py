"""The structure of an assembled system, immutable: kernels, patterns, switching, islands.

Imports from ``linear`` and what is left of it.
"""

from .switching import CROSSING_BACK, Switching, Trigger, in_words
from .system import System

__all__ = ["CROSSING_BACK", "Switching", "System", "Trigger", "in_words"]
