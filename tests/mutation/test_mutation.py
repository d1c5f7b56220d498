"""Mutants are found, tried and told; what is listed of them stands in the modules."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from .survivors import listed

REPOSITORY = Path(__file__).parents[2]
MODULE = """
from __future__ import annotations


def bounded(x: int | None, *, most: int = 3) -> int | None:
    return x if x < most else most
"""
TESTS = """
from module import bounded


def test_what_is_small_stays():
    assert bounded(1) == 1


def test_what_is_large_does_not():
    assert bounded(9) < 9
"""


def test_every_survivor_that_is_listed_is_a_line_of_its_module_and_has_a_reason():
    found = listed()
    for (module, before, after), reason in found.items():
        lines = {line.strip() for line in (REPOSITORY / module).read_text().splitlines()}
        assert set(before.splitlines()) <= lines, (module, before)
        assert before != after
        assert len(reason) > 20, (module, before)


TRIALS = """
import json, sys
from pathlib import Path
from mutation import mutants
mutants.GROUPS = {"all": mutants.Group(("module.py",), (".",))}
from mutation.lines import Lines, Watch
from mutation.survivors import change
from mutation.trial import killers, run, tried

root, log, file = Path.cwd(), Path("log").resolve(), Path("lines.json").resolve()
assert run(root, ["test_module.py"], log, plugins=[Watch(root, [str(root / "module.py")], file)]) == 0
outcomes, found = {}, []
for item in mutants.mutants(root):
    result = tried(item, root, Lines(root, file), log, thorough=True)
    outcomes[change(result.diff)[2]] = result.is_killed
    found += killers(result.output)
Path("outcomes.json").write_text(json.dumps([outcomes, sorted(set(found))]))
"""


@pytest.mark.slow
def test_mutants_are_those_that_a_test_can_find_and_each_is_tried_by_tests_of_its_line(tmp_path):
    pytest.importorskip("cosmic_ray", reason="mutants are made by cosmic-ray")
    (tmp_path / "module.py").write_text(MODULE)
    (tmp_path / "test_module.py").write_text(TESTS)
    subprocess.run([sys.executable, "-c", TRIALS], cwd=tmp_path, check=True,
                   env={**os.environ, "PYTHONPATH": str(REPOSITORY / "tests")})
    outcomes, found = json.loads((tmp_path / "outcomes.json").read_text())
    assert outcomes == {
        "return x if x <= most else most": False,
        "return x if not x < most else most": True,
        "return x if x > most else most": True,
        "return x if x >= most else most": True,
        "return x if x == most else most": True,
        "return x if x != most else most": True,
        "def bounded(x: int | None, *, most: int = 4) -> int | None:": False,
        "def bounded(x: int | None, *, most: int = 2) -> int | None:": False,
    }
    assert found == ["test_module.py::test_what_is_large_does_not", "test_module.py::test_what_is_small_stays"]
    assert (tmp_path / "module.py").read_text() == MODULE


def test_tests_that_found_mutants_nearby_come_first_then_own_ones_then_one_of_each_file():
    pytest.importorskip("cosmic_ray", reason="mutants are made by cosmic-ray")
    from .mutants import Group
    from .trial import likely

    own, other = ([f"tests/{folder}/test_x.py::test_{k}" for k in range(6)] for folder in ("own", "other"))
    found = [(90, other[0]), (52, own[4]), (40, other[5]), (50, "tests/own/test_y.py::test_that_does_not_run_the_line")]
    order = likely([*other, *own], Group((), ("own", "other")), 50, found)
    assert set(order[:3]) == {other[0], own[4], other[5]}
    assert order[3:] == [*own[:4], own[5], *other[1:5]]
