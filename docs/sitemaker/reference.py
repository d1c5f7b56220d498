"""The reference: what each package offers, analyses, blocks, verbs, hooks, registered names, cases."""

from __future__ import annotations

import inspect
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import click

import gridcore as gc
import gridcore_blocks
from gridcore.registry import REGISTRIES, analyses, commands

from .markdown import cell, docstring, page, rst, slug, summary, table, toctree

ROOT = Path(__file__).parent.parent.parent
CORE = Path(gc.__file__).parent
# Public names of gridcore; those that have a page of their own are not among them.
TOP = [name for name in gc.__all__ if name not in ("__version__", "errors", "analyses")]

ABOUT = ("t_end", "source", "licence", "published", "filled_in", "loads")  # what a case file says of itself


def packages() -> list[str]:
    """The packages of the core, by name."""
    names = sorted(file.parent.name for file in CORE.glob("*/__init__.py"))
    return [name for name in names if hasattr(_package(name), "__all__")]


def _package(name: str) -> Any:
    return import_module(f"gridcore.{name}")


def pages() -> Iterator[tuple[str, str]]:
    """(path, text) of all pages of the reference that are made."""
    yield "api/gridcore.md", package_page("gridcore", gc, TOP)
    for name in packages():
        yield f"api/gridcore.{name}.md", package_page(f"gridcore.{name}", _package(name), _package(name).__all__)
    yield "api/gridcore.errors.md", page("gridcore.errors", rst(
        ".. automodule:: gridcore.errors\n   :members:\n   :show-inheritance:"))
    yield "api/index.md", page(
        "Python", "`import gridcore as gc` is all that studies need; packages below it offer what plugins are made of.",
        toctree(["gridcore", "../analyses", "gridcore.errors", *(f"gridcore.{name}" for name in packages())]))
    yield "analyses.md", analyses_page()
    yield "blocks.md", package_page("gridcore_blocks", gridcore_blocks, gridcore_blocks.__all__)
    for name in sorted(commands):
        yield f"verbs/{name}.md", verb_page(name, commands[name].command)
    yield "verbs/index.md", page(
        "Command line", "`gridcore VERB --help` shows the same in a terminal.",
        table(["verb", "what it does"],
              [[f"[`{name}`]({name}.md)", _first(commands[name].command)] for name in sorted(commands)]),
        toctree(sorted(commands), hidden=True))
    yield "registered.md", registered_page()
    yield "cases.md", cases_page()


def package_page(title: str, package: Any, names: list[str]) -> str:
    """What a package offers; what gridcore itself offers is there in full, and linked elsewhere."""
    known = {id(getattr(gc, name)): name for name in TOP}
    parts = []
    for name in names:
        thing = getattr(package, name)
        top = known.get(id(thing))
        if top is not None and package is not gc:
            parts.append(f"## {name}\n\n{summary(thing)} See [`gridcore.{top}`](gridcore.md#{slug(top)}).")
        else:
            parts.append(_entry(f"{title}.{name}", thing))
    return page(title, rst(inspect.getdoc(package) or ""), *parts)


def _entry(address: str, thing: Any) -> str:
    """A section on a class, function or constant."""
    name = address.rpartition(".")[2]
    if inspect.isclass(thing):
        body = f".. autoclass:: {address}\n   :members:\n   :show-inheritance:"
    elif inspect.isroutine(thing):
        body = f".. autofunction:: {address}"
    else:
        body = f".. autodata:: {address}\n   :no-value:"
    return f"## {name}\n\n{rst(body)}"


def analyses_page() -> str:
    """Everything in ``gc.analyses``, by name."""
    parts = []
    for name in sorted(analyses):
        function = analyses[name].function
        doc = inspect.getdoc(function) or ""
        signature = str(inspect.signature(function)) if callable(function) else ""
        parts.append(f"## {name}\n\n{docstring(doc, f'gridcore.analyses.{name}{signature}')}")
    return page("gridcore.analyses", "What plugins registered as analyses: `gc.analyses.NAME(...)`; "
                "`help(gc.analyses.NAME)` shows the same.", *parts)


def _first(command: click.Command) -> str:
    return cell((command.help or "").partition("\n\n")[0])


def verb_page(name: str, command: click.Command) -> str:
    """Usage, words and options of a verb; of a group, those of its verbs."""
    context = click.Context(command, info_name=f"gridcore {name}", max_content_width=110)
    usage = " ".join(command.get_usage(context).removeprefix("Usage:").split())
    rows = []
    for parameter in command.get_params(context):
        if (record := parameter.get_help_record(context)) is not None:
            rows.append([f"`{record[0].replace('|', chr(92) + '|')}`", cell(record[1])])
    said = "\n\n".join(" ".join(part.split()) for part in inspect.cleandoc(command.help or "").split("\n\n"))
    return page(f"gridcore {name}", f"    {usage}", _plain(said), table(["option", "meaning"], rows))


def _plain(text: str) -> str:
    return text.replace("*", r"\*").replace("<", r"\<").replace("$", r"\$")


def registered_page() -> str:
    """Hooks and what is registered by each."""
    parts = ["Each hook of [plugins](../plugins.md), the record that it takes, and the names that what comes with "
             "gridcore registers; `gridcore plugins` shows those of your installation."]
    for registry in REGISTRIES:
        names = ", ".join(f"`{name}`" for name in sorted(registry)) if len(registry) else "none"
        parts.append(f"## {registry.hook}\n\n{summary(registry.record)}\n\n{registry.kind.capitalize()}: {names}.")
    return page("Hooks and registered names", *parts)


def cases_page() -> str:
    """The cases that are shipped, with what their files say of them."""
    parts = []
    for file in sorted((ROOT / "cases").glob("*/case.toml")):
        data = tomllib.loads(file.read_text())
        said = [[key.replace("_", " "), cell(str(data[key]))] for key in ABOUT if key in data]
        models = ", ".join(f"{len(rows)} [{model}](library/{model}.md)"
                           for model, rows in data.items() if isinstance(rows, list))
        parts.append(f"## {file.parent.name}\n\n{data.get('title', '')}\n\n{models}\n\n"
                     + (table(["", ""], said) if said else ""))
    return page("Cases", "What `gc.load_case(\"NAME\")` and `gridcore run NAME` find; `gridcore cases` lists them.",
                *parts)
