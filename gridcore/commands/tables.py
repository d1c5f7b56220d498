"""The power flow as a table of buses: text for the screen, CSV for other programs."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..equilibrium import Dispatch, Equilibrium
    from ..equilibrium.powerflow import PowerFlow

_DIGITS = {"Vm [pu]": 5, "Va [deg]": 3, "P [MW]": 3, "Q [MVAr]": 3}


@dataclass
class Table:
    """Columns by heading, all of one length."""

    columns: dict[str, list[Any]]

    def text(self) -> str:
        """Aligned columns: text to the left, numbers to the right."""
        parts = []
        for heading, values in self.columns.items():
            digits = _DIGITS.get(heading)
            # adding zero turns -0.0 into 0.0
            cells = [str(v) if digits is None else f"{round(v, digits) + 0.0:.{digits}f}" for v in values]
            width = max(map(len, [heading, *cells]))
            side = "<" if digits is None else ">"
            parts.append([f"{cell:{side}{width}}" for cell in (heading, *cells)])
        return "\n".join("  ".join(row).rstrip() for row in zip(*parts, strict=True))


def bus_table(dispatch: Dispatch, flow: PowerFlow) -> Table:
    """Voltage of every bus in service, the power injected into the network there, and its kind."""
    import numpy as np

    from ..equilibrium import powerflow

    base = dispatch.Z[dispatch.system.layout.globals["base_mva"]]
    degrees, S = np.degrees(np.angle(flow.V)), flow.S * base
    kinds = {powerflow.PQ: "PQ", powerflow.PV: "PV", powerflow.SLACK: "slack"}
    limits = {1: "at its upper limit of Q", -1: "at its lower limit of Q", 0: ""}
    return Table({
        "bus": [dispatch.ids[k] for k in dispatch.alive], "kind": [kinds[int(k)] for k in flow.kinds],
        "Vm [pu]": np.abs(flow.V).tolist(), "Va [deg]": degrees.tolist(),
        "P [MW]": S.real.tolist(), "Q [MVAr]": S.imag.tolist(),
        "": [limits[int(side)] for side in flow.limited]})


def totals(system: Equilibrium, flow: PowerFlow) -> str:
    """One line on how the power flow went."""
    base = system.Z0[system.layout.globals["base_mva"]]
    loss = flow.S.sum() * base
    off = len(system.islands.buses) - len(flow.V)
    return (f"{flow.iterations} iterations, mismatch {flow.mismatch:.1e} pu; the network takes "
            f"{loss.real:.3f} MW and {loss.imag:.3f} MVAr" + (f"; {off} buses out of service" if off else ""))


def write_csv(table: Table, path: Path) -> None:
    """Write a table with every digit."""
    from ..results import whole_file

    with whole_file(path) as temporary, open(temporary, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([heading or "remark" for heading in table.columns])
        writer.writerows(zip(*table.columns.values(), strict=True))


def per(of: str, to: str) -> str:
    """The unit of a derivative, ``"pu / s"``; nothing where neither has one."""
    return f"{of or 1} / {to or 1}" if of or to else ""
