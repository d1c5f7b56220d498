"""The equations of a system: layout, expressions, compiled kernels, sparse patterns, and the buffers of a run."""

from .workspace import Workspace

__all__ = ["Workspace"]
