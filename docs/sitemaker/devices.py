"""The library: a page for every device class, from its declarations and its equations."""

from __future__ import annotations

import inspect
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from gridcore.contract import Device
from gridcore.registry import devices
from gridcore_verbs.declared import declared, record

from .equations import sections
from .formula import Writer, call, symbol
from .markdown import cell, docstring, page, slug, summary, table, toctree
from .sources import module_file, page_of

DOCS = Path(__file__).parent.parent
CASES = DOCS.parent / "cases"
# Families whose folder says it in other words than a reader would look for.
FAMILIES = {"case": "events of a study", "contract": "nodes", "dc": "direct current",
            "following": "grid-following converters", "forming": "grid-forming converters",
            "gridcore_playback": "recordings", "hybrid": "systems without a network",
            "lcc": "line-commutated converters"}
EQUATIONS = (
    "As the class has them: names of ports stand before a dot, and quantities are not inlined. What stands beside a "
    "state are its limits; it is held there while its rate points outwards. Where its time constant is zero, a state "
    "has no dynamics: the right side is zero.")


def pages() -> Iterator[tuple[str, str]]:
    """(path, text) of all pages of the library."""
    families: dict[str, list[str]] = defaultdict(list)
    for name in sorted(devices):
        families[family(devices[name])].append(name)
        yield f"library/{name}.md", device_page(name, devices[name])
    lists = []
    for title, names in sorted(families.items()):
        rows = [[f"[{name}]({name}.md)", summary(devices[name])] for name in names]
        lists.append(f"## {title.capitalize()}\n\n{table(['model', 'what it is'], rows)}")
    yield "library/index.md", page(
        "Devices and models", f"The {len(devices)} devices that come with gridcore, by what they are for. Each page is "
        "made from the declarations of the class and its equations; `gridcore describe MODEL` has them in a terminal.",
        *lists, toctree([name for names in families.values() for name in names], hidden=True))


def family(cls: type[Device]) -> str:
    """The folder that a device class is in, or its package."""
    *packages, module = cls.__module__.split(".")
    folder = packages[-1] if packages else module
    return FAMILIES.get(folder, folder.removeprefix("gridcore_"))


def device_page(name: str, cls: type[Device]) -> str:
    """The page of a device class."""
    return page(name, docstring(inspect.getdoc(cls) or ""), _place(cls), *_declarations(cls), _equations(cls),
                _events(cls), _bases(cls), _record(cls), _checked(name), _cases(name), _source(cls))


def _bases(cls: type[Device]) -> str:
    """What its own base classes say: a docstring may refer to their equations."""
    said = [(base, inspect.getdoc(base)) for base in cls.__mro__[1:]
            if issubclass(base, Device) and base is not Device and "__doc__" in vars(base) and base.__doc__]
    parts = [f"### {base.__name__}\n\n{docstring(doc)}" for base, doc in said if doc]
    return "\n\n".join(["## What its base classes say", *parts]) if parts else ""


def _place(cls: type[Device]) -> str:
    rows = []
    for port in cls.attaches:
        what = f"a {port.kind}" if port.at_node or port.node else "a device, named by its id"
        rows.append([f"`{port}`", what])
    if not rows:
        return ""
    named = f" Without an `id` a row is named `{cls.naming}`." if cls.naming else ""
    return f"## Where it attaches\n\n{table(['field', 'names'], rows)}\n\n{named}"


def _declarations(cls: type[Device]) -> Iterator[str]:
    place = {str(each).split(" ")[0]: n for n, each in enumerate(getattr(cls, "dyr", ()), start=1)}
    for heading, found in declared(cls):
        columns = {name: list(map(cell, values)) for name, values in found.columns.items()}
        if heading == "parameters":
            columns["in the DYR record"] = [str(place.get(name, "")) for name in found.columns["name"]]
        columns["name"] = [f"`{name}`" for name in found.columns["name"]]
        rows = list(zip(*columns.values(), strict=True))
        yield f"## {heading.capitalize()}\n\n{table(list(columns), rows)}"


def _equations(cls: type[Device]) -> str:
    parts = []
    for heading, lines in sections(cls):
        body = " \\\\\n".join(rf"{left} &= {right}" + (rf" \qquad {aside}" if aside else "")
                             for left, right, aside in lines)
        parts.append(f"### {heading}\n\n```{{math}}\n\\begin{{aligned}}\n{body}\n\\end{{aligned}}\n```")
    if not parts:
        return ""
    return "\n\n".join(["## Equations", EQUATIONS, *parts])


def _events(cls: type[Device]) -> str:
    own = cls.declares
    ways = {1: "rises through zero", -1: "falls through zero", 0: "passes zero"}
    rows = []
    for name, guard in own.guards.items():
        value = call(guard.function)
        write = Writer([value])
        shared = ", ".join(f"{left} = {right}" for left, right in write.named)
        formula = f"${write(value)}$" + (f", ${shared}$" if shared else "")
        when = ", ".join(f"`{mode}` = {value:g}" for mode, value in guard.when.items())
        rows.append([f"`{name}`", f"{formula} {ways[guard.direction]}".replace("|", r"\vert "), when, _then(guard.then),
                     f"`{guard.delay}`" if guard.delay else "", cell(guard.doc)])
    rows += [[f"`{name}`", f"the time is ${symbol(timer.at)}$", "", _then(timer.then), "", cell(timer.doc)]
             for name, timer in own.timers.items()]
    return "## Events\n\n" + table(["name", "when", "while", "then", "delay", "words"], rows) if rows else ""


def _then(then: Mapping[str, Any]) -> str:
    changes = []
    for target, value in then.items():
        if callable(value):
            value = call(value)
            text = f"${Writer([value])(value)}$"
        else:
            text = f"{value:g}"
        changes.append(f"`{target}` = {text}".replace("|", r"\vert "))
    return ", ".join(changes)


def _record(cls: type[Device]) -> str:
    written = record(cls)
    return written and ("## DYR record\n\nBus, model and identifier, then the values; `·` is one that is not used.\n\n"
                        f"    {written}")


def _named(name: str, text: str) -> bool:
    return re.search(rf"\b{re.escape(name)}\b", text) is not None


def _checked(name: str) -> str:
    """Rows on a model in the tables of docs/models.md, and the section on it."""
    text = (DOCS / "models.md").read_text()
    parts, heading, above = [], "", ""
    for line in text.splitlines():
        if line.startswith("## "):
            heading = line[3:]
            if ":" in heading and _named(name, heading):
                parts.append(f"Where it differs from the original: [{heading}](../../models.md#{slug(heading)}).")
        elif line.startswith("| model"):
            above = line
        elif line.startswith("|") and above and _named(name, line.split("|")[1]):
            rows = [[each.strip() for each in row.strip("|").split("|")] for row in (above, line)]
            parts.append(re.sub(r"\]\((?!http)", "](../../", table(rows[0], rows[1:])))
    return "\n\n".join(["## Checked against", *parts]) if parts else ""


@cache
def _models() -> dict[str, set[str]]:
    """The models of each shipped case."""
    return {file.parent.name: set(tomllib.loads(file.read_text())) for file in sorted(CASES.glob("*/case.toml"))}


def _cases(name: str) -> str:
    found = [case for case, models in _models().items() if name in models]
    links = ", ".join(f"[`{case}`](../cases.md#{slug(case)})" for case in found)
    return f"## Cases that have it\n\n{links}" if found else ""


def _source(cls: type[Device]) -> str:
    file = module_file(cls.__module__)
    return f"## Source\n\n[`{file}`](../{page_of(file)})" if file else ""
