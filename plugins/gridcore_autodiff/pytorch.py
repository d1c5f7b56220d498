"""A study as a function for PyTorch, whose derivative is that of the program, by the adjoint."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from gridcore.errors import GridcoreError

from .function import Function

if TYPE_CHECKING:
    from pathlib import Path

    from gridcore.case import Case
    from gridcore.equilibrium import Equilibrium
    from gridcore.sensitivity import Objective
    from gridcore_optimisation.measures import Measure


def torch(system: Equilibrium | Case | str | Path, objectives: Objective | Sequence[Objective] | Measure,
          wrt: str | Iterable[str], t_end: float | None = None, **options: Any) -> Callable[[Any], Any]:
    """Objectives of a run as a function of a tensor of parameters, differentiable by PyTorch.

    The backward pass is the discrete adjoint of the run: derivatives of the numbers that were computed. Derivatives of
    derivatives are refused.

    Parameters
    ----------
    system : Equilibrium or Case or str
        What :func:`gridcore.build` gives, or what it takes.
    objectives : Objective, sequence of Objective, or Measure
        Of a run; or anything else that has values with a gradient, as :func:`gridcore.analyses.optimise` takes it.
    wrt : str or iterable of str
        Addresses or patterns of the parameters.
    t_end : float
        End of the run (s).
    **options
        Further arguments of :func:`gridcore.simulate`.

    Returns
    -------
    function
        Of a tensor (parameters,) to one (objectives,), of the same type and device; its attribute ``start`` is the
        tensor of the parameters of the system, in double precision, ``names`` are their addresses.

    Raises
    ------
    GridcoreError
        If PyTorch is not installed, or a name matches nothing; called, if a run fails.
    """
    try:
        import torch as pytorch
    except ImportError:
        raise GridcoreError("PyTorch is not installed: pip install torch") from None
    study = Function(system, objectives, wrt, t_end, options)

    class Study(pytorch.autograd.Function):  # type: ignore[misc]
        """Values forward, the Jacobian's transpose backward."""

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            values, jacobian = (pytorch.tensor(part, dtype=x.dtype, device=x.device) for part in study.at(_plain(x)))
            ctx.save_for_backward(jacobian)
            return values

        @staticmethod
        def backward(ctx: Any, weights: Any) -> Any:
            if pytorch.is_grad_enabled():  # a graph of it is wanted, in which it would be a constant
                raise GridcoreError("a study has first derivatives only: create_graph=True asks for second ones")
            (jacobian,) = ctx.saved_tensors
            return weights @ jacobian

    def function(x: Any) -> Any:
        """Values (objectives,) at parameters x (parameters,)."""
        return Study.apply(x if x.is_floating_point() else x.double())

    function.names, function.start = study.names, pytorch.from_numpy(study.start.copy())  # type: ignore[attr-defined]
    return function


def _plain(x: Any) -> Any:
    return x.detach().cpu().double().numpy()
