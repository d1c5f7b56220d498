"""A test bench for one exciter: an infinite bus, and a machine whose signals are parameters that may step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gridcore as gc
from gridcore.contract import Device, Input, Param, Setpoint, Source
from gridcore.equilibrium import Equilibrium
from gridcore_conformance.testbed import testbed

# what a diagram calls a signal, and where it is on the bench
ADDRESS = {"V": "INF.E", "Ifd": "M.XadIfd", "Id": "M.Id", "Iq": "M.Iq", "delta": "M.delta", "omega": "M.omega",
           "Pm": "M.Pm", "Vs": "EXC.Vs", "dVref": "EXC.Vref"}


class BenchMachine(Source):
    """Takes any field voltage, wants `Efd0` of it at rest, and has the signals that it is given."""

    Efd0 = Param("pu", 2.0, doc="field voltage at t0")
    XadIfd = Param("pu", 1.8, doc="field current")
    Id = Param("pu", 0.5, doc="stator current, d axis")
    Iq = Param("pu", 0.6, doc="stator current, q axis")
    delta = Param("rad", 0.5, doc="rotor angle")
    omega = Param("pu", 1.0, doc="rotor speed")
    Efd = Input("pu", doc="field voltage")
    Pm = Setpoint("pu", doc="mechanical power")

    def currents(s: Any, bus: Any) -> Any:
        return s.Pm, s.Efd - s.Efd0

    def start(s: Any) -> Any:
        return {"Efd": s.Efd0, "Pm": 0.0}


def bench(cls: type[Device], data: dict[str, float], Efd: float = 2.0, Ifd: float = 1.8,
          steps: Sequence[tuple[float, str, float]] = (), more: Sequence[Any] = ()) -> gc.Case:
    """The exciter EXC at the machine M at an infinite bus; `steps` are (instant, signal, what is added)."""
    case = gc.Case("bench")
    case.add(gc.Record("Bus", {"id": "B"}))
    case.add(gc.Record("InfiniteBus", {"id": "INF", "bus": "B", "control": "slack", "V0": 1.0}))
    case.add(gc.Record("BenchMachine", {"id": "M", "bus": "B", "control": "PQ", "Efd0": Efd, "XadIfd": Ifd}))
    case.add(gc.Record(cls.__name__, {"id": "EXC", "machine": "M", **data}))
    for record in more:
        case.add(record)
    for k, (t, signal, by) in enumerate(steps):
        case.add(gc.Record("ParameterStep", {"id": f"S{k}", "parameter": ADDRESS[signal], "t": t, "by": by}))
    return case


def built(*args: Any, **kwargs: Any) -> Equilibrium:
    """A :func:`bench`, assembled."""
    with testbed(BenchMachine):
        return gc.build(bench(*args, **kwargs))
