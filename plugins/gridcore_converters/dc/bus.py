"""The node of a DC network."""

from __future__ import annotations

from gridcore.contract import Algebraic, Node


class DCBus(Node):
    """A node of a DC network: pole to pole, in per unit of the voltage that is nominal there.

    Currents are in per unit of ``base_mva`` over that voltage, resistances of its square over ``base_mva``; an
    inductance is given by L / R and a capacitance by C R with that resistance, both in seconds. Beerten, Cole &
    Belmans, IEEE Trans. Power Syst. 29 (2014) 34.
    """

    naming = "DCBUS{id}"
    kind = "DC bus"
    V = Algebraic("pu", init=1.0, doc="voltage")
