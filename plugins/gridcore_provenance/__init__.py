"""Where results come from: ``run.provenance``, which every result file has, and ``run.citations()``."""

from __future__ import annotations

from gridcore.registry import Register, hookimpl


@hookimpl
def register_analyses(register: Register) -> None:
    """``gc.analyses.provenance(run)`` and ``.citations(run)``."""
    register("provenance", "gridcore_provenance.record:provenance")
    register("citations", "gridcore_provenance.citations:citations")
