"""Limits that the operating point breaks, moved to where it is: other programs do that on their own."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import casadi as ca
import numpy as np

from gridcore.case import Case, as_case, split
from gridcore.contract import Reached, bound_of
from gridcore.equations import function_of
from gridcore.equilibrium import Equilibrium, build
from gridcore.system import Trigger

# How far behind the operating point a limit is put: small enough to change no study, large enough for parameters that
# differ a little; in parts of what is there, and where that is zero in its unit.
_PART, _LEAST = 1e-3, 1e-6
# Whoever is let past one limit may meet the next: no device has a longer chain of them. And what does not move in some
# attempts does not follow from the parameter after which it is called.
_ROUNDS, _ATTEMPTS = 12, 3


def widen_limits(case: Case | str | Path, *, deenergise: bool = False, enforce_q_limits: bool = False) -> Case:
    """The case with the limits moved that its operating point breaks, to 0.1 % beyond what is there.

    Every limit that is moved is noted (``case.notes``, and ``case.about["notes"]``, which is saved with a run). What
    remains, a limit that does not follow from a parameter, is reported by :func:`gridcore.build` as ever.

    Parameters
    ----------
    case : Case, str or Path
        Is left as it is; or the name or path of one.
    deenergise, enforce_q_limits : bool
        As those of :func:`gridcore.build`: they have a part in where the operating point is.

    Raises
    ------
    CaseError, NetworkError, PowerFlowError, InitialisationError
    """
    case = as_case(case)
    system = build(case, deenergise=deenergise, enforce_q_limits=enforce_q_limits)
    before, reached, attempts = system.Z0.copy(), dict[str, float](), Counter[str]()
    for _ in range(_ROUNDS):
        found = {name: there for name, there in _beyond(system).items() if attempts[name] < _ATTEMPTS}
        if not found:
            break
        attempts.update(found.keys())
        reached |= {name: value for name, (value, _) in found.items()}
        system = system.with_values({name: limit for name, (_, limit) in found.items()})
    still = _beyond(system)
    widened = case.copy()
    records = dict(zip(widened.ids(), widened, strict=True))
    for name, value in reached.items():
        if name not in still:
            at, (device, parameter) = system.layout.address(name), split(name)
            records[device].fields[parameter] = float(system.Z0[at])
            widened.note(f"{name} is widened from {before[at]:.6g} to {system.Z0[at]:.6g}: the operating point has "
                         f"{value:.6g}")
    return widened


def _beyond(system: Equilibrium) -> dict[str, tuple[float, float]]:
    """Parameters whose limits are broken at Z0: the value there, and what to give them so that the bound is behind."""
    found: dict[str, tuple[float, float]] = {}
    switching, layout, Z = system.switching, system.layout, system.Z0
    for trigger in (switching.guards[k] for k in np.flatnonzero(switching.across(Z))):
        declared = layout.groups[trigger.group].shape.cls.declares
        limit = declared.guards[trigger.item].limit
        if limit is None or limit.label not in declared.params:
            continue
        name = f"{trigger.device}.{limit.label}"
        value, bound = _evaluate(system, trigger, limit)
        given = float(Z[layout.address(name)])
        wanted = value + limit.side * (_PART * abs(value) + _LEAST)
        wider = given * wanted / bound if given and bound else wanted  # a bound is in proportion to its parameter
        if name not in found or (wider - found[name][1]) * limit.side > 0:
            found[name] = value, wider
    return found


def _evaluate(system: Equilibrium, trigger: Trigger, limit: Reached) -> tuple[float, float]:
    """What is limited, and its bound, at Z0."""
    group, trace = system.layout.groups[trigger.group], system.traces[trigger.group]
    both = [ca.SX(trace.expression(f)) for f in (limit.value, lambda s: bound_of(s, limit.bound))]
    function, gather = function_of("limit", system.layout, group, both)
    value, bound = np.array(function(system.Z0[gather[trigger.member]])).ravel()
    return float(value), float(bound)
