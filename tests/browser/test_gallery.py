"""The gallery in a real browser: no fault that axe finds, nothing too wide, and the pictures in docs/ are true.

The states with most in them and with the longest words are looked at in both themes and at three widths. Rules that
look at no colour run once for each state, at the narrowest width; colours are checked once for each theme.
`GALLERY=all` runs all rules everywhere on every state, and `GALLERY=write` writes the pictures anew.
"""

import base64
import os
from pathlib import Path

import pytest
from playwright.sync_api import Page

from search.views.gallery.states import ALL, COMPONENTS, GalleryState
from tests.browser.asking import open_understood
from tests.browser.axe import faint_in_dark, violations
from tests.browser.conftest import PROJECT
from tests.browser.test_every_page import TOO_WIDE, OpenPage

pytestmark = pytest.mark.browser

WIDTHS = (320, 768, 1280)
MODE = os.environ.get("GALLERY", "")
PICTURES = {
    "paths": ("paths/many", "light", 1280),
    "entity": ("entity/many", "dark", 375),
    "result": ("search/one", "light", 768),
}
"""Name of a picture in docs/ → its state, theme and width."""
TELLING = ("many", "long-words")
"""States of a component that show most faults; a component that has neither is looked at in its first state."""
MOST_APART = 0.06
"""Largest mean difference of two pictures' brightness, over 48 × 48 fields, from 0 to 1: fonts may differ."""
OUTSIDE = """(name) => [...name.closest('svg').querySelectorAll('a')].filter((box) => {
  const frame = box.querySelector('.box:not(.behind)').getBoundingClientRect();
  const text = box.querySelector('.box-name').getBoundingClientRect();
  return text.left < frame.left || text.right > frame.right;
}).length"""
"""Counts the boxes of a drawing whose name is not inside."""
DIFFERENCE = """async ([one, other]) => {
  const fields = async (data) => {
    const image = new Image();
    image.src = `data:image/png;base64,${data}`;
    await image.decode();
    const canvas = Object.assign(document.createElement('canvas'), { width: 48, height: 48 });
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0, 48, 48);
    return [...context.getImageData(0, 0, 48, 48).data].filter((_, at) => at % 4 < 3);
  };
  const [a, b] = [await fields(one), await fields(other)];
  return a.reduce((sum, value, at) => sum + Math.abs(value - b[at]), 0) / a.length / 255;
}"""


@pytest.fixture
def look(open_page: OpenPage, keeper: dict[str, object]) -> OpenPage:
    def opened(scheme: str) -> Page:
        return open_page(
            "/gallery/", storage_state=keeper, bypass_csp=True, color_scheme=scheme, reduced_motion="reduce",
            viewport={"width": WIDTHS[0], "height": 640},
        )  # fmt: skip

    return opened


def test_no_state_has_a_fault(look: OpenPage) -> None:
    page = look("light")
    found: dict[str, list[str]] = {}
    for state in ALL if MODE == "all" else telling():
        page.goto(f"/gallery/{state.component}/{state.name}/")
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 640})
            said = [f"too wide by {by}"] if (by := page.evaluate(TOO_WIDE)) > 0 else []
            if MODE == "all" or width == WIDTHS[0]:
                said += violations(page)
            if MODE == "all" or width == WIDTHS[-1]:
                said += faint_in_dark(page)
            if said:
                found[f"{state.component}/{state.name} {width}"] = said
    assert found == {}


def test_the_pictures_of_the_documentation_show_what_the_pages_are(look: OpenPage) -> None:
    for name, (state, theme, width) in PICTURES.items():
        page = look(theme)
        page.set_viewport_size({"width": width, "height": 700})
        page.goto(f"/gallery/{state}/?theme={theme}")
        taken = page.screenshot()
        kept = picture(name)
        if MODE == "write":
            kept.write_bytes(taken)
        pair = [base64.b64encode(image).decode() for image in (taken, kept.read_bytes())]
        assert page.evaluate(DIFFERENCE, pair) < MOST_APART, f"GALLERY=write writes {kept.name} anew"


def test_a_word_of_the_field_explains_itself_and_closes_with_escape(look: OpenPage) -> None:
    page = look("light")
    page.goto("/gallery/search/one/?theme=light")
    open_understood(page)
    word = page.get_by_role("button", name="trust in the graph").first
    word.focus()
    page.keyboard.press("Enter")
    shown = page.locator(".meaning:popover-open")
    assert "how far the plan is trusted" in shown.inner_text().lower()
    page.keyboard.press("Escape")
    assert shown.count() == 0


def test_at_four_hundred_percent_and_on_paper_nothing_is_cut_off(look: OpenPage) -> None:
    """A window of 1280 × 1024 at 400 % is as wide as 320 pixels (WCAG 1.4.10); paper is A4 at 96 dots an inch."""
    page = look("light")
    page.emulate_media(media="print")
    for state in ("search/one", "search/long-words", "paths/many", "entity/many"):
        for width, height in ((320, 256), (794, 1123)):
            page.set_viewport_size({"width": width, "height": height})
            page.goto(f"/gallery/{state}/?theme=light")
            assert page.evaluate(TOO_WIDE) <= 0, (state, width)


def telling() -> list[GalleryState]:
    """Return the states that are looked at each time."""
    chosen = []
    for states in COMPONENTS.values():
        chosen += [state for state in states if state.name in TELLING] or [states[0]]
    return chosen


def picture(name: str) -> Path:
    return PROJECT / "docs" / f"gallery-{name}.png"


def test_names_stay_in_the_boxes_of_a_drawing_from_right_to_left(
    open_page: OpenPage, keeper: dict[str, object]
) -> None:
    page = open_page("/gallery/paths/right-to-left/framed/?direction=rtl", storage_state=keeper)
    frame = page.frame_locator("iframe")
    name = frame.locator(".sketch .box-name").first
    name.wait_for()
    outside = name.evaluate(OUTSIDE)
    assert outside == 0
