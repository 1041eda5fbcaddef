"""The text that was searched in place of the question, in a real browser: its parts, and all of it."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.asking import ask, open_understood
from tests.browser.axe import violations
from tests.browser.test_everybody import FAINT_TEXT

pytestmark = pytest.mark.browser

TEA = "a flask that keeps tea hot"
LAMPS = "Which lamps are made by Lyktvik?"


def test_the_searched_text_is_shown_part_by_part_and_as_a_whole(page: Page) -> None:
    ask(page, TEA, pipeline="prf")
    open_understood(page)
    shown = page.get_by_role("region", name="Searched text")
    expect(shown).to_contain_text("searched for the question and 3 parts added to it.")

    parts = shown.locator("details")
    expect(parts).to_have_count(1 + 3 + 1)
    assert parts.nth(0).locator("summary").inner_text() == "The question"
    name = parts.nth(1).locator("summary").inner_text().removeprefix("Document: ")
    parts.nth(1).locator("summary").click()
    expect(parts.nth(1).locator("pre")).to_be_visible()
    expect(parts.nth(1).locator("pre")).to_contain_text(name)
    expect(parts.nth(1).get_by_role("link", name=name)).to_have_attribute("href", re.compile("^/kb/products/nodes/."))

    shown.get_by_text("All of it, as it was searched").click()
    whole = page.locator("#searched-text").inner_text()
    assert whole.split("\n\n")[0] == TEA
    assert whole.split("\n\n")[1] == parts.nth(1).locator("pre").inner_text()
    assert len(whole.split("\n\n")) == 4
    expect(shown.get_by_role("button", name="Copy")).to_be_visible()


def test_triples_are_named_as_walks_and_lead_to_results(page: Page) -> None:
    ask(page, LAMPS, pipeline="kar")
    open_understood(page)
    shown = page.get_by_role("region", name="Searched text")
    expect(shown.locator("summary").nth(1)).to_have_text("Relation: Lyktvik ← has brand — Vardø Lantern")
    expect(page.get_by_text("Answered without a language model")).to_be_visible()


def test_where_nothing_was_added_that_is_said(page: Page) -> None:
    ask(page, TEA, pipeline="hyde")
    open_understood(page)
    shown = page.get_by_role("region", name="Searched text")
    expect(shown).to_contain_text("Nothing was added")
    expect(page.get_by_text("Answered without a language model")).to_be_visible()
    expect(page.locator("#searched-text")).to_have_count(0)


def test_a_search_for_the_question_itself_has_no_such_part(page: Page) -> None:
    ask(page, TEA, pipeline="bm25")
    open_understood(page)
    expect(page.get_by_role("region", name="Searched text")).to_have_count(0)


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_nothing_is_too_wide_faint_or_without_a_name(open_page: Callable[..., Page], width: int, scheme: str) -> None:
    page = open_page("/", viewport={"width": width, "height": 844}, color_scheme=scheme, bypass_csp=True)
    ask(page, LAMPS, pipeline="kar")
    open_understood(page)
    for summary in page.locator("#expansion summary").all():
        summary.click()
    assert violations(page) == []
    assert page.evaluate(FAINT_TEXT) == []
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
