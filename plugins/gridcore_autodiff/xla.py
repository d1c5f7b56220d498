"""A study as a function for JAX, whose derivative is that of the program, by the adjoint."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gridcore.errors import GridcoreError

from .function import Function

if TYPE_CHECKING:
    from pathlib import Path

    from gridcore.case import Case
    from gridcore.equilibrium import Equilibrium
    from gridcore.sensitivity import Objective
    from gridcore_optimisation.measures import Measure


def jax(system: Equilibrium | Case | str | Path, objectives: Objective | Sequence[Objective] | Measure,
        wrt: str | Iterable[str], t_end: float | None = None, **options: Any) -> Callable[[Any], Any]:
    """Objectives of a run as a function of an array of parameters, differentiable by JAX, in both modes.

    Its derivative is the discrete adjoint of the run: that of the numbers that were computed. It may be traced and
    compiled (``jax.jit``); the study itself runs on the host. Derivatives of derivatives are refused. JAX computes in
    single precision unless ``jax_enable_x64`` is set; the study never does, but its parameters are rounded then.

    Parameters
    ----------
    system, objectives, wrt, t_end, **options
        As of :func:`gridcore.torch`.

    Returns
    -------
    function
        Of an array (parameters,) to one (objectives,) of the same type; its attribute ``start`` holds the parameters
        of the system, ``names`` their addresses.

    Raises
    ------
    GridcoreError
        If JAX is not installed, or a name matches nothing. Called, what a run raises comes as JAX's own error.
    """
    try:
        import jax as xla
    except ImportError:
        raise GridcoreError("JAX is not installed: pip install jax") from None
    study = Function(system, objectives, wrt, t_end, options)
    count = len(study.at(study.start)[0])

    def of(number: int, x: Any) -> Any:
        return study.at(np.asarray(x, dtype=float))[number].astype(x.dtype)

    def outside(number: int, shape: tuple[int, ...], x: Any) -> Any:
        made = xla.ShapeDtypeStruct(shape, x.dtype)
        return xla.pure_callback(lambda at: of(number, at), made, x, vmap_method="sequential")

    values = xla.custom_jvp(lambda x: outside(0, (count,), x))

    def tangent(primals: tuple[Any], tangents: tuple[Any]) -> tuple[Any, Any]:
        (x,), (dx,) = primals, tangents
        return values(x), outside(1, (count, len(study.names)), x) @ dx

    values.defjvp(tangent)

    def function(x: Any) -> Any:
        """Values (objectives,) at parameters x (parameters,)."""
        return values(xla.numpy.asarray(x, dtype=xla.numpy.result_type(x, float)))

    function.names, function.start = study.names, study.start.copy()  # type: ignore[attr-defined]
    return function
