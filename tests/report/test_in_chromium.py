"""The report in a real browser: it is drawn, it filters, it asks nobody for anything, and fits on a phone."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from sandbox.report.browser import browser, installed
from sandbox.report.page import page
from tests.report import fabricated

CHROMIUM = installed()

pytestmark = [
    pytest.mark.skipif(
        CHROMIUM is None and "CI" not in os.environ,
        reason="there is no Chromium here; `apt-get install chromium` installs one",
    ),
    pytest.mark.xdist_group("chromium"),
]

PHONE = {"width": 320, "height": 640}  # as narrow as WCAG 2.2, 1.4.10 asks for
DESKTOP = {"width": 1280, "height": 900}


@pytest.fixture(scope="module")
def chromium() -> Iterator[BrowserContext]:
    assert CHROMIUM, "CI must have a Chromium"
    with browser(CHROMIUM, viewport=DESKTOP) as context:
        yield context


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The addresses of pages: a demo's of two workloads, and one of chaos."""
    folder = tmp_path_factory.mktemp("reports")
    pages = {
        "demo": page("demo", [fabricated.ingestion(40), fabricated.orders(), fabricated.charges()]),
        "chaos": page("chaos", [fabricated.chaos()]),
    }
    for name, html in pages.items():
        (folder / name).with_suffix(".html").write_text(html, encoding="utf-8")
    return {name: (folder / name).with_suffix(".html").as_uri() for name in pages}


@pytest.fixture
def tab(chromium: BrowserContext) -> Iterator[Page]:
    """Whatever its console says, or it asks for beyond its file, fails the test."""
    opened, complaints = chromium.new_page(), list[str]()
    opened.on("console", lambda said: complaints.append(f"{said.type}: {said.text}"))
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("request", lambda sent: complaints.append(sent.url) if _leaves(sent.url) else None)
    yield opened
    opened.close()
    assert complaints == []


def _leaves(url: str) -> bool:
    return not url.startswith(("file:", "data:"))


def shown(tab: Page, workload: str = "ingestion") -> list[str]:
    """The ids of the events in the list."""
    ids = tab.locator(f"#{workload} .events > li:visible .id")
    return ids.all_inner_texts()


def test_the_workflow_is_drawn_with_its_counts(tab: Page, reports: dict[str, str]) -> None:
    tab.goto(reports["demo"])
    drawing = tab.locator("#ingestion svg.workflow")
    size = drawing.bounding_box()

    assert size
    assert (size["width"] > 300, size["height"] > 300) == (True, True)
    expect(drawing.get_by_text("IdempotencyGuard", exact=True)).to_be_visible()
    expect(drawing.locator(".count").first).to_be_visible()
    assert _overlapping(tab, "#ingestion .node") == []


def test_no_count_covers_another_or_a_state(tab: Page, reports: dict[str, str]) -> None:
    tab.goto(reports["demo"])

    assert _overlapping(tab, "#ingestion .node, #ingestion .count") == []


def test_search_and_choices_narrow_the_events_and_say_how_many_are_left(
    tab: Page, reports: dict[str, str]
) -> None:
    tab.goto(reports["demo"])
    form = tab.locator("#ingestion form")
    every = shown(tab)

    form.get_by_label("Ending").select_option("in_doubt")
    in_doubt = shown(tab)
    form.get_by_label("Semantics").select_option("at-most-once")
    half = shown(tab)
    form.get_by_label("Search").fill(f"  {half[0].lower()} LATE ")

    assert len(every) == 40 > len(in_doubt) > len(half) > 0
    assert all(id_.startswith("A") for id_ in half)
    assert shown(tab) == half[:1]
    expect(form.locator("output")).to_have_text("1 of 40 events")
    assert len(shown(tab, "orders")) == 1  # whose form is another one
    form.get_by_label("Search").fill("nothing like it")
    expect(form.locator("output")).to_have_text("0 of 40 events")


def test_a_story_is_found_by_its_words(tab: Page, reports: dict[str, str]) -> None:
    tab.goto(reports["demo"])
    tab.locator("#ingestion").get_by_label("Search").fill("invalid-json")

    kinds = tab.locator("#ingestion .events > li:visible").evaluate_all("all => all.map(e => e.dataset.kind)")
    assert set(kinds) == {"body is not JSON"}


def test_the_name_of_a_kind_shows_its_events(tab: Page, reports: dict[str, str]) -> None:
    tab.goto(reports["demo"])
    tab.get_by_role("button", name="rejected", exact=True).click()

    expect(tab.locator("#ingestion").get_by_label("Kind")).to_have_value("rejected")
    assert 0 < len(shown(tab)) < 40


def test_a_slow_event_leads_to_its_story_even_if_it_was_filtered_away(
    tab: Page, reports: dict[str, str]
) -> None:
    tab.goto(reports["demo"])
    tab.locator("#ingestion").get_by_label("Search").fill("nothing like it")
    link = tab.locator("#ingestion .slowest a").first
    link.click()

    story = tab.locator(f"[id='{str(link.get_attribute('href'))[1:]}']")
    expect(story.locator(".moments")).to_be_visible()
    expect(story).to_contain_text("sent to the queue")


def test_the_keyboard_is_enough(tab: Page, reports: dict[str, str]) -> None:
    tab.goto(reports["demo"])
    tab.locator("#ingestion").get_by_label("Search").focus()
    tab.keyboard.type("A-0001")
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.name") == "ending"
    for _ in range(3):
        tab.keyboard.press("Tab")
    tab.keyboard.press("Enter")

    assert tab.evaluate("document.activeElement.tagName") == "SUMMARY"
    expect(tab.locator("#ingestion .events > li:visible .moments")).to_be_visible()


def test_everything_that_can_be_reached_has_a_name(tab: Page, reports: dict[str, str]) -> None:
    tab.goto(reports["demo"])

    unnamed = tab.locator(
        "a, button, input, select, summary, svg[role=img], section.workload, form"
    ).evaluate_all(
        "all => all.filter(e => !(e.getAttribute('aria-label') || e.getAttribute('aria-labelledby')"
        " || e.labels?.[0]?.textContent || e.textContent).trim()).map(e => e.outerHTML)"
    )
    assert unnamed == []
    for landmark in ("banner", "main", "navigation", "search"):
        expect(tab.get_by_role(landmark).first).to_be_attached()


@pytest.mark.parametrize("name", ["demo", "chaos"])
def test_on_a_phone_nothing_is_wider_than_the_screen(tab: Page, reports: dict[str, str], name: str) -> None:
    tab.set_viewport_size(PHONE)  # type: ignore[arg-type]
    tab.goto(reports[name])
    tab.locator("details").evaluate_all("all => all.forEach(e => e.open = true)")

    assert tab.evaluate("document.documentElement.scrollWidth") == PHONE["width"]


def test_it_is_light_or_dark_as_its_reader_wants(tab: Page, reports: dict[str, str]) -> None:
    tab.goto(reports["demo"])
    lightness = {}
    for scheme in ("light", "dark"):
        tab.emulate_media(color_scheme=scheme)
        paper = tab.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
        ink = tab.evaluate("getComputedStyle(document.body).color.match(/\\d+/g).map(Number)")
        lightness[scheme] = sum(paper) - sum(ink)

    assert lightness["light"] > 400
    assert lightness["dark"] < -400


def test_nothing_moves_for_those_who_want_it_so(tab: Page, reports: dict[str, str]) -> None:
    tab.goto(reports["demo"])
    scrolling = "getComputedStyle(document.documentElement).scrollBehavior"
    tab.emulate_media(reduced_motion="no-preference")
    before = tab.evaluate(scrolling)
    tab.emulate_media(reduced_motion="reduce")

    assert (before, tab.evaluate(scrolling)) == ("smooth", "auto")


def test_without_scripts_all_events_are_there(
    chromium: BrowserContext, tab: Page, reports: dict[str, str]
) -> None:
    chromium.new_cdp_session(tab).send("Emulation.setScriptExecutionDisabled", {"value": True})
    tab.goto(reports["demo"])

    assert len(shown(tab)) == 40


def test_thousands_of_events_are_filtered_at_once(tab: Page, tmp_path: Path) -> None:
    """Once each was numbered anew for each that was hidden: half a minute."""
    (tmp_path / "large.html").write_text(page("demo", [fabricated.ingestion(3000)]), encoding="utf-8")
    tab.goto((tmp_path / "large.html").as_uri())
    milliseconds = tab.evaluate(
        """async () => {
             const begun = performance.now(), form = document.querySelector("form");
             form.elements.text.value = "a-00";
             form.dispatchEvent(new Event("input"));
             await new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)));
             return performance.now() - begun;
           }"""
    )

    expect(tab.locator("output")).to_have_text("99 of 3000 events")
    assert milliseconds < 5_000


def test_chaos_is_shown_too(tab: Page, reports: dict[str, str]) -> None:
    tab.goto(reports["chaos"])

    expect(tab.get_by_role("row", name="UpdateItem (claim)")).to_contain_text("✗")
    expect(tab.locator(".verdict")).to_contain_text("failed")


def _overlapping(tab: Page, selector: str) -> list[list[str]]:
    """Pairs of what is drawn in the same place, by their texts."""
    found = tab.locator(selector).evaluate_all(
        """all => all.flatMap((one, n) => all.slice(n + 1).filter(other => {
             const [a, b] = [one, other].map(e => e.getBoundingClientRect());
             return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
           }).map(other => [one.textContent, other.textContent]))"""
    )
    return [[str(each) for each in pair] for pair in found]


def test_the_file_is_small_enough_to_be_sent(tmp_path: Path) -> None:
    html = page("demo", [fabricated.ingestion(200)])

    assert len(html.encode()) < 500_000
