"""The tables of a PSS/E power-flow file (``.raw``), versions 32 and 33.

Siemens PTI, PSS/E Program Operation Manual, chapter "Power flow data file contents": the order of the
sections, their columns and defaults.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gridcore.errors import CaseError

from . import sources
from .psse import Columns, Row, columns, split

VERSIONS = (32, 33)
HEADER = columns("IC=0 SBASE=100 REV XFRRAT=0 NXFRAT=0 BASFRQ=0")

#: Sections in the order of the file, with the columns of those that are read.
SECTIONS: dict[str, Columns] = {
    "bus": columns("I NAME= BASKV=0 IDE=1 AREA=1 ZONE=1 OWNER=1 VM=1 VA=0"),
    "load": columns("I ID=1 STATUS=1 AREA=1 ZONE=1 PL=0 QL=0 IP=0 IQ=0 YP=0 YQ=0"),
    "fixed shunt": columns("I ID=1 STATUS=1 GL=0 BL=0"),
    "generator": columns("I ID=1 PG=0 QG=0 QT=9999 QB=-9999 VS=1 IREG=0 MBASE=0 ZR=0 ZX=1 RT=0 XT=0 GTAP=1 STAT=1"),
    "branch": columns("I J CKT=1 R=0 X B=0 RATEA= RATEB= RATEC= GI=0 BI=0 GJ=0 BJ=0 ST=1"),
    "transformer": columns("I J K=0 CKT=1 CW=1 CZ=1 CM=1 MAG1=0 MAG2=0 NMETR=2 NAME= STAT=1"),
    "area": {}, "two-terminal dc": {}, "VSC dc": {}, "impedance correction": {}, "multi-terminal dc": {},
    "multi-section line": {}, "zone": {}, "inter-area transfer": {}, "owner": {}, "FACTS": {},
    "switched shunt": columns("I MODSW=1 ADJM=0 STAT=1 VSWHI=1 VSWLO=1 SWREM=0 RMPCT=100 RMIDNT= BINIT=0"),
    "GNE": {}, "induction machine": {},
}
NEEDED = list(SECTIONS)[: list(SECTIONS).index("switched shunt") + 1]
IMPEDANCE = columns("R1-2=0 X1-2 SBASE1-2=0 R2-3=0 X2-3=0 SBASE2-3=0 R3-1=0 X3-1=0 SBASE3-1=0 VMSTAR=1 ANSTAR=0")
WINDING = columns("WINDV= NOMV=0 ANG=0 RATA= RATB= RATC= COD=0 CONT=0 RMA= RMI= VMA= VMI= NTP= TAB=0")

Transformer = list[Row]


@dataclass
class Tables:
    """What a file says: the header, its two title lines, and the rows of every section.

    A transformer is a list of rows: its own, its impedances, and one a winding.
    """

    header: Row
    title: str
    rows: dict[str, list[Row]]
    transformers: list[Transformer]


def read_tables(path: Path) -> Tables:
    """Read a file.

    Raises
    ------
    CaseError
        If it is not of version 32 or 33, ends too early, or a record is malformed: file, line and field.
    """
    file = str(path)
    text = sources.text(path, errors="replace")
    lines = ((number, line) for number, line in enumerate(text.splitlines(), 1) if not line.startswith("@!"))
    header = _header(lines, file)
    titles = [line.strip() for _, line in (next(lines, (0, "")), next(lines, (0, "")))]
    found = Tables(header, " ".join(filter(None, titles)), {section: [] for section in SECTIONS}, [])
    records = _records(lines, file)
    for section in SECTIONS:
        if not _section(section, records, found, file):
            return found
    return found


def _header(lines: Iterator[tuple[int, str]], file: str) -> Row:
    for number, line in lines:
        try:
            words, _ = split(line)
        except CaseError:
            words = []
        header = Row(words, HEADER, file, f"line {number}")
        try:
            version = header.integer("REV")
            header.number("SBASE")
        except CaseError:
            raise CaseError("is not a PSS/E power-flow file: its first record is not 'IC, SBASE, REV, ...'",
                            file=file, row=f"line {number}") from None
        if version not in VERSIONS:
            raise header.error(f"is a PSS/E power-flow file of version {version}; versions "
                               f"{' and '.join(map(str, VERSIONS))} are read, and PSS/E writes them too", "REV")
        return header
    raise CaseError("is empty", file=file)


def _records(lines: Iterator[tuple[int, str]], file: str) -> Iterator[tuple[int, list[str]]]:
    for number, line in lines:
        try:
            words, rest = split(line)
        except CaseError as error:
            raise CaseError(str(error), file=file, row=f"line {number}") from None
        if words or rest is not None:
            yield number, words


def _section(section: str, records: Iterator[tuple[int, list[str]]], found: Tables, file: str) -> bool:
    """Read one section up to its zero; False where the data end."""
    names, rows = SECTIONS[section], found.rows[section]
    number = 0
    for number, words in records:
        first = words[0] if words else ""
        if first == "0":
            return True
        if first.upper() == "Q":
            return False
        row = Row(words, names, file, f"{section} row {len(rows) + 1} (line {number})")
        rows.append(row)
        if section == "transformer":
            found.transformers.append(_transformer(row, records, file))
    if section in NEEDED:
        raise CaseError(f"ends within the {section} data" if number else f"ends before the {section} data", file=file)
    return False


def _transformer(row: Row, records: Iterator[tuple[int, list[str]]], file: str) -> Transformer:
    """The further lines of a transformer: impedances, and one for each of its two or three windings."""
    windings = 3 if row.integer("K") else 2
    out = [row]
    for names in (IMPEDANCE, *[WINDING] * windings):
        number, words = next(records, (0, []))
        if not number:
            raise row.error("the file ends within this transformer")
        out.append(Row(words, names, file, f"{row.place}, line {number}"))
    return out
