"""Pieces of MyST that all pages are made of."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from typing import Any


def table(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; columns that are empty in all rows are left out."""
    columns = [n for n in range(len(heading)) if any(row[n] for row in rows)]
    lines = [[heading[n] for n in columns], ["---"] * len(columns), *([row[n] for n in columns] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def cell(text: str) -> str:
    """Text for a cell of a table: on one line, without what Markdown would take for its own."""
    return re.sub(r"([|*_<>$\[\]])", r"\\\1", " ".join(text.split()))


def rst(text: str) -> str:
    """reStructuredText, as docstrings are written in."""
    return f"````{{eval-rst}}\n{text}\n````"


def docstring(text: str, address: str = "") -> str:
    """A docstring; as that of a function of this address and signature, where one is given."""
    body = "\n".join(f"   {line}".rstrip() for line in text.splitlines())
    return rst(f".. docstring:: {address}".rstrip() + f"\n\n{body}")


def summary(thing: Any) -> str:
    """First sentence of a docstring, in Markdown."""
    first = (inspect.getdoc(thing) or "").partition("\n\n")[0]
    plain = re.sub(r":\w+:`~?([^`]*)`", r"`\1`", first.rstrip(":")).replace("``", "`")
    return " ".join(plain.replace("|", r"\|").split())


def toctree(pages: Sequence[str], *, hidden: bool = False, depth: int = 1) -> str:
    """A table of contents."""
    options = [f":maxdepth: {depth}", *([":hidden:"] if hidden else [])]
    return "\n".join(["```{toctree}", *options, "", *pages, "```"])


def page(title: str, *parts: str) -> str:
    """A page of parts; those without text are left out."""
    return "\n\n".join([f"# {title}", *filter(None, parts)]) + "\n"


def slug(heading: str) -> str:
    """The anchor of a heading, as on GitHub."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
