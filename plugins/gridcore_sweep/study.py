"""A sweep as it was asked for: case, scenarios and settings, checked before anything is run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gridcore.case import Case, ValidCase, as_case, validate
from gridcore.commands import located
from gridcore.equilibrium import Equilibrium
from gridcore.errors import CaseError
from gridcore.integrate import stepper_on
from gridcore.results import Run, needed
from gridcore.suggest import suggest
from gridcore.tape import span
from gridcore_provenance.fingerprint import case_digest, digest
from gridcore_rotors.rotors import rotor_devices

from .contingencies import contingencies
from .defaults import T_END
from .measures import OTHERS, SEARCHED, UNITS, Measure
from .scenarios import Scenario, product, standing, without_events
from .spaces import Space, draws, rows
from .spaces import grid as grid_of
from .worker import KEEP, NONE, Setup, Task, system_of

if TYPE_CHECKING:
    from gridcore.tape import Spacing


@dataclass(frozen=True)
class Study:
    """A sweep, ready to be run.

    Attributes
    ----------
    setup : Setup
    scenarios : list of Scenario
    tasks : list of Task
        One for each scenario.
    units : dict
        Columns of the table, in order, and labels that are addresses, with their units.
    about : dict
        Case and settings in words, for the store.
    """

    setup: Setup
    scenarios: list[Scenario]
    tasks: list[Task]
    units: dict[str, str]
    about: dict[str, str]

    @property
    def title(self) -> str:
        """What was swept."""
        return f"Sweep of {self.setup.case.name}"

    @property
    def keys(self) -> list[str]:
        """What each scenario is found by in a store."""
        return [s.key(self.setup.digest) for s in self.scenarios]


def study(case: Equilibrium | Case | str, *, contingencies: Mapping[str, Any] | None = None,
          vary: Mapping[str, Any] | None = None, rows: Sequence[Mapping[str, Any]] | None = None,
          random: Mapping[str, Any] | None = None, measures: Mapping[str, str] | Sequence[str] = (),
          t_end: float = T_END, step: Spacing = 0.01, method: str = "theta",
          options: Mapping[str, Any] | None = None, own_events: bool | None = None, deenergise: bool = False,
          enforce_q_limits: bool = False, keep: str = NONE, record: str | Sequence[str] = ()) -> Study:
    """Make a study: see :func:`gridcore_sweep.sweep.sweep` for the arguments.

    The system is built once, here, so that what is wrong with the case or a name is told at once.

    Raises
    ------
    GridcoreError
    """
    case = case.system if isinstance(case, Run) else case
    if isinstance(case, Equilibrium):
        point = case.operating_point
        deenergise |= case.system.islands.deenergise
        case, enforce_q_limits = case.case, enforce_q_limits or (point is not None and point.enforce_q_limits)
    case = as_case(case)
    if keep not in KEEP:
        raise CaseError(f"keep = {keep!r} must be one of {', '.join(KEEP)}")
    valid = validate(case)
    step, _, t_end = span(step, 0.0, t_end, valid.frequency)
    if not (contingencies is None if own_events is None else own_events):
        case = without_events(case, valid)
        valid = validate(case)
    scenarios = _scenarios(valid, t_end, contingencies, vary, rows, random)
    common, common_digest, values = standing(case, scenarios)
    asked = _measures(measures, scenarios)
    settings = {"t_end": t_end, "step": step, "method": method, "options": dict(options or {}),
                "deenergise": deenergise, "enforce_q_limits": enforce_q_limits,
                "measures": [(m.name, m.take, m.pattern) for m in asked]}
    setup = Setup(common, common_digest, digest([case_digest(valid), settings]), t_end, step, method,
                  dict(options or {}), deenergise, enforce_q_limits, asked, keep,
                  (record,) if isinstance(record, str) else tuple(record))
    with located(case):
        system = system_of(setup, {})
    stepper_on(step, method, setup.options)  # refused here, not in every row
    needed(system, setup.record)
    searched = any(s.search for s in scenarios)
    if searched and not rotor_devices(system):
        raise CaseError(f"case '{case.name}' has no machines that a fault could send out of step")
    units = {**(SEARCHED if searched else {}), **UNITS, **{m.name: m.unit(system) for m in asked}}
    units |= _label_units(valid, scenarios)
    tasks = [Task(v, s.search) for v, s in zip(values, scenarios, strict=True)]
    about = {"digest": setup.digest, "case": f"{case.name} {case_digest(valid)[:8]}",
             **{name: json.dumps(value) for name, value in settings.items()}, "keep": setup.keep,
             "record": ", ".join(setup.record) or "everything"}
    made = Study(setup, scenarios, tasks, units, about)
    _check_different(made)
    return made


def _label_units(valid: ValidCase, scenarios: Sequence[Scenario]) -> dict[str, str]:
    """Of the labels that are addresses of parameters."""
    declared = {instance.id: instance.device.declares.params for instance in valid.records}
    parts = {label: label.rpartition(".") for scenario in scenarios for label in scenario.labels}
    return {label: str(declared[id][name].unit) for label, (id, _, name) in parts.items()
            if name in declared.get(id, ())}


def _scenarios(valid: ValidCase, t_end: float, given: Mapping[str, Any] | None, vary: Mapping[str, Any] | None,
               table: Sequence[Mapping[str, Any]] | None, random: Mapping[str, Any] | None) -> list[Scenario]:
    space, factors = Space(valid), []
    if given is not None:
        factors.append(_contingencies(valid, t_end, given))
    if vary:
        factors += grid_of(space, vary)
    if table:
        factors.append(rows(space, table))
    if random is not None:
        factors.append(draws(space, random))
    if not factors:
        raise CaseError("nothing to sweep: give contingencies, parameters to vary, or what to draw at random")
    return product(*factors)


def _contingencies(valid: ValidCase, t_end: float, given: Mapping[str, Any]) -> list[Scenario]:
    known = ("faults", "line_faults", "trips", "at", "clear", "longest", "within", "r", "x")
    if not isinstance(given, Mapping):
        raise CaseError(f"contingencies = {given!r} must be a table: {{'line_faults': '*', 'clear': 0.1}}")
    for key in given:
        if key not in known:
            raise CaseError(f"contingencies: unknown field '{key}'{suggest(key, known)}")
    found = contingencies(valid, **given, t_end=t_end)
    if not found:
        raise CaseError("contingencies: there are none: give faults, line_faults or trips")
    return found


def _measures(given: Mapping[str, str] | Sequence[str], scenarios: Sequence[Scenario]) -> tuple[Measure, ...]:
    named = given.items() if isinstance(given, Mapping) else [("", text) for text in given]
    made = tuple(Measure.parse(text, name) for name, text in named)
    taken = dict.fromkeys(name for scenario in scenarios for name in (*scenario.labels, *scenario.values))
    names = [*UNITS, *SEARCHED, *OTHERS, *taken, *(m.name for m in made)]
    for measure in made:
        if names.count(measure.name) > 1:
            raise CaseError(f"measure '{measure.name}': there is a column of that name already")
    return made


def _check_different(made: Study) -> None:
    first: dict[str, Scenario] = {}
    for key, scenario in zip(made.keys, made.scenarios, strict=True):
        if key in first:
            raise CaseError(f"'{first[key].name}' and '{scenario.name}' are one and the same scenario")
        first[key] = scenario
