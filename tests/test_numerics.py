"""The table of tolerances: every one is in it, and its page shows it."""

from __future__ import annotations

import ast
import runpy
from pathlib import Path

import pytest

from gridcore import numerics

ROOT = Path(__file__).parent.parent
CORE = ROOT / "gridcore"
ROWS = [row for rows in numerics.TABLE.values() for row in rows]

# Numbers as small that are no tolerances of the core.
EXCEPTIONS = {
    "case/units.py": "factors of units, exact",
}


def small_numbers(path: Path) -> list[str]:
    """Lines with a number of 1e-3 or less."""
    found = (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant))
    return [f"{path.relative_to(CORE)}:{node.lineno}: {node.value}" for node in found
            if isinstance(node.value, float | complex) and 0 < abs(node.value) <= 1e-3]


@pytest.mark.parametrize("path", sorted(CORE.rglob("*.py")), ids=lambda p: str(p.relative_to(CORE)))
def test_every_small_number_of_the_core_stands_in_the_table(path):
    name = str(path.relative_to(CORE))
    if name == "numerics.py":
        return
    assert bool(small_numbers(path)) == (name in EXCEPTIONS), small_numbers(path)


def test_every_constant_has_a_row_and_every_row_is_a_constant():
    constants = {name: value for name, value in vars(numerics).items() if name.isupper() and name != "TABLE"}
    assert {row.name: row.value for row in ROWS} == constants
    assert len({row.name for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_row_says_what_it_is(row):
    assert row.value > 0
    assert min(len(row.unit), len(row.meaning), len(row.follows)) > 1
    assert "|" not in row.unit + row.meaning + row.follows, "that ends a column of the page"
    assert row.moves is None or row.moves <= 1e-9


def test_every_constant_is_used():
    text = "".join(path.read_text() for path in CORE.rglob("*.py"))
    assert not [row.name for row in ROWS if text.count(f"numerics.{row.name}") + text.count(f"import EPS, {row.name}")
                == 0 and row.name != "EPS"]


def test_the_page_shows_the_table():
    table = runpy.run_path(str(ROOT / "docs" / "numerics.py"))["table"]
    assert table().strip() in (ROOT / "docs" / "numerics.md").read_text(), "run docs/numerics.py"
