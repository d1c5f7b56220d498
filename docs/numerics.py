"""Writes the table of numerics.md: ``python docs/numerics.py``."""

from __future__ import annotations

from gridcore import numerics


def table() -> str:
    """A section for each part of the table of tolerances."""
    lines = []
    for title, rows in numerics.TABLE.items():
        lines += [f"## {title}", "", "| name | value | of what | meaning | follows from | moves results by |",
                  "|---|---|---|---|---|---|"]
        for r in rows:
            moves = "" if r.moves is None else f"{r.moves:.0e}"
            lines.append(f"| `{r.name}` | {r.value:.3g} | {r.unit} | {r.meaning} | {r.follows} | {moves} |")
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    from pages import fill

    fill("numerics.md", {"tolerances": table()})
