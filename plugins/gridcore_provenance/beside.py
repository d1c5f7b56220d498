"""What made a file, where its format has room for it, or in a file beside it.

A picture has it in fields of its own. A table of text has no room; what the W3C recommends for one is a description
beside it, ``x.csv-metadata.json`` of ``x.csv``: J. Tennison, G. Kellogg, Metadata Vocabulary for Tabular Data, W3C
Recommendation (2015), sections 5.6 (columns) and 5.8 (common properties).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from gridcore.case import Case
from gridcore.equilibrium import Equilibrium
from gridcore.results import Run, whole_file

from .record import provenance

# By suffix: what wrote it, and what it is about. Of the PNG specification, of Dublin Core, of a PDF's dictionary.
_FIELDS = {".png": ("Software", "Description"), ".svg": ("Creator", "Description"), ".pdf": ("Creator", "Subject")}


def picture_fields(path: str | Path, of: Run | Equilibrium | Case | Mapping[str, Run] | Mapping[str, str] | None = None
                   ) -> dict[str, str] | None:
    """The fields of a picture that say what made it: ``metadata`` of matplotlib's ``savefig``.

    Parameters
    ----------
    path : str or Path
        Its suffix says the format: ``.png``, ``.svg`` or ``.pdf``; others have no such fields.
    of : Run, Equilibrium or Case, or mapping of str to Run or to str, optional
        What it is drawn of: :func:`.record.provenance` of that, of several runs by their names, is the description, as
        JSON; or that itself.
    """
    fields = _FIELDS.get(Path(path).suffix.lower())
    if fields is None:
        return None
    made = {name: _made(each) for name, each in of.items()} if isinstance(of, Mapping) else _made(of)
    return dict(zip(fields, (_software(), json.dumps(made, ensure_ascii=False)), strict=True))


def _made(of: Run | Equilibrium | Case | str | None) -> dict[str, str] | str:
    return of if isinstance(of, str) else of.provenance if isinstance(of, Run) else provenance(of)


def describe_table(path: Path, columns: Mapping[str, str], made: Mapping[str, str]) -> None:
    """Write the description of a table beside it, ``x.csv-metadata.json`` of ``x.csv``.

    Parameters
    ----------
    path : Path
        Of the table.
    columns : mapping of str to str
        Unit by heading, in their order; empty where the heading has it, or there is none.
    made : mapping of str to str
        What :func:`.record.provenance` says.
    """
    told: dict[str, Any] = {
        "@context": "http://www.w3.org/ns/csvw", "url": path.name, "dc:creator": _software(),
        "dc:created": made.get("date", ""),
        **{f"gridcore:{name}": value for name, value in made.items() if name not in ("gridcore", "date")},
        "tableSchema": {"columns": [{"titles": heading, **({"schema:unitText": unit} if unit else {})}
                                    for heading, unit in columns.items()]}}
    with whole_file(path.with_name(f"{path.name}-metadata.json")) as temporary:
        temporary.write_text(json.dumps(told, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _software() -> str:
    return f"gridcore {metadata.version('gridcore')}"
