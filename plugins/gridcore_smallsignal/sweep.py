"""The least damped eigenvalues of a large system: shifts swept over the plane until a sector is covered.

First the right half plane and the imaginary axis, then leftwards, until so many eigenvalues as are wanted are known to
be the least damped. A cell of the sector is covered when all eigenvalues in a disc around it are found; where there are
too many for one run it is cut in two.
"""

from __future__ import annotations

import itertools

import numpy as np

from gridcore.linear import SingularMatrix

from .arnoldi import Locked, arnoldi
from .cover import Cell, Certificate, Disc
from .dense import Spectrum
from .linearisation import Linearisation
from .modes import by_damping, damping_ratio
from .refine import polish, refine
from .shifted import Shifted
from .zeros import ZeroModes

_STEPS = 110          # of one run
_LAYERS = (0.03, 0.06, 0.12, 0.25, 0.5, 0.8, 1.0)  # damping ratios up to which the sector is widened
_RATIO = 2.5          # of the radii of the first cells
_SMALLEST = 1e-3      # radius (1/s) of the innermost of them
_KEPT = 1.5           # of the radius of a disc: what is found farther out is not accurate, and found again there
_NEAR = 2.5           # what lies within so many reaches of a shift is kept out of the run
_SAME = 1e-6          # eigenvalues (relative to 1 + |lambda|) and vectors that differ by less are the same
_ZERO = 1e-5          # what is smaller may be an exact zero (a double one splits into a pair of some 1e-7)


class _Sweep:
    """Eigenvalues found so far, and the search for more."""

    def __init__(self, linear: Linearisation, zeros: ZeroModes):
        self.operator = Shifted(linear)
        self.certificate = Certificate()
        self.random = np.random.default_rng(0)
        n = len(linear.x)
        self.values = np.zeros(0, dtype=complex)  # imaginary parts are not negative
        self.vectors = np.zeros((n, 0), dtype=complex)
        self.zero = (zeros.right / self.operator.scale[:, None]).astype(complex)
        if len(zeros):
            self.zero_matrix = (zeros.left.T * self.operator.scale) @ self.operator.forward(self.zero.T.real).T
        else:
            self.zero_matrix = np.zeros((0, 0))

    def start(self) -> np.ndarray:
        """A random vector."""
        parts = self.random.standard_normal((2, len(self.vectors)))
        return parts[0] + 1j * parts[1]

    def modulus(self) -> float:
        """A little more than the largest modulus of an eigenvalue: by Arnoldi's method on A."""
        none = Locked(self.vectors[:, :0], np.zeros((0, 0)))
        found = arnoldi(lambda v: self.operator.forward(v[None])[0], 0.0, self.start(), none, 0.0, 40)
        nearest = np.abs(1 / found.values).max(initial=0.0)  # of the inverse: the farthest
        return 1.1 * max(nearest, 1 / found.radius if found.radius else 0.0, _SMALLEST)

    def search(self, cell: Cell) -> list[Cell]:
        """Find what is around a cell; the parts of it that are not covered then."""
        centre, reach = cell.centre_and_reach()
        for attempt in range(4):
            try:
                self.operator.shift(centre + 1e-3j * reach * attempt)
                break
            except SingularMatrix:  # the shift is an eigenvalue
                continue
        centre += 1e-3j * reach * attempt
        reach *= 1.002
        while True:
            found = arnoldi(self.operator.apply, centre, self.start(), self._locked(centre, reach), reach, _STEPS)
            self.certificate.steps += found.steps
            within = np.abs(found.values - centre) <= _KEPT * max(reach, found.radius)
            if not self._add(found.values[within], found.vectors[:, within]) or found.radius < reach:
                break
            self.operator.shift(centre)
        radius = min(found.radius, 10 * self.certificate.modulus + reach)
        if radius > 0:
            inside = np.abs(self._all() - centre) <= radius
            self.certificate.discs.append(Disc(centre, radius, int(inside.sum())))
        if radius >= reach:
            return []
        return list(cell.halves())

    def _all(self) -> np.ndarray:
        """All known eigenvalues, conjugates and zeros too."""
        return np.concatenate([self.values, self.values[self.values.imag > 0].conj(), np.zeros(len(self.zero_matrix))])

    def _locked(self, centre: complex, reach: float) -> Locked:
        up = np.abs(self.values - centre) <= _NEAR * reach
        down = (np.abs(self.values.conj() - centre) <= _NEAR * reach) & (self.values.imag > 0)
        values = np.concatenate([self.values[up], self.values[down].conj()])
        J = np.diag(values)
        vectors = [self.vectors[:, up], self.vectors[:, down].conj()]
        if abs(centre) <= _NEAR * reach and len(self.zero_matrix):
            J = np.block([[J, np.zeros((len(J), len(self.zero_matrix)))],
                          [np.zeros((len(self.zero_matrix), len(J))), self.zero_matrix]])
            vectors.append(self.zero)
        return Locked.of(np.hstack(vectors), J, centre)

    def _add(self, values: np.ndarray, vectors: np.ndarray) -> int:
        """Keep what is new, to round-off; how many these are. Moves the operator's shift."""
        count = 0
        for rough, vector in zip(values, vectors.T, strict=True):
            if rough.imag < -_SAME * (1 + abs(rough)):
                continue  # its conjugate is as near
            value, vector = polish(self.operator, rough, vector)
            if value.imag < 0:
                value, vector = value.conjugate(), vector.conj()
            # beyond the reach of locking an eigenvalue may come back
            if not self._known(value, vector):
                self.values, self.vectors = np.append(self.values, value), np.column_stack([self.vectors, vector])
                count += 1
        return count

    def _known(self, value: complex, vector: np.ndarray) -> bool:
        """Whether the eigenvector lies in the span of known ones of the same eigenvalue."""
        zero = abs(value) <= _ZERO and len(self.zero_matrix)
        same = np.flatnonzero(np.abs(self.values - value) <= _SAME * (1 + abs(value)))
        if not len(same) and not zero:
            return False
        basis, _ = np.linalg.qr(np.hstack([self.vectors[:, same], self.zero]) if zero else self.vectors[:, same])
        return bool(np.linalg.norm(vector - basis @ (basis.conj().T @ vector)) < _SAME)

    def cover(self, begin: float, end: float, modulus: float) -> None:
        """Search the sector between two angles."""
        radii = [0.0, *np.geomspace(_SMALLEST, modulus, max(2, int(np.log(modulus / _SMALLEST) / np.log(_RATIO)) + 2))]
        pieces = max(1, round((end - begin) / (np.pi / 4)))
        angles = np.linspace(begin, end, pieces + 1)
        cells = [Cell(a, b, c, d) for a, b in itertools.pairwise(radii) for c, d in itertools.pairwise(angles)]
        stack = cells
        while stack:
            left = self.certificate.remaining(stack.pop())
            if left is not None:
                stack += self.search(left)

    def angle_of(self, count: int) -> float:
        """Angle from the positive real axis below which there are `count` eigenvalues known; pi where there are not."""
        ratios = np.sort(damping_ratio(self.values))
        return float(np.pi / 2 + np.arcsin(ratios[count - 1])) if len(ratios) >= count else np.pi


def least_damped(linear: Linearisation, zeros: ZeroModes, count: int) -> tuple[Spectrum, Certificate]:
    """The `count` least damped eigenvalues (pairs counting as one), exact zeros aside."""
    sweep = _Sweep(linear, zeros)
    certificate = sweep.certificate
    modulus = certificate.modulus = sweep.modulus()
    done = 0.0
    for layer in (0.0, *_LAYERS):
        angle = np.pi / 2 + np.arcsin(layer)
        wanted = sweep.angle_of(count) + 1e-9
        if wanted <= done:
            break
        angle = min(angle, max(wanted, np.pi / 2))
        sweep.cover(done, angle, modulus)
        done = angle
    certificate.damping_ratio = float(np.sin(min(done, np.pi) - np.pi / 2)) if done < np.pi else 1.0
    order = by_damping(sweep.values)
    ratios = damping_ratio(sweep.values)[order]
    chosen = order[ratios <= certificate.damping_ratio + 1e-9][:count]
    spectrum, certificate.residual = refine(sweep.operator, sweep.values[chosen], sweep.vectors[:, chosen])
    certificate.found, certificate.factorisations = len(sweep.values), sweep.operator.factorisations
    return spectrum, certificate
