"""Keys of single letters: they reach what the page offers, stay out of fields and dialogs, and can be switched off."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.asking import ask
from tests.browser.axe import violations

pytestmark = pytest.mark.browser


def test_results_are_kept_by_keyboard_alone(open_page: Callable[..., Page]) -> None:
    page = open_page("/", viewport={"width": 1280, "height": 900}, bypass_csp=True)
    ask(page)
    page.locator("body").press("j")
    page.keyboard.press("s")
    expect(page.get_by_text("Saved. Open it")).to_be_visible()
    expect(page.locator(".star")).to_have_attribute("aria-pressed", "true")
    page.locator("#result-1 .why > summary").focus()
    page.keyboard.press("j")
    expect(page.locator("#result-2 .why > summary")).to_be_focused()
    page.keyboard.press("w")
    expect(page.locator("#result-2 .why")).to_have_attribute("open", "")
    page.keyboard.press("c")
    dialog = page.get_by_role("dialog", name="Collect")
    expect(dialog).to_be_visible()
    assert violations(page) == []
    dialog.get_by_label("Name of the collection").fill("jolly")
    page.keyboard.press("Enter")
    expect(page.get_by_text("In “jolly” now.")).to_be_visible()
    expect(page.locator("#result-2 a.collect")).to_be_focused()
    expect(page.locator("#result-2 a.collect")).to_contain_text("Collected")
    page.get_by_role("link", name="Open it").click()
    expect(page.locator("[data-item]")).to_have_count(1)
    # The page's scripts, which hear the keys, show this button.
    expect(page.locator("[data-keys-sheet]")).to_be_visible()
    page.keyboard.press("x")
    expect(page.get_by_role("button", name="Undo")).to_be_visible()
    page.keyboard.press("u")
    expect(page.locator("[data-item]")).to_have_count(1)
    assert violations(page) == []


def test_keys_stay_out_of_fields_and_can_be_switched_off(open_page: Callable[..., Page]) -> None:
    page = open_page("/", viewport={"width": 1280, "height": 812}, color_scheme="dark", bypass_csp=True)
    box = page.get_by_label("Question", exact=True)
    page.locator("main").press("/")
    expect(box).to_be_focused()
    page.keyboard.type("?j/")
    expect(box).to_have_value("?j/")
    page.locator("main").press("Control+?")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("?")
    sheet = page.get_by_role("dialog", name="Keys of this page")
    expect(sheet.get_by_text("Go to the question")).to_be_visible()
    assert violations(page) == []
    sheet.get_by_label("Keys of a single letter are on").uncheck()
    page.keyboard.press("Escape")
    expect(sheet).to_have_count(0)
    page.reload()
    page.locator("main").press("?")
    page.locator("main").press("/")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_role("button", name="all keys").click()
    sheet.get_by_label("Keys of a single letter are on").check()
    page.keyboard.press("Escape")
    page.locator("main").press("?")
    expect(sheet).to_be_visible()
