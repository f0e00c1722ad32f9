"""Mathematics in the text of all pages, set as the report sets it."""

from html.parser import HTMLParser

from docutils import nodes
from sphinx import addnodes
from sphinx.ext.autosummary import autosummary_table
from sphinx.transforms import SphinxTransform

from fastcube.plot.formula import formula_html

#: Text that is code, a name, an address or markup.
CODE = (
    nodes.literal,
    nodes.FixedTextElement,  # literal and doctest blocks, comments, raw text
    nodes.math,
    nodes.raw,
    nodes.system_message,
    addnodes.desc_signature,
    addnodes.toctree,
    addnodes.index,
)

#: How the report's three elements are called here.
ELEMENTS = {"i": nodes.emphasis, "sub": nodes.subscript, "sup": nodes.superscript}


class _NodeMaker(HTMLParser):
    """Docutils nodes of the report's HTML."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open = [nodes.inline()]

    def handle_starttag(self, tag, attributes):
        element = ELEMENTS[tag]()
        self.open[-1] += element
        self.open.append(element)

    def handle_endtag(self, tag):
        self.open.pop()

    def handle_data(self, data):
        self.open[-1] += nodes.Text(data)


def mathematics_nodes(text):
    """The nodes of a text: one, the text itself, where it holds no mathematics."""
    maker = _NodeMaker()
    maker.feed(formula_html(text))
    maker.close()
    return maker.open[0].children


def _is_code(text):
    node = text.parent
    while node is not None:
        if isinstance(node, autosummary_table):  # which Sphinx makes a comment for other formats
            return False
        if isinstance(node, CODE) or (isinstance(node, nodes.table) and "options" in node["classes"]):
            return True
        node = node.parent
    return False


class MathematicsTransform(SphinxTransform):
    """Sets mathematics before titles are collected for the contents."""

    default_priority = 875  # after references and substitutions, before titles are collected

    def apply(self):
        for text in list(self.document.findall(nodes.Text)):
            if not _is_code(text):
                text.parent.replace(text, mathematics_nodes(str(text)))


def setup(app):
    app.add_transform(MathematicsTransform)
    return {"parallel_read_safe": True}
