"""Pages with the source of what other pages link to: files and folders outside of docs/."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from .markdown import page, toctree

DOCS = Path(__file__).parent.parent
ROOT = DOCS.parent
LINK = re.compile(r"\]\(((?:\.\./)+[^)#]+)\)")
LANGUAGES = {".py": "python", ".toml": "toml", ".c": "c", ".md": "markdown"}


def module_file(module: str) -> Path | None:
    """The file of a module of this project, from its root."""
    top = module.partition(".")[0]
    folder = Path() if top == "gridcore" else Path("plugins")
    file = folder / Path(*module.split(".")).with_suffix(".py")
    return file if (ROOT / file).exists() else None


def page_of(path: Path) -> str:
    """The page of a file or folder of the project, among those that are made."""
    return "cases.md" if str(path) == "cases" else f"sources/{'.'.join(path.parts)}.md"


def outside(page: Path, target: str) -> Path | None:
    """What a link of a page in docs/ leads to, from the root of the project; None if that is in docs/ itself."""
    path = (page.parent / target).resolve()
    return None if path.is_relative_to(DOCS) else path.relative_to(ROOT)


def linked() -> set[Path]:
    """What written pages link to outside of docs/."""
    return {path for page in DOCS.glob("**/*.md") if "generated" not in page.parts
            for found in LINK.finditer(page.read_text()) if (path := outside(page, found[1])) is not None}


def pages(modules: set[str]) -> Iterator[tuple[str, str]]:
    """(path, text) of the pages of these modules, and of all that is linked."""
    wanted = linked() | {file for module in modules if (file := module_file(module)) is not None}
    found = {page_of(path): path for path in sorted(wanted)}
    found.pop("cases.md", None)
    for name, path in found.items():
        yield name, page(f"`{path}`", *map(_listing, _files(ROOT / path)))
    yield "sources/index.md", page("Source files", "What pages refer to, as it stands.",
                                   toctree([name.removeprefix("sources/").removesuffix(".md") for name in found]))


def _files(path: Path) -> list[Path]:
    return [path] if path.is_file() else sorted(
        file for file in path.rglob("*") if file.suffix in LANGUAGES and "egg-info" not in str(file))


def _listing(file: Path) -> str:
    language = LANGUAGES.get(file.suffix, "text")
    heading = f"## `{file.relative_to(ROOT)}`\n\n"
    return f"{heading}```{{literalinclude}} ../../../{file.relative_to(ROOT)}\n:language: {language}\n```"
