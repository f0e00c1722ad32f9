"""The frame of a page: its section, its description for links, the repository, and the terms that a search finds first."""

import os
import re
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


def read_sections(app):
    """Return the sections of the front page's contents: their captions, each with its pages in order."""
    contents = app.env.get_doctree(app.config.root_doc).findall(addnodes.toctree)
    return {toctree["caption"]: [page for _, page in toctree["entries"]] for toctree in contents}


def list_pages(app, page):
    """Yield a page and all pages of the contents below it."""
    yield page
    for inner in app.env.toctree_includes.get(page, ()):
        yield from list_pages(app, inner)


def name_sections(app, env):
    """Note the caption of each page's section, when all pages are read."""
    app.sections = read_sections(app)
    app.captions = {
        page: caption for caption, tops in app.sections.items() for top in tops for page in list_pages(app, top)
    }


def add_navigation(app, page, template, context, doctree):
    """Give the templates the bar of sections, and leave the page's own section in the sidebar, after the theme has made it."""
    here = app.captions.get(page, "")
    context["sections"] = [
        (caption, context["pathto"](pages[0]), caption == here) for caption, pages in app.sections.items()
    ]
    shown = here or next(iter(app.sections))
    _, *parts = re.split(r'(?=<p class="caption")', context.get("furo_navigation_tree", ""))
    context["furo_navigation_tree"] = "".join(
        part for part in parts if re.search(rf'<span class="caption-text">{shown}</span>', part)
    )


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

    Options of commands are removed, because twelve of them would come before the page on batch jobs.
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
    app.connect("env-updated", name_sections)
    app.connect("html-page-context", add_context)
    app.connect("html-page-context", add_navigation, priority=900)
    app.connect("doctree-read", add_search_terms, priority=100)
    app.connect("builder-inited", hide_options)
    return {"parallel_read_safe": True}
