"""Derivatives of eigenvalues by differences of the whole chain: power flow, initialisation, eigenvalues.

A parameter is changed in the buffer from which the operating point is found, so that every one can be, whether or not
a case may have such a value (a negative resistance).
"""

from __future__ import annotations

import math

import numpy as np

import gridcore as gc
from gridcore.case import validate
from gridcore.equilibrium import Equilibrium
from gridcore.equilibrium.equilibrium import find_equilibrium
from gridcore.equilibrium.values import parameters

# Central differences of order 6: halving the step leaves a 64th of the error.
WEIGHTS = {1: 3 / 4, 2: -3 / 20, 3: 1 / 60}


# The shares of a load sum to 1: one can only grow at the cost of another.
SHARES = {name: name[0] + other for name, other in (("pZ", "P"), ("pI", "P"), ("qZ", "P"), ("qI", "P"))}


def direction(system: Equilibrium, address: str) -> dict[str, float] | None:
    """What changes with a parameter: itself, or of a load's shares one for another; None for the other."""
    device, _, name = address.rpartition(".")
    model = system.layout.instances[system.layout.find(device)].model if device in system.layout.number else ""
    if model != "ZIP" or name[1:] not in ("Z", "I", "P"):
        return {address: 1.0}
    return {address: 1.0, f"{device}.{SHARES[name]}": -1.0} if name in SHARES else None


def with_values(system: Equilibrium, values: dict[int, float]) -> Equilibrium:
    """The system with other values of entries of Z among the parameters."""
    valid = validate(system.case)
    Z = parameters(system.system, system.case, valid.records)
    for position, value in values.items():
        Z[position] = value
    return find_equilibrium(system.system, system.case, valid.records, Z)


def eigenvalues(system: Equilibrium, near: np.ndarray) -> np.ndarray:
    """Its eigenvalues, in the order of those of before."""
    found = gc.analyses.small_signal(system, method="dense").eigenvalues
    chosen = np.abs(found[:, None] - near).argmin(axis=0)
    assert len(set(chosen.tolist())) == len(near), "the step is too long: eigenvalues cannot be told apart"
    return found[chosen]


def differences(system: Equilibrium, along: dict[str, float], near: np.ndarray, relative: float) -> np.ndarray:
    """Derivatives of eigenvalues in a direction."""
    at = {system.layout.address(address): part for address, part in along.items()}
    h = relative * max(abs(float(system.Z0[next(iter(at))])), 0.1)
    out = np.zeros(len(near), dtype=complex)
    for k, weight in WEIGHTS.items():
        for sign in (1, -1):
            changed = {i: float(system.Z0[i]) + sign * k * h * part for i, part in at.items()}
            out += sign * weight / h * eigenvalues(with_values(system, changed), near)
    return out


def best_differences(system: Equilibrium, along: dict[str, float], near: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The derivative, extrapolated from two steps, for each eigenvalue; and how far the shorter is from that."""
    long, short = (differences(system, along, near, relative) for relative in (1e-3, 5e-4))
    return short + (short - long) / 63, np.abs(short - long) / 63


def finite(system: Equilibrium, address: str) -> bool:
    """Whether the parameter has a value to change."""
    return math.isfinite(system.Z0[system.layout.address(address)])
