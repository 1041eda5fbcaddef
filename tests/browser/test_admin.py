"""The admin on a phone: it opens, says what to do where nothing is, and no page is wider than the screen."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import KEEPER
from tests.browser.test_everybody import OVERFLOWING

pytestmark = pytest.mark.browser

PHONE = {"width": 390, "height": 844}
LISTS = ("knowledgebase", "release", "snapshot", "vectorset", "searchrun", "pipelineversion", "artifact", "endpoint")


@pytest.fixture
def phone(open_page: Callable[..., Page]) -> Page:
    """The admin, signed in."""
    page = open_page("/admin/", viewport=PHONE)
    page.get_by_label("Username").fill(KEEPER[0])
    page.get_by_label("Password").fill(KEEPER[1])
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("Asked last")).to_be_visible()
    return page


def test_no_page_of_the_admin_is_wider_than_a_phone(phone: Page) -> None:
    assert phone.evaluate(OVERFLOWING) == 0
    for name in LISTS:
        phone.goto(f"/admin/search/{name}/")
        assert (name, phone.evaluate(OVERFLOWING)) == (name, 0)
        row = phone.locator("#result_list tbody a[href*='/change/']").first
        if row.count():
            row.click()
            expect(phone.locator("h1")).to_be_visible()
            assert (f"{name} row", phone.evaluate(OVERFLOWING)) == (f"{name} row", 0)


def test_an_empty_list_shows_the_command_that_fills_it(phone: Page) -> None:
    phone.goto("/admin/search/apitoken/")

    expect(phone.get_by_role("heading", name="No API tokens yet")).to_be_visible()
    expect(phone.get_by_text("manage.py create_token USERNAME")).to_be_visible()
    expect(phone.get_by_text("0 results")).to_have_count(0)
