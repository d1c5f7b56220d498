"""IDA of SUNDIALS: variable steps and orders forwards, and the equations of the continuous adjoint backwards.

Optional as scikits.odes is: without it what is registered here says what to install.
"""

from __future__ import annotations

from gridcore.registry import Register, hookimpl


@hookimpl
def register_integrators(register: Register) -> None:
    """``method="ida"`` of ``gc.simulate``."""
    register("ida", "gridcore_ida.stepper:Ida")


@hookimpl
def register_analyses(register: Register) -> None:
    """``gc.retrace(run)``."""
    register("retrace", "gridcore_ida.retrace:retrace")


@hookimpl
def register_adjoints(register: Register) -> None:
    """``method="continuous"`` of ``gc.adjoint``."""
    register("continuous", "gridcore_ida.continuous_adjoint:ContinuousSweep", jumps="continuous", exact=False)
