"""Networks of PyPSA: what its power flow has of a snapshot.

Impedances per unit, of standard types too, are those that PyPSA computes (``calculate_dependent_values``), on 1 MVA.
T. Brown, J. Hörsch, D. Schlachtberger, PyPSA: Python for power system analysis, Journal of Open Research Software 6(4),
2018; its documentation, "Power flow", has the equations of branches: the ratio of a transformer stands at ``bus0``
where ``tap_side`` is 0, at ``bus1`` where it is 1.
"""

from __future__ import annotations

import math
from typing import Any

from gridcore.case import Case
from gridcore.errors import CaseError
from gridcore_readers.characteristics import shares

from .names import Names

BASE = 100.0  # MVA
SOURCES = ("Generator", "StorageUnit", "Store")


def from_pypsa(network: Any, snapshot: Any = None, *, frequency: float = 50.0, loads: str = "") -> Case:
    """A case of a snapshot of a network of PyPSA: its network and dispatch, to which machines and events are added.

    Ids are PyPSA's names, those of buses with digits alone ``BUS4``; what cannot be an id is changed (spaces and dots
    to ``_``) or, where two components have one name, begins with the component's. Generators, storage units and
    stores become ``StaticGenerator`` with their ``p_set`` and ``q_set``, loads ``ZIP``, links loads at their ends.

    Parameters
    ----------
    network : pypsa.Network
        Of AC buses; it is not changed.
    snapshot
        One of ``network.snapshots``, by default the first.
    frequency : float
        Nominal frequency (Hz), which the network does not have.
    loads : str
        Characteristic of the loads in a simulation: ``"Z"``, ``"I"``, ``"P"`` or two of them, as for files; constant
        impedance if not given.

    Returns
    -------
    Case
        On 100 MVA. What was left out or decided is in ``case.notes``.

    Raises
    ------
    CaseError
        If there is no such snapshot, or the network has something without a counterpart here: which.
    """
    if type(network).__name__ != "Network" or not hasattr(network, "snapshots"):
        raise CaseError(f"an object of type {type(network).__name__} is no network of PyPSA")
    chosen = network.snapshots[0] if snapshot is None else snapshot
    if chosen not in network.snapshots:
        raise CaseError(f"the network has no snapshot {snapshot!r}: there are {network.snapshots[0]} to "
                        f"{network.snapshots[-1]}")
    return _Conversion(network.copy(), chosen, Case(
        str(network.name or "pypsa"), base_mva=BASE, frequency=frequency,
        about={"source": f"network of PyPSA '{network.name}', snapshot {chosen}"}), shares(loads)).case


class _Conversion:
    """A network, and the case that its snapshot becomes."""

    def __init__(self, network: Any, snapshot: Any, case: Case, characteristic: dict[str, float]):
        self.network, self.snapshot, self.case, self.characteristic = network, snapshot, case, characteristic
        self.names = Names()
        table = self._table("Bus")
        other = [name for name in table.index if table.carrier[name] not in ("AC", "")]
        if other:
            raise CaseError(f"bus '{other[0]}' is of carrier {table.carrier[other[0]]}: only AC buses have a "
                            "counterpart")
        network.lpf([snapshot])  # topology, values per unit, angles to start from
        self.slack = set()
        for part in network.sub_networks.obj:
            if part.slack_generator is None:
                raise CaseError(f"the part of the network with bus '{part.slack_bus}' has no generator to be its slack")
            self.slack.add(part.slack_generator)
        self._buses(table)
        for component in ("Line", "Transformer"):
            self._branches(component)
        for component in SOURCES:
            self._sources(component)
        self._loads()
        self._shunts()

    def _table(self, component: str) -> Any:
        """The rows of a component that are active."""
        table = self.network.components[component].static
        return table[table["active"]] if "active" in table else table

    def _now(self, component: str, name: str) -> Any:
        """A series of a component at the snapshot, by name."""
        return self.network.get_switchable_as_dense(component, name).loc[self.snapshot].fillna(0.0)

    def _buses(self, table: Any) -> None:
        self.bus: dict[str, str] = {name: self.names.id("BUS", name) for name in table.index}
        self.volts = self._now("Bus", "v_mag_pu_set").where(lambda v: v > 0, 1.0)
        angles = self.network.buses_t.v_ang.loc[self.snapshot]
        for name, id in self.bus.items():
            label = {} if name == id else {"label": str(name)}
            self.case.add("Bus", id=id, **label, kv=float(table.v_nom[name]), Vm0=float(self.volts[name]),
                          Va0=float(angles[name]))

    def _branches(self, component: str) -> None:
        for name, row in self._table(component).iterrows():
            fields = {"id": self.names.id(component, name), "bus1": self.bus[row.bus0], "bus2": self.bus[row.bus1],
                      "r": float(row.r_pu) * BASE, "x": float(row.x_pu) * BASE, "b": float(row.b_pu) / BASE}
            if row.g_pu:
                fields["g"] = float(row.g_pu) / BASE
            if component == "Transformer":
                phase = math.radians(row.phase_shift)
                if row.tap_side == 1:
                    fields |= {"bus1": fields["bus2"], "bus2": fields["bus1"]}
                    phase = -phase
                fields |= {"tap": float(row.tap_ratio) or 1.0, "phase": phase}
            self.case.add(component, **fields)

    def _sources(self, component: str) -> None:
        table = self._table(component)
        P, Q = self._now(component, "p_set"), self._now(component, "q_set")
        for name, row in table.iterrows():
            slack = component == "Generator" and name in self.slack
            control = "slack" if slack else "PV" if component == "Generator" and row.control == "PV" else "PQ"
            given = {} if control == "PQ" else {"V0": float(self.volts[row.bus])}
            self.case.add("StaticGenerator", id=self.names.id(component, name), bus=self.bus[row.bus], control=control,
                          P0=float(row.sign * P[name]) / BASE, Q0=float(row.sign * Q[name]) / BASE, **given)

    def _loads(self) -> None:
        """Loads, and either end of links: power is taken at ``bus0``, and given with its efficiency at ``bus1``."""
        table = self._table("Load")
        P, Q = self._now("Load", "p_set"), self._now("Load", "q_set")
        for name, row in table.iterrows():
            self._load(self.names.id("Load", name), row.bus, -complex(P[name], Q[name]) * row.sign)
        links = self._table("Link")
        more = [column for column in links if column.startswith("bus") and column not in ("bus0", "bus1")
                and (links[column] != "").any()]
        if more:
            raise CaseError(f"links with {more[0]} have no counterpart")
        P, efficiency = self._now("Link", "p_set"), self._now("Link", "efficiency")
        for name, row in links.iterrows():
            id = self.names.id("Link", name)
            self._load(f"{id}_0", row.bus0, complex(P[name]))
            self._load(f"{id}_1", row.bus1, -complex(P[name] * efficiency[name]))

    def _load(self, id: str, bus: str, power: complex) -> None:
        self.case.add("ZIP", id=id, bus=self.bus[bus], P0=power.real / BASE, Q0=power.imag / BASE,
                      **self.characteristic)

    def _shunts(self) -> None:
        for name, row in self._table("ShuntImpedance").iterrows():
            self.case.add("Shunt", id=self.names.id("Shunt", name), bus=self.bus[row.bus], g=float(row.g_pu) / BASE,
                          b=float(row.b_pu) / BASE)
