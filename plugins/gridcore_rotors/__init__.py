"""Rotor angles of the machines of a run: ``gc.analyses.rotors(run)``."""

from __future__ import annotations

from gridcore.registry import Register, hookimpl


@hookimpl
def register_analyses(register: Register) -> None:
    """``gc.analyses.rotors(run)``."""
    register("rotors", "gridcore_rotors.rotors:rotors")
