"""Saturation of an exciter, given by two points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gridcore.contract import Device, Param


class Saturation(Device):
    """The two points of an exciter's saturation: see :func:`quadratic`. Either point may be the lower one.

    IEEE Std 421.5-2016, annex C.
    """

    E1 = Param("pu", 1.0, ge=0, doc="first voltage of the saturation curve")
    SE1 = Param("pu", 0.0, ge=0, doc="saturation at E1")
    E2 = Param("pu", 2.0, ge=0, doc="second voltage of the saturation curve")
    SE2 = Param("pu", 0.0, ge=0, doc="saturation at E2")

    @classmethod
    def check(cls, values: Mapping[str, float]) -> str | None:
        """Refuse a saturation that does not grow with the voltage."""
        rise = (values["E2"] - values["E1"]) * (values["SE2"] * values["E2"] - values["SE1"] * values["E1"])
        if rise > 0 or values["SE1"] * values["E1"] == values["SE2"] * values["E2"] == 0:
            return None
        return "saturation must grow with the voltage: SE1 E1 and SE2 E2 must be in the order of E1 and E2"


def quadratic(s: Any, E: Any) -> Any:
    """``SE(E) E``: the parabola ``B (E - A)^2`` through both points, and zero below A.

    PSS/E program application guide, saturation of excitation systems. It is continuous with its slope, so nothing
    needs to be located at A. A point without saturation, or at no voltage, stands for no saturation at all: data files
    say so by zeros in either point, and OpenIPSL (tested against PSS/E), PowerSimulationsDynamics.jl and ANDES read
    them so.
    """
    A, root = _parabola(s)
    beyond = np.where(E > A, root * (E - A), 0.0)
    return beyond * beyond


def _parabola(s: Any) -> tuple[Any, Any]:
    """A and the root of B."""
    first, second = _root(s.SE1 * s.E1), _root(s.SE2 * s.E2)
    there = np.logical_and(first * second > 0, second != first)
    rise = np.where(there, second - first, 1.0)
    return (s.E1 * second - s.E2 * first) / rise, np.where(there, rise / np.where(there, s.E2 - s.E1, 1.0), 0.0)


def unsaturated(s: Any, field: Any) -> Any:
    """The voltage E with ``(KE + SE(E)) E = field``, for KE above zero."""
    A, root = _parabola(s)
    more = np.where(field > s.KE * A, field - s.KE * A, 0.0)
    return np.where(field > s.KE * A, A + 2.0 * more / (s.KE + np.sqrt(s.KE * s.KE + 4.0 * root * root * more)),
                    field / s.KE)


def factor(s: Any, E: Any) -> Any:
    """``SE(E)``."""
    return quadratic(s, E) / E


def _root(value: Any) -> Any:
    return np.where(value > 0, np.sqrt(np.where(value > 0, value, 1.0)), 0.0)
