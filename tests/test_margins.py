"""Whatever the form of a bound, how near a number comes to it is told, and a near one without a reason fails."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import bounds
import margins
import numpy as np
import pytest

SCENE = {"err": 4e-9, "errs": np.array([1e-9, 4e-9]), "scale": np.array([1.0, 2.0]), "np": np, "x": 0.4, "small": 1e-8}


def told(monkeypatch: pytest.MonkeyPatch, line: str) -> dict[str, float]:
    """What is noted of ``assert line``."""
    monkeypatch.setattr(bounds, "worst", {})
    exec(compile(bounds.watched(f"assert {line}", bounds.HERE / "scene.py"), "scene.py", "exec"), dict(SCENE))
    return dict(bounds.worst)  # what is noted of the comparison with it comes later


@pytest.mark.parametrize("line", [
    "err < 1e-8", "err <= small", "1e-8 > err", "err < 5e-9 * 2", "0 <= err < 1e-8", "(errs < 1e-8).all()",
    "np.all(errs <= 1e-8)", "all(e < 1e-8 for e in errs)", "err < 1e-8 and x > 0", "x < 0 or err < 1e-8",
    "((errs < 1e-8) & (errs > 0)).all()", "(errs < 1e-8)[1:].all()",
    "np.array([err]) < 1e-8", "any([e < 1e-8 for e in errs])",
    "(errs < 1e-8 * np.array([1.0, 1.0])).all()", "err < 1e-2 / 1e6", "np.max(errs) < 1e-8 * (scale[0] + 0.0)"])
def test_of_every_form_of_a_bound_the_worst_ratio_is_noted(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert told(monkeypatch, line) == {"scene.py:1": pytest.approx(0.4)}


def test_of_arrays_the_worst_entry_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    assert told(monkeypatch, "(errs < 1e-8 * scale).all()") == {"scene.py:1": pytest.approx(0.2)}


@pytest.mark.parametrize("line", [
    "x < 0.5", "x > 1e-3", "0.3 < x < 0.5", "x == 0.4", "err in (4e-9, 1)", "'a' < 'b'", "0.399 < x < 0.4 + 1e-3",
    "errs[errs < 1e-8].size"])
def test_what_is_no_bound_of_an_error_is_not_noted(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert told(monkeypatch, line) == {}


@pytest.mark.parametrize("line", [
    "err > 1e-8", "(errs < 2e-9).all()", "0 < err < 1e-9", "not err < 1e-8", "err < 1e-9 < x"])
def test_what_does_not_hold_fails_as_before(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AssertionError):
        told(monkeypatch, line)


def test_functions_that_compare_take_notes_and_a_failure_shows_its_numbers(tmp_path) -> None:
    """Of ``--margins`` in a process of its own: a test of each function, and one that fails."""
    code = """
        import numpy as np, pytest
        def test_1(): np.testing.assert_allclose([1.0, 1.0 + 4e-9], 1.0, rtol=1e-8)
        def test_2(): assert np.allclose(1.0 + 4e-9, 1.0, rtol=1e-8, atol=0)
        def test_3(): assert np.isclose([1.0, 1.0 + 4e-9], 1.0, rtol=1e-8, atol=0).all()
        def test_4(): assert 1.0 + 4e-9 == pytest.approx(1.0, rel=1e-8)
        def test_5(): assert 1j + 4e-9 == pytest.approx(1j, rel=1e-8)
        def test_6(): assert [1.0, 1.0 + 4e-9] == pytest.approx([1.0, 1.0], rel=1e-8)
        def test_7(): assert 4e-9 == pytest.approx(0, abs=1e-8)
        def test_8(): assert abs(4e-9) < 1e-8
        def test_9(): assert abs(4e-9) < 3e-9
    """
    for name in ("bounds.py", "margins.py"):
        shutil.copy(bounds.HERE / name, tmp_path)
    (tmp_path / "conftest.py").write_text("""import bounds, margins
def pytest_addoption(parser): parser.addoption("--margins")
def pytest_configure(config):
    bounds.watch()
    config.pluginmanager.register(margins.Notes(config.getoption("--margins")))
""")
    (tmp_path / "test_scene.py").write_text("\n".join(part[8:] for part in code.splitlines()))
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "--margins", "m.json"], cwd=tmp_path,
                          capture_output=True, text=True)
    assert "1 failed, 8 passed" in done.stdout
    assert "4e-09, 3e-09" in done.stdout
    found = json.loads((tmp_path / "m.json").read_text())
    assert found == {f"test_scene.py:{k + 2}": pytest.approx(0.4, rel=1e-6) for k in range(1, 9)}


def test_what_is_near_without_a_reason_fails(tmp_path, capsys) -> None:
    known = next(iter(margins.reasons()))
    path, text = known.split(": ", 1)
    line = 1 + (bounds.HERE / path).read_text().splitlines().index(next(
        line for line in (bounds.HERE / path).read_text().splitlines() if line.strip() == text))
    file = tmp_path / "m.json"
    file.write_text(json.dumps({f"{path}:{line}": 0.9, "test_margins.py:1": 0.4}))
    assert margins.show(file)
    file.write_text(json.dumps({f"{path}:{line}": 0.9, "test_margins.py:1": 0.6}))
    assert not margins.show(file)
    assert "0.600  test_margins.py:1: " in capsys.readouterr().out
    command = [sys.executable, str(bounds.HERE / "margins.py"), str(file)]
    assert subprocess.run(command, capture_output=True).returncode == 1
