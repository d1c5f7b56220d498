"""The region that must be searched, in cells; and the discs in which everything was found: the certificate."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

_DEPTH = 6


@dataclass(frozen=True)
class Disc:
    """A disc of the complex plane in which all eigenvalues were found.

    Attributes
    ----------
    centre : complex
    radius : float
    inside : int
        Number of eigenvalues in it, exact zeros and multiplicity counted.
    """

    centre: complex
    radius: float
    inside: int = 0


@dataclass(frozen=True)
class Cell:
    """A piece of a sector: radii and angles (rad) from the positive real axis."""

    inner: float
    outer: float
    begin: float
    end: float

    def outline(self) -> np.ndarray:
        """Points that a disc must hold to hold the cell: with them, their convex hull, rounded outwards."""
        angles = np.linspace(self.begin, self.end, 9)
        bulge = 1 / np.cos((self.end - self.begin) / 16)  # the chords of the outer arc must lie outside of it
        return np.concatenate([self.outer * bulge * np.exp(1j * angles), self.inner * np.exp(1j * angles[[0, 4, 8]])])

    def centre_and_reach(self) -> tuple[complex, float]:
        """A centre, and the radius from it that holds the cell."""
        points = self.outline()
        centre = complex(0.5 * (points.real.min() + points.real.max()), 0.5 * (points.imag.min() + points.imag.max()))
        return centre, float(np.abs(points - centre).max())

    def halves(self) -> tuple[Cell, Cell]:
        """Cut across the longer side."""
        if self.outer - self.inner >= self.outer * (self.end - self.begin):
            middle = np.sqrt(self.inner * self.outer) if self.inner else 0.5 * self.outer
            return (Cell(self.inner, middle, self.begin, self.end), Cell(middle, self.outer, self.begin, self.end))
        middle = 0.5 * (self.begin + self.end)
        return (Cell(self.inner, self.outer, middle, self.end), Cell(self.inner, self.outer, self.begin, middle))


@dataclass
class Certificate:
    """Where the sparse method has looked, and what was found there.

    It says: every eigenvalue with a damping ratio below `damping_ratio` and a modulus up to `modulus` lies in one of
    `discs` (or is the conjugate of one that does); in each of them Arnoldi's method, started from random vectors
    orthogonal to all that was found, saw nothing more. That an eigenvalue there was missed would need a start without
    a part in its direction, which has probability zero, or an operator so far from normal that rounding hides it;
    it is not a proof in interval arithmetic.

    Attributes
    ----------
    damping_ratio : float
        The sector that is covered.
    modulus : float
        Up to where: larger than the modulus of every eigenvalue, as far as Arnoldi's method on A itself can tell.
    discs : list of Disc
    residual : float
        Largest ``|A v - lambda v| / |v| / max(1, |lambda|)``, right and left, of what is reported (scaled states).
    found : int
        Eigenvalues found in all, of each pair one.
    factorisations, steps : int
        Work: of the pencil, and of Arnoldi's method.
    """

    damping_ratio: float = -1.0
    modulus: float = 0.0
    discs: list[Disc] = field(default_factory=list)
    residual: float = 0.0
    found: int = 0
    factorisations: int = 0
    steps: int = 0

    def remaining(self, cell: Cell, depth: int = _DEPTH) -> Cell | None:
        """What is left of a cell: by halving, the smallest piece outside of which all is in discs; None if nothing."""
        distances = np.abs(cell.outline()[:, None] - np.array([disc.centre for disc in self.discs]))
        if (distances <= np.array([disc.radius for disc in self.discs])).all(axis=0).any():
            return None
        if not depth:
            return cell
        first, second = (self.remaining(half, depth - 1) for half in cell.halves())
        return cell if first and second else first or second

    def covers(self, value: complex) -> bool:
        """Whether an eigenvalue there would have been found."""
        up = complex(value.real, abs(value.imag))
        return any(abs(disc.centre - up) <= disc.radius for disc in self.discs)

    def __str__(self) -> str:
        return (f"all eigenvalues with a damping ratio below {self.damping_ratio:.4f}, up to modulus "
                f"{self.modulus:.4g}: {len(self.discs)} discs, {self.found} eigenvalues found there, "
                f"{self.factorisations} factorisations, {self.steps} steps; residuals below {self.residual:.1e}")
