"""``gridcore new-device``: what it makes is a plugin whose own tests pass, the suite of checks among them."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib

import pytest
from command_line import invoke, refused


@pytest.fixture
def made(tmp_path):
    """The folder of a new plugin, seen as if it were installed."""
    result = invoke("new-device", "HeatPump", "--out", tmp_path)
    assert result.exit_code == 0, result.stderr
    folder = tmp_path / "gridcore-heat-pump"
    files = sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file())
    assert files == ["README.md", "gridcore_heat_pump/__init__.py", "gridcore_heat_pump/heat_pump.py", "pyproject.toml",
                     "tests/test_heat_pump.py"]
    info = folder / "gridcore_heat_pump-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: gridcore-heat-pump\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text("[gridcore]\nheat_pump = gridcore_heat_pump\n")
    return folder


def python(folder, *arguments):
    """A process that finds the plugin, and what this one finds."""
    path = os.pathsep.join([str(folder), *filter(None, sys.path)])
    return subprocess.run([sys.executable, *arguments], cwd=folder, env={**os.environ, "PYTHONPATH": path},
                          capture_output=True, text=True, timeout=300)


def test_the_tests_of_a_new_plugin_pass_and_the_doctor_finds_it_well(made):
    done = python(made, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests")
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout
    assert "skipped" not in done.stdout
    assert python(made, "-m", "gridcore", "doctor", "HeatPump").stdout.startswith("HeatPump: well\n")


def test_it_says_how_it_is_installed_with_what_its_tests_need(made, tmp_path):
    said = invoke("new-device", "Freezer", "--out", tmp_path).stdout.splitlines()[-1]
    assert said == f"pip install -e '{tmp_path}/gridcore-freezer[test]' && python -m pytest {tmp_path}/gridcore-freezer"
    project = tomllib.loads((made / "pyproject.toml").read_text())["project"]
    assert project["optional-dependencies"] == {"test": ["pytest>=8"]}
    assert "    pip install -e '.[test]'\n" in (made / "README.md").read_text()


def test_what_is_there_is_not_written_over(made):
    assert "is there already" in refused(invoke("new-device", "HeatPump", "--out", made.parent))


@pytest.mark.parametrize(("name", "said"), [
    ("heat-pump", "'heat-pump' is no name of a class"), ("heatPump", "is no name of a class"),
    ("Class.Name", "is no name of a class"), ("GENROU", "there is a device 'GENROU' already, by devices")])
def test_a_name_that_cannot_be_is_refused(name, said, tmp_path):
    assert said in refused(invoke("new-device", name, "--out", tmp_path))
    assert not list(tmp_path.iterdir())
