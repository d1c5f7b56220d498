"""What the tests of verbs share: a small case file, and what they ask of a refusal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from click.testing import CliRunner, Result

from gridcore.commands.main import gridcore

SMALL = """\
name = "small"
Bus = [
  {id = 1, kv = 20},
  {id = 2, kv = 20},
]
Line = [
  {bus1 = 1, bus2 = 2, x = 0.1},
]
ZIP = [
  {bus = 2, P0 = 0.5, Q0 = 0.1},
]
Classical = [
  {bus = 1, control = "slack", H = 3.5, Xdp = 0.3},
]
"""


def invoke(*arguments: Any, wrt: Iterable[str] = ()) -> Result:
    """A verb with its arguments, and --wrt for each pattern."""
    return CliRunner().invoke(gridcore, [*map(str, arguments), *(part for w in wrt for part in ("--wrt", w))])


def refused(result: Result, code: int = 2) -> str:
    """The one line of an error."""
    assert result.exit_code == code
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    assert "Traceback" not in result.stderr
    return result.stderr.removeprefix("error: ").rstrip()
