"""The built site in a real browser: no page is wider than its window.  Its folder is in FASTCUBE_SITE."""

import os
import shutil
from pathlib import Path

import pytest

pytestmark = pytest.mark.browser

CHROMIUM, SITE = shutil.which("chromium"), os.environ.get("FASTCUBE_SITE")


@pytest.fixture(scope="module")
def page():
    if SITE is None:
        pytest.skip("FASTCUBE_SITE is not set: the folder that sphinx-build wrote")
    if CHROMIUM is None:
        pytest.skip("there is no chromium (Debian: apt-get install chromium fonts-dejavu-core)")
    sync_api = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: pip install -e '.[browser]'"
    )
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser.new_context(offline=True, reduced_motion="reduce").new_page()
        browser.close()


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
