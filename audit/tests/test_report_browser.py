"""The report in a real browser: it loads nothing, shows everything without scripts, and is accessible."""

import io
import shutil
import statistics
from pathlib import Path

import pytest
from audit_helpers import report_page

pytestmark = pytest.mark.browser

CHROMIUM = shutil.which("chromium")


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    return (report_page.report_folder(tmp_path_factory.mktemp("made")) / "report.html").resolve().as_uri()


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        pytest.skip("there is no chromium (Debian: apt-get install chromium fonts-dejavu-core)")
    sync_api = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: pip install -e '.[browser]'"
    )
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


class Opened:
    """A page of the report, with its requests and its console messages."""

    def __init__(self, browser, address, scheme="light", script=True, width=1280, policy=True):
        self.context = browser.new_context(
            offline=True,
            color_scheme=scheme,
            java_script_enabled=script,
            bypass_csp=not policy,
            viewport={"width": width, "height": 800},
            reduced_motion="reduce",
        )
        self.page = self.context.new_page()
        self.asked, self.said = [], []
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.goto(address)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.context.close()


def test_it_is_light_enough_for_a_telephone(address):
    assert Path(address.removeprefix("file://")).stat().st_size <= 3_000_000


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("script", [True, False])
def test_it_asks_for_one_file_and_says_nothing(browser, address, scheme, script):
    with Opened(browser, address, scheme, script) as opened:
        assert opened.asked == [address]
        assert opened.said == []


@pytest.mark.parametrize("width", [375, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(browser, address, scheme, width):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    with Opened(browser, address, scheme, width=width, policy=False) as opened:
        opened.page.evaluate("for (const d of document.querySelectorAll('details')) d.open = true")
        found = axe.Axe().run(opened.page).response["violations"]
        assert [(v["id"], v["help"], [n["html"][:200] for n in v["nodes"][:3]]) for v in found] == []


@pytest.mark.parametrize("script", [True, False])
def test_nothing_scrolls_sideways_on_a_telephone(browser, address, script):
    with Opened(browser, address, script=script, width=375) as opened:
        opened.page.evaluate("for (const d of document.querySelectorAll('details')) d.open = true")
        wide = opened.page.evaluate(
            """[...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1 &&
            !e.closest('.wide, .cards, svg, code, pre, .hidden, .skip')).map(e => e.outerHTML.slice(0, 120)).slice(0, 5)"""
        )
        assert wide == []
        cut = opened.page.evaluate(
            """[...document.querySelectorAll('caption')].filter(e => { const range = document.createRange();
            range.selectNodeContents(e); return range.getBoundingClientRect().right > innerWidth; }).map(e => e.textContent)"""
        )
        assert cut == []
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= 375


def test_plots_fit_a_telephone_panel_by_panel(browser, address):
    with Opened(browser, address, width=375) as opened:
        opened.page.evaluate("for (const d of document.querySelectorAll('details')) d.open = true")
        widths = opened.page.evaluate(
            "[...document.querySelectorAll('.panels img')].map(e => e.getBoundingClientRect().right)"
        )
        assert widths
        assert max(widths) <= 375


def test_a_telephone_begins_with_the_findings_and_a_line_an_item(browser, address):
    with Opened(browser, address, width=375) as opened:
        places = opened.page.evaluate(
            "['.cards', '.found-table', 'nav', '#items'].map(s => document.querySelector(s)?.getBoundingClientRect().top)"
        )
        assert places[0] < 800
        assert sorted(places) == places
        assert opened.page.locator("details.item").count() > 5
        assert not opened.page.locator("details.item[open]").count()
        assert not opened.page.locator("details.item .said:visible").count()


#: The smallest letters of texts, drawings and plots, in pixels of the screen; powers in a plot are smaller than its letters.
SMALLEST_LETTERS = """[
    ...[...document.querySelectorAll('body *')].filter(e => e.checkVisibility() && !e.closest('svg') && e.innerText)
        .map(e => parseFloat(getComputedStyle(e).fontSize)),
    ...[...document.querySelectorAll('svg text')].filter(e => e.checkVisibility()).map(e => {
        const m = e.getScreenCTM(); return parseFloat(getComputedStyle(e).fontSize) * Math.hypot(m.a, m.b); }),
    ...[...document.querySelectorAll('.plot img')].filter(e => e.checkVisibility()).map(e => {
        const picture = decodeURIComponent(e.src);
        const sizes = Object.fromEntries([...picture.matchAll(/\\.(\\w+){[^}]*font-size:([\\d.]+)px/g)].map(m => [m[1], m[2]]));
        return e.getBoundingClientRect().width / e.naturalWidth * 4 / 3
            * Math.min(...[...picture.matchAll(/<text[^>]* class='(\\w+)'/g)].map(m => parseFloat(sizes[m[1]]))); }),
].reduce((a, b) => Math.min(a, b))"""


@pytest.mark.parametrize("width", [375, 768, 1280])
def test_letters_have_nine_pixels(browser, address, width):
    with Opened(browser, address, width=width) as opened:
        opened.page.evaluate("for (const d of document.querySelectorAll('details')) d.open = true")
        opened.page.evaluate("for (const image of document.images) image.loading = 'eager'")
        opened.page.evaluate("Promise.all([...document.images].map(image => image.decode()))")
        assert opened.page.evaluate(SMALLEST_LETTERS) >= 9


def test_every_number_is_there_without_script(browser, address):
    with Opened(browser, address) as opened, Opened(browser, address, script=False) as bare:
        texts = []
        for page in (opened.page, bare.page):
            page.evaluate("for (const e of document.querySelectorAll('#found, button')) e.remove()")  # comforts
            texts.append(page.locator("main").text_content().split())
        assert texts[0] == texts[1]
        assert sum(any(c.isdigit() for c in word) for word in texts[1]) > 10
        assert not bare.page.locator("input:visible").count()
        bare.page.locator("#provenance summary").click()
        assert bare.page.locator("#provenance").locator("table, dl").first.is_visible()


def test_a_link_opens_what_it_leads_to(browser, address):
    with Opened(browser, address) as opened:
        page = opened.page
        closed = page.locator("details.item:not([open]) > article").first
        anchor = closed.get_attribute("id")
        assert not closed.is_visible()
        page.goto(f"{address}#{anchor}")
        page.locator(f"#{anchor}").wait_for(state="visible")
        assert page.locator("details.item:not([open])").count() > 0


def test_what_is_refuted_is_open_and_the_rest_is_a_line_an_item(browser, address):
    with Opened(browser, address, script=False) as opened:
        items = opened.page.locator("details.item").evaluate_all(
            "items => items.map(i => [i.dataset.verdict, i.open, i.querySelector('summary').getBoundingClientRect().height])"
        )
        assert {verdict == "refuted" for verdict, is_open, _ in items if is_open} <= {True}
        assert all(is_open for verdict, is_open, _ in items if verdict == "refuted")
        assert statistics.median(height for *_, height in items) < 60
        # the range of a verdict is never cut off, so a row of the whole report may have more lines
        assert not opened.page.locator(".item>summary .found").evaluate_all(
            "parts => parts.filter(e => e.scrollHeight > e.clientHeight + 1).map(e => e.textContent)"
        )


def test_a_reading_opens_where_it_is_named(browser, address):
    with Opened(browser, address) as opened:
        page = opened.page
        page.evaluate("for (const d of document.querySelectorAll('details.item')) d.open = true")
        reading = page.locator("details.reading").first
        assert not reading.locator("div").is_visible()
        reading.locator("summary").click()
        assert len(reading.locator("div").text_content()) > 40


def test_the_items_are_filtered_by_keyboard(browser, address):
    with Opened(browser, address) as opened:
        page = opened.page
        rows = "details.item:visible"
        everything = page.locator(rows).count()
        for _ in range(200):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.id") == "words":
                break
        page.keyboard.type("lemma")
        some = page.locator(rows).count()
        assert 0 < some < everything
        assert page.locator("#found").text_content() == f"{some} of {everything} lines, including our own"
        page.keyboard.press("Control+A")
        page.keyboard.press("Delete")
        page.keyboard.press("Tab")
        page.keyboard.press("Space")
        kind = page.evaluate("document.activeElement.value")
        assert page.locator(rows).count() == everything - page.locator(f"details.item[data-verdict={kind}]").count()


def test_a_line_is_copied_as_it_is_printed(browser, address):
    with Opened(browser, address) as opened:
        page = opened.page
        opened.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.evaluate("for (const d of document.querySelectorAll('details')) d.open = true")
        button = page.locator("button.copy").first
        button.focus()
        page.keyboard.press("Enter")
        page.locator("#copied", has_text="Copied").wait_for(state="attached")
        code = button.locator("xpath=preceding-sibling::code").text_content()
        assert page.evaluate("navigator.clipboard.readText()") == code


@pytest.mark.parametrize(("scheme", "ground"), [("light", 255), ("dark", 0x11)])
def test_plots_stand_on_the_ground_of_the_page(browser, address, scheme, ground):
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed: pip install -e '.[report]'")
    with Opened(browser, address, scheme) as opened:
        opened.page.evaluate("for (const d of document.querySelectorAll('details')) d.open = true")
        plot = opened.page.locator(".plot img").first
        plot.scroll_into_view_if_needed()
        plot.evaluate("image => image.decode()")
        assert plot.evaluate("image => image.complete && image.naturalWidth > 100")
        grey = image.open(io.BytesIO(plot.screenshot())).convert("L")
    assert grey.getpixel((1, 1)) == ground
    low, high = grey.getextrema()
    assert low < 40
    assert high > 200  # letters of the other brightness


def test_it_prints_with_everything_open(browser, address):
    with Opened(browser, address, "dark", script=False) as opened:
        opened.page.emulate_media(media="print")
        assert opened.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        table = opened.page.locator("details details table.data").first
        assert table.is_visible()
        assert table.bounding_box()["height"] > 20
        assert opened.page.locator("nav").is_hidden()
    with Opened(browser, address) as opened:
        assert opened.page.pdf().startswith(b"%PDF")
