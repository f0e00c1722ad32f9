"""The built site in a real browser: pages fit their window, and anyone can use them.  Its folder is in FASTCUBE_SITE."""

import os
import shutil
from pathlib import Path

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


def test_no_page_scrolls_sideways(page):
    pages = sorted(Path(SITE).rglob("*.html"))
    assert len(pages) > 20
    wider = []
    for path in pages:
        page.goto(path.resolve().as_uri())
        for width in (375, 768, 1024, 1280, 1920):
            page.set_viewport_size({"width": width, "height": 800})
            shown = page.evaluate("document.documentElement.scrollWidth")
            if shown > width:
                wider.append((str(path.relative_to(SITE)), width, shown))
    assert not wider


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


def test_prose_has_lines_that_one_can_read_and_commands_are_whole(page):
    page.set_viewport_size({"width": 1440, "height": 900})
    for name in KINDS:
        page.goto((Path(SITE) / f"{name}.html").resolve().as_uri())
        widest = page.evaluate(
            "Math.max(0, ...[...document.querySelectorAll('article section > p')].map(p => p.clientWidth"
            " / parseFloat(getComputedStyle(p).fontSize)))"
        )
        assert widest <= 44.01, name
        room = page.evaluate(
            "Math.min(...[...document.querySelectorAll('.highlight-console pre')].map(pre => {"
            " const ninety = document.createElement('span'); ninety.textContent = '0'.repeat(90); pre.append(ninety);"
            " const space = pre.clientWidth - ninety.getBoundingClientRect().width; ninety.remove(); return space; }))"
        )
        assert room is None or room > 0, name  # JSON has no infinity


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
