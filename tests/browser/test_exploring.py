"""Exploring the graph from a result: the drawing, the tables in step with it, undo, the keyboard and the files."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.asking import ask
from tests.browser.axe import faint_in_dark, violations

pytestmark = pytest.mark.browser

OPENED = "() => new URLSearchParams(location.search).getAll('open').length"


# Cytoscape.js keeps its graph at the element that it draws in.
DRAWN = """() => document.getElementById('drawing')._cyreg.cy.nodes("[kind != 'group']")
  .sort((a, b) => a.data('at') - b.data('at')).map((node) => node.data('said').split(', ').slice(0, -1).join(', '))"""


def drawn(page: Page) -> list[str]:
    """Return the names of the entities in the drawing."""
    return list(page.evaluate(DRAWN))


def entities(page: Page) -> list[str]:
    """Return the names in the table of entities."""
    return page.locator(".explored-nodes tbody th").all_inner_texts()


def test_a_result_is_explored_step_by_step_and_back(open_page: Callable[..., Page]) -> None:
    page = open_page("/", viewport={"width": 1280, "height": 900}, color_scheme="light", bypass_csp=True)
    ask(page)
    page.locator("#result-1").get_by_role("link", name="Explore").click()

    expect(page.get_by_role("application")).to_be_visible()
    first = entities(page)
    assert "Ingunn Aas" in first
    panel = page.get_by_role("region", name="Chosen entity")
    # The result is chosen; a relation that is not shown whole is a button.
    expect(panel.get_by_role("heading")).to_have_text(first[0])
    before = panel.get_by_role("button").count()
    panel.get_by_role("button").first.click()
    expect(page.get_by_role("status").filter(has_text="added")).to_be_attached()
    opened = entities(page)
    assert opened[: len(first)] == first
    assert len(opened) > len(first)
    expect(page.locator("#nodes-title .count")).to_have_text(str(len(opened)))
    assert page.evaluate(OPENED) == 1
    assert panel.get_by_role("button").count() <= before
    assert drawn(page) == opened
    assert violations(page) == []
    assert faint_in_dark(page) == []

    page.get_by_role("link", name="Undo").click()
    expect(page.locator("#nodes-title .count")).to_have_text(str(len(first)))
    assert entities(page) == first
    assert drawn(page) == first
    assert page.evaluate(OPENED) == 0
    page.go_back()
    expect(page.locator("#nodes-title .count")).to_have_text(str(len(opened)))
    assert entities(page) == opened


def test_the_keyboard_walks_opens_and_undoes_in_the_drawing(open_page: Callable[..., Page]) -> None:
    page = open_page("/kb/products/explore/?id=designer%3Aingunn-aas", viewport={"width": 1280, "height": 900})
    drawing, panel = page.get_by_role("application"), page.get_by_role("region", name="Chosen entity")
    expect(panel.get_by_role("heading")).to_have_text("Ingunn Aas")
    drawing.focus()
    page.keyboard.press("ArrowRight")
    expect(panel.get_by_role("heading")).not_to_have_text("Ingunn Aas")
    chosen = panel.get_by_role("heading").inner_text()
    expect(page.locator("#explore-told")).to_contain_text(chosen)
    count = len(entities(page))
    page.keyboard.press("Enter")
    expect(panel.get_by_role("button").first).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="Undo")).to_be_visible()
    # What was chosen stays chosen, and the focus stays where the next relation can be opened.
    expect(panel.get_by_role("heading")).to_have_text(chosen)
    expect(panel.locator(":focus")).to_have_count(1)
    drawing.focus()
    page.keyboard.press("u")
    expect(page.get_by_role("link", name="Undo")).to_have_count(0)
    expect(page.locator("#nodes-title .count")).to_have_text(str(count))


def test_the_drawing_and_what_it_shows_can_be_kept(open_page: Callable[..., Page]) -> None:
    page = open_page("/kb/products/explore/?id=designer%3Aingunn-aas", viewport={"width": 390, "height": 844})
    expect(page.get_by_role("application")).to_be_visible()
    for name, file in (("PNG", "graph.png"), ("CSV", "graph.csv"), ("JSON", "graph.json")):
        with page.expect_download() as download:
            page.locator("#explore-actions :is(a, button)", has_text=name).click()
        assert download.value.suggested_filename == file
        assert download.value.path().stat().st_size > 100


def test_without_a_script_the_tables_grow_too(open_page: Callable[..., Page]) -> None:
    page = open_page("/kb/products/explore/?id=designer%3Aingunn-aas", java_script_enabled=False)
    first = entities(page)
    page.locator(".explored-nodes button").last.click()
    assert entities(page)[: len(first)] == first
    assert len(entities(page)) > len(first)
    page.get_by_role("link", name="Undo").click()
    assert entities(page) == first
