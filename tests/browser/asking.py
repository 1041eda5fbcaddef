"""Helpers that ask a question in a browser, and open what is closed."""

from playwright.sync_api import Page, expect

QUESTION = "What did Ingunn Aas design for Ostervik?"
ANSWERS = {"OV-500", "OV-1000"}
"""Its answers among the products, from their questions file."""


_OPEN = "() => document.querySelectorAll('details').forEach((each) => { each.open = true })"


def ask(page: Page, question: str = QUESTION, knowledge_base: str = "products", pipeline: str = "grasp") -> None:
    """Fill the box, send it, and wait for the end of the search."""
    page.get_by_label("in", exact=True).select_option(knowledge_base)
    page.get_by_label("with", exact=True).select_option(pipeline)
    page.get_by_label("Question", exact=True).fill(question)
    page.get_by_role("button", name="Ask", exact=True).click()
    finished(page)


def finished(page: Page) -> None:
    """Wait until the search has its results."""
    expect(page.locator("#state.done")).to_be_visible(timeout=30_000)
    # The page has stopped polling: it replaces no element after this.
    expect(page.locator("#live[hx-get]")).to_have_count(0)


def open_understood(page: Page) -> None:
    """Open how the question was understood; it stays open on the pages that follow."""
    part = page.locator("#understood")
    if part.get_attribute("open") is None:
        part.locator("> summary").click()
    expect(part).to_have_attribute("open", "")


def open_details(page: Page) -> None:
    """Open everything that can be opened, also inside of what arrives when it is opened."""
    page.evaluate(_OPEN)
    expect(page.locator("details[open] [data-later]")).to_have_count(0)
    page.evaluate(_OPEN)
