"""The written answer: folded above the results, its numbers lead to the evidence, and it is copied with its sources."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.asking import ask

pytestmark = pytest.mark.browser


def test_the_written_answer_leads_to_its_evidence_and_is_copied_with_its_sources(page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    ask(page, "Which products does Ostervik make?")
    fold, first = page.locator("#written"), page.locator("#result-1")
    expect(page.locator("#sentences")).to_be_hidden()
    fold.locator("> summary").click()
    expect(page.locator("#sentences")).to_contain_text("Six products answer this: ")
    name = first.get_by_role("heading").inner_text()

    fold.get_by_role("link", name="Source 1", exact=True).click()
    expect(first.locator("details.why")).to_have_attribute("open", "")
    expect(first.locator(".evidence")).to_contain_text(name)
    assert page.url.endswith("#result-1")

    # What holds for all of them was looked up by the plan.
    fold.get_by_role("link", name="What was looked up").click()
    expect(page.locator("#understood")).to_have_attribute("open", "")

    fold.get_by_role("button", name="Copy as text with sources").click()
    expect(fold.get_by_role("button", name="Copied")).to_be_visible()
    lines = page.evaluate("navigator.clipboard.readText()").splitlines()
    assert lines[0] == "Which products does Ostervik make?"
    assert f"[1] {name}: product; Ostervik makes {name}" in lines
    assert lines[-1] == page.url.partition("#")[0]


def test_where_nothing_answers_nothing_is_written(page: Page) -> None:
    ask(page, "purple elephants singing opera")
    expect(page.locator("#because")).to_be_visible()
    expect(page.locator("#written")).to_have_count(0)
