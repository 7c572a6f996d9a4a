"""Writes equations as MathML, which browsers show by themselves: nothing is fetched, neither to build nor to read."""

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml


def _mathml(translator, node, block):
    try:
        return tex2mathml(node.astext(), as_block=block)
    except MathError as error:
        translator.builder.app.emit("mathml-problem", node, error)
        return translator.encode(node.astext())


def _inline(translator, node):
    translator.body.append(_mathml(translator, node, False))
    raise nodes.SkipNode


def _block(translator, node):
    translator.body.append(f'<div class="math">{_mathml(translator, node, True)}</div>\n')
    raise nodes.SkipNode


def _warn(app, node, error):
    from sphinx.util import logging

    logging.getLogger(__name__).warning("equation cannot be written as MathML: %s", error, location=node)


def setup(app):
    """Register the renderer as ``mathml``."""
    app.add_event("mathml-problem")
    app.connect("mathml-problem", _warn)
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
