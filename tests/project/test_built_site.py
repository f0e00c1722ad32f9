"""The built site as HTML, whose folder is in FASTCUBE_SITE: text that is what its author wrote, and pages that a search finds."""

import html
import importlib
import json
import os
import re
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote

import pytest

SITE = os.environ.get("FASTCUBE_SITE")
if SITE is None:
    pytest.skip("FASTCUBE_SITE is not set: the folder that sphinx-build wrote", allow_module_level=True)

PAGES = {path.relative_to(SITE).as_posix(): path.read_text() for path in sorted(Path(SITE).rglob("*.html"))}
TEXTS = {name: page for name, page in PAGES.items() if not name.startswith("_modules/")}


class Texts(HTMLParser):
    """The texts of all elements of one kind, and attributes by element."""

    def __init__(self, tag):
        super().__init__()
        self.tag, self.depth, self.texts, self.attributes = tag, 0, [], []

    def handle_starttag(self, tag, attrs):
        if tag == self.tag:
            self.depth += 1
            self.texts.append("")
            self.attributes.append(dict(attrs))

    def handle_endtag(self, tag):
        self.depth -= tag == self.tag

    def handle_data(self, data):
        if self.depth:
            self.texts[-1] += data


def elements(page, tag):
    parser = Texts(tag)
    parser.feed(page)
    return parser


def test_there_are_pages():
    assert len(TEXTS) > 40


def test_no_line_became_a_quotation():
    """A Markdown line that begins with a comparison would; the one quotation is a formula."""
    found = {name: elements(page, "blockquote").texts for name, page in TEXTS.items()}
    assert {name for name, texts in found.items() if texts} <= {"statistics.html"}


def test_no_block_is_empty():
    empty = [name for name, page in TEXTS.items() if any(not text.strip() for text in elements(page, "pre").texts)]
    assert not empty


def test_mathematics_is_set():
    """No prose says Q_n in typewriter characters; addresses, code and alternative texts do."""
    left = {}
    for name, page in TEXTS.items():
        prose = re.sub(r"<(pre|code|script|style|svg|title)\b.*?</\1>", "", page, flags=re.DOTALL)
        if found := re.findall(r"\bQ_[n\d]\b|\b2\^\w", re.sub(r"<[^>]*>", "", prose)):
            left[name] = found
    assert not left


def test_commands_fit():
    """No command of a console block is wider than 88 columns, unless its words have no space to break at."""
    wide = []
    for name, page in TEXTS.items():
        for block in re.findall(r'<div class="highlight-console[^>]*>.*?</pre>', page, re.DOTALL):
            text = re.sub(r"<[^>]*>", "", block).replace("&quot;", '"').replace("&#39;", "'").replace("&gt;", ">")
            wide += [(name, line) for line in text.splitlines() if line.startswith("$ ") and len(line) > 90]
    assert not wide


def test_pages_are_light():
    heavy = {name: len(page.encode()) for name, page in PAGES.items() if len(page.encode()) > 2**20}
    assert not heavy


def test_every_page_describes_itself():
    for name, page in TEXTS.items():
        described = {
            meta.get("name") or meta.get("property"): meta.get("content") for meta in elements(page, "meta").attributes
        }
        assert described["description"] and described["og:title"] and described["og:image"], name
        assert 'rel="shortcut icon"' in page, name


def test_links_inside_the_site_lead_somewhere():
    """Sphinx checks its own links; cards, pictures and the frame are written by us."""
    names = {name: set(re.findall(r'\bid="([^"]*)"', page)) for name, page in PAGES.items()}
    broken = []
    for name, page in TEXTS.items():
        here = (Path(SITE) / name).parent
        for link in set(re.findall(r'\b(?:href|src)="([^"]*)"', page)):
            path, _, anchor = unquote(html.unescape(link)).partition("#")
            if re.match(r"https?:|mailto:|data:", path):
                continue
            target = os.path.relpath((here / path.partition("?")[0]) if path else Path(SITE) / name, SITE)
            if not (Path(SITE) / target).is_file() or (anchor and target in names and anchor not in names[target]):
                broken.append((name, link))
    assert not broken


def test_lines_of_code_fit_on_a_screen():
    """Commands have at most 120 columns; their output may be wider, and a screen breaks it."""
    wide = []
    for name, page in TEXTS.items():
        for kind, block in re.findall(r'<div class="(?:doctest )?highlight-(\w+)[^>]*>(.*?)</pre>', page, re.DOTALL):
            if kind not in ("console", "text", "py"):
                text = html.unescape(re.sub(r"<[^>]*>", "", block))
                wide += [(name, line) for line in text.splitlines() if len(line) > 120]
    assert not wide


def test_columns_of_numbers_are_marked():
    tables = re.findall(r"<table.*?</table>", PAGES["networks.html"], re.DOTALL)
    assert any('class="interval"' in table and "wide" in table[:100] for table in tables)
    for table in tables:
        for cell in re.findall(r"<td(.*?)</td>", table, re.DOTALL):
            if re.search(r">\s*[<>]? ?\d[\d.]* (±|<span class=.interval)", cell):
                assert "number" in cell.partition(">")[0], cell


# ---------------------------------------------------------------- the frame


@pytest.fixture
def frame(monkeypatch):
    pytest.importorskip("sphinx")
    monkeypatch.syspath_prepend(Path(__file__).resolve().parents[2] / "docs" / "extensions")
    return importlib.import_module("frame")


def frame_of(frame, monkeypatch, page, urls):
    """What the templates are given for a page whose package has these addresses in its metadata."""
    monkeypatch.setattr(frame.metadata, "metadata", lambda _: SimpleNamespace(get_all=lambda _: urls))
    monkeypatch.delenv("GITHUB_REPOSITORY", raising=False)
    docs = Path(__file__).resolve().parents[2] / "docs"
    app, context = SimpleNamespace(srcdir=docs, config=SimpleNamespace(html_baseurl="")), {}
    frame.add_context(app, page, "", context, None)
    return context["repository"], context["theme_source_edit_link"]


def test_the_frame_has_the_repository_of_the_metadata(frame, monkeypatch):
    urls = ["Repository, https://example.org/fastcube/", "Documentation, https://example.org"]
    repository = "https://example.org/fastcube"
    for page, source in (
        ("networks", "docs/networks.md"),
        ("cli", "docs/cli.rst"),
        ("papers/lee_hayes", "docs/papers/lee_hayes.md"),
        ("gallery/own_rule", "examples/own_rule.py"),
    ):
        assert frame_of(frame, monkeypatch, page, urls) == (repository, f"{repository}/edit/main/{source}")
    for page in ("errata/lee_hayes", "genindex", "_modules/fastcube/networks/network"):  # no source of their own
        assert frame_of(frame, monkeypatch, page, urls) == (repository, "")


def test_without_an_address_the_frame_invents_none(frame, monkeypatch):
    is_known = bool(frame.repository())  # of the site that was built
    assert frame_of(frame, monkeypatch, "networks", None) == ("", "")
    if not is_known:
        assert not [name for name, page in PAGES.items() if 'rel="edit"' in page or ">Issues<" in page]


def test_a_page_has_a_bar_of_five_sections_and_the_contents_of_its_own():
    """The front page shows the entries of the first section."""
    contents = (Path(__file__).resolve().parents[2] / "docs" / "index.md").read_text()
    captions = re.findall(r"^:caption: (.*)$", contents, re.MULTILINE)
    assert len(captions) == 5
    for name, here in (
        ("index", None),
        ("install", "Start"),
        ("gallery/index", "Guide"),
        ("errata/leu_kuo", "Results"),
    ):
        page = PAGES[f"{name}.html"]
        bar = re.search(r'<nav class="sections".*?</nav>', page, re.DOTALL)[0]
        assert re.findall(r"<a [^>]*>(.*?)</a>", bar) == ["fastcube", *captions]
        assert re.findall(r'aria-current="true">(.*?)<', bar) == ([here] if here else [])
        assert re.findall(r'<span class="caption-text">(.*?)</span>', page) == [here or captions[0]]


def test_contents_of_the_python_reference_have_no_members():
    for name, page in PAGES.items():
        if name.startswith("api/"):
            contents = re.search(r'<div class="toc-tree">.*?</div>', page, re.DOTALL)
            assert not contents or not re.search(r'href="#fastcube(?:\.\w+)*\.[A-Z]\w+\.\w+"', contents[0]), name


# ---------------------------------------------------------------- the search


@pytest.fixture(scope="module")
def index():
    text = (Path(SITE) / "searchindex.js").read_text()
    return json.loads(text[len("Search.setIndex(") : text.rindex(")")])


def first_hit(index, query):
    """The page that Sphinx's search shows first: the scores of ``searchtools.js``, for one word or a phrase."""
    english = pytest.importorskip("sphinx.search.en").SearchEnglish({})
    query, hits = query.lower(), []
    for title, places in index["alltitles"].items():
        if query in title.lower() and len(query) >= len(title) / 2:
            hits += [(round(15 * len(query) / len(title)) + (index["titles"][at] == title), at) for at, _ in places]
    for entry, places in index["indexentries"].items():
        if query in entry and len(query) >= len(entry) / 2:
            hits += [(round(100 * len(query) / len(entry)), at) for at, _, main in places if main]
    query_words = query.split()
    for prefix, entries in index["objects"].items():
        for at, _, priority, _, last in entries:
            name = f"{prefix}.{last}".lower() if prefix else last.lower()
            for query_word in query_words:
                if query_word in name and all(
                    other in f"{name} {index['titles'][at]}".lower() for other in query_words
                ):
                    exact = query_word in (name, name.rpartition(".")[2])
                    partial = query_word in name.rpartition(".")[2]
                    hits.append(((11 if exact else 6 if partial else 0) + {0: 15, 1: 5, 2: -5}.get(priority, 0), at))
    scores = {}
    for query_word in map(english.stem, query_words):
        for kind, score, part in (("terms", 5, 2), ("titleterms", 15, 7)):
            known = index[kind]
            found = (
                {query_word: score}
                if query_word in known
                else {term: part for term in known if len(query_word) > 2 and query_word in term}
            )
            for term, worth in found.items():
                places = known[term] if isinstance(known[term], list) else [known[term]]
                for at in places:
                    scores.setdefault(at, {})[query_word] = worth
    hits += [(max(worths.values()), at) for at, worths in scores.items() if len(worths) == len(set(query_words))]
    best = max(score for score, _ in hits)
    (page,) = {index["docnames"][at] for score, at in hits if score == best}
    return page


@pytest.mark.parametrize(
    ("query", "page"),
    [
        ("slurm", "batch"),
        ("mpi", "batch"),
        ("dask", "batch"),
        ("install", "install"),
        ("cite", "references"),
        ("gpu", "batch"),
        ("plot", "reading"),
        ("resume", "batch"),
        ("error bars", "statistics"),
        ("own network", "gallery/own_network"),
    ],
)
def test_a_search_finds_the_page_that_one_wants(index, query, page):
    assert first_hit(index, query) == page


def test_options_are_not_in_the_search(index):
    entries = [entry[-1] for some in index["objects"].values() for entry in some]
    assert len(entries) > 100
    assert not [name for name in (*entries, *index["indexentries"]) if name.startswith("-")]
