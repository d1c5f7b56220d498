"""TR-BDF2: a second-order, L-stable, one-step method, for studies with stiff controls."""

from gridcore.registry import Register, hookimpl


@hookimpl
def register_integrators(register: Register) -> None:
    """``method="trbdf2"``."""
    register("trbdf2", "gridcore_trbdf2.stepper:TrBdf2")
