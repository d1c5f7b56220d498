"""The equations of a system: layout, expressions, compiled kernels, sparse patterns, and the buffers of a run.

Imports from ``network`` and what is left of it. Native code is in :mod:`gridcore.equations.native`, and nowhere else.
"""

from .kernel import Batch, Batches, vector_function
from .layout import BASE, Group, Layout
from .native import Direct
from .pointwise import evaluate
from .source import c_source
from .sparse_map import Entries, SparseMap, entries, function_of
from .trace import Symbol, Trace, numpy_on_symbols
from .workspace import Equations, Workspace

__all__ = ["BASE", "Batch", "Batches", "Direct", "Entries", "Equations", "Group", "Layout", "SparseMap", "Symbol",
           "Trace", "Workspace", "c_source", "entries", "evaluate", "function_of", "numpy_on_symbols",
           "vector_function"]
