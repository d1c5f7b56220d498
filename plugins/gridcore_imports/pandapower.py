"""Networks of pandapower.

Its own power flow makes tables of PYPOWER of a net: buses, with those joined that closed switches join, and branches in
per unit, whatever they were made from: lines, transformers of two and three windings with their tap changers,
impedances, switches. Generators and loads are taken one by one, and all else that draws power at a bus together.
L. Thurner et al., pandapower: an open-source Python tool for convenient modeling, analysis, and optimization of
electric power systems, IEEE Trans. Power Systems 33(6), 2018.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from gridcore.case import Case
from gridcore.errors import CaseError
from gridcore_readers.characteristics import shares
from gridcore_readers.psse import listed

# Columns of PYPOWER's tables, as in the appendix of MATPOWER's manual, and the one that pandapower adds.
BUS_I, BUS_TYPE, PD, QD, GS, BS, VM, VA, BASE_KV = 0, 1, 2, 3, 4, 5, 7, 8, 9
GEN_BUS, PG, QG, QMAX, QMIN, VG, GEN_STATUS = 0, 1, 2, 3, 4, 5, 7
F_BUS, T_BUS, BR_R, BR_X, BR_B, TAP, SHIFT, BR_STATUS, BR_G = 0, 1, 2, 3, 4, 8, 9, 10, 23
UNLIKE_ENDS = (21, 22, 24, 25)  # what a branch has at its one end and not at the other
REFERENCE, ISOLATED = 3, 4
NO_LIMIT = 1e8  # MVAr: as large stands for none
NOT_THERE = ("dcline", "bus_dc", "line_dc", "vsc", "b2b_vsc", "svc", "ssc", "tcsc")  # tables without a counterpart
RUNNING = "in_service"


def from_pandapower(net: Any, *, loads: str = "") -> Case:
    """A case of a network of pandapower: its network and dispatch, to which machines and events are added.

    Ids are those of pandapower's tables: ``BUS4``, ``LINE0``, ``TRAFO1``, ``LOAD3``, ``GEN0``, ``EXT_GRID0``; of buses
    that switches join, the first. External grids and generators become ``StaticGenerator``, loads ``ZIP``. The net is
    solved by ``pp.runpp`` first, with its own options (``pp.set_user_pf_options``) and all voltage angles; from there
    the power flow here starts.

    Parameters
    ----------
    net : pandapowerNet
        It is not changed.
    loads : str
        Characteristic of the loads in a simulation, of which the net says nothing:
        ``"Z"``, ``"I"``, ``"P"`` or two of them, as for files; constant impedance if not given.

    Returns
    -------
    Case
        What was left out or decided is in ``case.notes``.

    Raises
    ------
    CaseError
        If the net has something that has no counterpart here: which; or if pandapower finds no power flow of it.
    """
    if type(net).__name__ != "pandapowerNet":
        raise CaseError(f"an object of type {type(net).__name__} is no network of pandapower")
    unknown = [f"{len(net[name])} {name}" for name in NOT_THERE if name in net and len(net[name])]
    if unknown:
        raise CaseError(f"the net has {', '.join(unknown)}, which have no counterpart")
    return _Conversion(net, shares(loads)).case


class _Conversion:
    """The tables of a net, and the case that they become."""

    def __init__(self, net: Any, characteristic: dict[str, float]):
        self.net = copy.deepcopy(net)
        self._solve()
        self.parts = {index: self._by_voltage(index) or characteristic for index in self.net.load.index}
        self.net.load["p_mw"], self.net.load["q_mvar"] = self.net.res_load["p_mw"], self.net.res_load["q_mvar"]
        self.net.load["scaling"] = 1.0
        self.net.load[[name for name in self.net.load if name.startswith("const_")]] = 0.0
        self._solve()
        self.tables, lookups = self.net["_ppc"], self.net["_pd2ppc_lookups"]
        self.base, self.characteristic = float(self.tables["baseMVA"]), characteristic
        self.number_of = lookups["bus"]
        self.case = Case(str(net.name or "pandapower"), base_mva=self.base, frequency=float(net.f_hz),
                         about={"source": f"network of pandapower '{net.name}'"})
        self._buses()
        self._branches(lookups["branch"])
        self._generators({kind: lookups[kind] for kind in ("ext_grid", "gen", "xward") if kind in lookups})
        self._at_buses()

    def _solve(self) -> None:
        import pandapower

        try:
            pandapower.runpp(self.net, calculate_voltage_angles=True, numba=False)
        except pandapower.LoadflowNotConverged as error:
            raise CaseError(f"pandapower finds no power flow of the net: {error}") from None

    def _buses(self) -> None:
        """Buses in service; `ids` are theirs by number in the tables."""
        first: dict[int, int] = {}
        for bus, number in enumerate(self.number_of):
            first.setdefault(int(number), bus)
        self.ids: dict[int, int | str] = {}
        isolated = []
        for row in self.tables["bus"].real:
            number = int(row[BUS_I])
            index = first.get(number)  # none for the open end of a line
            if row[BUS_TYPE] == ISOLATED:
                isolated += [] if index is None else [index]
                continue
            self.ids[number] = f"AUX{number}" if index is None else index
            name = self.net.bus.name.get(index)
            label = {"label": name} if isinstance(name, str) and name else {}
            self.case.add("Bus", id=self.ids[number], **label, kv=float(row[BASE_KV]), Vm0=float(row[VM]),
                          Va0=math.radians(row[VA]))
        joined: dict[int, list[int]] = {}
        for bus in self.net.bus.index:
            if (number := int(self.number_of[bus])) in self.ids and bus != self.ids[number]:
                joined.setdefault(number, []).append(bus)
        for number, others in joined.items():
            self.case.note(f"joined with bus {self.ids[number]} by closed switches: {listed(others)}")
        if isolated:
            self.case.note(f"buses out of service or cut off left out, with all that is at them: {listed(isolated)}")

    def _branches(self, kinds: dict[str, tuple[int, int]]) -> None:
        for kind, (begin, end) in kinds.items():
            index = self.net[kind].index if kind in self.net else range(end - begin)
            for place, row in enumerate(self.tables["branch"][begin:end].real):
                part, of = divmod(place, len(index))  # of three windings, first all of one side
                name = f"{kind.upper()}{index[of]}" + (
                    f"_w{part + 1}" if end - begin > len(index) else "_x" if kind == "xward" else "")
                if int(row[F_BUS]) not in self.ids or int(row[T_BUS]) not in self.ids:
                    continue
                if row[list(UNLIKE_ENDS)].any():
                    raise CaseError(f"{kind} {index[of]} has other values at its one end than at the other")
                transformer = row[SHIFT] != 0 or row[TAP] not in (0, 1) or kind.startswith("trafo")
                ratio = {"tap": float(row[TAP]) or 1.0, "phase": math.radians(row[SHIFT])} if transformer else {}
                self.case.add("Transformer" if transformer else "Line", id=name, bus1=self.ids[int(row[F_BUS])],
                              bus2=self.ids[int(row[T_BUS])], r=float(row[BR_R]), x=float(row[BR_X]),
                              b=float(row[BR_B]), **({"g": float(row[BR_G])} if row[BR_G] else {}), **ratio,
                              **({} if row[BR_STATUS] else {"status": 0}))

    def _generators(self, rows: dict[str, np.ndarray]) -> None:
        """What holds a voltage: one of each reference bus is the slack there, the first."""
        kinds = {int(row[BUS_I]): row[BUS_TYPE] for row in self.tables["bus"].real}
        held: set[int] = set()
        for kind, places in rows.items():
            for index in self.net[kind].index:
                row = self.tables["gen"][places[index]].real if index < len(places) else None
                if row is None or int(row[GEN_BUS]) not in self.ids or not row[GEN_STATUS]:
                    continue
                number = int(row[GEN_BUS])
                slack = kinds[number] == REFERENCE and number not in held
                held |= {number} if slack else set()
                limits = {name: float(row[column]) / self.base for name, column in (("Qmin", QMIN), ("Qmax", QMAX))
                          if abs(row[column]) < NO_LIMIT}
                rating = self.net[kind].get("sn_mva", {}).get(index, math.nan)
                self.case.add("StaticGenerator", id=f"{kind.upper()}{index}", bus=self.ids[number],
                              control="slack" if slack else "PV", P0=float(row[PG]) / self.base, V0=float(row[VG]),
                              **limits, **({"Sn": float(rating)} if rating > 0 else {}))

    def _at_buses(self) -> None:
        """Loads and static generators one by one; what else the tables have at a bus; shunts."""
        left = {int(row[BUS_I]): complex(row[PD], row[QD]) for row in self.tables["bus"].real}
        for index, number, power in self._elements("load"):
            left[number] -= power
            self._load(f"LOAD{index}", number, power, self.parts[index])
        for index, number, power in self._elements("sgen"):
            left[number] += power
            self.case.add("StaticGenerator", id=f"SGEN{index}", bus=self.ids[number], control="PQ",
                          P0=power.real / self.base, Q0=power.imag / self.base)
        for row in self.tables["bus"].real:
            number = int(row[BUS_I])
            if number not in self.ids:
                continue
            if abs(left[number]) > 1e-9 * self.base:
                self._load(f"REST{self.ids[number]}", number, left[number], self.characteristic)
            if row[GS] or row[BS]:
                self.case.add("Shunt", bus=self.ids[number], g=float(row[GS]) / self.base, b=float(row[BS]) / self.base)

    def _elements(self, kind: str) -> Iterator[tuple[int, int, complex]]:
        """(index, number of its bus, MW + j MVAr) of what is in service, at a bus that is."""
        for index, row in self.net[kind].iterrows():
            number = int(self.number_of[row["bus"]])
            if row[RUNNING] and number in self.ids:
                yield int(index), number, complex(row["p_mw"], row["q_mvar"]) * float(row["scaling"])

    def _load(self, name: str, number: int, power: complex, parts: dict[str, float]) -> None:
        self.case.add("ZIP", id=name, bus=self.ids[number], P0=power.real / self.base, Q0=power.imag / self.base,
                      **parts)

    def _by_voltage(self, index: int) -> dict[str, float]:
        """The parts of what a load draws at the solution, where the net says how it depends on the voltage."""
        row, V = self.net.load.loc[index], float(self.net.res_bus.vm_pu[self.net.load.bus[index]])
        parts: dict[str, float] = {}
        for side in "pq":
            impedance, current = (float(row.get(f"const_{part}_{side}_percent", 0.0)) / 100 for part in "zi")
            terms = np.array([impedance * V * V, current * V, 1 - impedance - current])
            parts |= dict(zip((f"{side}Z", f"{side}I", f"{side}P"), (terms / terms.sum()).tolist(), strict=True))
        return parts if parts["pP"] < 1 or parts["qP"] < 1 else {}
