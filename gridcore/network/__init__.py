"""The graph of a case: nodes, what connects them, what hangs on what; the skeleton from which the rest is read.

Imports from ``case`` and what is left of it.
"""

from .components import components
from .graph import Network

__all__ = ["Network", "components"]
