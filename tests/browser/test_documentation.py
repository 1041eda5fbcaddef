import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser


def test_the_documentation_opens_from_the_header_and_is_searched_without_another_host(page: Page) -> None:
    """The fixture fails on any complaint of the browser, such as a script that the policy stops, and on requests to
    other hosts."""
    page.get_by_role("link", name="Docs", exact=True).click()
    expect(page.get_by_role("heading", level=1, name="GRASP search")).to_be_visible()
    page.get_by_role("textbox", name="Search").click()
    # Until its index has come, the page's own search fails in the console on what is typed.
    expect(page.get_by_text("Type to start searching")).to_be_visible()
    # The page searches when a key is released.
    page.get_by_role("textbox", name="Search").press_sequentially("dangling")
    first = page.locator(".md-search-result__item").first
    expect(first).to_contain_text("Importing a knowledge base")
    first.get_by_role("link").first.click()
    expect(page.get_by_role("heading", level=1, name="Importing a knowledge base")).to_be_visible()
