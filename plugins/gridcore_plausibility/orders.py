"""Orders of magnitude of data, by unit and name: for what a device class says nothing of.

They are wrong units and exchanged fields that are meant: percent for per unit, milliseconds for seconds, ohms, degrees,
MW for per unit. So a range is several times what published systems and manuals have: time constants, gains and
reactances of Kundur (1994), table 4.2 and chapters 8 and 9, and of IEEE Std 421.5-2016, annex H; IEEE 118 and 145
buses, NPCC 140, WECC 240 and ACTIVSg2000, whose equivalents on a base of 100 MVA have reactances from 1e-4 to 10 pu
and inertia constants up to 2837 s.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from gridcore.contract import Device, Param, PerUnit


@dataclass(frozen=True)
class Order:
    """What values of this unit, under names like this, are where they are not zero or infinite: in size, from, to."""

    unit: str
    of: str  # of what per unit converts to
    name: str
    least: float
    most: float

    def concerns(self, name: str, param: Param) -> bool:
        """Whether it says something of a parameter."""
        of = (param.unit.of if isinstance(param.unit, PerUnit) else ()) or ("",)
        return param.unit == self.unit and self.of in of and re.fullmatch(self.name, name) is not None


_ANY = ".*"
# The first that concerns a parameter holds. Limits are left out: 99, 999 and more stand for none.
ORDERS = (
    Order("s", "", "TR", 1e-5, 10.0),  # transducers of voltage
    Order("s", "", "T.*", 1e-5, 3600.0),  # time constants, from measurement to boilers and heated rooms
    Order("s", "", "H.*", 1e-3, 3e4),
    Order("MVA", "", _ANY, 1e-4, 1e6),
    Order("kV", "", "kv", 1e-2, 3e3),
    Order("rad", "", _ANY, 0.0, 6.5),  # a turn
    Order("pu", "ohm", "[xX].*", 1e-9, 30.0),
    Order("pu", "ohm", "Rs|RA", 0.0, 3.0),  # stators; 0.06 at most is published
    Order("pu", "ohm", "[rR].*", 0.0, 30.0),
    Order("pu", "S", "[bg]", 0.0, 300.0),
    Order("pu", "kV", "V(0|set|ref)", 0.3, 2.0),
    Order("pu", "", "KE", 0.0, 10.0),
    Order("pu", "", r"KF\d?", 0.0, 30.0),  # rate feedback
    Order("pu", "", "D", 0.0, 1e4),
    *(Order(unit, "", "K.*", 0.0, 1e5) for unit in ("pu", "", "1/s", "pu/s", "pu s", "s")))


_known: WeakKeyDictionary[type[Device], dict[str, Order]] = WeakKeyDictionary()


def orders_of(cls: type[Device]) -> dict[str, Order]:
    """By parameter, of those that the class itself calls no range of plausible."""
    if cls not in _known:
        found = {name: next((order for order in ORDERS if order.concerns(name, param)), None)
                 for name, param in cls.declares.params.items() if name not in cls.plausible}
        _known[cls] = {name: order for name, order in found.items() if order}
    return _known[cls]
