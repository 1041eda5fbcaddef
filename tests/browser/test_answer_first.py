"""The answer comes first: how far down the first result begins, how many presses of Tab lead to it, what is folded."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.asking import ask, finished
from tests.browser.axe import faint_in_dark, violations

pytestmark = pytest.mark.browser

LAPTOP, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
HIGHEST = {1440: 320, 390: 420}
"""Largest distance of the first result from the top of the page, in pixels, by the width of the window."""
MOST_TABS = 8
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
TOP = "() => document.querySelector('.result').getBoundingClientRect().top + scrollY"
QUESTIONS = (
    "Which products does Ostervik make?", "what does the lightest tent weigh",
    "How many products cost less than 20 euros?", "Which Ostervik products are not made of stainless steel?",
    "Which tents does Ostervik make?", "a flask that keeps tea hot", "purple elephants singing opera", "Ostervik",
    "Welche Produkte macht Ostervik?", "What is there from Ostervik below 5 euros made of stainless steel?",
)  # fmt: skip
"""A list, a value, a number, a negation, one with a word that cannot be checked, texts, nonsense, a bare name, German,
and one that nothing meets."""


@pytest.fixture
def show(open_page: Callable[..., Page]) -> Callable[..., Page]:
    """Ask and open the page of the finished search in a window of a size."""

    def shown(question: str, size: dict[str, int], **options: Any) -> Page:
        page = open_page("/words/", viewport=size, **options)
        request = {"knowledge_base": "products", "question": question}
        asked = page.request.post("/api/v1/searches/?wait=30", data=request).json()
        page.goto(f"/search/{asked['id']}/")
        finished(page)
        return page

    return shown


@pytest.mark.parametrize("size", [LAPTOP, PHONE], ids=["laptop", "phone"])
def test_the_first_result_is_on_the_first_screen_and_few_presses_of_tab_away(
    show: Callable[..., Page], size: dict[str, int]
) -> None:
    far: dict[str, object] = {}
    for question in QUESTIONS:
        page = show(question, size)
        top, wider = page.evaluate(TOP), page.evaluate(WIDER)
        page.get_by_label("Question", exact=True).focus()
        presses = 0
        while presses <= MOST_TABS and not page.evaluate("!!document.activeElement.closest('.result')"):
            page.keyboard.press("Tab")
            presses += 1
        if top > HIGHEST[size["width"]] or presses > MOST_TABS or wider > 0:
            far[question] = (top, presses, wider)
    assert far == {}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_pages_of_answers_have_no_fault(show: Callable[..., Page], scheme: str) -> None:
    found: dict[str, list[str]] = {}
    for question in (QUESTIONS[4], QUESTIONS[6], QUESTIONS[7], QUESTIONS[9]):
        page = show(question, PHONE, color_scheme=scheme, bypass_csp=True)
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
        wider = page.evaluate(WIDER)
        faults = [*violations(page), *faint_in_dark(page), *([f"wider by {wider}"] if wider > 0 else [])]
        found |= {question: faults} if faults else {}
    assert found == {}


def test_e_opens_how_the_question_was_understood_and_that_is_remembered(page: Page) -> None:
    ask(page)
    fold = page.locator("#understood")
    expect(page.get_by_role("region", name="Plan", exact=True)).to_be_hidden()
    page.locator("h1").evaluate("heading => document.activeElement.blur()")
    page.keyboard.press("e")
    expect(page.get_by_role("region", name="Plan", exact=True)).to_be_visible()
    page.goto("/")
    ask(page, "Which products does Ostervik make?")
    expect(fold).to_have_attribute("open", "")
    page.keyboard.press("Escape")
    page.locator("h1").evaluate("heading => document.activeElement.blur()")
    page.keyboard.press("e")
    page.reload()
    expect(page.get_by_role("region", name="Plan", exact=True)).to_be_hidden()


def test_a_bare_name_is_asked_back_about_in_words_of_the_base(show: Callable[..., Page]) -> None:
    page = show("Ostervik", LAPTOP)
    choices = page.locator(".settle button")
    assert choices.count() in (2, 3)
    expect(choices.first).to_have_attribute("aria-current", "true")
    expect(choices.first).to_have_text("“Ostervik”, the brand")
    other = choices.nth(1)
    said = other.inner_text()
    before = page.url
    other.click()
    page.wait_for_url(lambda url: url != before)
    finished(page)
    expect(page.locator("#because")).to_have_text("Sure: this meaning was chosen, and all of it was checked.")
    expect(page.locator(".meaning-of")).to_have_text(said)


def test_what_is_opened_before_the_scripts_have_come_arrives_with_them(page: Page) -> None:
    ask(page)
    held: list[Route] = []
    page.route(re.compile(r"search/later\..*js"), lambda route: held.append(route))
    page.reload(wait_until="commit")
    why = page.locator("details.why").first
    why.locator("> summary").click()
    expect(why.locator("[data-later]")).to_have_count(1)
    with page.expect_response(re.compile("results/1/why/")):
        held[0].continue_()
    expect(why.locator("[data-later]")).to_have_count(0)
