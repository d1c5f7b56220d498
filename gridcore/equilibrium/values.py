"""The values of a case in the buffer Z, and what follows from them alone: which rows are differential."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..case import Case, Instance
from ..equations import Batch, Group, function_of
from ..errors import DeviceError
from ..kept import KeptFor
from ..system import System

_time_constants: KeptFor[dict[tuple[Group, str], Batch]] = KeptFor("time_constants")


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
    for instance in instances:
        if not instance.in_service:
            layout.set_status(Z, instance.id, 0.0)
    for driver, replaced in layout.replaced():  # a ramp begins at the parameter that it replaces
        Z[driver] = Z[replaced]
    Z[layout.globals["omega_b"]] = 2 * math.pi * float(case.frequency)
    Z[layout.globals["base_mva"]] = float(case.base_mva)
    return Z


class Rows(NamedTuple):
    """What the values of parameters say of the equations.

    `differential`, (n,) bool, are the rows that are differential by themselves; `limited` has variable, mode, and
    whether the bound moves, of every limited state, (k, 3); `zero_time_constants` the positions in Z of those, in which
    there is no derivative: they make rows algebraic; `time_constants`, (size,) bool, where in Z any of them are.
    """

    differential: np.ndarray
    limited: np.ndarray
    zero_time_constants: list[int]
    time_constants: np.ndarray


def classify_rows(system: System, Z: np.ndarray) -> Rows:
    """Which rows are differential with the parameters in Z."""
    layout = system.layout
    mask = np.zeros(system.n, dtype=bool)
    limited, zero, any_of_them = [np.zeros((0, 3), dtype=int)], [], np.zeros(layout.size, dtype=bool)
    time_constants = _time_constants.get(system, (), lambda: _read_time_constants(system))
    for group in layout.groups:
        cls = group.shape.cls
        for name, state in cls.declares.states.items():
            at = layout.of_group(group, name)
            mask[at] = True
            if state.T is not None:
                values = (batch := time_constants[group, name]).values(Z)[:, 0]
                for k in np.flatnonzero(~(values >= 0))[:1]:
                    raise layout.instances[group.members[k]].record.error(
                        f"{values[k]:g} is a time constant and must be at least 0", state.T)
                mask[at], any_of_them[batch.gather] = values > 0, True
                zero += batch.gather[values == 0].ravel().tolist()
            if state.limits is not None:
                moves = mask[at] & any(bound in cls.declares.quantities for bound in state.limits)
                limited.append(np.stack([at, layout.of_group(group, f"{name}_limit"), moves], axis=1))
    return Rows(mask, np.concatenate(limited), zero, any_of_them)


def _read_time_constants(system: System) -> dict[tuple[Group, str], Batch]:
    """Those of the states that have one."""
    found = {}
    for group in system.layout.groups:
        cls, trace = group.shape.cls, group.trace
        for name, state in cls.declares.states.items():
            if state.T is not None:
                T = trace.quantity(state.T)
                if any(trace.kind(symbol) not in "pu" for symbol in trace.symbols_of(T)):
                    raise DeviceError(f"{cls.__name__}: T={state.T!r} depends on more than parameters")
                found[group, name] = Batch(*function_of("T", system.layout, group, T), np.zeros((len(group), 1)))
    return found
