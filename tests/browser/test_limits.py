"""Fields hold as much as the server takes, and say so before somebody wonders where the rest went."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from search.domain.plan.parts import MAX_TEXT
from search.domain.question import LONGEST_QUESTION
from search.domain.schema_settings import LONGEST_GUIDANCE
from tests.browser.asking import ask, open_understood
from tests.browser.conftest import KEEPER

pytestmark = pytest.mark.browser

PASTE = """([element, text]) => {
  element.focus();
  const data = new DataTransfer();
  data.setData('text/plain', text);
  element.dispatchEvent(new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true}));
  document.execCommand('insertText', false, text);
}"""
"""What a browser does when somebody pastes: the event, then the text, cut off where the field is full."""


def test_the_question_holds_what_the_server_takes_and_a_paste_that_is_cut_off_says_so(page: Page) -> None:
    box = page.get_by_label("Question", exact=True)
    expect(box).to_have_attribute("maxlength", str(LONGEST_QUESTION))
    page.evaluate(PASTE, [box.element_handle(), "why " * 600])
    assert len(box.input_value()) == LONGEST_QUESTION
    expect(page.locator("#q-count")).to_have_text("2,000 of 2,000 characters. 400 more did not fit and were left out.")
    page.keyboard.press("Backspace")
    expect(page.locator("#q-count")).to_have_text("1,999 of 2,000 characters.")
    box.fill("why")
    expect(page.locator("#q-count")).to_have_count(0)


def test_a_question_that_fills_its_field_with_many_lines_is_taken(page: Page) -> None:
    lines = "a\n" * (LONGEST_QUESTION // 2 - 1) + "ab"
    assert len(lines) == LONGEST_QUESTION
    page.get_by_label("Question", exact=True).fill(lines)
    page.get_by_role("button", name="Ask", exact=True).click()
    page.wait_for_url("**/search/**")


def test_the_question_on_an_entity_s_page_has_the_same_limit(page: Page) -> None:
    page.goto("/kb/products/nodes/designer:ingunn-aas/")
    expect(page.locator("#q")).to_have_attribute("maxlength", str(LONGEST_QUESTION))


def test_texts_of_a_plan_hold_what_a_plan_may_hold(page: Page) -> None:
    ask(page)
    open_understood(page)
    page.locator(".plan-head").get_by_role("link", name="Change it").click()
    about = page.get_by_label("about")
    expect(about).to_have_attribute("maxlength", str(MAX_TEXT))
    expect(page.get_by_role("textbox", name="Entity 1")).to_have_attribute("maxlength", str(MAX_TEXT))
    page.evaluate(PASTE, [about.element_handle(), "x" * (MAX_TEXT + 7)])
    expect(page.locator("#residual-count")).to_contain_text("7 more did not fit")


def test_guidance_holds_what_settings_may_hold(open_page: Callable[..., Page]) -> None:
    page = open_page("/kb/products/settings/")
    page.locator("input[name=username]").fill(KEEPER[0])
    page.locator("input[name=password]").fill(KEEPER[1])
    page.locator("input[name=password]").press("Enter")
    expect(page.locator("#guidance")).to_have_attribute("maxlength", str(LONGEST_GUIDANCE))
