"""What the first paint of a result page leaves out, and that nobody who comes back to a place notices it."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.asking import ask

pytestmark = pytest.mark.browser

WATCH = """document.addEventListener('DOMContentLoaded', () => {
  const results = [...document.querySelectorAll('.result')];
  window.first = results.map((one) => getComputedStyle(one).contentVisibility);
})"""
MANY = "products that cost less than 50 euros"
"""A question with more answers than a page lists."""


def test_a_page_that_is_opened_at_its_top_lays_out_what_is_below_the_screen_after_its_first_paint(
    open_page: Callable[..., Page],
) -> None:
    page = open_page("/", viewport={"width": 390, "height": 844})
    ask(page, MANY)
    address = page.url
    last = page.locator(".result").count()
    page.add_init_script(WATCH)

    page.goto("/words/")
    page.goto(address)
    assert page.evaluate("window.first") == ["visible"] * 3 + ["auto"] * (last - 3)
    for one in page.locator(".result").all():
        expect(one).to_have_css("content-visibility", "visible")

    # The place to which somebody returns, and the one that an address names, must not move afterwards.
    page.locator(f"#result-{last}").scroll_into_view_if_needed()
    place = page.evaluate("scrollY")
    page.reload()
    assert set(page.evaluate("window.first")) == {"visible"}
    expect(page.locator(f"#result-{last}")).to_be_in_viewport()
    assert page.evaluate("scrollY") == pytest.approx(place, abs=2)

    page.goto("/words/")
    page.goto(f"{address}#result-{last}")
    assert set(page.evaluate("window.first")) == {"visible"}
    expect(page.locator(f"#result-{last}")).to_be_in_viewport()


def test_without_scripts_every_result_is_laid_out_at_once(open_page: Callable[..., Page]) -> None:
    page = open_page("/")
    ask(page, MANY)

    plain = open_page("/words/", java_script_enabled=False)
    plain.goto(page.url)

    expect(plain.locator(".result").last).to_have_css("content-visibility", "visible")
