"""Settings of a knowledge base, in a browser: saved, used by the next search, and taken back."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.asking import ask
from tests.browser.conftest import KEEPER
from tests.browser.test_everybody import FAINT_TEXT, FAULTS_OF_STRUCTURE, OVERFLOWING, SCREENS

pytestmark = pytest.mark.browser


def signed_in(open_page: Callable[..., Page], **options: object) -> Page:
    page = open_page("/kb/products/settings/", **options)
    page.get_by_label("Username").fill(KEEPER[0])
    page.get_by_label("Password").fill(KEEPER[1])
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Guidance for language models")).to_be_visible()
    return page


def test_settings_are_saved_used_by_the_next_search_and_taken_back(open_page: Callable[..., Page]) -> None:
    page = signed_in(open_page)
    page.get_by_label("Planners see the type product").uncheck()
    page.get_by_label("Further wordings of the type designer").fill("brand")
    page.get_by_role("button", name="Save as a new version").click()
    expect(page.get_by_role("alert")).to_contain_text("Nothing has been saved yet.")
    expect(page.locator("tr.wrong")).to_contain_text("means brand already")
    expect(page.get_by_label("Planners see the type product")).not_to_be_checked()
    page.get_by_label("Further wordings of the type designer").fill("maker of shapes")
    page.get_by_role("button", name="Save as a new version").click()
    expect(page.locator(".versions .active")).to_contain_text("1")

    # Products are no answers any more: no plan looks for one.
    page.goto("/?kb=products")
    ask(page)
    assert "product" not in page.locator(".plan .chip.target .chip-name").all_inner_texts()
    page.goto("/kb/products/settings/")
    page.get_by_label("Planners see the type product").check()
    page.get_by_role("button", name="Save as a new version").click()
    expect(page.locator(".versions .active")).to_contain_text("2")
    page.goto("/?kb=products")
    ask(page)
    expect(page.locator(".plan .chip.target .chip-name").first).to_have_text("product")
    page.goto("/kb/products/settings/")
    page.get_by_role("button", name="Go back to version 1").click()
    expect(page.get_by_label("Planners see the type product")).not_to_be_checked()
    page.get_by_role("button", name="Go back to version 2").click()
    expect(page.get_by_label("Planners see the type product")).to_be_checked()


@pytest.mark.parametrize(("width", "scheme"), SCREENS)
def test_the_page_is_well_formed_legible_and_no_wider_than_the_screen(
    open_page: Callable[..., Page], width: int, scheme: str
) -> None:
    page = signed_in(open_page, viewport={"width": width, "height": 844}, color_scheme=scheme)

    assert page.evaluate(FAULTS_OF_STRUCTURE) == []
    assert page.evaluate(FAINT_TEXT) == []
    assert page.evaluate(OVERFLOWING) == 0
    # Who types must not have to scroll sideways: the tables of fields fit the screen too.
    assert (
        page.evaluate(
            "() => [...document.querySelectorAll('.scroll')].filter((e) => e.scrollWidth > e.clientWidth).length"
        )
        == 0
    )
