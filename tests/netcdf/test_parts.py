"""Files of runs larger than memory: written and read a part at a time."""

from __future__ import annotations

import tracemalloc

import h5py
import pytest

import gridcore as gc
from gridcore.tape import checkpoints as checkpoint
from gridcore_netcdf import checks, read, write

SYSTEM = gc.build("wscc9")


@pytest.mark.usefixtures("short_segments")
@pytest.mark.parametrize("kept", [{}, {"checkpoint": 200_000}, {"record": ["GEN*.*", "BUS*.Vm"]}, {"memory": 1000}])
def test_a_file_that_is_written_and_read_in_parts_is_the_same(tmp_path, monkeypatch, kept):
    run = gc.simulate(SYSTEM, t_end=1.0, step=0.005, **kept)
    run.save(tmp_path / "one.nc")
    run.save(tmp_path / "one.csv", columns=["GEN*.omega", "BUS7.Vm"])
    monkeypatch.setattr(checkpoint, "BLOCK", 8 * SYSTEM.n * 7)
    monkeypatch.setattr(read, "BLOCK", 8 * SYSTEM.n * 7)
    monkeypatch.setattr(write, "CHUNK", 400)
    run.save(tmp_path / "parts.nc")
    run.save(tmp_path / "parts.csv", columns=["GEN*.omega", "BUS7.Vm"])
    assert (tmp_path / "parts.csv").read_bytes() == (tmp_path / "one.csv").read_bytes()
    with h5py.File(tmp_path / "parts.nc") as parts, h5py.File(tmp_path / "one.nc") as one:
        assert parts["omega"].chunks == (400 // 24, 3)
        assert one["omega"].chunks == one["omega"].shape
    one, parts = (gc.load_run(tmp_path / f"{name}.nc") for name in ("one", "parts"))
    assert one.to_xarray().identical(parts.to_xarray())
    assert one.to_xarray().identical(run.to_xarray())
    if "record" not in kept:
        assert parts.X.tobytes() == one.X.tobytes() == run.X.tobytes()
    assert parts.tape.records == run.tape.records


def test_saving_needs_no_memory_for_the_whole_run(tmp_path, monkeypatch):
    run = gc.simulate(SYSTEM, t_end=60.0, step=0.005, checkpoint="disk")
    size = 8 * SYSTEM.n * len(run.t)
    monkeypatch.setattr(checkpoint, "BLOCK", size // 50)
    tracemalloc.start()
    try:
        run.save(tmp_path / "r.nc")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < size / 2


def test_a_point_may_be_larger_than_a_chunk(tmp_path, monkeypatch):
    monkeypatch.setattr(write, "CHUNK", 8)
    monkeypatch.setattr(read, "BLOCK", 8)
    run = gc.simulate(gc.build("wscc9"), 0.05)
    run.save(tmp_path / "run.nc")
    assert gc.load_run(tmp_path / "run.nc").X.tobytes() == run.X.tobytes()


@pytest.mark.parametrize("rows", [1, 7])
def test_records_are_read_some_at_a_time(tmp_path, monkeypatch, rows):
    run = gc.simulate(gc.build("wscc9"), 0.2)
    run.save(tmp_path / "run.nc")
    monkeypatch.setattr(read, "ROWS", rows)
    monkeypatch.setattr(checks, "ROWS", rows)
    loaded = gc.load_run(tmp_path / "run.nc")
    assert loaded.tape.records == run.tape.records
    assert loaded.tape.clocks == run.tape.clocks
