"""Every device, block, hook, verb, analysis and public name has its page, and every page is reached from the index."""

from __future__ import annotations

import posixpath
import re
from importlib import import_module
from pathlib import Path

import pytest
from sitemaker import make, reference

import gridcore as gc
import gridcore_blocks
from gridcore.registry import REGISTRIES, analyses, commands, devices

DOCS = Path(__file__).parent.parent.parent / "docs"


@pytest.fixture(scope="module")
def made():
    return make.pages()


def beside(page, target):
    """What a link of a page leads to, from docs/."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), target))


def headings(text):
    return set(re.findall(r"^##? (.*)$", text, re.MULTILINE))


@pytest.mark.parametrize("name", sorted(devices))
def test_every_device_has_a_page_with_all_that_it_declares(made, name):
    text, declared = made[f"library/{name}.md"], devices[name].declares
    tables = (declared.params, declared.fields, declared.states, declared.algebraics, declared.inputs,
              declared.references, declared.setpoints, declared.modes, declared.quantities, declared.guards,
              declared.timers)
    missing = [item for table in tables for item in table if f"\n| `{item}` |" not in text]
    assert not missing
    equations = text.partition("\n## Equations")[2]
    assert len(re.findall(r"^.* &= ", equations, re.MULTILINE)) >= len({**declared.variables(), **declared.quantities})


def test_every_verb_has_a_page_with_all_of_its_options(made):
    for name in commands:
        text = made[f"verbs/{name}.md"]
        for parameter in commands[name].command.params:
            assert parameter.param_type_name == "argument" or parameter.opts[0] in text, f"{name} {parameter.opts}"


def test_every_hook_and_every_registered_name_is_on_a_page(made):
    text = made["registered.md"]
    assert headings(text) >= {registry.hook for registry in REGISTRIES}
    missing = [name for registry in REGISTRIES for name in registry if f"`{name}`" not in text]
    assert not missing


def test_every_analysis_and_every_block_has_a_section(made):
    assert headings(made["analyses.md"]) >= set(analyses)
    assert headings(made["blocks.md"]) >= set(gridcore_blocks.__all__)


def test_every_public_name_has_a_section(made):
    apart = {"__version__", "errors", "analyses"}  # the last two are pages
    assert headings(made["api/gridcore.md"]) >= set(gc.__all__) - apart
    for package in reference.packages():
        names = set(import_module(f"gridcore.{package}").__all__)
        assert headings(made[f"api/gridcore.{package}.md"]) >= names


def test_every_page_is_reached_from_the_index(made):
    pages = {f"generated/{name}": text for name, text in made.items()}
    pages |= {str(file.relative_to(DOCS)): file.read_text() for file in DOCS.rglob("*.md")
              if file.relative_to(DOCS).parts[0] not in ("generated", "_build")}
    reached, ahead = set(), ["index.md"]
    while ahead:
        page = ahead.pop()
        if page not in reached:
            reached.add(page)
            for tree in re.findall(r"^```\{toctree\}\n(.*?)^```", pages[page], re.MULTILINE | re.DOTALL):
                lines = [line for line in tree.splitlines() if line and not line.startswith(":")]
                entries = [line.rpartition("<")[2].rstrip(">") for line in lines]
                ahead += [beside(page, f"{entry}.md") for entry in entries]
    assert reached == set(pages)


def test_links_between_pages_that_are_made_lead_somewhere(made):
    known = {f"generated/{name}" for name in made} | {str(file.relative_to(DOCS)) for file in DOCS.rglob("*.md")}
    dead = []
    for name, text in made.items():
        written = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
        targets = re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", written)
        dead += [f"{name}: {target}" for target in targets if beside(f"generated/{name}", target) not in known]
    assert not dead
