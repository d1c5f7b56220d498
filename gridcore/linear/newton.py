"""The Newton iteration of a step: keeps its factors while they converge fast.

The workspace holds the equations ``R = base + c F(Z) - mass X`` and their matrix. The caller sets
`base`, `c` and `mass`; the iteration ends when the last correction is at round-off.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable

import numpy as np

from .. import numerics
from ..equations import Workspace
from ..errors import ConvergenceError
from .base import Factors, SingularMatrix
from .mixing import Mixing

# Value of a guard, columns and entries of its gradient, slope in time.
GuardValue = Callable[[], tuple[float, np.ndarray, np.ndarray, float]]

_ITERATIONS, _KEPT = 30, 6  # of a solve at most; factors that are kept: steps that end at events have many lengths
# Iterations that a factorisation is worth at most (where it has many operations, they are fast ones), and at least.
_MOST_WORTH, _LEAST_WORTH = 9.0, 0.5
# Factors that are worth so many iterations serve coefficients that differ by a factor, and their corrections are mixed;
# with the residual mixing is worth so many operations, for each unknown.
MIXED, _FACTOR, _MIXING = 2.0, 1.7, 10
# Corrections that have not shrunk, after which the floor of round-off will do; more where they are mixed.
_SLOW = 2
# Corrections that are tried with whatever factors there are, where it may take no more to see that a step ends earlier.
_APPROACHES = 3
# Iterations that are not damped; fewer if a correction is so many times as large as X; who goes so far may be astray.
_UNDAMPED, _LOST, _ASTRAY = 8, 1e3, 1e6
# Parts of a step that are tried; where none helps (a kink), one that moves nothing by more than this of scale + |x|.
_DAMPINGS, _BOUND = 0.5 ** np.arange(1 - np.log2(numerics.SHORTEST_STEP)), 0.5
_SAME = 1 + numerics.SAME_LENGTH
_ADVICE = "; there may be a solution with a smaller step, or with loads at constant impedance (--loads Z)"


def tolerances() -> dict[str, float]:
    """Those of an iteration, for loops in C: see :meth:`_Corrections.end` and :meth:`Newton.at`."""
    return {"remains": numerics.NEWTON_REMAINS, "enough": numerics.NEWTON, "floor": numerics.NEWTON_FLOOR,
            "fast": numerics.NEWTON_FAST, "telling": numerics.NEWTON_TELLING * numerics.NEWTON,
            "same": numerics.SAME_LENGTH, "astray": _ASTRAY}


class _Corrections:
    """The corrections of one solve: whether the last one ends it, and what the next one need not exceed."""

    def __init__(self, patience: float = _SLOW) -> None:
        self.slow, self.stalls, self.enough, self.patience = 0, False, numerics.NEWTON_REMAINS, patience
        self.norms: list[float] = []

    def end(self, norm: float) -> bool:
        norms = self.norms
        norms.append(norm)
        if norm <= self.enough:
            return True
        before = norms[-2] if len(norms) > 1 else 0.0
        self.stalls = bool(before) and norm > numerics.NEWTON_FAST * before
        self.slow += self.stalls
        if self.stalls and (norm <= numerics.NEWTON or (norm <= numerics.NEWTON_FLOOR and self.slow > self.patience)):
            return True  # what no longer shrinks is round-off
        # a correction this short leaves no more, if the next is shorter by as much as it was, or if its rate stays
        rate = norm / before if before and not self.stalls else math.inf
        self.enough = max(min(max(math.sqrt(remains * norm), remains / rate), most) for remains, most in (
            (numerics.NEWTON_REMAINS, numerics.NEWTON), (numerics.EPS, numerics.NEWTON_FLOOR)))
        return False


class _Kept:
    """Factors of the matrix of a step, and what was learned of them."""

    def __init__(self, lu: Factors):
        self.lu = lu
        self.outdate()

    def outdate(self) -> None:
        """Of the factors only the pivots may serve on."""
        self.fresh, self.coefficient, self.uses, self.searched = False, math.nan, 0, -1  # searches whose cost is known
        self.first = self.rate = 0.0  # the first correction of the last solve, and the rate at which it converged
        self.least = self.excess = 0  # iterations of the first solve with these, and how many more later ones took

    def far(self, coefficient: float) -> float:
        """By which factor the coefficient is another."""
        low, high = sorted((self.coefficient, coefficient)) if self.fresh else (0.0, 1.0)
        return high / low if low > 0 else math.inf


class Newton:
    """Iterates the equations in a workspace to round-off.

    Parameters
    ----------
    ws : Workspace
    loose : bool
        Whether its factors serve nothing but the iteration.

    Attributes
    ----------
    iterations : int
        Made so far.
    keeps : bool
        Whether factors serve equations with another matrix: after an event, or of a step of another length.
    """

    def __init__(self, ws: Workspace, loose: bool = True):
        self.ws, self._now = ws, _Kept(ws.pivots.another() if loose else ws.factors())
        self._kept = [self._now]
        self._coefficient, self.iterations = 1.0, 0
        self._worth, self._patience = 1.0, float(_SLOW)  # iterations worth a factorisation; slow ones that are borne
        self.keeps, self._mixings = MIXED <= 0, dict[int, Mixing]()  # mixings by how many unknowns are beside X

    @property
    def lu(self) -> Factors:
        """The factors in use."""
        return self._now.lu

    def counters(self) -> Counter[str]:
        """Work done."""
        kept = [each.lu for each in self._kept]
        return Counter(newton_iterations=self.iterations, solves=sum(lu.solves for lu in kept),
                       factorisations=sum(lu.factorisations + lu.refactorisations for lu in kept))

    def forget(self) -> None:
        """The matrix has changed so much that its factors are of no use."""
        self._now.fresh = False

    def renew(self) -> None:
        """Forget what earlier solves have left, pivots and rates too: what follows depends on ``ws.noise`` alone."""
        for each in self._kept:
            each.lu.forget()
        self.jumped()
        if self.lu.compiled():  # pivots are known before a segment begins, but there are no factors yet
            self._weigh()
            self.lu.forget()

    def jumped(self) -> None:
        """Variables jumped: of the factors only the pivots may serve on."""
        for each in self._kept:
            each.outdate()
        self._now = self._kept[0]

    def at(self, coefficient: float) -> None:
        """The equations are now those of a step of this length, say: factors for one that is near serve them."""
        self._coefficient = coefficient
        if self._now.far(coefficient) <= _SAME:
            return
        self._now = min(self._kept, key=lambda each: each.far(coefficient))
        if self._now.far(coefficient) > (_FACTOR if self.keeps else _SAME):
            self._now = self._least_used()
            self._now.fresh = False

    def _least_used(self, but: _Kept | None = None) -> _Kept:
        """Of the factors that are kept, others than these; new ones where all have served, while they are few."""
        if len(self._kept) < _KEPT and all(each.uses for each in self._kept if each is not but):
            self._kept.append(_Kept(self.lu.another()))
        return min((each for each in self._kept if each is not but), key=lambda each: each.uses)

    def factor(self, alike: bool = False) -> None:
        """Factors of the matrix at the present Z; `alike`: much like the last ones."""
        now = self._now
        if self.keeps and now.fresh and now.far(self._coefficient) > _SAME:  # these will be wanted again
            self._now = now = self._least_used(now)
        try:
            now.lu.trust(values := self.ws.matrix())
            now.lu.refactor(values, alike)
        except SingularMatrix as error:
            now.fresh = False
            raise ConvergenceError(f"the equations are {error.why}", place=self.ws.place(error.column),
                                   t=self.ws.Z[-1], advice=_ADVICE) from None
        now.fresh, now.coefficient, now.least, now.excess = True, self._coefficient, 0, 0
        if now.lu.factorisations != now.searched:
            now.searched = now.lu.factorisations
            self._weigh()

    def _weigh(self) -> None:
        """See what factors are worth."""
        factorisation, solve = self.lu.operations()
        self._worth = max(_LEAST_WORTH, min(factorisation / solve, _MOST_WORTH) - 1)
        self.keeps = factorisation / (solve + _MIXING * self.ws.n) - 1 >= MIXED
        self._patience = _SLOW + self._worth * self.keeps

    def _prepare(self) -> bool:
        """Factors for a solve: the old ones, if what they take more looks less than what new ones cost (of mixed
        corrections, which have no rate: what they have taken more already). Whether they are old.
        """
        now = self._now
        if now.fresh and (now.excess < 1 + self._worth if self.keeps else
                          now.first * now.rate**(1 + self._worth) <= numerics.NEWTON_REMAINS):
            return True
        self.factor(alike=not math.isnan(now.coefficient))  # if it is not, convergence will tell
        return False

    def _mixing(self, *more: float) -> Mixing:
        """The mixing of an iteration that begins now, with the sizes of unknowns beside X."""
        mixing = self._mixings.get(len(more)) or self._mixings.setdefault(len(more), Mixing(self.ws, len(more)))
        return mixing.begin(self.ws.scale + np.abs(self.ws.X), *more)

    def _took(self, told: _Corrections) -> None:
        """A solve took these corrections."""
        now, ws = self._now, self.ws
        if told.norms[-1] > told.enough:  # the next one is round-off, which later solves need not fight
            most = numerics.NEWTON_ROUND_OFF * (ws.scale + np.abs(ws.X))
            np.maximum(ws.noise, np.minimum(2 * np.abs(self.lu.solve(ws.R)), most), out=ws.noise)
        else:  # it leaves far less than it was
            ws.moved = min(ws.moved, numerics.NEWTON)
        now.uses += not self.keeps or now.far(self._coefficient) <= _SAME
        now.least = now.least or len(told.norms)
        now.excess += max(len(told.norms) - now.least, 0)

    def _solved(self) -> bool:
        """Whether the residual is small for its terms: corrections that no longer shrink may also hop across a kink."""
        self.ws.residual()
        return bool(np.all(np.abs(self.ws.R) <= numerics.NEWTON * self.ws.terms(self.ws.scale + np.abs(self.ws.X))))

    def approach(self, coefficient: float, enough: Callable[[], bool]) -> bool:
        """A few corrections with the factors of the nearest coefficient, from the residual in ``ws.R``; whether what
        they reached is `enough`. If it is not, the residual of where they ended stands there.
        """
        ws, now, norm = self.ws, min(self._kept, key=lambda each: each.far(coefficient)), math.inf
        start, mixing = ws.X.copy(), self._mixing()
        for _ in range(_APPROACHES if now.far(coefficient) <= _FACTOR else 0):
            now.lu.solve(ws.R)
            mixing.mix(ws.R)
            norm, before = ws.newton(math.inf), min(norm, _LOST)
            self.iterations += 1
            if not norm < before:
                ws.X[:] = start
            elif enough():
                return True
            ws.residual()
            if not norm < before:
                break
        return False

    def solve(self, evaluated: bool = False) -> None:
        """Iterate from the X that stands in the workspace; leaves the solution there.

        Parameters
        ----------
        evaluated : bool
            Whether ``ws.R`` is the residual there already.

        Raises
        ------
        ConvergenceError
            Naming the variable that moved most, and the time.
        """
        ws, start, old = self.ws, self.ws.X.copy(), self._prepare()
        if not evaluated:
            ws.residual()
        mixing, told, now = self._mixing() if self.keeps and old else None, _Corrections(self._patience), self._now
        ended, norms, lu, R = False, told.norms, now.lu, ws.R
        while not ended and len(norms) < _ITERATIONS:
            lu.solve(R)
            if mixing is not None:
                mixing.mix(R)
            ended = told.end(ws.newton(told.enough))
            if not ended and not math.isfinite(norms[-1]):
                break
            if told.stalls and not ended:
                if norms[-1] >= _LOST or len(norms) - 1 > _UNDAMPED + 2 * self._worth:
                    break
                if mixing is None or told.slow > self._worth:
                    try:
                        self.factor()
                    except ConvergenceError:
                        break  # iterations may lead to where it is singular
                    mixing, lu, told.patience = None, self.lu, _SLOW
        self.iterations += len(norms)
        now.first = norms[0]
        if old and len(norms) > 1 and norms[0] > numerics.NEWTON_TELLING * numerics.NEWTON:
            now.rate = norms[1] / norms[0]
        if not (ended := ended and (max(norms) < _ASTRAY or self._solved())):
            ws.X[:] = start
        if not ended or (norms[-1] > max(told.enough, numerics.NEWTON) and not self._solved()):
            self.solve_damped()
        if ended:
            self._took(told)

    def solve_with_time(self, t: float, equations: Callable[[float], None], guard: GuardValue, low: float, high: float,
                        side: float) -> float | None:
        """As :meth:`solve`, of equations that end at a time which is unknown, too: a guard crosses zero there.

        Parameters
        ----------
        t : float
            A guess of it; that of X stands in the workspace.
        equations : callable
            Sets the equations that end at a time, and leaves their residual.
        guard : callable
            The guard at what stands in the workspace: value, columns and entries of its gradient, slope in time.
        low, high : float
            Between which times it is looked for.
        side : float
            The sign that the guard has after it.

        Returns
        -------
        t : float or None
            None where it is not found, or found to be crossed to the other side. X is lost then.
        """
        ws, width, told = self.ws, high - low, _Corrections(self._patience)
        equations(t + width)
        later = ws.R.copy()
        equations(t)
        drift = (later - ws.R) / width
        self._prepare()
        rate = self.lu.solve(drift.copy())  # of X, with the time: a chord, which mixing mends
        mixing, step, along = self._mixing(width), ws.step, np.empty(ws.n)
        for _ in range(_ITERATIONS):
            self.lu.solve(ws.R)
            gamma, columns, gradient, slope = guard()
            speed = float(gradient @ rate[columns]) + slope
            if not speed * side > 0:
                break
            step[-1] = -(gamma + float(gradient @ step[columns])) / speed
            ws.R += np.multiply(rate, step[-1], out=along)
            mixing.mix(step)
            unsure = float(np.abs(gradient) @ ws.noise[columns]) / abs(speed)  # as its variables are
            norm = max(ws.newton(math.inf), (abs(float(step[-1])) - unsure) / width)
            t += float(step[-1])
            self.iterations += 1
            if not (low < t < high and norm < _ASTRAY):
                break
            equations(t)
            if told.end(norm):
                self._took(told)
                return t if norm <= max(told.enough, numerics.NEWTON) or self._solved() else None
            if told.stalls and told.slow > self._worth and told.patience > _SLOW:  # once
                self.factor()
                rate, mixing, told.patience = self.lu.solve(drift.copy()), self._mixing(width), _SLOW
        return None

    def solve_damped(self) -> None:
        """Newton with a new matrix at every iteration, and steps halved, or else bounded, while the residual grows."""
        ws, best = self.ws, np.inf
        ws.residual()
        size = float(np.max(np.abs(ws.R), initial=0.0))
        for _ in range(_ITERATIONS):
            self.factor()
            step, X = self.lu.solve(ws.R.copy()), ws.X.copy()
            norm = float(np.max(np.abs(step) / (ws.scale + np.abs(X)), initial=0.0))
            for damping in (*_DAMPINGS, _BOUND / max(norm, _BOUND)):
                ws.X[:] = X + damping * step
                ws.residual()
                now = float(np.max(np.abs(ws.R), initial=0.0))
                if now <= (1 - damping / 4) * size or now < numerics.RESIDUAL_FLOOR:
                    break
            self.iterations += 1
            if norm <= numerics.NEWTON or (numerics.NEWTON_FAST * best < norm <= numerics.NEWTON_FLOOR
                                           and self._solved()):
                return
            size, best = now, min(best, norm)
            if not np.isfinite(norm):
                break
        if norm <= numerics.NEWTON_FLOOR:
            return  # round-off of terms that derivatives do not show
        worst = int(np.argmax(np.abs(np.nan_to_num(step, nan=np.inf))))
        raise ConvergenceError("Newton's method does not converge", place=ws.place(worst), t=ws.Z[-1], advice=_ADVICE)

    def hold(self, differential: np.ndarray) -> None:
        """Set the algebraic equations, with the differential variables held where they are."""
        ws = self.ws
        ws.mass[:], ws.c[:] = differential, np.where(differential, 0.0, -1.0)
        ws.base[:] = np.where(differential, ws.X, 0.0)

    def resolve(self, differential: np.ndarray, other: np.ndarray | None = None) -> None:
        """Solve for the algebraic variables, the differential ones held, from what they are, or else from `other`."""
        self.hold(differential)
        try:
            self.solve_damped()
        except ConvergenceError:
            if other is None:
                raise
            self.ws.X[:] = np.where(differential, self.ws.base, other)
            self.solve_damped()
        self.forget()

    def derivative(self, differential: np.ndarray, along: np.ndarray | None = None) -> np.ndarray:
        """X' at the present Z, (n,): f, and what the derivative of ``g = 0`` says, ``g_y y' = -(g_x f + g_t)``; or how
        the algebraic variables follow where the differential ones and time move `along`, (n + 1,).
        """
        ws = self.ws
        ws.mass[:], ws.c[:] = differential, np.where(differential, 0.0, 1.0)
        slope = ws.time_slope()
        along = np.append(ws.rhs(), 1.0) if along is None else along
        right = np.where(differential, along[:-1], 0.0 if slope is None else slope * along[-1])
        self.factor()
        self.forget()
        return np.asarray(self.lu.solve(right))
