"""The values of a case in the buffer Z, and what follows from them alone: which rows are differential."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..case import Case, Instance
from ..equations import Batch, Group, Trace, function_of
from ..errors import DeviceError
from ..system import System


def parameters(system: System, case: Case, instances: Sequence[Instance]) -> np.ndarray:
    """The buffer Z with the values that a case gives, and the guesses that its devices declare, (size,)."""
    layout = system.layout
    Z = np.zeros(layout.size)
    for group in layout.groups:
        declared = group.shape.cls.declares
        values: dict[str, Any] = {name: variable.init for name, variable in declared.variables().items()}
        values |= {name: [instances[i].values[name] for i in group.members] for name in declared.params}
        values |= {name: setpoint.init for name, setpoint in declared.setpoints.items()}
        values |= {name: item.default or 0.0 for name, item in declared.inputs.items()}
        values |= {name: mode.initial for name, mode in declared.modes.items()}
        for name, value in values.items():
            Z[layout.of_group(group, name)] = value
    for i in (i for i, instance in enumerate(instances) if not instance.in_service):
        for j in (i, *layout.dependants(i)):
            Z[layout.address(f"{layout.instances[j].id}.status")] = 0.0
    for driver, replaced in layout.replaced():  # a ramp begins at the parameter that it replaces
        Z[driver] = Z[replaced]
    Z[layout.globals["omega_b"]] = 2 * math.pi * float(case.frequency)
    Z[layout.globals["base_mva"]] = float(case.base_mva)
    return Z


def differential_rows(system: System, Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows that are differential by themselves; and (variable, mode, whether it moves) of every limited state."""
    layout = system.layout
    mask = np.zeros(system.n, dtype=bool)
    limited = []
    for group, trace in zip(layout.groups, system.traces, strict=True):
        cls = group.shape.cls
        for name, state in cls.declares.states.items():
            at = layout.of_group(group, name)
            mask[at] = True
            if state.T is not None:
                mask[at] = _time_constants(system, Z, group, trace, state.T)[0] > 0
            if state.limits is not None:
                moves = mask[at] & any(bound in cls.declares.quantities for bound in state.limits)
                limited.append(np.stack([at, layout.of_group(group, f"{name}_limit"), moves], axis=1))
    return mask, np.concatenate([np.zeros((0, 3), dtype=int), *limited])


def _time_constants(system: System, Z: np.ndarray, group: Group, trace: Trace, T: str
                    ) -> tuple[np.ndarray, np.ndarray]:
    """Values of a time constant, (count,), and the positions in Z of the parameters that make it up."""
    function, gather = function_of("T", system.layout, group, trace, trace.quantity(T))
    if any(trace.kind(symbol) not in "pu" for symbol in trace.symbols_of(trace.quantity(T))):
        raise DeviceError(f"{group.shape.cls.__name__}: T={T!r} depends on more than parameters")
    return Batch(function, gather, np.zeros((len(group), 1))).values(Z)[:, 0], gather


def zero_time_constants(system: System, Z: np.ndarray) -> list[int]:
    """Positions in Z of the time constants that are zero: which rows are algebraic cannot be derived in them."""
    found = [_time_constants(system, Z, group, trace, state.T)
             for group, trace in zip(system.layout.groups, system.traces, strict=True)
             for state in group.shape.cls.declares.states.values() if state.T is not None]
    return [int(i) for values, at in found for i in at[values == 0].ravel()]
