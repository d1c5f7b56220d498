"""Cases, in the formats of all readers, and what adds to them. What is read is built, too."""

from __future__ import annotations

import functools
import io
import json
import random
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import gridcore as gc
from gridcore.case import load_case, save_case
from gridcore_readers import raw_write

from .formats import Format, Text, Toml
from .mutations import TEXT, mutated
from .power_flows import ANDES, RAW_30, RAWX
from .systems import POWER_SYSTEMS, andes_workbook

RAW = Path(__file__).parents[1] / "data" / "transformer_codes.raw"
DYR = """\
1 'GENROU' 1  8.0 0.03 0.4 0.05 6.5 0 1.8 1.7 0.3 0.55 0.25 0.06 0.03 0.1 /
3, 'GENROU', 1, 8.0, 0.03, 0.4, 0.05,
   6.175, 0.0, 1.8, 1.7, 0.3, 0.55,
   0.25, 0.06, 0.03, 0.1 /USRWHT$
3 'TGOV1' 1 0.05 0.49 33 0.4 2.1 7 0 /
3 'SEXS' 1 0.1 10 200 0.05 0 5 /
"""
OTHER_DYR = """\
1 'GENCLS' 1 3.0 0.0 /
3 'GENSAL' 1 5.0 0.05 0.06 5.0 0.0 1.1 0.7 0.25 0.2 0.12 0.03 0.25 /
3 'IEEEG1' 1 0 0 20 0.1 0.1 0.2 0.1 -0.2 0.9 0 0.3 0.3 0 7 0.4 0 0.5 0.3 0 0 0 0 /
3 'EXDC2' 1 0.01 40 0.1 0 0 5 -5 1 0.8 0.1 1.2 0 2.8 0.04 3.7 0.33 /
"""
DYD = """\
# a remark
genrou 1 "ONE" 20.0 "1 " : #9 mva=100.0 8.0 0.03 0.4 0.05 6.5 0 1.8 1.7 0.3 0.55 0.25 0.06 0.03 0.1 0.0 0 0 0
gencls 3 "THREE" 20.0 "1 " : #9 mva=100.0 "h" 3.0 "d" 0.0 /
   "ra" 0.0 "lppd" 0.2
tgov1 1 "ONE" 20.0 "1 " : #9 mva=100.0 0.05 0.49 33 0.4 2.1 7 0
sexs 1 "ONE" 20.0 "1 " : #9 "tatb" 0.1 "tb" 10 "k" 200 "te" 0.05 "emin" 0 "emax" 5
"""
M = """\
function mpc = small
mpc.version = '2';
mpc.baseMVA = 100;
mpc.bus = [
	1	3	0	0	0	0	1	1.04	0	20	1	1.1	0.9;
	2	2	25	10	5	-10	1	1.02	-30	20	1	1.1	0.9;  % a remark
	7	1	10	0	0	0	1	1	0	20	1	1.1	0.9;
];
mpc.gen = [
	1	20	0	99	-99	1.04	100	1	90	0;
	2	30	5	30	-20	1.02	50	1	90	0;
];
mpc.branch = [
	1	2	0.01	0.1	0.02	0	0	0	0	0	1	-360	360;
	2	7	0	0.2	0	0	0	0	0.98	5	1	-360	360;
];
"""
OTHER_M = M.replace("2	7", "1	7").replace("mpc.gen", "mpc.gencost").replace(";  % a remark", " ...\n;")
EVENTS = """\
BusFault = [{bus = 1, t = 0.1, clear = 0.2, x = 1e-4}]
Ramp = [{parameter = "GEN1.P0", t0 = 0.5, t1 = 0.7, scale = 0.9}]
Line = [{bus1 = 1, bus2 = 2, x = "0.4 ohm", id = "more"}]
"""


def built(case: gc.Case) -> None:
    """What is read has an equilibrium, or an error says why not."""
    gc.build(case)


class Workbook(Format):
    """A part of it is text; the parts are a zip file."""

    def mutant(self, rng: random.Random) -> bytes:
        if rng.random() < 0.3:
            return super().mutant(rng)
        out = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(self.files[self.victim])) as old, zipfile.ZipFile(out, "w") as new:
            parts = {name: old.read(name) for name in old.namelist()}
            victim = rng.choice(list(parts))
            for name, part in parts.items():
                new.writestr(name, mutated(rng, part, parts[rng.choice(list(parts))], TEXT) if name == victim else part)
        return out.getvalue()

    def read(self, path: Path) -> None:
        built(load_case(path, alone=True))


def formats() -> Iterator[Format]:
    """Of all readers and companions that are bundled."""
    def saved(name: str, suffix: str) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            save_case(gc.load_case(name), path := Path(folder, f"x{suffix}"))
            return path.read_bytes()

    def alone(path: Path, **options: bool) -> None:
        built(load_case(path, alone=True, **options))

    def written(raw: bytes, version: int) -> str:
        with tempfile.TemporaryDirectory() as folder:
            (path := Path(folder, "x.raw")).write_bytes(raw)
            raw_write.write(load_case(path, alone=True), path, version=version)
            return path.read_text()

    raw = RAW.read_bytes()
    yield Toml("toml", alone, {"mutant.toml": saved("smib", ".toml")}, saved("wscc9", ".toml"))
    yield Toml("events", lambda path: built(load_case("smib", path)), {"mutant.toml": EVENTS.encode()},
               saved("smib", ".toml"))
    yield Text("raw", alone, {"mutant.raw": raw}, raw.replace(b", 1,", b", 2,"))
    for name, text in (("raw 30", RAW_30), ("raw 35", written(raw, 35)), ("raw, tolerated", raw.decode())):
        yield Text(name, functools.partial(alone, tolerate=True), {"mutant.raw": text.encode()}, raw)
    yield Text("rawx", alone, {"mutant.rawx": json.dumps(RAWX).encode()}, json.dumps(RAWX, indent=1).encode())
    yield Text("dyr", lambda path: built(load_case(path.with_name("good.raw"), path)),
               {"mutant.dyr": DYR.encode(), "good.raw": raw}, OTHER_DYR.encode())
    yield Text("dyr, tolerated", lambda path: built(load_case(path.with_name("good.raw"), path, tolerate=True)),
               {"mutant.dyr": DYR.encode(), "good.raw": raw}, OTHER_DYR.encode())
    yield Text("dyd", lambda path: built(load_case(path.with_name("good.raw"), path)),
               {"mutant.dyd": DYD.encode(), "good.raw": raw}, DYD.replace("genrou", "gensal").encode())
    yield Text("andes", alone, {"mutant.json": json.dumps(ANDES).encode()}, json.dumps(ANDES, indent=1).encode())
    yield Text("power systems", alone, {"mutant.json": json.dumps(POWER_SYSTEMS).encode()},
               json.dumps(POWER_SYSTEMS, indent=1).encode())
    yield Text("m", alone, {"mutant.m": M.encode()}, OTHER_M.encode())
    yield Workbook("xlsx", {"mutant.xlsx": saved("smib", ".xlsx")}, saved("wscc9", ".xlsx"))
    yield Workbook("andes xlsx", {"mutant.xlsx": andes_workbook()}, saved("wscc9", ".xlsx"))
