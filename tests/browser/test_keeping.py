"""What people write is kept, asked about before it is lost, and not overwritten from another window."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.asking import ask
from tests.browser.axe import violations

pytestmark = pytest.mark.browser


@pytest.fixture
def collected(open_page: Callable[..., Page]) -> Page:
    """The page of a collection with two results."""
    page = open_page("/", viewport={"width": 1280, "height": 900}, bypass_csp=True)
    ask(page)
    for rank in (1, 2):
        page.locator(f"#result-{rank} a.collect").click()
        dialog = page.get_by_role("dialog", name="Collect")
        if rank == 1:
            dialog.get_by_label("Name of the collection").fill("Flasks")
        dialog.get_by_role("button", name="Collect").click()
        expect(page.locator(f"#result-{rank} a.collect")).to_contain_text("Collected")
        expect(dialog).to_have_count(0)
    page.get_by_role("link", name="Open it").click()
    expect(page.locator("[data-item]")).to_have_count(2)
    return page


def test_notes_are_kept_when_one_goes_on_with_something_else(collected: Page) -> None:
    notes = collected.locator(".note-form textarea")
    notes.nth(0).fill("the first")
    notes.nth(1).fill("the second")
    with collected.expect_navigation():
        collected.get_by_role("button", name="down").first.click()
    expect(notes.nth(0)).to_have_value("the second")
    expect(notes.nth(1)).to_have_value("the first")
    notes.nth(0).fill("changed")
    collected.get_by_role("link", name="Saved").click()
    collected.go_back()
    expect(notes.nth(0)).to_have_value("changed")


def test_a_note_from_another_window_is_shown_before_it_is_replaced(collected: Page) -> None:
    other = collected.context.new_page()
    other.goto(collected.url)
    other.locator(".note-form textarea").first.fill("from there")
    other.keyboard.press("Tab")
    expect(other.get_by_text("Kept.")).to_be_visible()

    note, form = collected.locator(".note-form textarea").first, collected.locator(".note-form").first
    note.fill("from here")
    collected.keyboard.press("Tab")
    expect(form).to_contain_text("It is now: “from there”.")
    assert violations(collected) == []
    # Nothing else on the page may replace it meanwhile.
    collected.get_by_role("button", name="down").first.click()
    expect(note).to_be_focused()
    form.get_by_role("button", name="Keep note").click()
    expect(form).to_contain_text("Kept.")
    other.reload()
    expect(other.locator(".note-form textarea").first).to_have_value("from here")


def test_a_collection_is_deleted_after_a_question(collected: Page) -> None:
    # A note that has been kept already holds nothing up.
    collected.locator(".note-form textarea").first.fill("good")
    collected.get_by_role("button", name="Keep note").first.click()
    expect(collected.get_by_text("Kept.")).to_be_visible()
    collected.get_by_text("Name and note").click()
    collected.get_by_role("button", name="Delete the whole collection").click()
    expect(collected.get_by_role("heading", level=1)).to_contain_text("Delete the collection “Flasks”?")
    assert violations(collected) == []
    collected.get_by_role("link", name="Leave it as it is").click()
    expect(collected.locator("[data-item]")).to_have_count(2)
    collected.get_by_text("Name and note").click()
    collected.get_by_role("button", name="Delete the whole collection").click()
    collected.get_by_role("button", name="Delete it").click()
    expect(collected.get_by_text("No collections yet")).to_be_visible()


def test_a_star_that_would_lose_a_note_asks_first(collected: Page) -> None:
    collected.get_by_role("link", name="My searches").last.click()
    row = collected.locator(".own-one").first
    row.locator(".star").click()
    expect(row.locator(".star")).to_have_attribute("aria-pressed", "true")
    row.get_by_text("Name and note").click()
    row.get_by_label("Note").fill("for May")
    row.get_by_role("button", name="Keep").click()
    collected.get_by_role("link", name="What did Ingunn").first.click()
    # The page's scripts, which hear the keys, show this button.
    expect(collected.locator("[data-keys-sheet]")).to_be_visible()
    expect(collected.locator("#state.done")).to_be_visible()
    collected.keyboard.press("s")
    expect(collected.get_by_text("What you wrote about it goes with it, for good: for May")).to_be_visible()
    collected.get_by_role("button", name="No longer save").click()
    expect(collected.locator(".star")).to_have_attribute("aria-pressed", "false")


def test_a_search_that_was_deleted_in_another_window_says_so(page: Page) -> None:
    ask(page)
    other = page.context.new_page()
    other.goto("/searches/")
    other.get_by_role("button", name="Delete").first.click()
    expect(other.get_by_role("button", name="Delete")).to_have_count(0)
    page.locator(".star").click()
    expect(page.get_by_text("This was deleted meanwhile, perhaps in another window")).to_be_visible()
    page.locator("#result-1 .marks button").first.click()
    expect(page.get_by_text("This search was deleted meanwhile, perhaps in another window")).to_be_visible()
