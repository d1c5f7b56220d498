"""The two commands of the README, the script behind them, and CI, which calls one of them."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
COMMANDS = re.findall(r"^    (\./setup\.sh \w+) +#", (ROOT / "README.md").read_text(), re.MULTILINE)


def test_the_readme_gives_exactly_two_commands():
    assert COMMANDS == ["./setup.sh run", "./setup.sh test"]


def test_ci_calls_the_test_command_of_the_readme():
    assert re.search(r"^\./setup\.sh test\b", (ROOT / ".ci" / "run").read_text(), re.MULTILINE)


def test_the_script_is_sound_shell():
    subprocess.run(["sh", "-n", ROOT / "setup.sh"], check=True)


def test_an_unknown_command_shows_the_usage_and_fails():
    shown = subprocess.run([ROOT / "setup.sh", "nonsense"], capture_output=True, text=True)
    assert shown.returncode == 2
    for command in (*COMMANDS, "./setup.sh ida"):
        assert command in shown.stderr


def test_the_footprint_of_the_default_installation_does_not_grow():
    """What it had before there were reports, imports of networks, PyTorch and JAX: those are extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = {re.match(r"[\w-]+", requirement)[0] for requirement in project["dependencies"]}
    assert names <= {"numpy", "scipy", "networkx", "pluggy", "casadi", "nbklu", "xarray", "h5netcdf", "h5py",
                     "matplotlib", "openpyxl", "click", "comtrade", "rich"}
    assert {"report", "imports", "autodiff", "dask", "ida", "ipopt"} <= set(project["optional-dependencies"])
