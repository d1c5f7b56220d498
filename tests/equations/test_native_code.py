"""The binding is that of ``runtime.c``, the fallback has the same functions, and both may be shared by threads."""

from __future__ import annotations

import ctypes
import hashlib
import inspect
import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import warnings
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
    with pytest.raises(TypeError, match="pattern has the fields"):
        runtime().pattern(n_rows=3)


@needs_compiler
def test_the_width_is_that_of_the_source():
    assert f"#define WIDTH {runtime().width}\n" in SOURCE


# ---------------------------------------------------------------- threads


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

    monkeypatch.setattr(compiler, "compile_one", compile_one)
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    assert compiler.compile_sources("cc", {tmp_path / str(k): "" for k in range(12)})
    assert most == [3]


# ---------------------------------------------------------------- what goes wrong around it


SOME = "int some(void) { return 7; }"


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache, and nothing reported yet."""
    monkeypatch.delenv(compiler.NO_COMPILER, raising=False)
    monkeypatch.setenv(compiler.CACHE, str(tmp_path / "new" / "cache"))
    monkeypatch.setattr(compiler, "REPORTED", set())
    compiler.compiler_path.cache_clear()
    compiler.own_directory.cache_clear()
    yield tmp_path / "new" / "cache"
    compiler.compiler_path.cache_clear()
    compiler.own_directory.cache_clear()


@needs_compiler
def test_functions_of_a_source_are_there_once_it_can_be_compiled(tmp_path, monkeypatch):
    source = tmp_path / "more.c"
    source.write_text("double more_times(double x, long k) { return x * k; }\nlong more_size(void) { return SIZE; }\n")
    types = {"times": "dl d", "size": " l"}
    with monkeypatch.context() as patch:
        patch.setattr("gridcore.equations.native.native.compile_libraries", lambda sources: None)
        assert runtime().functions(source, "more", "#define SIZE 3\n", **types) == {}
    found = [runtime().functions(source, "more", f"#define SIZE {size}\n", **types) for size in (3, 4, 3)]
    assert [each["size"]() for each in found] == [3, 4, 3]
    assert found[0]["times"](2.5, 2) == 5.0
    assert FALLBACK.functions(source, "more", **types) == {}


def answer(libraries):
    return libraries[0].function("some", ctypes.c_int, [])() if libraries[0] is not INTERPRETER else None


@pytest.fixture
def pretend(tmp_path, monkeypatch, cache):
    """A compiler that is what the test says."""
    def become(script):
        path = tmp_path / "pretended"
        path.write_text(script)
        path.chmod(0o755)
        monkeypatch.setenv("CC", str(path))
        compiler.compiler_path.cache_clear()

    return become


@pytest.mark.parametrize(("script", "says"), [
    ("no program at all", "Exec format error"),
    ("#!/bin/nowhere\n", "No such file or directory"),
    ("#!/bin/sh\nexit 0\n", r"nothing \(exit status 0\)"),
    ("#!/bin/sh\nsleep 100\n", "nothing for 0.2 s"),
    ("#!/bin/sh\nwhile [ $# -gt 1 ]; do [ $1 = -o ] && echo junk > $2; shift; done\n", "invalid ELF|too short"),
])
def test_a_compiler_that_hangs_or_is_none_is_told_and_done_without(pretend, monkeypatch, script, says):
    pretend(script)
    monkeypatch.setattr(compiler, "PATIENCE", 0.2)
    with pytest.warns(CompilerWarning, match=rf"pretended fails(.|\n)*{says}"):
        loops, libraries = load([SOME])
    assert (loops, libraries) == (FALLBACK, [INTERPRETER])


@needs_compiler
def test_a_cache_is_made_for_its_user_alone(cache):
    before = os.umask(0o002)
    try:
        _, libraries = load([SOME])
    finally:
        os.umask(before)
    assert answer(libraries) == 7
    for place in (cache.parent, cache, *cache.iterdir()):
        assert not place.stat().st_mode & 0o022


@pytest.fixture
def planted(cache, monkeypatch):
    """Another library in the place of that of SOME, not loaded yet."""
    with monkeypatch.context() as instead:
        instead.setattr(compiler, "Library", lambda path: path)
        some, other = compiler.compile_libraries([SOME, SOME.replace("7", "666")])
    other.replace(some)
    return some


@needs_compiler
@pytest.mark.parametrize("where", ["the folder", "a folder above", "the file", "nowhere"])
def test_what_others_may_write_is_not_run(cache, planted, where):
    places = {"the folder": cache, "a folder above": cache.parent, "the file": planted}
    if where in places:
        places[where].chmod(0o770)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert answer(load([SOME])[1]) == (666 if where == "nowhere" else 7)
    assert [str(w.message).endswith("may be written by others: chmod go-w") for w in told] == \
        [True] * ("folder" in where)


@needs_compiler
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("where", ["the folder", "the file"])
def test_what_belongs_to_another_user_is_not_run(cache, planted, where):
    os.chown({"the folder": cache, "the file": planted}[where], 12345, 12345)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert answer(load([SOME])[1]) == 7
    assert [str(w.message).endswith("belongs to another user") for w in told] == [True] * (where == "the folder")


@needs_compiler
@pytest.mark.parametrize("damage", ["a folder", "a pipe", "a link", "junk", "truncated"])
def test_a_cached_library_that_cannot_be_loaded_is_made_again(planted, tmp_path, damage):
    content = planted.read_bytes()
    planted.unlink()
    if damage == "a folder":
        planted.mkdir()
    elif damage == "a pipe":  # whoever reads it waits
        os.mkfifo(planted)
    elif damage == "a link":  # to where others may write
        (tmp_path / "other.so").write_bytes(content)
        planted.symlink_to(tmp_path / "other.so")
    elif damage == "truncated":
        planted.write_bytes(content[:1000])
    else:
        planted.write_bytes(b"junk" + hashlib.sha256(b"junk").digest())
    assert answer(load([SOME])[1]) == 7


@needs_compiler
def test_what_a_process_leaves_that_is_killed_while_it_compiles_goes_when_that_is_compiled(
        cache, pretend, tmp_path, monkeypatch):
    """Files of the compiler as well, which are nowhere else."""
    script = f"from gridcore.equations.native.compiler import compile_libraries; compile_libraries([{SOME!r}])"
    killed = tmp_path / "killed"
    (elsewhere := tmp_path / "elsewhere").mkdir()
    monkeypatch.setenv("TMPDIR", str(elsewhere))
    compiler_found = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    pretend(f'#!/bin/sh\n[ -e {killed} ] && exec {compiler_found} "$@"\n'
            f"touch {killed} $TMPDIR/begun\nkill -9 $PPID\n")
    done = subprocess.run([sys.executable, "-c", script], check=False)
    assert done.returncode == -signal.SIGKILL
    assert [*cache.rglob("begun")]
    assert answer(compiler.compile_libraries([SOME])) == 7
    assert not [*cache.rglob("begun")]
    assert not [*elsewhere.iterdir()]
    assert {file.suffix for file in cache.iterdir()} == {".so"}


@needs_compiler
def test_without_a_home_kernels_are_compiled_for_this_process(cache, monkeypatch):
    monkeypatch.delenv(compiler.CACHE)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr(pwd, "getpwuid", lambda uid: {}[uid])
    assert answer(load([SOME])[1]) == 7


@needs_compiler
def test_a_large_kernel_needs_no_large_stack():
    x, before = ca.SX.sym("x", 30_000), threading.stack_size()
    function = vector_function("large", [x], [ca.sum1(x[:5])])
    _, (library,) = load([c_source([function])])
    batch, out = Batch(function, np.arange(30_000)[None], np.array([[0]]), library=library), np.zeros(2)
    threading.stack_size(131072)
    try:
        thread = threading.Thread(target=batch.add, args=(np.arange(30_000.0), out))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert out[0] == 10
