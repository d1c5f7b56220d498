"""What the site needs of Sphinx beside its own: pages that are made, formulas as MathML, links to source files."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.ext.napoleon import NumpyDocstring
from sphinx.util.docutils import SphinxDirective

from . import make
from .sources import DOCS, LINK, outside, page_of


class Docstring(SphinxDirective):
    """``.. docstring:: address(signature)``: a docstring, as that of a function of this address, where one is given."""

    optional_arguments, final_argument_whitespace, has_content = 1, True, True

    def run(self) -> list[nodes.Node]:
        """The docstring, its sections as numpydoc has them."""
        lines = str(NumpyDocstring(list(self.content), self.config, self.env.app, "function")).splitlines()
        if self.arguments:
            lines = [f".. py:function:: {' '.join(self.arguments[0].split())}", "", *(f"   {line}" for line in lines)]
        return list(self.parse_text_to_nodes("\n".join(lines)))


def inline_math(writer: Any, node: nodes.math) -> None:
    """A formula in a line, as MathML, which needs no script."""
    writer.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def math_block(writer: Any, node: nodes.math_block) -> None:
    """A formula of its own."""
    writer.body.append(f'<div class="math">{tex2mathml(node.astext(), as_block=True)}</div>')
    raise nodes.SkipNode


def link_sources(app: Sphinx, name: str, source: list[str]) -> None:
    """Links of written pages to files outside of docs/ lead to pages with their text."""
    if name.startswith("generated/"):
        return
    page, up = DOCS / f"{name}.md", "../" * name.count("/")

    def link(found: re.Match[str]) -> str:
        path = outside(page, found[1])
        return found[0] if path is None else f"]({up}generated/{page_of(path)})"

    source[0] = LINK.sub(link, source[0])


def setup(app: Sphinx) -> dict[str, Any]:
    """Register all of it."""
    app.connect("config-inited", lambda *_: make.write())
    app.connect("source-read", link_sources)
    app.add_directive("docstring", Docstring)
    app.add_html_math_renderer("mathml", (inline_math, None), (math_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
