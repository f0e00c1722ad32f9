"""What stands around a page: its description for links, the repository, and the words under which a search finds it first."""

import os
from importlib import metadata
from pathlib import Path

from docutils import nodes
from sphinx import addnodes

#: Characters of a page's description, which search engines and cards of links show.
LONGEST_DESCRIPTION = 200


def repository():
    """The address of the repository, from the package's metadata, or where a workflow builds the site; else empty."""
    known = dict(line.split(", ", 1) for line in metadata.metadata("fastcube").get_all("Project-URL") or ())
    if "GITHUB_REPOSITORY" in os.environ:
        known.setdefault("Repository", f"{os.environ['GITHUB_SERVER_URL']}/{os.environ['GITHUB_REPOSITORY']}")
    return known.get("Repository", "").rstrip("/")


def edit_link(app, page):
    """The address where the source of a page is edited; empty without a repository, and for pages made from results."""
    source = page.replace("gallery/", "../examples/") if page.startswith("gallery/") else page
    for suffix in (".md", ".rst", ".py"):
        path = Path(app.srcdir, source + suffix)
        if repository() and not page.startswith("errata/") and path.exists():
            return f"{repository()}/edit/main/{os.path.relpath(path, Path(app.srcdir).parent)}"
    return ""


def describe_page(doctree):
    """The first sentences of a page, on one line."""
    for paragraph in doctree.findall(nodes.paragraph):
        text = " ".join(paragraph.astext().split())
        if len(text) > LONGEST_DESCRIPTION:
            text = text[:LONGEST_DESCRIPTION].rpartition(" ")[0] + " ..."
        return text
    return ""


def add_context(app, page, template, context, doctree):
    """Give the templates a description and the repository."""
    description = describe_page(doctree) if doctree is not None else ""
    context["description"] = description or "Fault-tolerant communication in hypercubes: Monte Carlo studies."
    context["repository"] = repository()
    context["theme_source_edit_link"] = edit_link(app, page)
    context["card"] = f"{app.config.html_baseurl}_static/card.png"


def add_search_terms(app, doctree):
    """Enter a page's words of ``search_terms`` into the index, as main entries: a search shows those first.

    Options of commands leave it: twelve of them would stand before the page on batch jobs.
    """
    for entry in list(doctree.findall(addnodes.index)):
        kept = [item for item in entry["entries"] if "command line option" not in item[1]]
        if len(kept) < len(entry["entries"]):
            entry["entries"] = kept
    terms = app.config.search_terms.get(app.env.docname, ())
    if terms:
        anchor = f"terms-{app.env.docname.replace('/', '-')}"
        first = next(doctree.findall(nodes.section))
        first.insert(1, nodes.target("", "", ids=[anchor]))
        first.insert(1, addnodes.index(entries=[("single", term, anchor, "main", None) for term in terms]))


def hide_options(app):
    """Options are no objects of the search either."""
    domain = app.env.domains["std"]
    shown = domain.get_objects
    domain.get_objects = lambda: (entry for entry in shown() if entry[2] != "cmdoption")


def setup(app):
    app.add_config_value("search_terms", {}, "env")
    app.connect("html-page-context", add_context)
    app.connect("doctree-read", add_search_terms, priority=100)
    app.connect("builder-inited", hide_options)
    return {"parallel_read_safe": True}
