"""The Python examples of the documentation run as they stand, page by page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_the_examples_of_a_page_run_one_after_the_other(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    text = page.read_text()
    for block in BLOCK.finditer(text):
        lines_above = text.count("\n", 0, block.start(1))
        exec(compile("\n" * lines_above + block[1], str(page), "exec"), names)
    for test in [found for name, found in names.items() if name.startswith("test_")]:
        make_checks(test)


def make_checks(test):
    """The checks that decorate a test of the page, as pytest would make them."""
    (checks,) = (mark.args[1] for mark in test.pytestmark)
    for check in checks:
        try:
            test(*check.values)
        except pytest.skip.Exception:
            continue
        except Exception:
            assert check.marks, f"{test.__name__}[{check.id}] fails"
            continue
        assert not check.marks, f"{test.__name__}[{check.id}] is expected to fail, and passes"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_to_files_lead_somewhere(page):
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text())
    assert not [target for target in targets if not (page.parent / target).exists()]
