"""What the tests of all verbs ask of a refusal."""

from __future__ import annotations

from click.testing import Result


def refused(result: Result) -> str:
    """The one line of an error."""
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    assert "Traceback" not in result.stderr
    return result.stderr.removeprefix("error: ").rstrip()
