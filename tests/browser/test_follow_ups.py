"""A thread of questions on the result page: the box below the question, the chips of what changed, and the keys."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.asking import ask, finished
from tests.browser.test_everybody import FAINT_TEXT

pytestmark = pytest.mark.browser

FIRST = "Which products does Ostervik make?"


def ask_on(page: Page, words: str) -> None:
    """Type words into the box of the page's search, send them with Enter, and wait for the new search."""
    before = page.url
    box = page.get_by_label("Ask on", exact=True)
    box.fill(words)
    box.press("Enter")
    page.wait_for_url(lambda url: url != before)
    finished(page)


def names(page: Page) -> list[str]:
    return page.locator(".result h3").all_inner_texts()


def test_words_change_the_plan_and_chips_say_what_was_kept_and_changed(page: Page) -> None:
    ask(page, FIRST)
    ask_on(page, "what about Maplethorn instead?")

    chips = page.locator("#follow-up .change")
    changed = chips.filter(has_text="changed")
    expect(changed).to_contain_text("Ostervik")
    expect(changed).to_contain_text("Maplethorn")
    expect(chips.filter(has_text="kept").first).to_contain_text("product")
    assert any("Paddle" in name for name in names(page))

    ask_on(page, "the cheapest")
    expect(page.locator("#follow-up .change.added")).to_contain_text("cheapest one")
    thread = page.get_by_role("navigation", name="Questions before")
    expect(thread.get_by_role("link")).to_have_text([FIRST, "what about Maplethorn instead?"])
    expect(thread.locator("[aria-current]")).to_have_text("the cheapest")
    assert page.evaluate(FAINT_TEXT) == []

    thread.get_by_role("link", name=FIRST).click()
    expect(page.get_by_label("Question", exact=True)).to_have_value(FIRST)


def test_the_number_of_what_was_found_is_answered(page: Page) -> None:
    ask(page, FIRST)
    ask_on(page, "how many?")

    expect(page.locator("#follow-up .change.added")).to_contain_text("how many there are")
    expect(page.locator("#live")).to_contain_text(re.compile(r"\b6\b"))


def test_f_goes_to_the_box_and_n_asks_the_words_anew(page: Page) -> None:
    ask(page, FIRST)
    page.locator("body").press("f")
    expect(page.get_by_label("Ask on", exact=True)).to_be_focused()
    ask_on(page, "not Maplethorn")
    followed = page.url

    page.locator("h1").evaluate("heading => document.activeElement.blur()")
    page.keyboard.press("n")
    page.wait_for_url(lambda url: url != followed)
    finished(page)
    expect(page.locator("#follow-up")).to_have_count(0)
    expect(page.get_by_role("navigation", name="Questions before")).to_have_count(0)
    expect(page.get_by_label("Question", exact=True)).to_have_value("not Maplethorn")


def test_a_letter_typed_into_the_box_is_a_letter(page: Page) -> None:
    ask(page, FIRST)
    box = page.get_by_label("Ask on", exact=True)
    box.press_sequentially("fun")
    expect(box).to_have_value("fun")


def test_control_and_enter_ask_the_words_of_the_box_anew(page: Page) -> None:
    ask(page, FIRST)
    box = page.get_by_label("Ask on", exact=True)
    box.fill("Which brands are based in Norway?")
    before = page.url
    box.press("Control+Enter")
    page.wait_for_url(lambda url: url != before)
    finished(page)
    expect(page.get_by_role("navigation", name="Questions before")).to_have_count(0)


def test_a_whole_question_is_said_to_be_one_of_its_own(page: Page) -> None:
    ask(page, FIRST)
    ask_on(page, "Which brands are based in Norway?")
    expect(page.locator("#follow-up")).to_contain_text("A question of its own")


def test_words_that_cannot_be_asked_are_kept_with_the_reason_beside_the_box(page: Page) -> None:
    ask(page, FIRST)
    page.get_by_label("Ask on", exact=True).fill("\u200b")
    page.get_by_role("button", name="Ask on").click()
    expect(page.locator("#ask-on-fault")).to_contain_text("The question is empty")
