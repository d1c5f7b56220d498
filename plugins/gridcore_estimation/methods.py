"""Ways to a fit: plain Gauss-Newton; scipy's least squares; L-BFGS-B with the adjoint's gradient.

Each takes a problem, bounds and options, and tells of every iterate. A trial that cannot be simulated is a step that
is rejected: it is made shorter, and the fit goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares, minimize

from gridcore.errors import CaseError

from .losses import LOSSES
from .problem import Problem, TrialFailed

_HALVINGS = 40  # of a step of Gauss-Newton whose trials fail: then it is 1e-12 of what it was
_ROOM = 1e-6  # of the width between bounds, or of the parameter's size: how far inside of a bound a start is put


@dataclass(frozen=True, eq=False)
class Iterate:
    """A point that was accepted.

    Attributes
    ----------
    x : (parameters,) array
    cost : float
        Half the sum of squares of the weighted residuals; of a robust loss, half the sum of losses.
    rejected : int
        Trials that failed on the way to it.
    """

    x: np.ndarray
    cost: float
    rejected: int


@dataclass
class Outcome:
    """What a method ends with."""

    x: np.ndarray
    iterates: list[Iterate]
    converged: bool
    message: str


@dataclass(frozen=True, eq=False)
class Settings:
    """What all methods are told.

    Attributes
    ----------
    low, high : (parameters,) arrays
    scale : (parameters,) array
        The size of each parameter.
    loss : str
    f_scale : float
    tolerance : float
        Of the step, as a part of the parameters' sizes.
    limit : int
        Iterations.
    tell : callable
        Called with the number of each iterate, and the iterate.
    """

    low: np.ndarray
    high: np.ndarray
    scale: np.ndarray
    loss: str
    f_scale: float
    tolerance: float
    limit: int
    tell: Callable[[int, Iterate], None]

    @property
    def bounded(self) -> bool:
        """Whether there are any bounds."""
        return bool(np.isfinite(self.low).any() or np.isfinite(self.high).any())

    def cost(self, r: np.ndarray) -> float:
        """Half the sum of losses of residuals."""
        return 0.5 * self.f_scale**2 * float(LOSSES[self.loss]((r / self.f_scale) ** 2)[0].sum())


class _Path:
    """The iterates so far, told as they come."""

    def __init__(self, problem: Problem, settings: Settings):
        self.problem, self.settings = problem, settings
        self.iterates: list[Iterate] = []
        self._failures = problem.failures

    def accept(self, x: np.ndarray, r: np.ndarray) -> None:
        if self.iterates and np.array_equal(self.iterates[-1].x, x):
            return
        rejected, self._failures = self.problem.failures - self._failures, self.problem.failures
        self.iterates.append(Iterate(x.copy(), self.settings.cost(r), rejected))
        self.settings.tell(len(self.iterates) - 1, self.iterates[-1])


def gauss_newton(problem: Problem, x: np.ndarray, settings: Settings) -> Outcome:
    """Full steps of ``min |r + J dx|``, as the papers have it; a step whose trial fails is halved until it does not.

    Ends where the next step would be shorter than the tolerance; that step is not made.
    """
    if settings.loss != "linear":
        raise CaseError(f"Gauss-Newton has no robust loss: loss = '{settings.loss}' is for method = 'trf'")
    path = _Path(problem, settings)
    r = problem.residuals(x)
    path.accept(x, r)
    for iteration in range(settings.limit + 1):
        step = -settings.scale * np.linalg.lstsq(problem.jacobian(x) * settings.scale, r, rcond=None)[0]
        if (np.abs(step) <= settings.tolerance * settings.scale).all():
            return Outcome(x, path.iterates, True, f"the next step is shorter than {settings.tolerance:g} of each "
                                                   "parameter")
        if iteration == settings.limit:
            break
        x, r = _halved(problem, x, step)
        path.accept(x, r)
    return Outcome(x, path.iterates, False, f"not converged in {settings.limit} iterations")


def _halved(problem: Problem, x: np.ndarray, step: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    for _ in range(_HALVINGS):
        try:
            return x + step, problem.residuals(x + step)
        except TrialFailed as error:
            failure = error
            step = step / 2
    raise failure


def trust_region(kind: str) -> Callable[[Problem, np.ndarray, Settings], Outcome]:
    """`scipy.optimize.least_squares` with bounds, robust losses and the exact Jacobian."""

    def method(problem: Problem, x: np.ndarray, settings: Settings) -> Outcome:
        path = _Path(problem, settings)
        nowhere = np.full(problem.samples, np.inf)  # scipy shortens a step that leads there

        def residuals(z: np.ndarray) -> np.ndarray:
            try:
                return problem.residuals(z)
            except TrialFailed:
                if not path.iterates:
                    raise
                return nowhere

        def jacobian(z: np.ndarray) -> np.ndarray:
            path.accept(z, problem.residuals(z))
            return problem.jacobian(z)

        inside = _inside(x, settings)
        problem.residuals(inside)
        found = least_squares(residuals, inside, jacobian, (settings.low, settings.high), method=kind,
                              x_scale=settings.scale, loss=settings.loss, f_scale=settings.f_scale,
                              # of a quadratic: a cost that is within tolerance^2 belongs to a step within tolerance
                              ftol=max(settings.tolerance**2, 1e-15), gtol=None, xtol=settings.tolerance,
                              max_nfev=2 * settings.limit)
        path.accept(found.x, problem.residuals(found.x))
        return Outcome(found.x, path.iterates, bool(found.status > 0), str(found.message).lower().rstrip("."))

    return method


def _inside(x: np.ndarray, settings: Settings) -> np.ndarray:
    """A start on a bound goes a little inside: scipy wants it there."""
    width = settings.high - settings.low
    room = _ROOM * np.where(np.isfinite(width), width, settings.scale)
    return np.clip(x, settings.low + room, settings.high - room)


def quasi_newton(problem: Problem, x: np.ndarray, settings: Settings) -> Outcome:
    """L-BFGS-B on the sum of losses; its gradient by one adjoint sweep, whatever the number of parameters."""
    path = _Path(problem, settings)
    best: list[tuple[float, np.ndarray]] = []
    first = settings.cost(problem.residuals(x)) or 1.0

    def value(u: np.ndarray) -> tuple[float, np.ndarray]:
        z = np.clip(u * settings.scale, settings.low, settings.high)
        try:
            r = problem.residuals(z)
        except TrialFailed:
            if not best:
                raise
            # a bowl above the best point so far: the line search comes back from it
            away = u - best[0][1]
            steep = 2 * (abs(best[0][0]) + 1.0) / max(float(away @ away), 1e-300)
            return best[0][0] + 0.5 * steep * float(away @ away), steep * away
        _, slope, _ = LOSSES[settings.loss]((r / settings.f_scale) ** 2)
        cost = settings.cost(r) / first
        if not best or cost < best[0][0]:
            best[:] = [(cost, u.copy())]
        return cost, problem.gradient(z, slope * r) * settings.scale / first

    def accept(u: np.ndarray) -> None:
        z = np.clip(u * settings.scale, settings.low, settings.high)
        path.accept(z, problem.residuals(z))

    accept(x / settings.scale)
    found = minimize(value, x / settings.scale, jac=True, method="L-BFGS-B", callback=accept,
                     bounds=np.column_stack([settings.low, settings.high]) / settings.scale[:, None],
                     options={"maxiter": settings.limit, "ftol": 1e-15, "gtol": settings.tolerance})
    accept(found.x)
    return Outcome(path.iterates[-1].x, path.iterates, bool(found.success), str(found.message).lower().rstrip("."))


METHODS: dict[str, Callable[[Problem, np.ndarray, Settings], Outcome]] = {
    "gauss-newton": gauss_newton, "trf": trust_region("trf"), "dogbox": trust_region("dogbox"),
    "l-bfgs-b": quasi_newton}
