"""What a PSS/E power-flow file consists of, versions 29 to 36: the order of its sections, their columns and defaults.

Siemens PTI, PSS/E Program Operation Manual and Data Formats Reference Manual, "Power flow data file contents". One
table serves all versions: behind ``@`` stand the first and the last version that has a column, ``NREG=0@35-``. The
same columns have names of their own in the JSON form of the files (``.rawx``, from version 35 on).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field

from .psse import Columns, Row

VERSIONS = range(29, 37)
BEYOND = 1 << 30  # the position of a column that a file does not have
AUTHOR = "gridcore"  # remark of the first record of what is written here, of which no voltage need be a solution

_RATES = " ".join(f"RATE{n}=" for n in range(1, 13)).replace("=", "=@34-") + " RATEA=@-33 RATEB=@-33 RATEC=@-33"
_BLOCKS = " ".join(f"S{n}=1@35- N{n}=0 B{n}=0" for n in range(1, 9))

HEADER = "IC=0 SBASE=100 REV= XFRRAT=0 NXFRAT=0 BASFRQ=0"
IMPEDANCE = "R1-2=0 X1-2 SBASE1-2=0 R2-3=0 X2-3=0 SBASE2-3=0 R3-1=0 X3-1=0 SBASE3-1=0 VMSTAR=1 ANSTAR=0"
WINDING = (f"WINDV= NOMV=0 ANG=0 {_RATES} COD=0 CONT=0 NODE=0@35- RMA=1.1 RMI=0.9 VMA=1.1 VMI=0.9 NTP=33 TAB=0 CR=0 "
           "CX=0 CNXA=0")
DC_TERMINAL = ("IP NB=0 ANMX ANMN RC=0 XC EBAS TR=1 TAP=1 TMX=1.5 TMN=0.51 STP=0.00625 IC=0 ND=0@35- IF=0 IT=0 ID=1 "
               "XCAP=0")
VSC_TERMINAL = ("IBUS TYPE MODE=1 DCSET=0 ACSET=1 ALOSS=0 BLOSS=0 MINLOSS=0 SMAX=0 IMAX=0 PWF=1 MAXQ=9999 MINQ=-9999 "
                "REMOT=0 NREG=0@35- RMPCT=100")

#: The further rows of a multi-terminal line: how many, what their table is called in a .rawx file, their columns.
MULTI_TERMINAL = (
    ("NCONV", "ntermdcconv", "IB NB=0 ANMX ANMN RC=0 XC EBAS TR=1 TAP=1 TPMX=1.5 TPMN=0.51 TSTP=0.00625 SETVL DCPF=1 "
                             "MARG=0 CNVCOD=1"),
    ("NDCBS", "ntermdcbus", "IDC IB=0 AREA=1 ZONE=1 DCNAME= IDC2=0 RGRND=0 OWNER=1"),
    ("NDCLN", "ntermdclink", "IDC JDC DCCKT=1 MET=1 RDC LDC=0"))

#: Columns of the sections that are read; of the others only the first, and the values that say how long a record is.
COLUMNS = {
    "bus": "I NAME= BASKV=0 IDE=1 GL=0@-30 BL=0@-30 AREA=1 ZONE=1 OWNER=1@31- VM=1 VA=0",
    "load": "I ID=1 STATUS=1 AREA=1 ZONE=1 PL=0 QL=0 IP=0 IQ=0 YP=0 YQ=0 OWNER=1 SCALE=1 INTRPT=0 "
            "DGENP=0 DGENQ=0 DGENF=0",
    "fixed shunt": "I ID=1 STATUS=1 GL=0 BL=0",
    "generator": "I ID=1 PG=0 QG=0 QT=9999 QB=-9999 VS=1 IREG=0 NREG=0@35- MBASE=0 ZR=0 ZX=1 RT=0 XT=0 GTAP=1 STAT=1 "
                 "RMPCT=100 PT=9999 PB=-9999",
    "branch": f"I J CKT=1 R=0 X B=0 NAME=@34- {_RATES} GI=0 BI=0 GJ=0 BJ=0 ST=1",
    "system switching device": f"I J CKT=1 X=0.0001 {_RATES.replace('@34-', '@34-35')} RSETNAM=@36- STAT=1",
    "transformer": "I J K=0 CKT=1 CW=1 CZ=1 CM=1 MAG1=0 MAG2=0 NMETR=2 NAME= STAT=1 "
                   "O1= F1= O2= F2= O3= F3= O4= F4= VECGRP= ZCOD=0",
    "two-terminal dc": "NAME MDC=0 RDC SETVL VSCHD VCMOD=0 RCOMP=0 DELTI=0 METER=I DCVMIN=0",
    "VSC dc": "NAME MDC=1 RDC=0",
    "switched shunt": "I ID=1@35- MODSW=1 ADJM=0@32- STAT=1@32- VSWHI=1 VSWLO=1 SWREM=0 NREG=0@35- RMPCT=100 "
                      f"RMIDNT= BINIT=0 NAME=@36- {_BLOCKS}",
    "multi-terminal dc": "NAME NCONV NDCBS NDCLN MDC=0 VCONV VCMOD=0 VCONVN=0",
    "FACTS": "NAME I J=0 MODE=1 PDES=0 QDES=0 VSET=1 SHMX=9999 TRMX=9999 VTMN=0.9 VTMX=1.1 VSMX=1 IMX=0 LINX=0.05 "
             "RMPCT=100 OWNER=1 SET1=0 SET2=0 VSREF=0 REMOT=0",
    "GNE": "NAME MODEL NTERM",
    "induction machine": "I ID=1 ST=1 SC=1 DC=2 AREA=1 ZONE=1 OWNER=1 NAME=@36- TC=1 BC=1 MBASE=0 RATEKV=0 PC=1 PSET=0",
}

_NETWORK = ("bus", "load", "fixed shunt@31-", "voltage droop@36-", "generator", "switching device rating@36-", "branch",
            "system switching device@34-", "transformer", "area", "two-terminal dc", "VSC dc", "switched shunt@-30",
            "impedance correction", "multi-terminal dc", "multi-section line", "zone", "inter-area transfer", "owner",
            "FACTS", "switched shunt@31-", "GNE@32-", "induction machine@32-", "load type@36-", "interface@36-",
            "interface element@36-", "substation@34-")
SECTIONS = tuple(dict.fromkeys(section.partition("@")[0] for section in _NETWORK))
#: What the tables of a .rawx file are called, and those of its columns that are not called as in a .raw file.
RAWX: dict[str, tuple[str, dict[str, str]]] = {
    "bus": ("bus", {}), "load": ("load", {"loadid": "ID", "stat": "STATUS", "dgenm": "DGENF"}),
    "fixshunt": ("fixed shunt", {"shntid": "ID", "stat": "STATUS"}), "generator": ("generator", {"machid": "ID"}),
    "acline": ("branch", {"rpu": "R", "xpu": "X", "bpu": "B", "stat": "ST"}),
    "sysswd": ("system switching device", {"xpu": "X"}), "transformer": ("transformer", {"nmet": "NMETR"}),
    "twotermdc": ("two-terminal dc", {"met": "METER"}), "vscdc": ("VSC dc", {}),
    "swshunt": ("switched shunt", {"shntid": "ID", "swreg": "SWREM"}), "ntermdc": ("multi-terminal dc", {}),
    "facts": ("FACTS", {"fcreg": "REMOT"}), "gne": ("GNE", {}), "area": ("area", {}),
    "impcor": ("impedance correction", {}),
    "msline": ("multi-section line", {}), "zone": ("zone", {}), "iatrans": ("inter-area transfer", {}),
    "owner": ("owner", {}), "indmach": ("induction machine", {"imid": "ID", "stat": "ST", "pcode": "PC"}),
    "voltagedroop": ("voltage droop", {}),
    "swdratset": ("switching device rating", {}), "loadtype": ("load type", {}), "interface": ("interface", {}),
    "itfelmt": ("interface element", {}), "sub": ("substation", {}),
}
SEVERAL = ("transformer", "two-terminal dc", "VSC dc", "multi-terminal dc")
#: In every table of a .rawx file.
RAWX_COLUMNS = {"ibus": "I", "jbus": "J", "kbus": "K", "cont": "CONT", "node": "NODE", "nbrdg": "NB", "angmx": "ANMX",
                "angmn": "ANMN"}


@dataclass
class Tables:
    """What a file says.

    Attributes
    ----------
    header : Row
    version : int
    title : str
    remark : str
        What stands behind the first record.
    rows : dict
        The rows of every section, of records with several lines the first.
    further : dict
        The other rows of such records, in the same order: of a transformer its impedances, and one for each winding;
        of a line for direct current one for each converter, of one with many terminals its buses and links, too.
    corrections : dict
        Of each impedance correction table its points: (turns ratio or angle, factor).
    solution : dict
        Parameters of the solution that the file has: ``THRSHZ``, ``PQBRAK``.
    notes : list of str
    """

    header: Row
    version: int
    title: str = ""
    remark: str = ""
    rows: dict[str, list[Row]] = field(default_factory=lambda: {section: [] for section in SECTIONS})
    further: dict[str, list[list[Row]]] = field(default_factory=lambda: {section: [] for section in SEVERAL})
    corrections: dict[int, list[tuple[float, complex]]] = field(default_factory=dict)
    solution: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def _of(version: int, text: str) -> str:
    """``NREG=0@35-``: the name, and nothing if the version has it not."""
    name, _, span = text.partition("@")
    first, dash, last = span.partition("-")
    there = int(first or 0) <= version <= (int(last or BEYOND) if dash else BEYOND)
    return name if there else ""


@functools.cache
def sections(version: int) -> tuple[str, ...]:
    """The sections of a version, in their order."""
    return tuple(filter(None, (_of(version, section) for section in _NETWORK)))


@functools.cache
def layout(text: str, version: int) -> Columns:
    """The columns of a record in a version, with defaults (None: required); one that it has not is beyond its end."""
    there: dict[str, tuple[int, str | None]] = {}
    missing: dict[str, tuple[int, str | None]] = {}
    for part in text.split():
        name, equals, default = _of(version, part).partition("=")
        if name:
            there[name] = len(there), default if equals else None
        else:
            name, _, default = part.partition("@")[0].partition("=")
            missing[name] = BEYOND, default
    return Columns({**missing, **there})


def named(text: str, fields: Mapping[str, int]) -> Columns:
    """The columns of a record of which each stands where its name does."""
    found: dict[str, tuple[int, str | None]] = {}
    for part in text.split():
        name, equals, default = part.partition("@")[0].partition("=")
        found[name] = fields.get(name, BEYOND), default if equals else None
    return Columns(found)
