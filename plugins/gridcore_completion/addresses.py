"""All that has an address: what a notebook offers behind ``run["``."""

from __future__ import annotations

from gridcore.equilibrium import Equilibrium
from gridcore.results import Points


def addresses(of: Points | Equilibrium) -> list[str]:
    """The addresses of all variables, quantities, inputs, modes and parameters of a run or a system.

    Parameters
    ----------
    of : Run, or what its ``at`` gives, or Equilibrium

    Returns
    -------
    list of str
        ``["BUS1.Vr", ..., "GEN2.omega", ...]``, of each device in the order of the case; in ``run[...]`` those that a
        run did not record are an error.
    """
    system = of if isinstance(of, Equilibrium) else of.system
    return [f"{instance.id}.{name}" for instance in system.instances for own in [instance.device.declares]
            for name in (*own.variables(), *own.quantities, *own.inputs, *own.modes, *own.params, *own.setpoints)]
