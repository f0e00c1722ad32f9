"""How Sphinx builds the site: ``sphinx-build -W -n docs docs/_build``, without network and without a warning."""

import gzip
import logging
import re
import shutil
import sys
from importlib import metadata
from pathlib import Path

from sphinx.errors import ExtensionError

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent / "extensions"))
import drawings
import figures
import tables

project = "fastcube"
author = "The fastcube developers"
copyright = "The fastcube developers, Apache-2.0"  # noqa: A001  (Sphinx's name)
release = metadata.version("fastcube")
version = release

logging.getLogger("fastcube").setLevel(logging.WARNING)  # a dependency of furo turns all logs on

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "mathematics",
    "blocks",
    "commands",
    "errata",
    "reference",
    "frame",
]
exclude_patterns = [
    "_build",
    "_templates",
    "extensions",
    "scripts",
    "gallery/**/*.ipynb",
    "gallery/**/*.py",
    "gallery/**/*.zip",
    "gallery/**/*.md5",
]

smartquotes = False  # options begin with two hyphens
html_theme = "furo"
html_theme_options = {"announcement": "sections"}  # a bar at the top, which _templates/page.html fills
html_title = "fastcube"
html_copy_source = False
html_static_path = ["_static"]
templates_path = ["_templates"]
html_logo = html_favicon = "_static/logo.svg"
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/links.html",
        "sidebar/scroll-end.html",
    ]
}
pygments_dark_style = "github-dark"

#: Terms by the page that a search for them shows first.
search_terms = {
    "install": ("install", "pip", "requirements"),
    "batch": ("slurm", "mpi", "dask", "cluster", "resume", "checkpoint", "gpu", "pbs"),
    "references": ("cite", "citation", "bibtex"),
    "reading": ("plot", "figure"),
    "statistics": ("error bars", "confidence interval", "standard error"),
    "rare": ("rare events", "importance sampling"),
    "gallery/own_network": ("own network", "topology"),
    "gallery/own_rule": ("own rule", "routing rule"),
    "study": ("own study",),
}

myst_enable_extensions = ["attrs_block", "deflist"]
myst_heading_anchors = 3

# Docstrings name the types; annotations would repeat them, as links to projects that this site cannot reach.
autodoc_typehints = "none"
autodoc_member_order = "groupwise"  # methods before attributes
autodoc_default_options = {"members": True}
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False  # autodoc lists them
numpydoc_validation_checks = set()

# Names in docstrings that have no page: names of their own module, inner modules, and classes of other packages.
nitpick_ignore_regex = [
    ("py:mod", r".*"),
    ("py:.*", r"[A-Za-z_]+"),
    ("py:.*", r"fastcube\.[a-z_]+\..*"),
    ("py:.*", r"(abc|numpy|np|xarray|h5py|matplotlib|concurrent|pathlib)\..*"),
]


#: The last line of a cell that draws: the name of results, or pyplot's figure.
DRAWN_LINE = re.compile(r"^(?:(?P<results>\w+)\.plot\(\)|plt\.show\(\))\s*\Z", re.MULTILINE)


def scrape_figures(block, block_vars, gallery_conf):
    """Return a cell's figure, if its last line plots results, which needs no pyplot, or shows the figure of pyplot."""
    drawn = DRAWN_LINE.search(block[1])
    if drawn is None:
        return ""
    made = block_vars["example_globals"]
    path = Path(next(block_vars["image_path_iterator"])).with_suffix(".svg")
    if drawn["results"]:
        figures.draw_results(made[drawn["results"]], path, made["___"])
    else:
        figures.write_whole(made["plt"].gcf(), path)
        made["plt"].close("all")
    page = figures.figure_html("../_static/", path.stem, "What the line above draws.", path.parent)
    return f".. raw:: html\n\n    {page}\n"


#: Pages are read in the repository too, where there is no gallery: there they link to its scripts.
GALLERY = (
    (re.compile(r"\]\(\.\./((?:\.\./)*)examples/(\w+)\.py\)"), r"](\1gallery/\2.rst)"),
    (re.compile(r"\]\(\.\./examples/\)"), r"](gallery/index.rst)"),
)

#: A page of the Python reference begins with a line a name, in front of its first heading or entry.
FIRST_SECTION = re.compile(r"^(.+\n--+|\.\. auto.*)$", re.MULTILINE)
DOCUMENTED_NAME = re.compile(r"^\.\. auto(?:function|class|exception)\:\: (\S+)$", re.MULTILINE)


def rewrite_page(app, page, source):
    """Show a page as the site does: with the gallery's pages, its figures, and a list of its documented names at the top."""
    if page.startswith("gallery/"):
        return
    for written, shown in GALLERY:
        source[0] = written.sub(shown, source[0])
    source[0] = figures.show_figures(page, source[0], PICTURES)
    if page.startswith("api/") and (names := DOCUMENTED_NAME.findall(source[0])):
        body = FIRST_SECTION.search(source[0]).start()
        listed = "".join(f"   {name}\n" for name in names)
        source[0] = f"{source[0][:body]}.. autosummary::\n\n{listed}\n{source[0][body:]}"


def unpack_gallery(app):
    """Copy the gallery's scripts next to the results that they open, and draw the figures of pages."""
    shutil.rmtree(scripts := Path(app.srcdir, "scripts"), ignore_errors=True)
    shutil.copytree(Path(app.srcdir, "..", "examples"), scripts)
    for kept in RESULTS.glob("*.h5.gz"):
        (scripts / kept.stem).write_bytes(gzip.decompress(kept.read_bytes()))
    for page in tables.list_pages():
        for _, name in drawings.PLACE.findall(page.read_text()):
            figures.draw_page_figure(name, PICTURES)


def set_cards(app):
    """Show one panel on each of the gallery's cards."""
    images = Path(app.srcdir, "gallery", "images")
    for card in images.glob("sphx_glr_*_001-card.svg"):
        shutil.copy(card, images / "thumb" / card.name.replace("_001-card", "_thumb"))


def check_nothing_was_sampled(app):
    """Check that the scripts only resumed cached results, and sampled nothing."""
    for path in Path(app.srcdir, "scripts").glob("*.h5"):
        kept = RESULTS / f"{path.name}.gz"
        if not kept.exists() or gzip.decompress(kept.read_bytes()) != path.read_bytes():
            raise ExtensionError(f"the gallery sampled {path.name}: docs/results/sample must keep what it asks for")


#: Folders of the figures of pages, and of the figures that the gallery's scripts draw.
PICTURES, GALLERY_PICTURES = Path(__file__).parent / "pictures", Path(__file__).parent / "gallery" / "images"
for folder in (PICTURES, GALLERY_PICTURES):
    folder.mkdir(parents=True, exist_ok=True)
html_static_path += [str(PICTURES), str(GALLERY_PICTURES)]

#: Cached results, which are drawn and not sampled again (``results/sample`` makes them).
RESULTS = Path(__file__).parent / "results"

#: The order of the gallery's cards: a script per paper, lives of networks, blocks, own code, programs in a faulty cube.
CARDS = (
    *("lee_hayes", "leu_kuo", "li_peng_chu", "sui_wang_lee", "wang_lin_kuo"),
    *("lifetime", "subcubes", "own_study", "own_rule", "own_network", "sorting", "matvec"),
)


class CardOrder:
    """The place of a script among the cards."""

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, script):
        return CARDS.index(Path(script).stem)


def setup(app):
    app.connect("builder-inited", unpack_gallery, priority=1)  # before the gallery
    app.connect("builder-inited", check_nothing_was_sampled, priority=999)  # after it
    app.connect("builder-inited", set_cards, priority=999)
    app.connect("source-read", rewrite_page, priority=1)


sphinx_gallery_conf = {
    "examples_dirs": "scripts",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py",
    "ignore_pattern": r"(isolated|gathered)\.py",  # files used by other scripts: a study to run by name, and helpers
    "within_subsection_order": CardOrder,
    "abort_on_example_error": True,
    "only_warn_on_example_error": False,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "remove_config_comments": True,
    "write_computation_times": False,  # a page that loads tables from elsewhere
    "plot_gallery": not tags.has("without_gallery"),  # noqa: F821  (a name of Sphinx)
    "reset_modules": (),
    "capture_repr": ("_repr_html_",),
    "image_scrapers": (scrape_figures,),
    "copyfile_regex": r"isolated\.py|gathered\.py",
}
suppress_warnings = ["config.cache"]  # the gallery's settings hold objects that cannot be pickled
