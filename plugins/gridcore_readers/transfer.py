"""What a relay's record trips besides what it acts on: a device of its own for each.

The class of the relay says which by ``dyr_trips``, and where its record names them by entries ``trip1@bus`` and
``trip1@id`` of a generator (-1: all that are at the bus), or ``trip1@from``, ``trip1@to`` and ``trip1@circuit`` of a
branch; bus 0 is none. ``trip1@delay`` is the time of its breaker.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from gridcore.case import Instance
from gridcore.contract import Bus, Device, Record, Source
from gridcore.errors import CaseError

from .monitored import monitored
from .psse import element, real

if TYPE_CHECKING:
    from .dyr import Extension
    from .dyr_text import Model

ALL = "-1"


def transfers(extension: Extension, model: Model, cls: type[Device], id: str) -> list[Record]:
    """What a relay with this id trips: a record for each.

    Raises
    ------
    CaseError
        If there is no such generator or branch.
    """
    trips: type[Device] | None = getattr(cls, "dyr_trips", None)
    if trips is None:
        return []
    made = []
    said = dict(zip(getattr(cls, "dyr", ()), model.values))
    for entry, word in said.items():
        name, _, what = (entry or "").partition("@")
        if what != "delay":
            continue
        words = {key.partition("@")[2]: text.strip() for key, text in said.items()
                 if key and key.startswith(f"{name}@")}
        try:
            found, delay = _named(extension, words), real(word or "0")
        except (CaseError, ValueError) as error:
            raise extension.error(model, str(error), name) from None
        made += [Record(trips.__name__, {"relay": id, "device": device, "ttb": delay}, str(extension.path), model.place)
                 for device in found]
    return made


def _named(extension: Extension, words: Mapping[str, str]) -> list[str]:
    """The ids of what a record names; none at bus 0."""
    if "bus" in words:
        bus, identifier = int(real(words["bus"] or "0")), words["id"]
        there = [id for id, n in extension.place.items() if issubclass(extension.case.records[n].device, Source)
                 and str(Bus.short(extension.case.records[n].fields.get("bus"))) == str(bus)]
        found = there if identifier == ALL else [id for id in there if id == element(f"GEN{bus}", identifier)]
        if bus and not found:
            raise CaseError(f"there is no generator '{identifier}' at bus {bus}")
        return found if bus else []
    start, end = (int(real(words[what] or "0")) for what in ("from", "to"))
    if not start:
        return []
    branch = monitored(extension.place, start, end, words["circuit"] or "1")
    if branch is None:
        raise CaseError(f"there is no branch {start}-{end} with the circuit '{words['circuit']}'")
    return [branch[0]]


def written(trips: Sequence[Instance], name: str, what: str, place: Callable[[str], tuple[int, str]],
            branch: Callable[[str, int], Mapping[str, str]]) -> str:
    """What a record says of what its relay trips, the first, or the second: see :func:`transfers`."""
    k = int(name.removeprefix("trip")) - 1
    if k >= len(trips):
        return "0"
    device = trips[k].ports["device"]
    if what == "delay":
        return repr(trips[k].values["ttb"])
    if what in ("from", "to", "circuit"):
        return branch(device, 1)[what]
    bus, identifier = place(device)
    return str(bus) if what == "bus" else ALL if len(trips) > 1 else f"'{identifier}'"


def of_relays(by_id: Mapping[str, Instance]) -> tuple[dict[str, list[Instance]], list[str]]:
    """What each relay trips, as far as its record can say it, and the ids of the rest.

    A record has room for so many branches; or for one generator, or all of a bus with one time.
    """
    kinds = {getattr(instance.device, "dyr_trips", None) for instance in by_id.values()} - {None}
    every: dict[str, list[Instance]] = defaultdict(list)
    for instance in by_id.values():
        if instance.device in kinds:
            every[instance.ports["relay"]].append(instance)
    said = {relay: _said(relay, trips, by_id) for relay, trips in every.items()}
    return said, [trip.id for relay, trips in every.items() for trip in trips if trip not in said[relay]]


def _said(relay: str, trips: list[Instance], by_id: Mapping[str, Instance]) -> list[Instance]:
    """Those of a relay that its record has room for."""
    entries = getattr(by_id[relay].device, "dyr", ())
    if "trip1@bus" not in entries:
        room = sum((entry or "").endswith("@delay") for entry in entries)
        return [trip for trip in trips if {"bus1", "bus2"} <= by_id[trip.ports["device"]].ports.keys()][:room]
    found = [trip for trip in trips if issubclass(by_id[trip.ports["device"]].device, Source)]
    there = {id for id, instance in by_id.items() if found and issubclass(instance.device, Source)
             and instance.ports.get("bus") == by_id[found[0].ports["device"]].ports.get("bus")}
    every = {trip.ports["device"] for trip in found} == there and len({trip.values["ttb"] for trip in found}) == 1
    return found if every else found[:1]
