"""What studies read beside a case: objectives, sweeps, and tables and recordings of measurements."""

from __future__ import annotations

import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import xarray as xr

import gridcore as gc
from gridcore.case import load_case
from gridcore_estimation import Measurements
from gridcore_sweep.files import load_sweep
from gridcore_sweep.study import study

from .documents import written
from .formats import Bytes, Format, Text, Toml

SWEEP = {
    "case": "smib", "set": {"GEN1.H": 6.0}, "t_end": 1.0, "step": 0.01, "options": {"theta": 0.5},
    "contingencies": {"faults": ["BUS1"], "line_faults": "all", "trips": [], "at": 0.1, "clear": 0.1, "longest": 1.0,
                      "within": 0.001, "r": 0.0, "x": 1e-4},
    "vary": {"GEN1.H": [5, 6.4], "CCT1.x": {"from": 1.0, "to": 2.0, "count": 2, "relative": True}},
    "random": {"samples": 2, "seed": 1, "sampling": "random", "draw": {
        "GEN1.Xdp": {"distribution": "norm", "loc": 1, "scale": 0.05, "relative": True, "together": True},
        "TRANSFORMER1-2.x": {"distribution": "beta", "a": 2.0, "b": 3.0}}},
    "measures": {"dip": "min BUS1.Vm"}, "keep": "none", "record": ["GEN1.omega"], "own_events": False}
ROWS_OF = {"case": "smib", "rows": "mutant.csv", "t_end": 1.0}
OBJECTIVES = {"title": "x", "objective": [
    {"name": "H_{device}", "kind": "integral", "of": "GEN*.omega", "shape": "band violation", "low": "59.5 Hz",
     "high": 1.01, "sigma": 3600, "power": 2},
    {"kind": "sampled", "of": "BUS1.Vm", "data": "d.csv", "sigma": 1.0, "time": "time", "column": "v"},
    {"kind": "terminal", "of": "GEN1.omega", "shape": "square", "reference": 1.0}]}
DATA_OF = {"objective": [{"kind": "sampled", "of": "BUS1.Vm", "data": "mutant.csv", "column": "v"}]}
WIDE = b"time,v,GEN1.omega [Hz]\n0,1,60\n0.1,1.02,\n0.25,0.98,59.9\n1.5,1,60\n"
LONG = b'time,channel,value,weight,unit\n0,BUS1.Vm,23,1,kV\n0.1,BUS1.Vm,22.9,0.5,kV\n0.1,"GEN1, omega",1,1,\n'
ROWS = b"GEN1.H,TRANSFORMER1-2.x\n5,0.1\n6.5,0.12\n7,0.09\n"
CFG, DAT = ((Path(__file__).parents[1] / "data" / f"recording.{suffix}").read_text() for suffix in ("cfg", "dat"))
OTHER_CFG = CFG.replace("1999", "2013").replace("3,3A,0D", "4,3A,1D").replace("60\n", "1,trip,,,0\n50\n", 1)
SAMPLES = [[int(cell) for cell in line.split(",")] for line in DAT.splitlines()]
BINARY = b"".join(struct.pack("<IIhhh", *row) for row in SAMPLES)
CFF = "--- file type: CFG ---\n{cfg}--- file type: INF ---\n\n--- file type: HDR ---\n\n" \
      "--- file type: DAT {coding} ---\n"


def swept(path: Path) -> None:
    """The study that a sweep file asks for, as the command makes it."""
    asked = load_sweep(path)
    case = load_case(asked.pop("case"))
    for address, value in asked.pop("set", {}).items():
        case.set(address, value)
    study(case, **asked)


def recording() -> bytes:
    """Measurements as a NetCDF file."""
    t = np.linspace(0.0, 1.0, 11)
    data = xr.Dataset({"BUS1.Vm": ("time", 1 + 0.1 * t), "omega": (("time", "device"), np.ones((11, 2)))},
                      {"time": t, "device": ["GEN1", "GEN2"]})
    with tempfile.TemporaryDirectory() as folder:
        data.to_netcdf(path := Path(folder, "x.nc"), engine="h5netcdf")
        return path.read_bytes()


def formats() -> Iterator[Format]:
    """Of all that reads such files."""
    system = gc.build("smib")

    def of_objectives(path: Path) -> None:
        gc.analyses.load_objectives(path, system)

    def measured(path: Path) -> None:
        Measurements.read(path, None)

    text, binary = CFG.encode(), CFG.replace("ASCII", "BINARY").encode()
    cff = CFF.format(cfg=CFG, coding="ASCII").encode() + DAT.encode()
    binary_cff = CFF.format(cfg=CFG.replace("ASCII", "BINARY"), coding=f"BINARY: {len(BINARY)}").encode() + BINARY
    nc = recording()
    yield Toml("objectives", of_objectives, {"mutant.toml": written(OBJECTIVES), "d.csv": WIDE}, written(DATA_OF))
    yield Text("objective data", lambda path: of_objectives(path.with_name("good.toml")),
               {"mutant.csv": WIDE, "good.toml": written(DATA_OF)}, LONG)
    yield Toml("sweep", swept, {"mutant.toml": written(SWEEP)}, written(OBJECTIVES))
    yield Text("sweep rows", lambda path: swept(path.with_name("good.toml")),
               {"mutant.csv": ROWS, "good.toml": written(ROWS_OF)}, WIDE)
    yield Text("wide csv", measured, {"mutant.csv": WIDE}, LONG)
    yield Text("long csv", measured, {"mutant.csv": LONG}, WIDE)
    yield Bytes("nc", measured, {"mutant.nc": nc}, nc[::-1])
    yield Text("cfg", measured, {"mutant.cfg": text, "mutant.dat": DAT.encode()}, OTHER_CFG.encode())
    yield Text("dat", lambda path: measured(path.with_suffix(".cfg")), {"mutant.dat": DAT.encode(), "mutant.cfg": text},
               WIDE)
    yield Bytes("binary dat", lambda path: measured(path.with_suffix(".cfg")),
                {"mutant.dat": BINARY, "mutant.cfg": binary}, nc)
    yield Text("cff", measured, {"mutant.cff": cff}, binary_cff)
    yield Bytes("binary cff", measured, {"mutant.cff": binary_cff}, cff)
