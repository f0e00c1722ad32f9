"""The built site in a real browser: pages fit their window, and anyone can use them.  Its folder is in FASTCUBE_SITE."""

import os
import re
import shutil
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

pytestmark = pytest.mark.browser

CHROMIUM, SITE = shutil.which("chromium"), os.environ.get("FASTCUBE_SITE")


@pytest.fixture(scope="module")
def browser():
    if SITE is None:
        pytest.skip("FASTCUBE_SITE is not set: the folder that sphinx-build wrote")
    if CHROMIUM is None:
        pytest.skip("there is no chromium (Debian: apt-get install chromium fonts-dejavu-core)")
    sync_api = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: pip install -e '.[browser]'"
    )
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def page(browser):
    context = browser.new_context(offline=True, reduced_motion="reduce")
    yield context.new_page()
    context.close()


#: Widths of windows: a phone, a tablet, two screens.
WIDTHS = (375, 768, 1280, 1440)

#: What is cut on a screen, and scrolls in itself; pages of sources may.
ROLLS = """[...document.querySelectorAll('pre, .table-wrapper, .plot, .drawings, .cards')]
    .filter(box => box.scrollWidth > box.clientWidth).map(box => box.textContent.trim().slice(0, 60))"""


def test_no_page_scrolls_sideways_and_screens_show_all(page):
    """A page is never wider than its window; code, tables and figures are whole on a screen."""
    pages = sorted(Path(SITE).rglob("*.html"))
    assert len(pages) > 40
    wider, cut = [], []
    for path in pages:
        page.goto(path.resolve().as_uri())
        for width in (*WIDTHS, 1024, 1920):
            page.set_viewport_size({"width": width, "height": 800})
            shown = page.evaluate("document.documentElement.scrollWidth")
            if shown > width:
                wider.append((str(path.relative_to(SITE)), width, shown))
            if width >= 1280 and "_modules" not in path.parts and (boxes := page.evaluate(ROLLS)):
                cut.append((str(path.relative_to(SITE)), width, boxes))
    assert not wider
    assert not cut


#: One page of each kind.
KINDS = (
    *("index", "start", "study", "networks", "rules", "papers/lee_hayes", "gallery/index", "gallery/lee_hayes"),
    *("api/index", "api/networks", "cli", "errata/index", "errata/lee_hayes", "batch", "report"),
)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [375, 1440])
def test_axe_finds_nothing(browser, scheme, width):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    context = browser.new_context(offline=True, color_scheme=scheme, viewport={"width": width, "height": 900})
    opened, found = context.new_page(), {}
    for name in KINDS:
        opened.goto((Path(SITE) / f"{name}.html").resolve().as_uri())
        violations = axe.Axe().run(opened).response["violations"]
        if violations:
            found[name] = [(v["id"], v["nodes"][0]["target"], v["nodes"][0]["failureSummary"]) for v in violations]
    context.close()
    assert not found


#: The size of the letters of each drawing that a page shows, in pixels of the screen.
DRAWN_LETTERS = """[...document.querySelectorAll('article svg text')].filter(text => text.getClientRects().length
    && getComputedStyle(text).display !== 'none').map(text => {
        const m = text.getScreenCTM(); return parseFloat(getComputedStyle(text).fontSize) * Math.hypot(m.a, m.b); })"""

#: Each picture that a page shows, and how much larger than itself.
PICTURES = """[...document.images].filter(image => image.getClientRects().length)
    .map(image => [image.currentSrc || image.src, image.getBoundingClientRect().width / image.naturalWidth])"""


def smallest_letter(address):
    """The size of the smallest letters of a vector picture, but for subscripts and powers, in pixels; None without letters."""
    text = unquote(urlsplit(address).path)
    drawn = Path(text).read_text()
    points = [100 * float(scale) for scale in re.findall(r"scale\((0?\.\d+) -\1\)", drawn)]
    return min(points) * 4 / 3 if points else None


@pytest.mark.parametrize("width", WIDTHS)
def test_letters_of_pictures_have_nine_pixels(page, width):
    page.set_viewport_size({"width": width, "height": 900})
    seen, small = 0, []
    for name in KINDS:
        page.goto((Path(SITE) / f"{name}.html").resolve().as_uri())
        page.evaluate("for (const image of document.images) image.loading = 'eager'")
        page.wait_for_function("[...document.images].every(image => image.complete)")
        letters = page.evaluate(DRAWN_LETTERS)
        for address, scale in page.evaluate(PICTURES):
            if address.endswith(".svg") and (size := smallest_letter(address)):
                letters.append(size * scale)
        seen += len(letters)
        small += [(name, size) for size in letters if size < 9]
    assert seen > 50
    assert not small


@pytest.mark.parametrize("width", [375, 1440])
def test_a_heading_that_is_led_to_is_in_sight(page, width):
    page.set_viewport_size({"width": width, "height": 700})
    for name in ("networks", "errata/lee_hayes", "cli"):
        address = (Path(SITE) / f"{name}.html").resolve().as_uri()
        page.goto(address)
        anchors = page.evaluate("[...document.querySelectorAll('article section section')].map(s => s.id)")
        for anchor in anchors[:4]:
            page.evaluate("id => { location.hash = id; }", anchor)
            top, bar = page.evaluate(
                "id => [document.getElementById(id).querySelector('h2, h3').getBoundingClientRect().top,"
                " document.querySelector('.mobile-header').getBoundingClientRect().bottom]",
                anchor,
            )
            assert max(bar, 0) <= top < 700, (name, anchor)


def test_prose_has_lines_that_one_can_read_and_commands_are_whole(page):
    page.set_viewport_size({"width": 1440, "height": 900})
    for name in KINDS:
        page.goto((Path(SITE) / f"{name}.html").resolve().as_uri())
        widest = page.evaluate(
            "Math.max(0, ...[...document.querySelectorAll('article section > p')].map(p => p.clientWidth"
            " / parseFloat(getComputedStyle(p).fontSize)))"
        )
        assert widest <= 44.01, name
        space = page.evaluate(
            "Math.min(...[...document.querySelectorAll('.highlight-console pre')].map(pre => {"
            " const ninety = document.createElement('span'); ninety.textContent = '0'.repeat(90); pre.append(ninety);"
            " const space = pre.clientWidth - ninety.getBoundingClientRect().width; ninety.remove(); return space; }))"
        )
        assert space is None or space > 0, name  # JSON has no infinity


@pytest.mark.parametrize("width", [375, 768])
def test_no_button_covers_code_on_a_telephone(page, width):
    """A button is above its code; in wider windows it appears only when the pointer is over the block."""
    page.set_viewport_size({"width": width, "height": 900})
    for name in ("start", "batch", "study"):
        page.goto((Path(SITE) / f"{name}.html").resolve().as_uri())
        overlaps = page.evaluate(
            "[...document.querySelectorAll('.copy')].filter(button =>"
            " button.getBoundingClientRect().bottom > button.nextElementSibling.getBoundingClientRect().top + 8).length"
        )
        assert page.locator(".copy").count() > 3
        assert not overlaps, name


def test_a_button_copies_commands_alone(browser):
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    opened = context.new_page()
    opened.goto((Path(SITE) / "start.html").resolve().as_uri())
    opened.locator(".highlight-console .copy").first.click()
    opened.locator(".highlight-console .copy", has_text="Copied").wait_for()
    copied = opened.evaluate("navigator.clipboard.readText()")
    context.close()
    assert copied.startswith("fastcube run ")
    assert "$ " not in copied
    assert "---" not in copied
