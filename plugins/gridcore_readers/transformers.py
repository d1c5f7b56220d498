"""Transformers of a PSS/E power-flow file as devices: units of their data, star of three windings, magnetisation.

Siemens PTI, PSS/E Program Operation Manual, "Transformer data": the codes CW, CZ and CM say what turns
ratios, impedances and magnetising admittance are given in. The impedance of a two-winding transformer
stands between two ideal ones, WINDV1 and WINDV2; a :class:`Transformer` has one, on the side of bus1, so
impedance and ratio are referred to the side of the second winding.
"""

from __future__ import annotations

import cmath
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .psse import Row, element, listed

SMALLEST = 1e-4  # pu: PSS/E's threshold of a zero-impedance line, and what it puts in a star in place of zero
TINY = 1e-6  # pu: an impedance of less is none
ANGLES = 5.0  # a correction table with arguments above is one of angles (degrees), and so is one with some below 0
IMPEDANCES = {pair: f"R{pair} X{pair}" for pair in ("1-2", "2-3", "3-1")}
Devices = list[tuple[str, dict[str, Any]]]


@dataclass
class Found:
    """Devices of the transformers, and what was decided: transformers by place."""

    devices: list[tuple[Row, str, dict[str, Any]]] = field(default_factory=list)
    zeros: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    corrected: list[str] = field(default_factory=list)

    def notes(self) -> list[str]:
        """What to say of them."""
        said = ((self.corrected, "impedances are corrected by the tables in the file, at their turns ratios and "
                                 "angles: transformers "),
                (self.left_out, "transformers of three windings out of service left out: "))
        return [text + listed(names) for names, text in said if names]


class Transformers:
    """Makes devices of the transformer records of one file.

    Parameters
    ----------
    base : float
        System base (MVA).
    kv : mapping of int to float
        Base voltage of each bus (kV), 0 where it is not given.
    corrections : mapping of int to list
        Points (turns ratio or angle, factor) of the impedance correction tables.
    isolated : set of int
        Buses that are not there: of three windings, one that is out may be at such.
    """

    def __init__(self, base: float, kv: Mapping[int, float], corrections: Mapping[int, list[tuple[float, complex]]],
                 isolated: set[int]):
        self.base, self.kv, self.corrections, self.isolated = base, kv, corrections, isolated
        self.found = Found()

    def add(self, row: Row, further: list[Row], buses: Sequence[int], CW: int, CZ: int, CM: int, status: int,
            circuit: str, g: float, b: float) -> None:
        """Two or three windings, with their star point and magnetisation.

        Parameters
        ----------
        row : Row
        further : list of Row
            The impedances, and each winding.
        buses, CW, CZ, CM, status, circuit, g, b
            What the columns I, J, K, CW, CZ, CM, STAT, CKT, MAG1 and MAG2 of the row have.
        """
        impedance, *windings = further
        buses = buses[:len(windings)]
        if not (CW in (1, 2, 3) and CZ in (1, 2, 3) and CM in (1, 2)):
            code = "CW" if CW not in (1, 2, 3) else "CZ" if CZ not in (1, 2, 3) else "CM"
            raise row.error(f"{row.text(code)} is no code of transformer data", code)
        turns = [self._turns(row, winding, bus, CW) for winding, bus in zip(windings, buses)]
        name = element("-".join(map(str, buses)), circuit)
        if len(windings) == 3 and status == 0:
            self.found.left_out.append(name)  # its star point would be an island of its own
            return
        if len(windings) == 2:
            factor = self._correction(windings[0], turns[0] / turns[1], name)
            z = self._impedance(CZ, impedance, "1-2") * turns[1] ** 2 * factor
            self._winding(row, f"TRANSFORMER{name}", buses[0], buses[1], z, turns[0] / turns[1], windings[0],
                          status != 0)
        else:
            self._star(row, impedance, windings, buses, turns, name, status)
        if g or b:
            self._magnetisation(row, CM, g, b, impedance, windings[0], buses[0], name, status != 0)

    def _turns(self, row: Row, winding: Row, bus: int, code: int) -> float:
        """Turns ratio of a winding in per unit of the base voltage of its bus."""
        if not winding.text("WINDV"):
            return 1.0
        turns, kv = winding.number("WINDV"), self.kv[bus]
        if code != 1 and kv <= 0:
            raise row.error(f"CW = {code} needs the base voltage of bus {bus}, which is not given", "CW")
        if code == 2:
            turns /= kv
        elif code == 3:
            turns *= (winding.number("NOMV") or kv) / kv
        if turns <= 0:
            raise winding.error("must be above 0", "WINDV")
        return turns

    def _impedance(self, code: int, impedance: Row, pair: str) -> complex:
        """Series impedance of a pair of windings, per unit of the system's base."""
        r, x = impedance.numbers(IMPEDANCES[pair])
        if code == 1:
            return complex(r, x)
        rating = impedance.number(f"SBASE{pair}") or self.base
        if rating <= 0:
            raise impedance.error("must be above 0", f"SBASE{pair}")
        if code == 3:  # load loss (W), and the magnitude of the impedance
            r /= 1e6 * rating
            if abs(x) < abs(r):
                raise impedance.error("the load loss is more than the impedance allows", f"R{pair}")
            x = math.copysign(math.sqrt(x * x - r * r), x)
        return complex(r, x) * self.base / rating

    def _correction(self, winding: Row, turns: float, name: str) -> complex:
        """What an impedance is multiplied by, at a turns ratio or at the angle of a winding: linear between points."""
        number = winding.integer("TAB")
        if not number:
            return 1.0
        points = sorted(self.corrections.get(abs(number), ()), key=lambda point: point[0])
        if not points:
            raise winding.error(f"there is no impedance correction table {number}", "TAB")
        angles = points[0][0] <= 0 or points[-1][0] > ANGLES
        at = winding.number("ANG") if angles else turns
        self.found.corrected.append(name)
        for (t0, f0), (t1, f1) in itertools.pairwise(points):
            if t0 <= at <= t1 and t1 > t0:
                return f0 + (f1 - f0) * (at - t0) / (t1 - t0)
        return points[0][1] if at < points[0][0] else points[-1][1]

    def _winding(self, row: Row, name: str, bus1: int | str, bus2: int | str, z: complex, tap: float, winding: Row,
                 on: bool) -> None:
        if abs(z) < TINY:
            z = complex(0, SMALLEST)
            self.found.zeros.append(name)
        given: dict[str, Any] = {} if name == f"TRANSFORMER{bus1}-{bus2}" else {"id": name}
        given |= {"bus1": bus1, "bus2": bus2, **({"r": z.real} if z.real else {}), "x": z.imag, "tap": tap}
        if phase := math.radians(winding.number("ANG")):
            given["phase"] = phase
        self._put(row, "Transformer", given, on)

    def _star(self, row: Row, impedance: Row, windings: list[Row], buses: Sequence[int], turns: list[float], name: str,
              status: int) -> None:
        """Three windings between their buses and a star point that is a bus of its own."""
        pairs = row.integer("ZCOD") == 1  # factors are those of two windings each, by the first's ratio, or else of one
        factors = [self._correction(winding, turns[0] if pairs else ratio, name)
                   for winding, ratio in zip(windings, turns)]
        CZ = row.integer("CZ")
        z12, z23, z31 = (self._impedance(CZ, impedance, pair) * (factor if pairs else 1.0)
                         for pair, factor in zip(("1-2", "2-3", "3-1"), factors))
        star = f"STAR{name}"
        kv = {"kv": self.kv[buses[0]]} if self.kv[buses[0]] > 0 else {}
        self._put(row, "Bus", {"id": star, **kv, "Vm0": impedance.number("VMSTAR"),
                               "Va0": math.radians(impedance.number("ANSTAR"))})
        out = {2: 1, 3: 2, 4: 0}.get(status)  # STAT names the one winding that is out
        for k, z in enumerate(((z12 + z31 - z23) / 2, (z12 + z23 - z31) / 2, (z23 + z31 - z12) / 2)):
            if buses[k] not in self.isolated:
                self._winding(row, f"TRANSFORMER{name}_w{k + 1}", buses[k], star, z if pairs else z * factors[k],
                              turns[k], windings[k], k != out)

    def _magnetisation(self, row: Row, code: int, g: float, b: float, impedance: Row, winding: Row, bus: int, name: str,
                       on: bool) -> None:
        """The magnetising admittance: a shunt at the bus of the first winding."""
        if code == 2:  # no-load loss (W), and exciting current in per unit of the rating
            kv, nominal = self.kv[bus], winding.number("NOMV") or self.kv[bus]
            square = (kv / nominal) ** 2 if nominal > 0 else 1.0
            rating = impedance.number("SBASE1-2") or self.base
            g, y = g / 1e6 / self.base * square, b * rating / self.base * square
            b = -cmath.sqrt(y * y - g * g).real
        if (g or b) and bus not in self.isolated:
            self._put(row, "Shunt", {"id": f"MAG{name}", "bus": bus, "g": g, "b": b}, on)

    def _put(self, row: Row, model: str, fields: dict[str, Any], on: bool = True) -> None:
        self.found.devices.append((row, model, fields if on else fields | {"status": 0}))
