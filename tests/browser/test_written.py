"""The written answer: folded above the results, its numbers lead to the evidence, and it is copied with its sources."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests import misbehaving
from tests.browser.asking import ask
from tests.browser.conftest import Site

pytestmark = pytest.mark.browser

ADDED = "from search.models import Endpoint; Endpoint.objects.create(name='written', base_url='{}', model='tiny-1')"
TAKEN = "from search.models import Endpoint; Endpoint.objects.filter(name='written').delete()"
SENTENCES = ("The lightest one is made of titanium [1].", "Storm Pegs, Set of 8, belongs to the category tent [1].")


@pytest.fixture
def model_of_site(site: Site) -> Iterator[misbehaving.Server]:
    """A language model that the site has from the call of `site.manage("shell", "-c", ADDED)` on."""
    with misbehaving.running(misbehaving.streamed(json.dumps({"sentences": SENTENCES}))) as server:
        try:
            yield server
        finally:
            site.manage("shell", "-c", TAKEN)


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


def test_a_models_words_come_as_far_as_the_sources_bear_them_out(
    page: Page, site: Site, model_of_site: misbehaving.Server
) -> None:
    ask(page, "what does the lightest tent weigh")
    site.manage("shell", "-c", ADDED.format(model_of_site.url))
    page.reload()
    fold = page.locator("#written")
    fold.locator("> summary").click()
    expect(fold).to_contain_text("In the words of a language model, each sentence checked against its sources.")
    expect(page.locator("#sentences")).to_contain_text(
        "The weight of Storm Pegs, Set of 8 is 160 g Source 1. Storm Pegs, Set of 8, belongs to the category tent"
    )
    expect(page.locator("#sentences")).not_to_contain_text("titanium")
    expect(fold.get_by_role("button", name="Copy as text with sources")).to_be_visible()
    fold.get_by_role("link", name="Source 1", exact=True).first.click()
    expect(page.locator("#result-1 details.why")).to_have_attribute("open", "")
