"""Networks of other programs in Python as cases: pandapower (BSD), PyPSA (MIT). Neither is needed for anything else."""

from __future__ import annotations

from gridcore.registry import Register, hookimpl


@hookimpl
def register_analyses(register: Register) -> None:
    """``gc.analyses.from_pandapower(net)``, ``gc.analyses.from_pypsa(network)``."""
    register("from_pandapower", "gridcore_imports.pandapower:from_pandapower")
    register("from_pypsa", "gridcore_imports.pypsa:from_pypsa")
