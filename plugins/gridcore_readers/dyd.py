"""PSLF dynamic data files (``.dyd``), for models that are there: added to a power-flow case as DYR files are.

GE Energy Consulting, PSLF User's Manual, "Dynamic data file": records ``model bus "name" kV "id" : #level mva=rating
values``, over several lines where they end with a slash; a value has its name before it, ``"tpdo" 8.0``, or its place.
Named values are those of the device class, whatever the capitals; :data:`ORDER` has names and places of the models that
call them otherwise.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from gridcore.case import Case
from gridcore.contract import Device
from gridcore.errors import CaseError

from . import sources
from .dyr import attach, available, order
from .dyr_text import Model
from .psse import listed, real

_MACHINE = "tpdo=Td0p tppdo=Td0pp {q} h=H d=D ld=Xd lq=Xq lpd=Xdp {p} ll=Xl s1=S10 s12=S12 ra=Rs rcomp= xcomp= accel="
#: Values in their order, PSLF's name and that of the device class; nothing where it has none.
ORDER = {
    "GENROU": _MACHINE.format(q="tpqo=Tq0p tppqo=Tq0pp", p="lpq=Xqp lppd=Xdpp"),
    "GENSAL": _MACHINE.format(q="tppqo=Tq0pp", p="lppd=Xdpp"),
    "GENCLS": "h=H d=D ra=Rs lppd=Xdp rcomp= xcomp=",
    "TGOV1": "r=R t1=T1 vmax=VMAX vmin=VMIN t2=T2 t3=T3 dt=Dt",
}
_HEAD = re.compile(r'\s*(\w+)\s+(\d{1,18})\s+"[^"]*"\s+[-+.\deE]+\s+"([^"]*)"\s*:\s*(.*)', re.DOTALL)
_WORD = re.compile(r'"[^"]*"|[^\s"]+')
_RATING = re.compile(r"(mva|mwcap)\s*=\s*", re.IGNORECASE)
#: What a record says before its values, and the parameter of that meaning: ratings of a machine and of a turbine.
RATINGS = {"mva": "Sn", "mwcap": "Trate"}


def extend(case: Case, path: Path, *, substitute: Mapping[str, str] | None = None, drop: Sequence[str] = (),
           loads: str = "", tolerate: bool = False) -> None:
    """Add the dynamic models of a file to a case; for the parameters see :func:`gridcore_readers.dyr.extend`.

    Raises
    ------
    CaseError
        As from there, and if a record is malformed: file and line.
    """
    classes, models, unused = available(), [], list[tuple[Model, str, float]]()
    ratings = dict[tuple[int, str], float]()
    dropped, other = {name.upper() for name in drop}, {a.upper(): b.upper() for a, b in (substitute or {}).items()}
    for line, text in _records(path):
        head = _HEAD.fullmatch(text)
        if head is None:
            case.note(f"{path.name} line {line}: no record of a model at one bus, and skipped: {text.split()[0]}")
            continue
        model = Model(int(head[2]), head[1].upper(), head[3].strip() or "1", [], line)
        cls = classes.get(other.get(model.name, model.name))
        if cls is not None and model.name not in dropped:
            unused += [(model, *given) for given in _fill(model, cls, head[4], str(path)).items()]
            if "Sn" in model.further:
                ratings[model.bus, model.identifier] = model.further["Sn"]
        models.append(model)
    without = defaultdict(list)
    for model, given, value in unused:
        if given not in RATINGS:
            without[f"{given} of {model.name} has no effect here"].append(model.bus)
        elif value != ratings.get((model.bus, model.identifier)):
            without[f"{given} of {model.name} has no effect here: its per unit is that of the machine's rating"].append(
                model.bus)
    for words, buses in without.items():
        case.note(f"{path.name}: {words}: buses {listed(buses)}")
    attach(case, path, models, substitute=substitute, drop=drop, loads=loads, tolerate=tolerate)


def _records(path: Path) -> Iterator[tuple[int, str]]:
    """(line on which it begins, text) of every record, lines that end with a slash joined with the next."""
    text, began = "", 0
    for number, line in enumerate(sources.text(path, errors="replace").splitlines(), 1):
        if not text and (not line.strip() or line.lstrip().startswith(("#", "!"))):
            continue
        began = began if text else number
        text += " " + line.rstrip()
        if text.endswith("/"):
            text = text[:-1]
        else:
            if text.strip():  # more than slashes
                yield began, text
            text = ""
    if text.strip():
        yield began, text


def _fill(model: Model, cls: type[Device], rest: str, file: str) -> dict[str, float]:
    """Give a record its values, in the order of a DYR record; returns those without effect."""
    own = dict(part.split("=") for part in ORDER.get(cls.__name__, "").split())
    names = {name.lower(): name for name in cls.declares.params} | own
    places, unused, values = iter(own), dict[str, float](), dict[str, float]()
    words = _WORD.findall(_RATING.sub(lambda found: f"{found[1].lower()}=", rest))
    while words:
        word = words.pop(0)
        if word.startswith("#"):
            continue
        name, equals, number = word.partition("=")
        if word.startswith('"') and words:
            name, number = word.strip('"').strip().lower(), words.pop(0)
        elif not equals:
            name, number = next(places, ""), word
            if not name:
                raise _error(model, file, f"the place of {word} is not known: name it, \"ka\" {word}" if not own
                             else f"there are more than its {len(own)} values")
        try:
            value = real(number)
        except ValueError:
            raise _error(model, file, f"{number!r} is not a number", name) from None
        if RATINGS.get(name) in cls.declares.params:
            values |= {RATINGS[name]: value} if value > 0 else {}
        elif names.get(name):
            values[names[name]] = value
        elif value:
            unused[name] = value
    there = [(entry or "").partition(" ")[0] for entry in order(cls)]
    model.values = [repr(values.pop(name)) if name in values else "" for name in there]
    model.further = values
    return unused


def _error(model: Model, file: str, message: str, field: str = "") -> CaseError:
    return CaseError(message, file=file, row=model.place, field=field)
