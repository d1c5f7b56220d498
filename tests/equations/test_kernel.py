from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

from gridcore.equations import Batch, c_source, vector_function
from gridcore.equations.native import compiler
from gridcore.equations.native.compiler import compile_libraries

needs_compiler = pytest.mark.skipif(compiler.compiler_path() is None, reason="no C compiler")


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache."""
    monkeypatch.setenv(compiler.CACHE, str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def compilations(monkeypatch):
    """What was compiled: the command line of every compiler that was started."""
    commands = []
    start = subprocess.Popen

    def counted(command, *args, **options):
        commands.append(command)
        return start(command, *args, **options)

    monkeypatch.setattr(compiler.subprocess, "Popen", counted)
    return commands


def rich_function(name="rich"):
    """Every kind of operation that device equations are made of."""
    x = [ca.SX.sym(f"x{k}") for k in range(4)]
    a, b, c, d = x
    out = [ca.sin(a) * ca.cos(b) + ca.exp(-c * c), ca.sqrt(a * a + b * b + 1e-3), ca.atan2(a, b), (a * a + 1) ** c,
           ca.if_else(d > 0, a / (1 + d * d), ca.tanh(b)), ca.fmin(a, b) - ca.fmax(c, d), ca.log(1 + d * d),
           ca.fabs(a * d), ca.if_else(d > 10, ca.log(d - 10), -1.0)]  # not a number in the branch not taken
    return vector_function(name, x, out)


def batch_of(function, count=50, seed=0, rows=False):
    rng = np.random.default_rng(seed)
    n_in, n_out = function.nnz_in(0), function.nnz_out(0)
    Z = rng.normal(size=3 * count)
    gather = rng.integers(0, len(Z), (count, n_in)).astype(np.int32)
    scatter = rng.integers(0, 40, (count, n_out)).astype(np.int32)
    where = rng.integers(0, 10, (count, n_out)).astype(np.int32) if rows else None
    return Batch(function, gather, scatter, where), Z


def native(batch):
    library = compile_libraries([c_source([batch.function])])
    assert library is not None
    batch.bind(library[0])
    return batch


# ---------------------------------------------------------------- values


def test_interpreted_batch_is_a_loop_over_instances_that_adds_where_it_scatters():
    function = rich_function()
    batch, Z = batch_of(function)
    out, expected = np.ones(41), np.ones(41)
    for gather, scatter in zip(batch.gather, batch.scatter, strict=True):
        for at, value in zip(scatter, function(Z[gather]).full().ravel(), strict=True):
            expected[at] += value
    batch.add(Z, out)
    np.testing.assert_allclose(out, expected, rtol=1e-13)
    assert np.isfinite(out).all()


@needs_compiler
@pytest.mark.parametrize("count", [1, 2, 1000])
def test_compiled_equals_interpreted_to_1e_14(count):
    batch, Z = batch_of(rich_function(), count)
    interpreted = batch.values(Z).copy()
    np.testing.assert_allclose(native(batch).values(Z), interpreted, rtol=1e-14, atol=1e-14)


@needs_compiler
@pytest.mark.parametrize("scaled", [False, True])
def test_compiled_adds_and_scales_as_interpreted(scaled):
    batch, Z = batch_of(rich_function(), rows=True)
    scale = np.linspace(-2, 2, 10) if scaled else None
    first, second = np.ones(41), np.ones(41)
    batch.add(Z, first, scale)
    native(batch).add(Z, second, scale)
    np.testing.assert_allclose(second, first, rtol=1e-13, atol=1e-13)


def test_the_scale_of_a_row_multiplies_what_goes_into_it():
    batch, Z = batch_of(rich_function(), rows=True)
    scale, out, expected = np.arange(10.0), np.zeros(41), np.zeros(41)
    batch.add(Z, out, scale)
    np.add.at(expected, batch.scatter.ravel(), (batch.values(Z) * scale[batch.rows]).ravel())
    np.testing.assert_allclose(out, expected, rtol=1e-13, atol=1e-14)


@needs_compiler
def test_functions_of_one_source_are_bound_each_to_its_own():
    x = ca.SX.sym("x")
    double, square = vector_function("double_it", [x], [2 * x]), vector_function("square", [x], [x * x])
    library = compile_libraries([c_source([double, square])])[0]
    Z, at = np.array([3.0, 5.0]), np.array([[0], [1]], dtype=np.int32)
    for function, expected in ((double, [6, 10]), (square, [9, 25])):
        batch = Batch(function, at, at.copy())
        batch.bind(library)
        assert list(batch.values(Z).ravel()) == expected


@needs_compiler
def test_a_function_without_inputs_and_a_constant_output():
    function = vector_function("constant", [], [ca.SX(1.5), ca.SX(0)])
    gather, scatter = np.zeros((3, 0), dtype=np.int32), np.zeros((3, 2), dtype=np.int32)
    batch = Batch(function, gather, scatter)
    assert batch.values(np.zeros(1)).tolist() == [[1.5, 0.0]] * 3
    assert native(batch).values(np.zeros(1)).tolist() == [[1.5, 0.0]] * 3


# ---------------------------------------------------------------- the cache


def result(batch, Z):
    return native(batch).values(Z)


@needs_compiler
def test_a_library_is_compiled_once(cache, compilations):
    batch, Z = batch_of(rich_function())
    first = result(batch, Z).copy()
    assert len(compilations) == 1
    np.testing.assert_array_equal(result(batch, Z), first)
    assert len(compilations) == 1
    assert [p.suffix for p in cache.iterdir()] == [".so"]  # nothing else is left behind


@needs_compiler
@pytest.mark.parametrize("harm", ["half of it", "nothing", "a changed byte", "no digest"])
def test_a_library_that_is_not_whole_is_compiled_again(cache, compilations, harm):
    batch, Z = batch_of(rich_function(f"harmed_{len(harm)}"))
    source = c_source([batch.function])
    assert compile_libraries([source, c_source([rich_function("other")])]) is not None
    # Damaged before this process loads it, as it would be after a crash.
    (path,) = (p for p in cache.iterdir() if batch.function.name().encode() in p.read_bytes())
    content = path.read_bytes()
    path.unlink()
    path.write_bytes({"half of it": content[: len(content) // 2], "nothing": b"", "no digest": content[:-32],
                      "a changed byte": content[:500] + bytes([content[500] ^ 255]) + content[501:]}[harm])
    before = len(compilations)
    expected = batch.values(Z).copy()
    np.testing.assert_allclose(result(batch, Z), expected, rtol=1e-14, atol=1e-14)
    assert len(compilations) == before + 1
    assert compiler.intact(path)


CONCURRENT = """
import sys
sys.path.insert(0, {here!r})
import numpy as np
from test_kernel import batch_of, native, rich_function
for k in range(3):
    batch, Z = batch_of(rich_function(f"shared_{{k}}"))
    expected = batch.values(Z).copy()
    assert np.abs(native(batch).values(Z) - expected).max() < 1e-12
"""


@needs_compiler
def test_concurrent_processes_share_a_cache(cache):
    code = CONCURRENT.format(here=str(Path(__file__).parent))
    running = [subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE) for _ in range(4)]
    for process in running:
        _, said = process.communicate(timeout=120)
        assert process.returncode == 0, said.decode()
    assert sorted(p.suffix for p in cache.iterdir()) == [".so"] * 3


@needs_compiler
@pytest.mark.parametrize("directory", ["/proc/self", "/dev/null/cache"])
@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc")
def test_without_a_writable_cache_directory_kernels_are_compiled_all_the_same(monkeypatch, directory):
    """Nobody, not even root, may write there."""
    monkeypatch.setenv(compiler.CACHE, directory)
    batch, Z = batch_of(rich_function())
    interpreted = batch.values(Z).copy()
    np.testing.assert_allclose(result(batch, Z), interpreted, rtol=1e-14, atol=1e-14)


@needs_compiler
def test_different_sources_and_different_compilers_have_different_libraries(cache, monkeypatch, tmp_path):
    source = c_source([rich_function()])
    compile_libraries([source, source + "\n/* another */"])
    assert len(list(cache.iterdir())) == 2
    wrapper = tmp_path / "cc"
    wrapper.write_text(f'#!/bin/sh\nexec {compiler.compiler_path()} "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("CC", str(wrapper))
    compiler.compiler_path.cache_clear()
    try:
        compile_libraries([source])
    finally:
        compiler.compiler_path.cache_clear()
    assert len(list(cache.iterdir())) == 3


# ---------------------------------------------------------------- no compiler


@pytest.fixture
def environment(monkeypatch):
    """Environment variables that the search for a compiler sees, for one test."""
    monkeypatch.delenv(compiler.NO_COMPILER, raising=False)
    compiler.compiler_path.cache_clear()
    yield monkeypatch
    monkeypatch.undo()
    compiler.compiler_path.cache_clear()


def test_the_compiler_can_be_forbidden_and_then_nothing_is_said_of_it(environment, recwarn):
    environment.setenv(compiler.NO_COMPILER, "1")
    environment.setattr(compiler, "REPORTED", set())
    assert compiler.compiler_path() is None
    assert compile_libraries(["int x;"]) is None
    assert not recwarn.list


def test_without_any_compiler_there_is_none_and_that_is_said_once(environment, recwarn):
    environment.setenv("PATH", "/nonexistent")
    environment.setenv("CC", "cc")
    environment.setattr(compiler, "REPORTED", set())
    assert compiler.compiler_path() is None
    assert compile_libraries(["int x;"]) is compile_libraries(["int y;"]) is None
    [said] = recwarn.list
    assert str(said.message).startswith("there is no C compiler, and equations are interpreted, which is slow")


def test_a_compiler_that_fails_is_none(environment, cache):
    environment.setenv("CC", "false")
    assert os.path.basename(compiler.compiler_path()) == "false"
    assert compile_libraries(["int x;"]) is None
    assert list(cache.iterdir()) == []
