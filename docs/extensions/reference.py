"""The Python reference: names as users write them, ``fc.route``, and links in the overview."""

import re

from docutils import nodes
from sphinx import addnodes

import fastcube as fc


def short_name(name):
    """A documented name as a user writes it; one that no user writes, without its module."""
    rest = name.removeprefix("fastcube.")
    if rest.partition(".")[0] in {*fc.__all__, "blocks"}:
        return f"fc.{rest}"
    return re.sub(r"^(?:[a-z_]+\.)+(?=[A-Z])", "", rest)


def shorten_names(app, doctree):
    """Signatures and tables of names."""
    if not app.env.docname.startswith("api/"):
        return
    for signature in doctree.findall(addnodes.desc_signature):
        for module in list(signature.findall(addnodes.desc_addname)):
            prefix = module.astext()
            if prefix.startswith("fastcube."):
                name = signature.next_node(addnodes.desc_name).astext()
                short = short_name(prefix + name)[: -len(name)]
                module.clear()
                module.append(nodes.Text(short))
    for table in doctree.findall(nodes.table):
        for literal in table.findall(nodes.literal):
            if (name := literal.astext()).startswith("fastcube."):
                literal.clear()
                literal.append(nodes.Text(short_name(name)))


def link_names(app, page, source):
    """Names in the overview lead to their entries."""
    if page == "api/index":
        names = "|".join(name for name in fc.__all__ if not name.startswith("_"))
        source[0] = re.sub(rf"`({names})`(?=.* \|$)", r"{py:obj}`fc.\1 <fastcube.\1>`", source[0], flags=re.MULTILINE)


def flatten_contents(app, env):
    """Leave the functions and classes in the contents of a page, without the members of each class."""
    for page, contents in env.tocs.items():
        if page.startswith("api/"):
            for entry in list(contents.findall(nodes.list_item)):
                reference = entry.next_node(nodes.reference)
                if reference is not None and reference.get("anchorname", "").startswith("#fastcube"):
                    for inner in [child for child in entry.children if isinstance(child, nodes.bullet_list)]:
                        entry.remove(inner)


def setup(app):
    app.connect("env-updated", flatten_contents)
    app.connect("doctree-read", shorten_names)
    app.connect("source-read", link_names)
    return {"parallel_read_safe": True}
