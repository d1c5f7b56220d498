"""The two commands of the README, the script behind them, and CI, which calls one of them."""

from __future__ import annotations

import re
import subprocess
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
