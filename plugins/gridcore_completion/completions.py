"""What may stand in a place of the command line. Cases are read for it, and nothing is built of them."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from gridcore.case import Case, is_pattern, shipped
from gridcore.commands import load
from gridcore.contract import Device, Node
from gridcore.errors import GridcoreError
from gridcore.registry import REGISTRIES, devices, exporters

_REGISTRIES = {registry.kind: registry for registry in REGISTRIES}


def completions(kind: str, context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """What may stand for an argument or the value of an option, as click completes it.

    A device alone, ``GEN``, is completed to devices, ``GEN2.``, and one with its dot to what it has; ``GEN*.`` to
    what any of these has. Nothing is offered where the line does not name the case before this place, or the case
    cannot be read.

    Parameters
    ----------
    kind : str
        ``"case"``; of the case that the line names ``"field"``, ``"parameter"`` or ``"quantity"`` for addresses,
        ``"bus"``, ``"branch"`` or ``"id"`` for devices; or a kind of plugins, as ``gridcore plugins`` has them:
        ``"device"``, ``"integrator"``.
    context : click.Context
    parameter : click.Parameter
        Where its metavar has an equals sign, so has an address.
    begun : str
        What is there so far.

    Returns
    -------
    list of CompletionItem
        With unit and meaning, which zsh and fish show.
    """
    try:
        if kind == "case":
            return [CompletionItem(begun, type="file"), *_beginning(begun, shipped())]
        if kind in _REGISTRIES:
            return _beginning(begun, _REGISTRIES[kind])
        case = _case(context)
        if kind in _OF_DEVICES:
            return _beginning(begun, (id for id, cls in _devices(case) if _OF_DEVICES[kind](cls)))
        listed, comma, address = begun.rpartition(",")
        return _addresses(case, _OFFERED[kind], listed + comma, address, "=" * ("=" in (parameter.metavar or "")))
    except GridcoreError:  # the verb tells it
        return []


def _beginning(begun: str, names: Iterable[str]) -> list[CompletionItem]:
    return [CompletionItem(name) for name in sorted(names) if name.startswith(begun)]


def _case(context: click.Context) -> Case:
    """The case that the line names, with the files and options that it is read by; or that of a run."""
    # behind an option that waits for its value click has not told arguments from the rest
    given = next(filter(None, [*map(context.params.get, ("case", "run")), *(context.params.get("runs") or ()),
                               *context.args]), None)
    if given is None:
        raise GridcoreError("no case is named yet")
    form = exporters.of_file(Path(given))
    if form and form.read:
        from gridcore.results import load_run

        return load_run(given).system.case
    with context.scope(cleanup=False):
        return load(given, quiet=True)


def _devices(case: Case) -> Iterator[tuple[str, type[Device]]]:
    """Id and class of each device."""
    for id, record in zip(case.ids(), case, strict=True):
        if record.model in devices:
            yield id, record.device


_OF_DEVICES: dict[str, Callable[[type[Device]], bool]] = {
    "bus": lambda cls: issubclass(cls, Node),
    "branch": lambda cls: len(cls.node_ports()) > 1,
    "id": lambda cls: True,
}
_OFFERED: dict[str, Callable[[type[Device]], Mapping[str, Any]]] = {
    "field": lambda cls: {**dict.fromkeys(cls.attaches), **cls.declares.references, **cls.declares.fields,
                          **cls.declares.params, **({} if issubclass(cls, Node) else {"status": None})},
    "parameter": lambda cls: {**cls.declares.params, **cls.declares.setpoints, **cls.declares.inputs,
                              **cls.declares.states},
    "quantity": lambda cls: {**cls.declares.variables(), **cls.declares.quantities, **cls.declares.inputs,
                             **cls.declares.modes},
}


def _addresses(case: Case, offered: Callable[[type[Device]], Mapping[str, Any]], before: str, begun: str, end: str
               ) -> list[CompletionItem]:
    """Devices; or, of those that are meant already, addresses."""
    device, dot, name = begun.partition(".")
    meant = [(id, of) for id, cls in _devices(case) if (of := offered(cls)) and (
        fnmatch.fnmatchcase(id, device) if dot else id.startswith(device))]
    if not dot and len(meant) != 1:
        return [CompletionItem(f"{before}{id}.") for id, _ in meant]
    found = {f"{before}{device if is_pattern(device) else id}.{key}{end}": item
             for id, of in meant for key, item in of.items() if key.startswith(name)}
    return [CompletionItem(address, help=_told(item)) for address, item in found.items()]


def _told(item: Any) -> str | None:
    """Unit and meaning of a declaration."""
    told = [getattr(item, "unit", ""), " ".join(getattr(item, "doc", "").split())]
    return ": ".join(filter(None, told)) or None
