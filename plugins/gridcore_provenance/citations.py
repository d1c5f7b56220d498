"""What a run rests on, as BibTeX: publications of its models, its data and its methods.

Devices, methods of stepping and linear solvers say in their docstrings where their equations come from, a case says it
under ``source``. ``references.bib`` has an entry for each publication that is named so. What is not known there brings
an entry of its own: as the attribute ``bibtex`` of a class, or under the heading ``bibtex`` of a case.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections import defaultdict
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gridcore.contract import Device
from gridcore.registry import integrators
from gridcore.results import check_run

if TYPE_CHECKING:
    from gridcore.results import Run

_FILE = Path(__file__).with_name("references.bib")
_ENTRY = re.compile(r"^% (?P<phrases>.+)\n(?P<entry>@\w+\{(?P<key>[^,]+),\n(?:  .*\n)+\}\n)", re.MULTILINE)
_SPECIAL = str.maketrans({mark: f"\\{mark}" for mark in "&%$#_{}"})


class Publication(NamedTuple):
    """An entry of BibTeX, and the phrases by which sources name it."""

    key: str
    phrases: tuple[str, ...]
    entry: str


def citations(run: Run) -> str:
    """BibTeX of gridcore and of what a run used: models, data, methods, as these declare their sources.

    Above each entry stands who names it; at the end, who names no source.

    Parameters
    ----------
    run : Run

    Returns
    -------
    str
    """
    check_run(run)
    cited: dict[str, list[str]] = defaultdict(list)
    silent = []
    for who, told, own in declared(run):
        words = " ".join(told.replace("*", "").replace("`", "").split())
        entries = [known.entry for known in publications() if any(phrase in words for phrase in known.phrases)]
        entries += [own] if own else []
        for entry in entries:
            cited[entry].append(who)
        if not entries:
            silent.append(who)
    parts = [_gridcore(), *(f"% {', '.join(who)}\n{entry}" for entry, who in cited.items()), _data(run)]
    if silent:
        parts.append(f"% without a source: {', '.join(silent)}\n")
    return "\n".join(parts)


@functools.cache
def publications() -> tuple[Publication, ...]:
    """Those that are known."""
    return tuple(Publication(found["key"], tuple(phrase.replace("*", "") for phrase in found["phrases"].split(" | ")),
                             found["entry"]) for found in _ENTRY.finditer(_FILE.read_text(encoding="utf-8")))


def declared(run: Run) -> Iterator[tuple[str, str, str]]:
    """(who, what it says of its sources, BibTeX of its own): each model, the case, each method once."""
    system = run.system
    for cls in dict.fromkeys(instance.device for instance in system.layout.instances):
        told = [inspect.cleandoc(base.__doc__ or "") for base in cls.__mro__
                if issubclass(base, Device) and not base.__module__.startswith(Device.__module__)]
        yield cls.__name__, "\n".join(told), str(getattr(cls, "bibtex", ""))
    about = system.case.about
    yield f"the case {system.case.name}", about.get("source", ""), about.get("bibtex", "")
    for name in dict.fromkeys(method.name for method in run.tape.methods):
        yield name, *_of_method(integrators[name].make)
    yield "the linear solver", *_of_method(type(system.system.linear_solver))
    yield "derivatives of all models", "CasADi", ""


def _of_method(made: Any) -> tuple[str, str]:
    """What a function or class and its module say, and its own entry."""
    module = inspect.getmodule(made)
    told = "\n".join(inspect.getdoc(thing) or "" for thing in (made, module) if thing is not None)
    return told, str(getattr(made, "bibtex", ""))


def _gridcore() -> str:
    about = metadata.metadata("gridcore")
    return (f"@software{{gridcore,\n  author = {{{{The gridcore authors}}}},\n"
            f"  title = {{gridcore: {about['Summary']}}},\n  version = {{{about['Version']}}},\n}}\n")


def _data(run: Run) -> str:
    """The case itself, with what it says of its source in its own words."""
    case = run.system.case
    source = " ".join(case.about.get("source", "").split()).translate(_SPECIAL)
    fields = {"title": (case.title or case.name).translate(_SPECIAL), "note": source}
    lines = "".join(f"  {name} = {{{text}}},\n" for name, text in fields.items() if text)
    key = re.sub(r"[^\w-]+", "-", case.name)
    return f"% data\n@misc{{case-{key},\n{lines}}}\n"
