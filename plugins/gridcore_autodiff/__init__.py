"""Objectives of a run as a function for PyTorch and JAX. Neither is needed for anything else."""

from __future__ import annotations

from gridcore.registry import Register, hookimpl


@hookimpl
def register_analyses(register: Register) -> None:
    """``gc.torch(system, objectives, wrt, t_end)`` and ``gc.jax(...)``."""
    register("torch", "gridcore_autodiff.pytorch:torch")
    register("jax", "gridcore_autodiff.xla:jax")
