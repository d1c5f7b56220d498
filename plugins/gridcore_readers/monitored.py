"""The branch that a record of dynamic data names by its ends and its circuit: where power is measured."""

from __future__ import annotations

from collections.abc import Container

from gridcore.case import Instance

from .psse import element

KINDS = ("LINE", "TRANSFORMER", "SWITCH")


def monitored(ids: Container[str], start: int, end: int, circuit: str) -> tuple[str, int] | None:
    """Its id, and at which of its ends the record measures, the one that it names first; None where there is none."""
    for kind in KINDS:
        for number, (one, other) in enumerate(((start, end), (end, start)), 1):
            if (id := element(f"{kind}{one}-{other}", circuit.strip())) in ids:
                return id, number
    return None


def named(branch: Instance, number: dict[str, int], end: int, circuit: str) -> dict[str, str]:
    """What a record says of a branch: its ends, the one that measures first, and its circuit, or what its id says."""
    ends = [number[branch.ports[port]] for port in ("bus1", "bus2")]
    plain = next((kind for kind in KINDS if branch.id.startswith(kind)), "") + "-".join(map(str, ends))
    circuit = circuit or branch.id.removeprefix(plain).lstrip("_") or "1"
    return dict(zip(("from", "to", "circuit"), [*map(str, ends[::1 if end == 1 else -1]), f"'{circuit}'"]))
