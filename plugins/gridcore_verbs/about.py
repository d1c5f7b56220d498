"""The verbs that say what there is: ``cases``, ``info``, ``describe``."""

from __future__ import annotations

import inspect
import tomllib
from collections import Counter
from typing import TYPE_CHECKING

import click

from gridcore.commands import completing, file_options, load
from gridcore.registry import devices

from .tables import Table, json_option, show

if TYPE_CHECKING:
    from gridcore.case import Case
    from gridcore.contract import Device


@click.command("cases")
@json_option
def list_cases() -> None:
    """List the cases that are shipped: what 'gridcore run CASE' finds by name."""
    from gridcore.case import shipped

    found = {name: tomllib.loads(file.read_text(encoding="utf-8")) for name, file in shipped().items()}
    show("cases", Table({
        "case": list(found), "buses": [str(len(data.get("Bus", ()))) for data in found.values()],
        "devices": [str(sum(len(rows) for model, rows in data.items() if isinstance(rows, list) and model != "Bus"))
                    for data in found.values()],
        "recommended end": [str(data.get("t_end", "")) for data in found.values()],
        "what it is": [data.get("title", "") for data in found.values()]}))


@click.command("info")
@file_options
@json_option
@click.argument("case", metavar="CASE", shell_complete=completing("case"))
def info(case: str) -> None:
    """Say what a case has: its models, where its data come from, what happens in it."""
    found = load(case)
    click.echo(f"{found.name}: {found.title}" if found.title else found.name)
    about = dict(found.about)
    click.echo(f"base {found.base_mva:g} MVA, {found.frequency:g} Hz")
    if t_end := about.pop("t_end", ""):
        click.echo(f"recommended end {t_end}")
    for what, text in about.items():
        click.echo(f"\n{what.replace('_', ' ')}: {' '.join(str(text).split())}")
    click.echo()
    show("models", models(found))
    happens = events(found)
    if happens.columns["event"]:
        click.echo()
        show("events", happens)


def models(case: Case) -> Table:
    """The models of a case, and how many records each has."""
    count = Counter(record.model for record in case)
    return Table({"model": list(count), "records": list(map(str, count.values())), "what it is": [
        _first(devices[model]) if model in devices else "there is no such device" for model in count]})


def events(case: Case) -> Table:
    """What happens in a study of a case."""
    found = [(id, record) for id, record in zip(case.ids(), case, strict=True) if _is_event(record.model)]
    return Table({
        "event": [id for id, _ in found], "model": [record.model for _, record in found],
        "what it says": [", ".join(f"{key} = {value}" for key, value in record.fields.items() if key != "id")
                         for _, record in found]})


def _is_event(model: str) -> bool:
    """Whether records of a model are what happens in a study: they act at times, and have no states."""
    if model not in devices:
        return False
    own = devices[model].declares
    return bool(own.timers) and not own.states


@click.command("describe")
@json_option
@click.argument("model", metavar="MODEL", shell_complete=completing("device"))
def describe(model: str) -> None:
    """Explain a model: its equations in words, ports, parameters with units and bounds, variables, DYR record.

    Or the model that a DYR record stands for: IEELAL, CIM5ZN.
    """
    from .declared import declared, record

    cls = devices[model] if model in devices else _of_record(model)
    click.echo(f"{cls.__name__}: {inspect.cleandoc(cls.__doc__ or '')}")
    for port in cls.attaches:
        click.echo(f"\n{port}: {'the ' + port.kind + ' that it is at' if port.at_node else 'the id of a ' + port.kind}")
    for heading, table in declared(cls):
        click.echo(f"\n{heading}")
        show(heading, table)
    happens = {name: item.doc for name, item in {**cls.declares.guards, **cls.declares.timers}.items()}
    if happens:
        click.echo("\nevents")
        show("events", Table({"name": list(happens), "meaning": list(happens.values())}))
    if written := record(cls):
        click.echo(f"\nDYR record\n{written}")


def _of_record(name: str) -> type[Device]:
    """The class that a DYR record stands for; the registry's error where there is none."""
    from gridcore_readers.dyr import available

    return available().get(name.upper()) or devices[name]


def _first(cls: type) -> str:
    """First paragraph of a docstring, without marks of code."""
    return " ".join(inspect.cleandoc(cls.__doc__ or "").partition("\n\n")[0].replace("``", "").split()).rstrip(":")
