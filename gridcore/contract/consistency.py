"""What the declarations of a device must fulfil together: said where the class is, not where it is used."""

from __future__ import annotations

import math

from ..errors import DeviceError
from .device import REQUIRED, Declarations, Device, Guard, Timer


def check_declarations(cls: type[Device], declared: Declarations) -> None:
    """Names that declarations refer to must exist and be of the right kind, and scales be positive."""
    def need(condition: bool, what: str) -> None:
        if not condition:
            raise DeviceError(f"{cls.__name__}: {what}")

    for name, param in declared.params.items():
        if (value := param.default) is not REQUIRED and value != "base_mva":
            need(isinstance(value, int | float) and value == value, f"{name}: its default {value!r} is no number")
            need(not param.refuses(value), f"{name}: its default {value!r} must be {param.refuses(value)}")
    for name, state in declared.states.items():
        numbers = [bound for bound in state.limits or () if isinstance(bound, int | float)]
        need(all(a == a for a in numbers) and sorted({*numbers}) == numbers, f"state {name}: limits {state.limits!r}")
        need(state.start_at is None or state.start_at in declared.params,
             f"state {name}: start_at={state.start_at!r} is not a Param")
        need(state.T is None or state.T in declared.params or state.T in declared.quantities,
             f"state {name}: T={state.T!r} is not a Param or quantity")
        for ref in state.limits or ():
            need(not isinstance(ref, str) or ref in {**declared.params, **declared.setpoints, **declared.quantities},
                 f"state {name}: limit {ref!r} is not a Param, Setpoint or quantity")
    for name, variable in declared.variables().items():
        need(0 < variable.scale < math.inf, f"{name}: scale={variable.scale!r} is not a positive number")
    for name in ("control", "P0", "Q0", "V0", "Qmin", "Qmax", "Sn") * bool(cls.regulates):
        need(name in declared.fields or name in declared.params, f"regulates=True needs {name}: derive it from Source")
    known = {**declared.params, **declared.variables(), **declared.inputs, **declared.setpoints}
    for name in (part for item in cls.plausible.items() for part in (item[0], *item[1]) if isinstance(part, str)):
        need(name in known, f"plausible: {name!r} is not a parameter, variable, input or set-point")
    for name, mode in ((guard.name, mode) for guard in declared.guards.values() for mode in guard.when):
        need("." in mode or mode in declared.modes, f"{name}: when has {mode!r}, which is not a Mode")
    events: list[Guard | Timer] = [*declared.guards.values(), *declared.timers.values()]
    own = {**declared.params, **declared.states, **declared.modes, **declared.inputs, **declared.setpoints,
           **declared.references}
    for item in events:
        ref = item.delay if isinstance(item, Guard) else item.at
        need(bool(item.then), f"{item.name}: then is empty: it says what changes, by name")
        need(ref is None or ref in declared.params, f"{item.name}: {ref!r} is not a Param")
        for target in item.then:
            port, dot, _ = target.rpartition(".")
            need(bool(dot) or target in own,
                 f"{item.name}: target {target!r} is not a mode, parameter or state of this device")
    for name, driver in (*declared.params.items(), *declared.variables().items()):
        if driver.drives is not None:
            port, dot, _ = driver.drives.partition(".")
            need(port in (cls.attaches if dot else declared.references),
                 f"{name} drives {driver.drives!r}: not a port in attaches, nor a Reference")
