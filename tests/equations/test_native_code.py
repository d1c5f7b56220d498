"""The binding is that of ``runtime.c``, the fallback has the same functions, and both may be shared by threads."""

from __future__ import annotations

import inspect
import os
import pickle
import re
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import casadi as ca
import numpy as np
import pytest

import gridcore as gc
from gridcore.equations import Batch, Batches, c_source, vector_function
from gridcore.equations.native import FALLBACK, INTERPRETER, Direct, compiler, load, native, runtime
from gridcore.errors import CompilerWarning, GridcoreError

SOURCE = native.SOURCE.read_text()
needs_compiler = pytest.mark.skipif(runtime() is FALLBACK, reason="no C compiler")


@pytest.mark.parametrize("name", native.STRUCTS)
def test_fields_are_those_of_the_struct_in_their_order(name):
    body = re.search(r"typedef struct {([^}]*)} " + name + ";", SOURCE).group(1)
    declared = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
    fields = [re.split(r"[ *]+", part.strip())[-1] for part in re.split("[,;]", declared) if part.strip()]
    assert fields == [field for field, *_ in native.STRUCTS[name]._fields_]


@pytest.mark.parametrize("name", native.FUNCTIONS)
def test_arguments_are_those_of_the_function(name):
    (given,) = re.findall(rf"^[^\n]*\bgc_{name}\(([^)]*)\)\n{{", SOURCE, flags=re.M)
    kind = {"long": "l", "double": "d", "int": "i"}
    letters = ["p" if "*" in argument else kind[argument.split()[0]] for argument in given.split(",")]
    assert native.FUNCTIONS[name].split()[0] == "".join(letters)
    assert len(inspect.signature(getattr(FALLBACK, name)).parameters) == len(letters)


def test_every_function_is_bound():
    assert set(re.findall(r"\bgc_(\w+)\(", SOURCE)) - {"sizes"} == set(native.FUNCTIONS)


@needs_compiler
@pytest.mark.parametrize("name", native.STRUCTS)
def test_a_struct_of_another_size_is_refused(name, monkeypatch):
    class Longer(native.STRUCTS[name]):
        _fields_ = native._fields("one_more", "")

    monkeypatch.setitem(native.STRUCTS, name, Longer)
    with pytest.raises(GridcoreError, match=f"struct {name} has .* bytes in C"):
        load([])


@needs_compiler
def test_a_field_that_is_forgotten_is_refused():
    with pytest.raises(TypeError, match="Pattern has the fields"):
        runtime().pattern(n_rows=3)


@needs_compiler
def test_the_width_is_that_of_the_source():
    assert f"#define WIDTH {runtime().width}\n" in SOURCE


# ---------------------------------------------------------------- threads and pickles


def polynomial():
    x = ca.SX.sym("x", 20)
    return vector_function("polynomial", [x], [ca.sin(x) + k * x**2 for k in range(10)])


def in_threads(work, count=4):
    """What `work` gives of each number, called by as many threads that are switched all the time."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(count) as pool:
            return list(pool.map(work, range(count)))
    finally:
        sys.setswitchinterval(before)


def test_a_function_called_directly_has_buffers_for_each_thread():
    function, start = Direct(polynomial()), threading.Barrier(4)
    x = np.random.default_rng(0).normal(size=(4, 20))
    expected = [function(row).copy() for row in x]

    def work(k):
        start.wait()
        return all(np.array_equal(function(x[k]).copy(), expected[k]) for _ in range(3000))

    assert all(in_threads(work))


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=needs_compiler)])
def test_batches_are_shared_by_threads(compiled):
    batches, Z = some_batches(compiled)
    buffers = [Z * (k + 1) for k in range(4)]

    def evaluated(k):
        out = np.zeros(41)
        batches.add(buffers[k], out)
        return out

    expected = [evaluated(k) for k in range(4)]
    assert all(in_threads(lambda k: all(np.array_equal(evaluated(k), expected[k]) for _ in range(500))))


def some_batches(compiled):
    rng, function = np.random.default_rng(1), polynomial()
    batch = Batch(function, rng.integers(0, 99, (7, 20)), rng.integers(0, 40, (7, 200)), rng.integers(0, 9, (7, 200)))
    batches = Batches([batch])
    if compiled:
        loops, (library,) = load([c_source([function])])
        batch.bind(library)
        batches.bind(loops)
    return batches, rng.normal(size=99)


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=needs_compiler)])
def test_batches_come_out_of_a_pickle_as_they_were(compiled):
    batches, Z = some_batches(compiled)
    again, scale = pickle.loads(pickle.dumps(batches)), np.arange(9.0)
    assert (again.runtime is FALLBACK) == (not compiled)
    for way in (lambda b, out: b.add(Z, out), lambda b, out: b.batches[0].add(Z, out, scale)):
        a, b = np.zeros(41), np.zeros(41)
        way(batches, a)
        way(again, b)
        np.testing.assert_array_equal(a, b)


def test_a_function_called_directly_can_be_pickled():
    function, x = Direct(polynomial()), np.linspace(0, 1, 20)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(function))(x), function(x))


# ---------------------------------------------------------------- the compiler


@pytest.fixture
def failing(tmp_path, monkeypatch):
    """A compiler that says no, and an empty cache."""
    path = tmp_path / "nocc"
    path.write_text("#!/bin/sh\necho 'disk quota of the compiler exceeded' >&2\nexit 3\n")
    path.chmod(0o755)
    monkeypatch.delenv(compiler.NO_COMPILER, raising=False)
    monkeypatch.setenv("CC", str(path))
    monkeypatch.setenv(compiler.CACHE, str(tmp_path / "cache"))
    compiler.compiler_path.cache_clear()
    yield path
    compiler.compiler_path.cache_clear()


def test_a_compiler_that_fails_is_reported_once_in_its_own_words(failing, recwarn):
    with pytest.warns(CompilerWarning, match=r"nocc fails(.|\n)*disk quota of the compiler exceeded"):
        loops, libraries = load(["int x;", "int y;"])
    assert loops is FALLBACK
    assert libraries == [INTERPRETER] * 2
    recwarn.clear()
    assert gc.build("smib").system.runtime is FALLBACK
    assert not [w for w in recwarn if issubclass(w.category, CompilerWarning)]


def test_no_more_compilers_run_at_once_than_there_are_processors(monkeypatch, tmp_path):
    running, most, lock = set(), [0], threading.Lock()

    def compile_one(cc, path, source):
        with lock:
            running.add(path)
            most[0] = max(most[0], len(running))
        time.sleep(0.02)
        with lock:
            running.remove(path)

    monkeypatch.setattr(compiler, "_compile_one", compile_one)
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    assert compiler._compile("cc", {tmp_path / str(k): "" for k in range(12)})
    assert most == [3]
