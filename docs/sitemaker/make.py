"""Write all pages that are made into docs/generated."""

from __future__ import annotations

from pathlib import Path

from gridcore.registry import devices

from . import devices as library
from . import reference, sources

GENERATED = Path(__file__).parent.parent / "generated"


def pages() -> dict[str, str]:
    """Text of each page by its path in docs/generated."""
    modules = {devices[name].__module__ for name in devices}
    return dict([*library.pages(), *reference.pages(), *sources.pages(modules)])


def write() -> None:
    """Write those that changed, and remove others."""
    made = pages()
    for file in GENERATED.rglob("*.md"):
        if str(file.relative_to(GENERATED)) not in made:
            file.unlink()
    for name, text in made.items():
        file = GENERATED / name
        if not file.exists() or file.read_text() != text:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)

