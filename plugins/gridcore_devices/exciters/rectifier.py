"""The rectifier between an exciter's source and the field."""

from __future__ import annotations

from typing import Any

import numpy as np

from gridcore_blocks import Block, Signal


class Rectifier(Block):
    """``FEX(IN) V`` with ``IN = I / V``: a three-phase bridge whose voltage falls as it is loaded.

    IEEE Std 421.5-2016, annex D, with ``1 / sqrt(3)`` and ``sqrt(3) / 4`` in place of the rounded 0.577 and 0.433::

        FEX = 1                      IN <= 0
              1 - IN / sqrt(3)       IN <= sqrt(3) / 4
              sqrt(3/4 - IN^2)       IN <= 3/4
              sqrt(3) (1 - IN)       IN <= 1
              0                      beyond

    So it is continuous with its slope but at both ends, 0 and 1, where a mode changes. Multiplied by V it needs no
    division, and holds for ``V = 0``.

    Parameters
    ----------
    V : str, float or callable
        Voltage of the source.
    I : str, float or callable
        Load, ``KC`` times the field current.
    """

    def __init__(self, V: Signal, I: Signal, *, unit: str = "pu", doc: str = ""):  # noqa: E741
        super().__init__(unit, doc)
        self.V, self.I = V, I

    def expand(self) -> None:
        V = self.reader(self.V, "source", f"source voltage: {self.words}")
        load = self.reader(self.I, "load", f"KC times field current: {self.words}")
        mode = f"{self.name}_side"

        def margin(s: Any) -> Any:
            return V(s) - load(s)

        self.mode(mode, f"-1 without load, 1 shorted: {self.words}")
        self.change("unloaded", load, -1, mode, 0, -1, "the field current turns negative")
        self.change("loaded", load, 1, mode, -1, 0, "the field current turns positive")
        self.change("shorted", margin, -1, mode, 0, 1, "the field current shorts the rectifier")
        self.change("conducts", margin, 1, mode, 1, 0, "the rectifier gives voltage again")
        self.output(lambda s: np.where(getattr(s, mode) == 0, loaded(V(s), load(s)),
                                       np.where(getattr(s, mode) < 0, V(s), 0.0)))


def loaded(V: Any, load: Any) -> Any:
    """``FEX V`` for ``0 <= IN <= 1``, where it is smooth."""
    inner = 0.75 * V * V - load * load
    second = np.sqrt(np.where(inner > 0, inner, 1.0))
    third = np.sqrt(3.0) * (V - load)
    return np.where(load <= np.sqrt(3.0) / 4.0 * V, V - load / np.sqrt(3.0), np.where(load <= 0.75 * V, second, third))


def source(Efd: Any, load: Any) -> Any:
    """The voltage V that gives the field voltage `Efd` under this load: the inverse of :func:`loaded`."""
    first, second = Efd + load / np.sqrt(3.0), np.sqrt((Efd * Efd + load * load) / 0.75)
    third = Efd / np.sqrt(3.0) + load
    return np.where(load <= 0, Efd, np.where(load <= np.sqrt(3.0) / 4.0 * first, first,
                                             np.where(load <= 0.75 * second, second, third)))
