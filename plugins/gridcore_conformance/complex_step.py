"""Complex numbers that numpy functions of real quantities may be called on: the complex step as an oracle.

``f(x + 1e-30j).imag / 1e-30`` is the derivative of an analytic f to round-off, whoever wrote f. numpy's
own complex functions are another thing where a function is not analytic (`abs`), not defined for complex
numbers (`arctan2`), or compares; those are replaced here by the extension of the real function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

STEP = 1e-30  # its square is nothing beside any number; nothing is subtracted, so smaller is not worse


def _parts(z: Any) -> tuple[np.ndarray, np.ndarray]:
    z = np.asarray(z)
    return np.real(z), np.imag(z)


def _arctan2(y: Any, x: Any) -> Any:
    (y, dy), (x, dx) = _parts(y), _parts(x)
    return np.arctan2(y, x) + 1j * (x * dy - y * dx) / (x * x + y * y)


def _power(base: Any, exponent: Any) -> Any:
    (x, dx), (n, dn) = _parts(base), _parts(exponent)
    value = np.power(x, n)
    with np.errstate(all="ignore"):
        by_base = np.where(n == 0, 0.0, n * np.power(x, n - 1)) * dx
        by_exponent = np.where(dn == 0, 0.0, value * np.log(x) * dn)
    return value + 1j * (by_base + by_exponent)


def _absolute(z: Any) -> Any:
    return np.where(np.real(z) < 0, -z, z)


def _on_real_parts(ufunc: np.ufunc) -> Callable[..., Any]:
    return lambda *z: ufunc(*(np.real(part) for part in z))


# Functions of real numbers that numpy does not extend analytically.
_RULES: dict[np.ufunc, Callable[..., Any]] = {
    np.arctan2: _arctan2,
    np.hypot: lambda x, y: np.sqrt(x * x + y * y),
    np.absolute: _absolute,
    np.fabs: _absolute,
    np.power: _power,
    np.float_power: _power,
    np.square: lambda z: z * z,
    np.cbrt: lambda z: np.sign(np.real(z)) * _power(_absolute(z), 1 / 3),
    np.maximum: lambda a, b: np.where(np.real(a) >= np.real(b), a, b),
    np.minimum: lambda a, b: np.where(np.real(a) <= np.real(b), a, b),
    np.fmax: lambda a, b: np.where(np.real(a) >= np.real(b), a, b),
    np.fmin: lambda a, b: np.where(np.real(a) <= np.real(b), a, b),
    **{ufunc: _on_real_parts(ufunc) for ufunc in (
        np.greater, np.greater_equal, np.less, np.less_equal, np.equal, np.not_equal,
        np.logical_and, np.logical_or, np.logical_not, np.sign, np.floor, np.ceil, np.trunc)},
}


class ComplexStep(np.ndarray):
    """An array whose imaginary part is a derivative times the step."""

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """Numpy's functions, by the rules above where there is one."""
        options.pop("out", None)
        plain = [_plain(i) for i in inputs]
        if method == "__call__" and ufunc in _RULES:
            return _wrap(_RULES[ufunc](*plain))
        return _wrap(getattr(ufunc, method)(*plain, **options))

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """`np.where` and its like: the result goes on being one of these."""
        return _wrap(super().__array_function__(function, types, args, kwargs))


def _plain(value: Any) -> Any:
    return value.view(np.ndarray) if isinstance(value, ComplexStep) else value


def _wrap(value: Any) -> Any:
    value = np.asarray(_plain(value))
    return value.view(ComplexStep) if value.dtype.kind in "fcbi" else value


def perturbed(value: Any, by: float = 0.0) -> ComplexStep:
    """`value` with `by` times the step as its imaginary part."""
    return (np.asarray(value, dtype=complex) + 1j * STEP * by).view(ComplexStep)


def derivative_of(z: Any) -> np.ndarray:
    """The derivative in the direction that was perturbed."""
    return np.imag(np.asarray(z)).view(np.ndarray) / STEP
