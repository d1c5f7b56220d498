"""The power flow of an operating point as tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from gridcore.equations import evaluate, function_of
from gridcore.equilibrium import PQ, PV, SLACK, Equilibrium
from gridcore.errors import GridcoreError
from gridcore_notebook import html

if TYPE_CHECKING:
    import pandas as pd

    from gridcore.equations import Group
    from gridcore.equilibrium import Dispatch
    from gridcore.equilibrium import PowerFlow as Solution

KINDS = {PQ: "PQ", PV: "PV", SLACK: "slack"}


@dataclass(frozen=True)
class PowerFlow:
    """The power flow of a system's operating point.

    Attributes
    ----------
    iterations : int
        Of Newton's method.
    mismatch : float
        The largest that is left (pu).
    loss : complex
        What the network takes, shunts included (MW + j MVAr).
    """

    system: Equilibrium
    dispatch: Dispatch
    solution: Solution

    _repr_html_ = html

    @property
    def iterations(self) -> int:
        return self.solution.iterations

    @property
    def mismatch(self) -> float:
        return self.solution.mismatch

    @property
    def loss(self) -> complex:
        return complex(self.solution.S.sum() * self._base)

    @property
    def _base(self) -> float:
        return float(self.system.Z0[self.system.layout.globals["base_mva"]])

    @cached_property
    def buses(self) -> pd.DataFrame:
        """The AC buses in service: ``kind``, ``Vm_pu``, ``Va_deg``, and ``P_MW``, ``Q_MVAr`` injected into the network;
        `limited` is 1 where a PV bus became PQ at its upper limit of Q, -1 at its lower one.
        """
        import pandas as pd

        flow, S = self.solution, self.solution.S * self._base
        return pd.DataFrame({
            "kind": [KINDS[int(kind)] for kind in flow.kinds], "Vm_pu": np.abs(flow.V),
            "Va_deg": np.degrees(np.angle(flow.V)), "P_MW": S.real, "Q_MVAr": S.imag, "limited": flow.limited,
        }, pd.Index([self.dispatch.ids[k] for k in self.dispatch.alive], name="bus", dtype=object))

    @cached_property
    def branches(self) -> pd.DataFrame:
        """Whatever has two AC buses: what flows into it at each (``P1_MW``, ``Q1_MVAr``, ...), what stays in it
        (``P_loss_MW``, ``Q_loss_MVAr``), and the current at each (``I1_pu``, ``I2_pu``), system base.
        """
        import pandas as pd

        flows = (row for group in self.system.layout.groups for row in self._flows(group))
        rows = sorted(flows, key=lambda row: row[0])
        names = [self.system.instances[number].id for number, *_ in rows]
        ends = [[self.system.instances[number].ports[port] for port in ports] for number, ports, *_ in rows]
        S = np.array([power for *_, power, _ in rows]).reshape(-1, 2) * self._base
        current = np.array([current for *_, current in rows]).reshape(-1, 2)
        columns: dict[str, Any] = {f"bus{end + 1}": [pair[end] for pair in ends] for end in (0, 1)}
        for end in (0, 1):
            columns |= {f"P{end + 1}_MW": S[:, end].real, f"Q{end + 1}_MVAr": S[:, end].imag}
        columns |= {"P_loss_MW": S.sum(axis=1).real, "Q_loss_MVAr": S.sum(axis=1).imag}
        columns |= {f"I{end + 1}_pu": current[:, end] for end in (0, 1)}
        return pd.DataFrame(columns, pd.Index(names, name="branch", dtype=object))

    def _flows(self, group: Group) -> Iterator[tuple[int, list[str], np.ndarray, np.ndarray]]:
        """Of each member of a group of branches: its number, its two ports, power into it and current there (pu)."""
        cls, layout, Z = group.shape.cls, self.system.layout, self.system.rest
        ports = [str(port) for port in cls.bus_ports()]
        if len(ports) != 2:
            return
        rows = {symbol: expression for symbol, expression in group.trace.rows}
        given = [rows.get(((port,), potential), 0.0) for port in ports for potential in group.trace.potentials(port)]
        into = np.zeros((4, len(group)))
        for k, expression in enumerate(given):
            if not isinstance(expression, float):
                function, at = function_of("flow", layout, group, expression)
                into[k] = -evaluate(function, Z[at].T)[0]
        current = into[0::2] + 1j * into[1::2]
        V = np.array([Z[layout.positions(group.at[port,], "Vr")] + 1j * Z[layout.positions(group.at[port,], "Vi")]
                      for port in ports])
        for number, power, size in zip(group.members, (V * current.conj()).T, np.abs(current).T, strict=True):
            yield int(number), ports, power, size

    def __repr__(self) -> str:
        return (f"<Power flow of '{self.system.case.name}': {len(self.solution.V)} buses, {self.iterations} "
                f"iterations, mismatch {self.mismatch:.1e} pu; .buses and .branches>")


def power_flow(system: Equilibrium) -> PowerFlow:
    """The power flow of a system's operating point: ``system.power_flow.buses``, ``system.power_flow.branches``.

    Parameters
    ----------
    system : Equilibrium

    Returns
    -------
    PowerFlow
        Its tables are of pandas.

    Raises
    ------
    GridcoreError
        If the system was built without its operating point, or no AC bus is in service.
    """
    if not isinstance(system, Equilibrium):
        raise GridcoreError(f"{system!r} is no system: gc.build makes one of a case")
    point = system.operating_point
    if point is None or point.dispatch is None or point.power_flow is None:
        raise GridcoreError(f"case '{system.case.name}' has no power flow: " + (
            "it was built with initialise=False" if point is None else "it has no AC bus in service"))
    return PowerFlow(system, point.dispatch, point.power_flow)
