"""Batched kernels: one traced function evaluated for all instances of a shape of device.

A kernel gathers its inputs from one buffer, evaluates, and adds its outputs into another. With a C
compiler the function is compiled (once: libraries are cached on disk); without one CasADi's own
interpreter evaluates it. Either way there is no Python loop over instances.

The cache is safe to share: a library is written to a temporary file and renamed, and carries the
digest of its own bytes, so neither a concurrent process nor a half-written file can harm.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import casadi as ca
import numpy as np

# -O3 unrolls the copies around a call; without the last one no function of a shared library may be inlined.
FLAGS = ("-O3", "-fPIC", "-shared", "-ffp-contract=off", "-fno-math-errno", "-fno-semantic-interposition")
NO_COMPILER = "GRIDCORE_NO_COMPILER"
CACHE = "GRIDCORE_CACHE"

_WRAPPER = """
void {name}_batch(long count, const double *Z, const int *gather, double *out, const int *scatter,
                  const double *scale, const int *rows)
{{
    double in[{n_in} + 1], res[{n_out} + 1], w[{n_w}];
    const double *arg[1] = {{in}};
    double *to[1] = {{res}};
    for (long i = 0; i < count; ++i, gather += {n_in}, scatter += {n_out}) {{
        for (int k = 0; k < {n_in}; ++k) in[k] = Z[gather[k]];
        {name}(arg, to, 0, w, 0);
        if (scale) {{
            for (int k = 0; k < {n_out}; ++k) out[scatter[k]] += scale[rows[k]] * res[k];
            rows += {n_out};
        }} else
            for (int k = 0; k < {n_out}; ++k) out[scatter[k]] += res[k];
    }}
}}
"""


@functools.cache
def compiler() -> str | None:
    """Path of the C compiler, or None where there is none (or ``GRIDCORE_NO_COMPILER`` is set)."""
    if os.environ.get(NO_COMPILER):
        return None
    return shutil.which(os.environ.get("CC", "cc")) or shutil.which("gcc") or shutil.which("clang")


def cache_directory() -> Path:
    """Where compiled kernels are kept: ``GRIDCORE_CACHE``, else the user's cache directory."""
    if os.environ.get(CACHE):
        return Path(os.environ[CACHE])
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "gridcore" / "kernels"


def c_source(functions: Sequence[ca.Function]) -> str:
    """C code of the functions (one vector in, one vector out) with their batch loops."""
    generator = ca.CodeGenerator("kernels", {"with_header": False, "casadi_int": "long long int"})
    for function in functions:
        generator.add(function)
    return generator.dump() + "".join(
        _WRAPPER.format(name=f.name(), n_in=f.nnz_in(0), n_out=f.nnz_out(0), n_w=f.sz_w() + 1)
        for f in functions)


def compile_libraries(sources: Sequence[str]) -> list[ctypes.CDLL] | None:
    """Load the compiled form of each source, compiling side by side what is not in the cache.

    Returns None where there is no compiler, or none that works.
    """
    cc = compiler()
    if cc is None:
        return None
    directory = cache_directory()
    stamp = os.stat(cc)
    salt = f"{cc} {stamp.st_size} {stamp.st_mtime_ns} {platform.machine()} {FLAGS}".encode()
    names = [f"{hashlib.sha256(salt + s.encode()).hexdigest()[:40]}.so" for s in sources]
    if not all(_intact(directory / name) for name in names) and not _writable(directory):
        directory = Path(tempfile.mkdtemp(prefix="gridcore-"))
    paths = [directory / name for name in names]
    missing = {p: s for p, s in zip(paths, sources, strict=True) if not _intact(p)}
    jobs = [(p, *_start(cc, s, directory)) for p, s in missing.items()]
    failed = [p for p, job, c_file, library in jobs if not _finish(p, job, c_file, library)]
    return None if failed else [ctypes.CDLL(str(p)) for p in paths]


def _writable(directory: Path) -> bool:
    """Whether files can be made there; makes the directory if it can."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            return True
    except OSError:
        return False


def _start(cc: str, source: str, directory: Path) -> tuple[subprocess.Popen[bytes], Path, Path]:
    handle, name = tempfile.mkstemp(suffix=".c", dir=directory)
    with os.fdopen(handle, "w") as file:
        file.write(source)
    c_file, library = Path(name), Path(name).with_suffix(".tmp")
    job = subprocess.Popen([cc, *FLAGS, "-o", str(library), str(c_file), "-lm"],
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return job, c_file, library


def _finish(path: Path, job: subprocess.Popen[bytes], c_file: Path, library: Path) -> bool:
    ok = job.wait() == 0
    c_file.unlink(missing_ok=True)
    if ok:
        content = library.read_bytes()
        with open(library, "ab") as file:  # ELF and Mach-O loaders ignore what follows the image
            file.write(hashlib.sha256(content).digest())
        os.replace(library, path)
    library.unlink(missing_ok=True)
    return ok


def _intact(path: Path) -> bool:
    """Whether the library is there and its last 32 bytes are the digest of what precedes them."""
    try:
        content = path.read_bytes()
    except OSError:
        return False
    return hashlib.sha256(content[:-32]).digest() == content[-32:]


_begins, _first = ctypes.addressof, ctypes.c_char.from_buffer


def address(array: np.ndarray) -> int:
    """Where the data of a contiguous array begin; five times as fast as ``array.ctypes.data``."""
    try:
        return _begins(_first(array))  # type: ignore[arg-type]
    except (TypeError, ValueError):  # it may not be written to, or is empty
        return array.ctypes.data


@dataclass
class Batch:
    """A function over all instances of a shape: ``out[scatter] += f(Z[gather])``.

    Attributes
    ----------
    function : casadi.Function
        One vector in (the gathered symbols), one dense vector out.
    gather : (count, n_in) int32 array
        Where in the buffer each input of each instance is.
    scatter : (count, n_out) int32 array
        Where each output goes; the output buffer has one entry more than it uses, for what is dropped.
    rows : (count, n_out) int32 array, optional
        Row of each output, for outputs that are scaled row by row (Jacobian entries).
    """

    function: ca.Function
    gather: np.ndarray
    scatter: np.ndarray
    rows: np.ndarray | None = None

    def __post_init__(self) -> None:
        self.gather = np.ascontiguousarray(self.gather, dtype=np.int32)
        self.scatter = np.ascontiguousarray(self.scatter, dtype=np.int32)
        if self.rows is not None:
            self.rows = np.ascontiguousarray(self.rows, dtype=np.int32)
        self.count = len(self.gather)
        self.native: ctypes._NamedFuncPointer | None = None

    def bind(self, library: ctypes.CDLL) -> None:
        """Evaluate by the compiled function from now on."""
        native = library[f"{self.function.name()}_batch"]
        native.restype = None
        native.argtypes = [ctypes.c_long, *[ctypes.c_void_p] * 6]
        self.native = native
        self._places = (self.gather.ctypes.data, self.scatter.ctypes.data,
                        None if self.rows is None else self.rows.ctypes.data)

    def values(self, Z: np.ndarray) -> np.ndarray:
        """(count, n_out) outputs, not scattered."""
        if self.native is not None:
            out = np.zeros(self.scatter.shape)
            where = np.arange(out.size, dtype=np.int32)
            self.native(self.count, Z.ctypes.data, self.gather.ctypes.data, out.ctypes.data, where.ctypes.data,
                        None, None)
            return out
        return self._interpreted(Z)

    def add(self, Z: np.ndarray, out: np.ndarray, scale: np.ndarray | None = None) -> None:
        """Add the outputs into `out`, each times the `scale` of its row if that is given."""
        if self.native is not None:
            gather, scatter, rows = self._places
            self.native(self.count, address(Z), gather, address(out), scatter,
                        None if scale is None else address(scale), rows)
            return
        values = self._interpreted(Z)
        if scale is not None:
            values = values * scale[self.rows]
        out += np.bincount(self.scatter.ravel(), values.ravel(), len(out))

    @functools.cached_property
    def single(self) -> Direct:
        """The function for one instance: its gathered inputs in, its outputs out."""
        return Direct(self.function)

    @functools.cached_property
    def _all(self) -> Direct:
        return Direct(self.function.map(self.count))

    def _interpreted(self, Z: np.ndarray) -> np.ndarray:
        return self._all(Z[self.gather].ravel()).reshape(self.scatter.shape)


class Direct:
    """A function of one vector, called through buffers: CasADi's own matrices cost more than a small function does."""

    def __init__(self, function: ca.Function):
        self._in, self._out = np.zeros(function.nnz_in(0)), np.zeros(function.nnz_out(0))
        self._buffer, self._call = function.buffer()
        self._buffer.set_arg(0, self._in.data)
        self._buffer.set_res(0, self._out.data)

    def __call__(self, values: np.ndarray) -> np.ndarray:
        """Its outputs, (n_out,), by columns; the next call overwrites them."""
        self._in[:] = values
        self._call()
        return self._out


class _CBatch(ctypes.Structure):
    _fields_ = [("run", ctypes.c_void_p), ("count", ctypes.c_long),
                *((name, ctypes.c_void_p) for name in ("gather", "scatter", "rows"))]


class Batches:
    """Batches that add into one buffer, all of them in one call of the compiled loops (``runtime.c``).

    Parameters
    ----------
    batches : sequence of Batch
    """

    def __init__(self, batches: Sequence[Batch]):
        self.batches = list(batches)
        self._run: ctypes._NamedFuncPointer | None = None

    def __len__(self) -> int:
        return len(self.batches)

    def __iter__(self) -> Iterator[Batch]:
        return iter(self.batches)

    def bind(self, runtime: ctypes.CDLL) -> None:
        """Use the compiled loops; every batch must have been bound before."""
        self._table = (_CBatch * max(len(self.batches), 1))()
        for entry, batch in zip(self._table, self.batches, strict=False):
            entry.run = ctypes.cast(batch.native, ctypes.c_void_p)  # type: ignore[arg-type]
            entry.count, entry.gather, entry.scatter = batch.count, batch.gather.ctypes.data, batch.scatter.ctypes.data
            entry.rows = None if batch.rows is None else batch.rows.ctypes.data
        run = runtime.gc_add
        run.restype, run.argtypes = None, [ctypes.c_long, *[ctypes.c_void_p] * 3]
        self._run, self.address = run, ctypes.addressof(self._table)

    @property
    def compiled(self) -> bool:
        """Whether the compiled loops are used."""
        return self._run is not None

    def add(self, Z: np.ndarray, out: np.ndarray) -> None:
        """Add the outputs of all of them into `out`."""
        if self._run is not None:
            self._run(len(self.batches), self.address, address(Z), address(out))
            return
        for batch in self.batches:
            batch.add(Z, out)


def vector_function(name: str, symbols: Sequence[ca.SX], outputs: ca.SX | Sequence[ca.SX]) -> ca.Function:
    """A CasADi function of one dense vector to one dense vector, ready for :class:`Batch`."""
    values = outputs if isinstance(outputs, ca.SX) else ca.vertcat(*outputs)
    return ca.Function(name, [ca.vertcat(*symbols)], [ca.densify(values)], {"cse": True})
