"""The site of the documentation: ``tox -e site``."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

project = "gridcore"
author = "the gridcore authors"
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sitemaker.extension"]
exclude_patterns = ["_build", "figures"]

highlight_language = "none"  # what is indented is a command, a file or a formula
smartquotes = False  # --option has two hyphens
html_theme = "furo"
html_show_copyright = False
html_title = "gridcore"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 300

nb_execution_in_temp = True

default_role = "code"
# What numpydoc calls a type is words, such as "points": several things may be called so.
suppress_warnings = ["ref.python"]
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_ivar = True
