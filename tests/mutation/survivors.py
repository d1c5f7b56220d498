"""What ``survivors.txt`` says of mutants: blocks of a module, a line of it before, the line after, and the reason."""

from __future__ import annotations

from pathlib import Path

LISTED = Path(__file__).with_name("survivors.txt")
Change = tuple[str, str, str]  # module, its lines before, its lines after


def listed() -> dict[Change, str]:
    """The reasons why mutants change nothing that is promised."""
    found = {}
    for block in LISTED.read_text().split("\n\n"):
        module, _, rest = block.strip().partition("\n")
        if module.endswith(".py"):
            lines = rest.splitlines()
            found[module, signed(lines, "-"), signed(lines, "+")] = " ".join(x for x in lines if x[0] not in "-+")
    return found


def change(diff: str) -> Change:
    """What a unified difference of one module changes."""
    lines = diff.splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith("+++ b/"))
    body = lines[start + 1:]
    return lines[start].removeprefix("+++ b/"), signed(body, "-"), signed(body, "+")


def signed(lines: list[str], sign: str) -> str:
    """The lines of one side of a difference, as they are but for their indentation."""
    return "\n".join(stripped for line in lines if line.startswith(sign) and (stripped := line[1:].strip()))
