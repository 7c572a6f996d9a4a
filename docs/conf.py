"""How the documentation is built: ``python -m sphinx -W -b html docs docs/_build``. Needs no network."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent)]

from aligntools import __version__  # noqa: E402

project = "aligntools"
author = "the aligntools developers"
release = version = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "mathml", "commands"]
exclude_patterns = ["_build"]
myst_enable_extensions = ["dollarmath", "deflist", "colon_fence"]
myst_heading_anchors = 3
# Links to files beside docs/, such as the Makefiles, are for readers of the repository.
suppress_warnings = ["myst.xref_missing"]
html_math_renderer = "mathml"
html_theme = "furo"
html_title = f"aligntools {release}"
html_show_sourcelink = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings name types and shapes
smartquotes = False  # quotes in help texts are literal
python_maximum_signature_line_length = 100
napoleon_google_docstring = False
napoleon_use_ivar = True  # attributes that are properties too are described once
napoleon_use_rtype = False
napoleon_preprocess_types = False


def setup(app):
    """Show shell blocks as sessions: what follows a prompt is a command, the rest is output."""
    from pygments.lexers import BashSessionLexer

    app.add_lexer("sh", BashSessionLexer)
