"""The industry's cases: read from RAW and DYR files, given a disturbance, and written as native files.

From the root of the repository, with the folder of the data, ``cases/<name>/case.toml`` are written by::

    python -m tests.cases.industry ../shared/data [name ...]
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path

import gridcore as gc

FACTS = "Facts from publications and data files; this file is under gridcore's licence."


@dataclass
class Industry:
    """A case in files of the industry, and what is said of it and added to it here."""

    files: tuple[str, str]
    title: str
    source: str
    published: str
    filled_in: str
    loads: str
    licence: str = FACTS
    add: list[gc.Record] = field(default_factory=list)

    def read(self, folder: Path, name: str) -> gc.Case:
        """From the files in `folder`."""
        case = gc.load_case(folder / self.files[0], folder / self.files[1], loads=self.loads)
        case.name, case.title = name, self.title
        case.about = {"t_end": "10 s"} | {
            key: getattr(self, key).strip() for key in ("source", "licence", "published", "filled_in")}
        for record in self.add:
            case.add(gc.Record(record.model, dict(record.fields)))
        return case


def _disturbance(bus: int, line: str, cleared: float) -> list[gc.Record]:
    return [gc.BusFault(id="fault", bus=bus, t=1.0, clear=cleared),
            gc.BranchTrip(id="trip", branch=line, t="fault.clear")]


CASES = {
    "kundur": Industry(
        ("kundur/11BUS_KUNDUR.raw", "kundur/11BUS_KUNDUR_TGOV.dyr"),
        "Kundur's two areas, 4 machines, 11 buses: fault at bus 8, one tie circuit lost",
        """
P. Kundur, Power System Stability and Control, McGraw-Hill 1994, example 12.6. Read from
NREL-Sienna/PowerSystemsTestData, psse_raw/11BUS_KUNDUR.raw and psse_dyr/11BUS_KUNDUR_TGOV.dyr (commit
d0ac9e357eef, BSD-3-Clause), by python -m tests.cases.industry.""",
        """
Network, dispatch, machines (GENROU without saturation), static exciters with transient gain reduction (SEXS)
and governors (TGOV1): the files. Of the stabilizers the book's gain and washout, KSTAB = 20 and TW = 10 s.""",
        """
Leads and lags of the stabilizers, 0.3/0.03 and 0.15/0.03 s, for the book's 0.05/0.02 and 3/5.4 s, which belong
to its exciter without transient gain reduction; with these the mode between the areas is at 0.60 Hz with a
damping ratio of 0.09 (the book: 0.60 Hz and 0.13). Limits of the stabilizers, 0.1 pu. Loads of constant active
current and constant reactive impedance, as in the book. The disturbance: fault at bus 8 at 1 s, cleared after
50 ms by opening one circuit of 7-8.""",
        loads="I/Z",
        add=[*(gc.Record("IEEEST", {"exciter": f"EXC_GEN{k}", "ICS": 1, "T1": 0.3, "T2": 0.03, "T3": 0.15, "T4": 0.03,
                                    "T5": 10.0, "T6": 10.0, "KS": 20.0, "LSMAX": 0.1, "LSMIN": -0.1})
               for k in (1, 2, 3, 4)),
             *_disturbance(8, "LINE7-8_2", 1.05)]),
    "ieee39": Industry(
        ("ieee39/IEEE39.raw", "ieee39/IEEE39.dyr"),
        "New England, 10 machines, 39 buses: fault at bus 16, line 16-17 lost",
        """
T. Athay, R. Podmore, S. Virmani, "A practical method for the direct analysis of transient stability", IEEE
Trans. Power App. Syst. 98 (1979); M. A. Pai, Energy Function Analysis for Power System Stability, Kluwer 1989.
Read from LLNL/GridDyn, test/test_files/IEEE_test_cases/IEEE39.raw and IEEE39.dyr (commit 96b57516cf95,
BSD-3-Clause), by python -m tests.cases.industry.""",
        """
All of the network, machines (GENROU), exciters (ESDC1A) and governors (TGOV1): the files, which are one of
several public sets that differ. As in all of these files the load at bus 7 draws 840 Mvar, where the paper has
84, and the nominal frequency is 50 Hz. The RAW's solution is that of a tap of 0.8498 of transformer 31-6, which
is under load-tap control there; its record, and this file, have 0.9.""",
        """
Loads of constant impedance, as in the paper. The disturbance: fault at bus 16 at 1 s, cleared after 100 ms by
opening line 16-17.""",
        loads="Z",
        add=_disturbance(16, "LINE16-17", 1.1)),
    "npcc140": Industry(
        ("npcc140/npcc.raw", "npcc140/npcc_full.dyr"),
        "North-eastern USA (NPCC), 48 machines, 140 buses: fault at bus 37, line 37-43 lost",
        """
J. H. Chow and K. W. Cheung, "A toolbox for power system dynamics and control engineering education and
research", IEEE Trans. Power Syst. 7 (1992), system datanp48; as the 48-machine NPCC testbed of CURENT, converted
by B. Wang. Read from CURENT/andes, andes/cases/npcc/npcc.raw and npcc_full.dyr (commit 1edce20cd5ca), by
python -m tests.cases.industry.""",
        """
All of the network, machines (GENROU, GENCLS), exciters (IEEEX1) and governors (TGOV1): the files.""",
        """
Loads of constant impedance. The disturbance: fault at bus 37 at 1 s, cleared after 100 ms by opening line
37-43.""",
        loads="Z",
        add=_disturbance(37, "LINE37-43", 1.1)),
    "activsg200": Industry(
        ("activsg200/case_ACTIVSg200.m", "activsg200/ACTIVSg200_dynamics.dyr"),
        "ACTIVSg200, a synthetic grid of central Illinois, 49 machines, 200 buses: fault at bus 189",
        """
A. B. Birchfield, T. Xu, K. M. Gegner, K. S. Shetye, T. J. Overbye, "Grid structural characteristics as validation
criteria for synthetic networks", IEEE Trans. Power Syst. 32 (2017). Read from MATPOWER's data/case_ACTIVSg200.m
(commit 95d5a6fabb66) and pnnl/ExaGO's datafiles/ACTIVSg200_dynamics.dyr (commit b4cad9ae3f38), by
python -m tests.cases.industry.""",
        """
All of the network, machines (GENROU), exciters (SEXS), governors (TGOV1) and 26 composite loads (COMPLOAD): the
files.""",
        """
Nominal frequency, which the .m file does not give: 60 Hz. Loads without a COMPLOAD are of constant active current
and constant reactive impedance. The disturbance: fault at bus 189 at 1 s, cleared after 100 ms.""",
        loads="I/Z",
        licence="Data: CC-BY-4.0, Texas A&M University (Birchfield et al.); changed in form, disturbance added.",
        add=[gc.BusFault(id="fault", bus=189, t=1.0, clear=1.1)]),
    "wecc240": Industry(
        ("field/wecc240/240busWECC_2018_PSS33.raw", "field/wecc240/240busWECC_2018_PSS.dyr"),
        "Western Interconnection, reduced, 109 machines and 37 converters, 243 buses: fault at bus 2401",
        """
H. Yuan, R. S. Biswas, J. Tan, Y. Zhang, "Developing a reduced 240-bus WECC dynamic model for frequency response
study of high renewable integration", IEEE/PES Transmission and Distribution Conference (2020); J. E. Price, J.
Goodin, "Reduced network modeling of WECC as a market design prototype", IEEE PES General Meeting (2011). Read from
NREL-Sienna/PowerSystemsTestData, 240busWECC_2018_PSS33.raw and 240busWECC_2018_PSS.dyr, by
python -m tests.cases.industry.""",
        """
All of the network, machines (GENROU), exciters (SEXS), governors (GAST, TGOV1, HYGOV), stabilizers (IEEEST), and
wind and solar plants (REGCA1, REECB1, REPCA1): the files, published by the National Renewable Energy Laboratory
for free use.""",
        """
Loads of constant active current and constant reactive impedance. The disturbance: fault at bus 2401, in southern
California, at 1 s, cleared after 100 ms.""",
        loads="I/Z",
        licence="Data: published by the National Renewable Energy Laboratory for free use, with no licence named; "
                f"its files name the first reference. {FACTS}",
        add=[gc.BusFault(id="fault", bus=2401, t=1.0, clear=1.1)]),
}


def main(folder: str, *names: str) -> None:
    """Write those of these names, all by default."""
    for name, industry in CASES.items():
        if name not in (names or CASES):
            continue
        path = Path("cases") / name / "case.toml"
        path.parent.mkdir(exist_ok=True)
        gc.save_case(industry.read(Path(folder), name), path)
        print(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
