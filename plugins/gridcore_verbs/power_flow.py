"""The power flow of a case as a table of its buses: the verb ``pf``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from gridcore.commands import Progress, file_of, load, located, system_options
from gridcore.errors import GridcoreError

from .tables import Table, json_option, show, write_csv

if TYPE_CHECKING:
    from gridcore.equilibrium import Dispatch, Equilibrium, PowerFlow


@click.command("pf")
@system_options
@json_option
@click.option("--out", type=click.Path(path_type=Path), help="Folder for the table; without it none is written.")
def pf(case: str, changes: dict[str, str], deenergise: bool, enforce_q_limits: bool,
       out: Path | None) -> None:
    """Power flow of a case: a table of its buses.

    With --out it goes to CASE_pf.csv in that folder, with every digit.
    """
    from gridcore.equilibrium import Dispatch, build
    from gridcore_provenance.record import provenance

    loaded = load(case, changes)
    with Progress("power flow"), located(loaded):
        system = build(loaded, deenergise=deenergise, initialise=False)
        if not system.islands.buses:
            raise GridcoreError(f"case '{loaded.name}' has no buses")
        dispatch = Dispatch(system.system, system.Z0.copy())
        flow = dispatch.solve(enforce_q_limits)
    table = bus_table(dispatch, flow)
    show("buses", table)
    click.echo(totals(system, flow))
    if out is not None:
        file = file_of(loaded, out, "_pf.csv")
        write_csv(table, file, provenance(system))
        click.echo(str(file))


def bus_table(dispatch: Dispatch, flow: PowerFlow) -> Table:
    """Voltage of every bus in service, the power injected into the network there, and its kind."""
    import numpy as np

    from gridcore.equilibrium import PQ, PV, SLACK

    base = dispatch.Z[dispatch.system.layout.globals["base_mva"]]
    degrees, S = np.degrees(np.angle(flow.V)), flow.S * base
    kinds = {PQ: "PQ", PV: "PV", SLACK: "slack"}
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
