"""Numbers that belong to a parameter, with units or without.

Nothing heavy is imported before it is needed: verbs import this when they are loaded.
"""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from gridcore.commands import read_value
from gridcore.errors import CaseError

if TYPE_CHECKING:
    from gridcore.case import Case
    from gridcore.equilibrium import Equilibrium


def intervals(_: click.Context, parameter: click.Parameter, texts: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Low and high by name, of texts ``NAME=LOW:HIGH``, of which either may be left out: what ``--bounds`` takes."""
    found = {}
    for text in texts:
        name, equals, ends = (part.strip() for part in text.partition("="))
        low, colon, high = (part.strip() for part in ends.partition(":"))
        if not (name and equals and colon):
            raise click.BadParameter(f"'{text}' is not {parameter.metavar}")
        found[name] = (low or "-inf", high or "inf")
    return found


def spread(names: Sequence[str], given: Any, what: str) -> list[tuple[int, Any]]:
    """(place, value) of what is given for all names, or by address and pattern; of several patterns the last holds.

    Raises
    ------
    CaseError
        If a pattern names none of them: `what` is given for it.
    """
    from gridcore.case import patterns_of
    from gridcore.suggest import suggest

    if given is None:
        return []
    if not isinstance(given, Mapping):
        return [(k, given) for k in range(len(names))]
    out: dict[int, Any] = {}
    for pattern, value in zip(patterns_of(given), given.values(), strict=True):
        found = [pattern] if pattern in names else fnmatch.filter(names, pattern)
        if not found:
            raise CaseError(f"{what}: '{pattern}' is not among the parameters that are varied{suggest(pattern, names)}")
        out.update((names.index(name), value) for name in found)
    return list(out.items())


def number(case: Case, address: str, given: str) -> float:
    """What a text is in the unit of a parameter: ``number(case, "fault.clear", "183ms")`` is 0.183.

    Parameters
    ----------
    case : Case
    address : str
        Of a parameter that the case gives, or a pattern; a number alone may be of anything.
    given : str
        A number, or one with a unit that converts to that of the parameter.

    Raises
    ------
    CaseError
        If the text is no value that the parameter may have; or it means different numbers to those that a pattern
        matches, whose per unit have different bases.
    """
    from gridcore.case import matching, validate

    value = read_value(given)
    if not isinstance(value, str):
        return float(value)
    changed = case.copy()
    changed.set(address, value)
    values = {f"{i.id}.{name}": value for i in validate(changed).records for name, value in i.values.items()}
    found = {values[name] for name in matching(address, values, "parameter")}
    if len(found) > 1:
        raise CaseError(f"{address}: {given!r} means {', '.join(f'{n:g}' for n in sorted(found))} there, by different "
                        "bases: give a number in the parameters' own unit")
    return found.pop()


def measured(case: Case, given: str, unit: str) -> float:
    """What a text is in a unit that belongs to no parameter: ``measured(case, "200 mHz", "Hz")`` is 0.2.

    Raises
    ------
    CaseError
        If it is no number, or the unit does not convert.
    """
    from gridcore.case import Base, convert

    return convert(given, unit, Base(mva=case.base_mva, frequency=case.frequency))


def memory(given: str) -> float:
    """Bytes that an option says, by its ``type``: of a number of MB, or a text with a unit, ``2GB``."""
    from gridcore.case import convert

    try:
        found = convert(given if isinstance(read_value(given), str) else f"{given} MB", "B")
    except CaseError:
        found = 0.0
    if 0 < found < math.inf:
        return found
    raise click.BadParameter(f"'{given}' must be a number of MB above 0, or a size such as 2GB")


def unit_of(system: Equilibrium, address: str) -> str:
    """The unit of a parameter."""
    device, _, name = address.rpartition(".")
    layout = system.layout
    return layout.instances[layout.find(device)].device.declares.unit(name)
