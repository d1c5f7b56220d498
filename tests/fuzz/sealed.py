"""What gridcore itself writes and reads again, with a checksum: runs, stores of sweeps, compiled kernels."""

from __future__ import annotations

import hashlib
import json
import random
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import h5netcdf
import numpy as np

import gridcore as gc
from gridcore.equations.native.compiler import intact
from gridcore.errors import GridcoreError
from gridcore_netcdf.output import Output
from gridcore_netcdf.seal import seal
from gridcore_sweep.store import Store
from gridcore_sweep.worker import Result

from . import documents
from .formats import Bytes, Format
from .mutations import TEXT, mutated

ABOUT = {"digest": "0123456789abcdef", "case": "wscc9 01234567", "t_end": "5.0", "keep": "none"}
EXTREMES = (np.nan, np.inf, -1.0, -0.0, 1e308, 1e-320, 7.0, 1e12)


# ---------------------------------------------------------------- runs


def saved(t_end: float) -> bytes:
    """The file of a run with events."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(action="ignore"):
        gc.simulate("hiskens_pai", t_end=t_end, step=0.02).save(path := Path(folder, "x.nc"))
        return path.read_bytes()


class Sealed(Bytes):
    """What is read is what was written, whatever its file has come to; an error names it."""

    def read(self, path: Path) -> Any:
        try:
            return super().read(path)
        except GridcoreError as error:
            assert str(path.parent) in str(error)  # noqa: PT017
            raise


def reseal(path: Path) -> None:
    """A digest of the file as it is now."""
    with open(path, "r+b") as file:
        output = Output(file.fileno())
        output.seek(path.stat().st_size)
        output.write(b"")
        seal(output)


class Resealed(Format):
    """A run file of somebody who changes it on purpose, and makes the digest anew: other names, types and numbers."""

    def mutant(self, rng: random.Random) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            (path := Path(folder, "x.nc")).write_bytes(self.files[self.victim])
            with h5netcdf.File(path, "r+") as file:
                for _ in range(rng.choice([1, 1, 2])):
                    rng.choice([_variable, _variable, _attribute])(rng, file)
            reseal(path)
            return path.read_bytes()

    def read(self, path: Path) -> Any:
        run = gc.load_run(path)
        return run.t, run.X, run.events


def _variable(rng: random.Random, file: Any) -> None:
    """One of them is gone, has another name, type, shape or number."""
    names = [f"{group.name.rstrip('/')}/{name}" for group in (file, file["tape"]) for name in group.variables]
    file, name = file._h5file, rng.choice([name for name in names if name in file._h5file])
    old = file[name]
    values, change = old[...], rng.choice(["gone", "name", "type", "shape", "number", "number", "number", "number"])
    if change == "number" and values.size and old.shape:
        with np.errstate(all="ignore"):
            old[tuple(rng.randrange(length) for length in old.shape)] = str(rng.choice(EXTREMES)) \
                if values.dtype == object else np.float64(rng.choice(EXTREMES)).astype(values.dtype)
        return
    if change == "name":
        file.move(name, f"{name}_")
        return
    scales = [list(dimension.values()) for dimension in old.dims]
    del file[name]
    if change == "type":
        new = file.create_dataset(name, data=np.zeros(values.shape, rng.choice(["f4", "i2", "c16", "S3", "f8"])))
        for dimension, belonging in zip(new.dims, scales, strict=True):
            for scale in belonging:
                dimension.attach_scale(scale)
    elif change == "shape":
        file.create_dataset(name, data=np.zeros(rng.choice([(), (0,), (1, 1), (*values.shape, 1), (7,)])))


def _attribute(rng: random.Random, file: Any) -> None:
    """One of them is gone, or says something else."""
    attrs = rng.choice([file, *[file["tape"]] * 4]).attrs
    name = rng.choice([name for name in attrs if not name.startswith("_N")])
    value = attrs[name]
    what = rng.random()
    if what < 0.15:
        del attrs[name]
        return
    if isinstance(value, str) and what < 0.5:
        try:
            value = json.dumps(documents.mutant(rng, json.loads(value)))
        except ValueError:  # the text of the case
            value = mutated(rng, value.encode(), value.encode(), TEXT).decode("utf-8", "replace").replace("\0", "")
    else:
        value = rng.choice(["[1, 2", "7", "", "null", "[[]]", "{}", "x" * 60000, 1.5, -1, 10**12, np.zeros(3)])
    try:
        attrs[name] = value
    except (OSError, RuntimeError, ValueError):  # more than an attribute holds
        del attrs[name]


# ---------------------------------------------------------------- stores of sweeps


def rows(seed: int = 0) -> dict[str, Result]:
    """Rows of every kind."""
    draw = random.Random(seed)
    return {f"{draw.getrandbits(128):032x}": Result(
        {"angle": draw.uniform(0, 400), "stable": bool(k % 2), "reached": 5.0, "warning": "it is late " * k},
        {f"GEN{m}": draw.uniform(0, 400) for m in range(3)}, "no solution" if k % 5 == 0 else "", draw.random(),
        "here:1") for k in range(24)}


def filled(path: Path, seed: int = 0) -> tuple[Store, dict[str, Result]]:
    """An open store, and its rows."""
    kept, made = Store(path, ABOUT), rows(seed)
    for number, (key, result) in enumerate(made.items()):
        kept.add(key, f"fault at BUS{number}", result)
    return kept, made


def stored(path: Path) -> dict[str, Result]:
    """The rows of a store."""
    kept = Store(path, ABOUT)
    try:
        return kept.results()
    finally:
        kept.close()


def stores() -> Iterator[Format]:
    """One that is closed, and one of a sweep that was killed, whose rows stand in its journal.

    An empty file is a store that was killed before it was begun: it begins anew.
    """
    def whole(path: Path) -> bool:
        expected = (made, more) if path.stat().st_size else ({},)
        return stored(path) in expected

    with tempfile.TemporaryDirectory() as folder:
        path, another = Path(folder, "s.db"), Path(folder, "h.db")
        kept, made = filled(path)
        journal = {name: Path(folder, name).read_bytes() for name in ("s.db-wal", "s.db")}
        kept.close()
        kept, more = filled(another, 1)
        of_another = Path(folder, "h.db-wal").read_bytes()
        kept.close()
        yield Sealed("store", whole, {"s.db": path.read_bytes()},
                     another.read_bytes())
        both = {**made, **more}
        yield Sealed("journal", lambda path: stored(path.with_name("s.db")).items() <= both.items(), journal,
                     of_another)


# ---------------------------------------------------------------- all


def formats() -> Iterator[Format]:
    """Of what has a checksum. Of runs and kernels no bit may differ; some runs are changed on purpose, and sealed."""
    def same(read: Callable[[Path], Any], *whole: bytes) -> Callable[[Path], bool]:
        return lambda path: read(path) is not False and path.read_bytes() in whole

    def kernels(path: Path) -> None:
        if not intact(path):
            raise GridcoreError(f"{path}: would be compiled again")

    run, other = saved(0.4), saved(0.2)
    yield Sealed("run", same(gc.load_run, run, other), {"mutant.nc": run}, other)
    yield Resealed("run, resealed", {"mutant.nc": run}, other)
    yield from stores()
    libraries = [content + hashlib.sha256(content).digest() for content in (run, other)]
    yield Sealed("kernels", same(kernels, *libraries), {"mutant.so": libraries[0]}, libraries[1])
