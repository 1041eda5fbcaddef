"""Pipelines side by side on one question, in a real browser: columns, lines, keys, phones, and what axe finds."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.asking import QUESTION, ask
from tests.browser.axe import faint_in_dark, violations
from tests.browser.conftest import Site
from tests.browser.test_every_page import DESK, PHONE, TOO_WIDE

pytestmark = pytest.mark.browser
SHOTS = os.environ.get("GRASP_SCREENSHOTS", "")
"""Folder for screenshots of these pages; none are taken without it."""

MISSED_CARDS = """() => {
  const middle = (element) => { const box = element.getBoundingClientRect(); return box.top + box.height / 2; };
  const columns = [...document.querySelectorAll('.cmp-column')];
  const far = [];
  document.querySelectorAll('.cmp-between').forEach((between, at) => {
    for (const path of between.querySelectorAll('path:not(.out)')) {
      const ends = [path.getPointAtLength(0), path.getPointAtLength(path.getTotalLength())];
      const lists = [columns[at], columns[at + 1]];
      ends.forEach((end, side) => {
        const y = end.matrixTransform(path.getScreenCTM()).y;
        const cards = [...lists[side].querySelectorAll('.cmp-card')];
        if (!cards.some((card) => Math.abs(middle(card) - y) < 2)) far.push(y);
      });
    }
  });
  return far;
}"""
"""Ends of lines that meet the middle of no card."""


def compare(page: Page, *pipelines: str, question: str = QUESTION) -> None:
    """Fill the form, send it, and wait until every column has ended."""
    page.goto("/compare/?kb=products")
    page.get_by_label("Question", exact=True).fill(question)
    for name in pipelines:
        page.locator(f"input[name=pipeline][value={name}]").check()
    page.get_by_role("button", name="Compare", exact=True).click()
    ended(page, len(pipelines))


def ended(page: Page, columns: int) -> None:
    expect(page.locator(".cmp-column .state.done")).to_have_count(columns, timeout=60_000)
    expect(page.locator("#compared[hx-get]")).to_have_count(0)


def cards(page: Page, column: int) -> list[str]:
    return page.locator(".cmp-column").nth(column).locator("h3 a").all_inner_texts()


def test_columns_fill_and_lines_lead_from_card_to_card(page: Page) -> None:
    compare(page, "grasp", "bm25", "ppr")

    assert page.get_by_role("heading", level=2).all_inner_texts()[:3] == ["GRASP", "BM25", "PageRank"]
    assert "OV-" in page.locator(".cmp-column").first.inner_html()
    expect(page.locator(".cmp-between svg")).to_have_count(2)
    assert page.evaluate(MISSED_CARDS) == []
    # What the lines say is there as text, and again as a table.
    first, second = cards(page, 0), cards(page, 1)
    both = next(name for name in first if name in second)
    before, after = first.index(both) + 1, second.index(both) + 1
    told = page.locator(".cmp-between").first.locator("li", has_text=both)
    expect(told).to_contain_text(f"rank {before} → {after}")
    page.get_by_text("All ranks as a table").click()
    row = page.get_by_role("row", name=both)
    assert row.get_by_role("cell").all_inner_texts()[:2] == [str(before), str(after)]
    expect(page.locator(".cmp-matrix tbody tr")).to_have_count(3)
    expect(page.locator(".cmp-matrix")).to_contain_text("of 10")
    if SHOTS:
        page.locator("summary", has_text="All ranks").click()
        page.evaluate("window.scrollTo(0, 0)")
        page.screenshot(path=str(Path(SHOTS) / "compare.png"), full_page=True)


def test_the_address_shows_the_same_to_others_and_asks_nothing_again(
    page: Page, open_page: Callable[..., Page]
) -> None:
    compare(page, "bm25", "ppr")
    asked = page.url
    before = cards(page, 0)
    page.reload()
    assert page.url == asked
    other = open_page(asked)
    assert cards(other, 0) == before
    # Pressed again, the same searches are shown.
    page.get_by_role("button", name="Compare", exact=True).click()
    ended(page, 2)
    assert page.url == asked


def test_arrows_lead_to_the_same_result_in_the_next_column(page: Page) -> None:
    compare(page, "bm25", "hybrid")
    both = next(name for name in cards(page, 0) if name in cards(page, 1))
    page.locator(".cmp-column").first.get_by_role("link", name=both, exact=True).focus()
    expect(page.locator(".cmp-card.lit")).to_have_count(2)
    page.keyboard.press("ArrowRight")
    focused = "document.activeElement.closest('.cmp-column') === document.querySelectorAll('.cmp-column')[1]"
    assert page.evaluate(focused)
    assert page.evaluate("document.activeElement.textContent") == both
    page.keyboard.press("ArrowLeft")
    assert not page.evaluate(focused)
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.textContent") != both


def test_a_result_page_and_the_box_lead_to_the_form(page: Page) -> None:
    ask(page)
    page.get_by_role("link", name="Compare", exact=True).click()
    expect(page.get_by_label("Question", exact=True)).to_have_value(QUESTION)
    expect(page.locator("input[value=grasp]")).to_be_checked()
    page.goto("/")
    page.get_by_label("Question", exact=True).fill("a warm lamp")
    page.get_by_role("button", name="Compare several").click()
    expect(page.get_by_label("Question", exact=True)).to_have_value("a warm lamp")
    expect(page.locator("input[value=bm25]")).to_be_checked()
    page.locator("input[value=bm25]").uncheck()
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.locator("#pipeline-fault")).to_contain_text("A comparison takes two to four pipelines; one is chosen.")


def test_the_page_has_no_fault_in_any_state(open_page: Callable[..., Page], site: Site) -> None:
    page = open_page("/compare/", viewport=DESK, bypass_csp=True, color_scheme="light")
    found: dict[str, list[str]] = {}

    def look(state: str) -> None:
        page.evaluate("() => document.querySelectorAll('details').forEach((each) => { each.open = true })")
        for size in (DESK, PHONE):
            page.set_viewport_size(size)
            said = [*violations(page), *faint_in_dark(page)]
            if page.evaluate(TOO_WIDE) > 0:
                said.append(f"wider than the screen by {page.evaluate(TOO_WIDE)}")
            found[f"{state} {size['width']}"] = said
        page.set_viewport_size(DESK)

    look("form")
    with site.worker_asleep():
        page.get_by_label("Question", exact=True).fill(f"{QUESTION} (waiting)")
        for name in ("grasp", "bm25", "ppr", "hybrid"):
            page.locator(f"input[name=pipeline][value={name}]").check()
        page.get_by_role("button", name="Compare", exact=True).click()
        expect(page.get_by_text("Waiting for the search worker")).to_have_count(4)
        look("waiting")
    ended(page, 4)
    look("done")
    compare(page, "grasp", "bm25", question="zzzzq xqxqx")
    look("empty")
    page.goto("/compare/?search=00000000-0000-0000-0000-000000000000&search=00000000-0000-0000-0000-000000000001")
    look("gone")
    assert {state: faults for state, faults in found.items() if faults} == {}


def test_a_phone_shows_a_column_at_a_time_and_scrolls_only_the_columns(open_page: Callable[..., Page]) -> None:
    page = open_page("/", viewport=PHONE)
    compare(page, "bm25", "hybrid", "ppr")
    assert page.evaluate(TOO_WIDE) <= 0
    region = page.get_by_role("region", name="Columns")
    assert region.evaluate("(element) => element.scrollWidth > element.clientWidth")
    assert page.evaluate(MISSED_CARDS) == []


def test_without_scripts_the_page_works(open_page: Callable[..., Page]) -> None:
    page = open_page("/", java_script_enabled=False)
    compare(page, "bm25", "ppr")
    assert len(cards(page, 0)) == 10
