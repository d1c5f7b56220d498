"""A run in words: what was simulated, what happened, what came of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gridcore.contract import Bus, Node, plural
from gridcore.integrate import TOLERANCES
from gridcore.results import recorded
from gridcore.tape import AUTO
from gridcore_rotors.rotors import Rotors, kept_rotors

if TYPE_CHECKING:
    from gridcore.equilibrium import Equilibrium
    from gridcore.results import Run
    from gridcore.tape import Spacing

Line = tuple[str, str]
_EVENTS_SHOWN = 30


def layout(lines: Sequence[Line]) -> str:
    """Headings in one column, texts in the next; a heading is given once for the lines under it."""
    width = max((len(heading) for heading, _ in lines), default=0)
    return "\n".join(f"{heading:<{width}}  {text}".rstrip() for heading, text in lines)


def describe_system(system: Equilibrium) -> Iterator[Line]:
    """Case, size, power flow, initialisation, and what is broken at t0 already."""
    case = system.case
    yield "case", f"{case.name}: {case.title}" if case.title else case.name
    devices = [instance.device for instance in system.layout.instances]
    models = Counter(device.__name__ for device in devices if not issubclass(device, Node))
    nodes = Counter(device.kind for device in devices if issubclass(device, Node))
    differential = int(system.differential(system.Z0).sum())
    what = ", ".join(f"{count} {model}" for model, count in models.items())
    size = [_count(count, kind, plural(kind)) for kind, count in nodes.items()]
    yield "system", ", ".join([*size, f"{_count(models.total(), 'device')}: {what}"])
    yield "", f"{_count(system.n, 'unknown')}, {differential} of them differential"
    point = system.operating_point
    if point is None:
        return
    flow = point.power_flow
    if flow is not None:
        limited = int(np.count_nonzero(flow.limited))
        extra = [f"{_count(limited, 'bus', 'buses')} at a reactive limit"] if limited else []
        yield "power flow", ", ".join([_count(flow.iterations, "iteration"),
                                       f"mismatch {flow.mismatch:.1e} pu", *extra])
    yield "initial state", f"{_count(point.iterations, 'iteration')}, largest residual {point.residual:.1e}"
    yield from _under("limits at t0", point.violations or ["all kept"])


def describe_run(run: Run) -> Iterator[Line]:
    """Events, speeds, voltages, synchronism, work and time."""
    yield from _under("events", _events(run) or ["none"])
    machines = kept_rotors(run)
    if machines is not None:
        speeds = np.where(machines.in_service, machines.omega, np.nan)
        yield "speed", _extremes(run, machines.devices, speeds, "pu")
    buses = recorded(run, [i.id for i in run.system.layout.instances if issubclass(i.device, Bus)], "Vm")
    if buses:
        live = run.of(buses, "energised") == 1
        volts = np.where(live, run.of(buses, "Vm"), np.nan)
        yield "voltage", _extremes(run, buses, volts, "pu")
        if np.isfinite(volts[-1]).any():
            low, high = int(np.nanargmin(volts[-1])), int(np.nanargmax(volts[-1]))
            yield "", (f"at the end {volts[-1, low]:.4f} pu ({buses[low]}) to "
                       f"{volts[-1, high]:.4f} pu ({buses[high]})")
    if machines is not None and machines.spread.any():  # a machine alone has nothing to be in step with
        yield "machines", _synchronism(run, machines)
    settings, counters = run.settings, run.counters
    methods = {method.name: method for method in run.tape.methods}  # more than one where it was continued by another
    told = ", then ".join(", ".join([name, *(f"{key} = {_option(value)}" for key, value in method.options.items())])
                          for name, method in methods.items())
    yield "integration", (f"{told}, {run.t[0]:g} to {run.t[-1]:g} s, "
                          f"step {_spacing(settings['step'])}{_tolerances(settings)}")
    yield "", ", ".join(f"{number} {name.replace('_', ' ')}" for name, number in counters.items())
    point = run.system.operating_point
    timings = {**(point.timings if point else {}), **run.timings}
    yield "time", ", ".join(f"{name} {_duration(seconds)}" for name, seconds in timings.items())


def _option(value: Any) -> str:
    """Of a method; of a long list its beginning."""
    if isinstance(value, list) and len(value) > 1:
        return f"{value[0]} and {len(value) - 1} more"
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def _tolerances(settings: Mapping[str, Any]) -> str:
    """Those by which steps were chosen."""
    return "".join(f", {name} = {settings[name]:g}" for name in TOLERANCES
                   if settings["step"] == AUTO and name in settings)


def _spacing(step: Spacing) -> str:
    if isinstance(step, str):
        return step
    if isinstance(step, float | int):
        return f"{step:g} s"
    return ", ".join(f"{h:g} s from {begin:g} s" for begin, h in step)


def _under(heading: str, texts: Sequence[str]) -> Iterator[Line]:
    for n, text in enumerate(texts):
        yield heading if n == 0 else "", text


def _count(number: int, singular: str, plural: str = "") -> str:
    return f"{number} {singular if number == 1 else plural or singular + 's'}"


def _events(run: Run) -> list[str]:
    found = [str(event) for event in run.events]
    more = len(found) - _EVENTS_SHOWN
    return found[:_EVENTS_SHOWN] + ([f"and {more} more"] if more > 0 else [])


def _extremes(run: Run, devices: Sequence[str], values: np.ndarray, unit: str) -> str:
    """The smallest and the largest value, whose and when."""
    if not np.isfinite(values).any():
        return "none in service"
    ends = []
    for at in (np.nanargmin(values), np.nanargmax(values)):
        point, column = divmod(int(at), len(devices))
        ends.append(f"{values[point, column]:.4f} {unit} ({devices[column]} at {run.t[point]:.4g} s)")
    return " to ".join(ends)


def _synchronism(run: Run, machines: Rotors) -> str:
    degrees, worst = np.degrees(machines.spread), int(np.argmax(machines.spread))
    most = f"at most {degrees[worst]:.1f} degrees apart (at {run.t[worst]:.4g} s)"
    if machines.verdict == "in synchronism":
        return f"in synchronism: rotor angles {most}"
    lost = int(np.argmax(machines.spread >= np.pi))
    return (f"{machines.verdict.upper()}: rotor angles 180 degrees apart at {run.t[lost]:.4g} s, {most}, "
            f"{degrees[-1]:.1f} in the end")


def _duration(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:.1f} ms"
