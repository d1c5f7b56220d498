"""The Python examples of the documentation run as they stand, page by page."""

from __future__ import annotations

import functools
import re
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MADE = ROOT / "docs" / "generated"
PAGES = [ROOT / "README.md", *(page for page in sorted((ROOT / "docs").rglob("*.md")) if MADE not in page.parents)]
BLOCK = re.compile(r"^```(?:python|\{code-cell\} python)\n(.*?)^```", re.MULTILINE | re.DOTALL)


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


@functools.cache
def made_pages() -> dict[str, str]:
    """Pages that are made when the site is built, by their path in docs/generated."""
    sys.path.append(str(ROOT / "docs"))
    try:
        from sitemaker import make
    finally:
        sys.path.pop()
    return make.pages()


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_to_files_lead_somewhere(page):
    targets = [(page.parent / target).resolve() for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text())]
    made = {MADE / name for name in made_pages()}
    assert not [target for target in targets if not target.exists() and target not in made]


def test_every_figure_is_in_the_gallery_with_the_command_that_makes_it():
    gallery = (ROOT / "docs" / "gallery.md").read_text()
    shown = re.findall(r"^!\[.+\]\(figures/(.+)\)\n\n.+\n\n    (?:python (docs/\w+\.py)|gridcore \w+)", gallery,
                       re.MULTILINE)
    assert sorted(name for name, _ in shown) == sorted(path.name for path in (ROOT / "docs" / "figures").iterdir())
    assert all((ROOT / script).is_file() for _, script in shown if script)


def test_the_citation_is_of_the_version_that_is_here():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    cited = dict(re.findall(r"^(\S+): (.*)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE))
    assert (cited["version"], cited["license"]) == (project["version"], project["license"])
