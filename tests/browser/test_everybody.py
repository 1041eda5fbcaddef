"""Keyboards, small and dark screens, screen readers: every page for everybody."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.asking import QUESTION, ask, finished, open_details

pytestmark = pytest.mark.browser

SCREENS = [(320, "light"), (390, "dark"), (1280, "light")]
"""The narrowest phone, a usual one and a desk, each in one of the two colourings: together they show both."""
PAGES = ["/", "/?kb=products", "/kb/products/nodes/designer:ingunn-aas/", "/status/", "/nothing/"]

FAULTS_OF_STRUCTURE = """() => {
  const faults = [];
  const shown = (e) => e.checkVisibility();
  if (document.documentElement.lang !== 'en') faults.push('no language');
  if (!document.title) faults.push('no title');
  if (document.querySelectorAll('h1').length !== 1) faults.push('not one h1');
  if (document.querySelectorAll('main').length !== 1) faults.push('not one main');
  let level = 1;
  for (const h of document.querySelectorAll('h1,h2,h3,h4')) {
    const own = Number(h.tagName[1]);
    if (own > level + 1) faults.push('level skipped at ' + h.textContent);
    level = own;
  }
  for (const e of document.querySelectorAll('input:not([type=hidden]),select,textarea')) {
    if (!e.labels.length && !e.getAttribute('aria-label')) faults.push('no label: ' + e.outerHTML.slice(0, 80));
  }
  for (const e of document.querySelectorAll('button,a[href],summary')) {
    if (!(e.textContent.trim() || e.getAttribute('aria-label'))) faults.push('no name: ' + e.outerHTML.slice(0, 80));
  }
  for (const e of document.querySelectorAll('img:not([alt]), table:not(:has(th[scope]))')) {
    faults.push('no alternative or headers: ' + e.outerHTML.slice(0, 80));
  }
  const ids = [...document.querySelectorAll('[id]')].map((e) => e.id);
  for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) faults.push('id twice: ' + id);
  for (const e of document.querySelectorAll('[aria-describedby],[aria-labelledby],[aria-controls],label[for]')) {
    for (const name of ['aria-describedby', 'aria-labelledby', 'aria-controls', 'for']) {
      for (const id of (e.getAttribute(name) || '').split(' ')) {
        if (id && !document.getElementById(id)) faults.push(name + ' points nowhere: ' + id);
      }
    }
  }
  for (const e of document.querySelectorAll('.scroll, pre')) {
    const overflows = shown(e) && e.scrollWidth > e.clientWidth;
    if (overflows && e.tabIndex < 0) faults.push('cannot be scrolled by keys: ' + e.className);
  }
  return faults;
}"""

FAINT_TEXT = """() => {
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const read = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const luminance = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (e) => {
    for (; e; e = e.parentElement) {
      const colour = read(getComputedStyle(e).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return read('white');
  };
  const faint = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const e = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || !e.checkVisibility() || e.closest('.unseen, noscript')) continue;
    const style = getComputedStyle(e);
    let behind = ground(e), front = read(e.closest('svg') ? style.fill : style.color);
    if (e.closest('svg') && e.matches('text')) {
      const box = e.parentElement.querySelector('rect');
      if (box) behind = read(getComputedStyle(box).fill);
    }
    const [dark, light] = [luminance(front), luminance(behind)].sort((a, b) => a - b);
    const ratio = (light + 0.05) / (dark + 0.05);
    const needed = parseFloat(style.fontSize) >= 24 ? 3 : 4.5;
    if (ratio < needed) faint.push(ratio.toFixed(2) + ' ' + e.className + ' ' + e.textContent.trim().slice(0, 40));
  }
  return faint;
}"""

OVERFLOWING = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"


def test_a_question_is_asked_read_and_explained_with_the_keyboard_alone(page: Page) -> None:
    page.keyboard.press("Escape")
    page.locator("body").evaluate("(body) => document.activeElement.blur()")
    page.keyboard.press("/")
    expect(page.get_by_label("Question", exact=True)).to_be_focused()
    page.keyboard.type(QUESTION)
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    finished(page)

    page.keyboard.press("j")
    expect(page.locator("#result-1 .why > summary")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#result-1 .sum")).to_be_visible()
    page.keyboard.press("j")
    expect(page.locator("#result-2 .why > summary")).to_be_focused()
    page.keyboard.press("k")
    expect(page.locator("#result-1 .why > summary")).to_be_focused()


def test_the_first_stop_leads_past_the_header(page: Page) -> None:
    page.goto("/status/")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"


def test_what_has_the_focus_is_outlined(page: Page) -> None:
    page.goto("/status/")
    for _ in range(4):
        page.keyboard.press("Tab")
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_are_well_formed_legible_and_as_wide_as_a_phone(
    open_page: Callable[..., Page], path: str, scheme: str
) -> None:
    page = open_page(path, viewport={"width": 390, "height": 844}, color_scheme=scheme)

    assert page.evaluate(FAULTS_OF_STRUCTURE) == []
    assert page.evaluate(FAINT_TEXT) == []
    assert page.evaluate(OVERFLOWING) == 0


@pytest.mark.parametrize(("width", "scheme"), SCREENS)
def test_results_with_everything_opened_are_well_formed_legible_and_no_wider_than_the_screen(
    open_page: Callable[..., Page], width: int, scheme: str
) -> None:
    page = open_page("/", viewport={"width": width, "height": 844}, color_scheme=scheme)
    ask(page)
    results = page.url
    open_details(page)

    assert page.evaluate(FAULTS_OF_STRUCTURE) == []
    assert page.evaluate(FAINT_TEXT) == []
    assert page.evaluate(OVERFLOWING) == 0
    page.get_by_role("link", name=re.compile("^All paths to")).first.click()
    expect(page.get_by_text("best first.")).to_be_visible()
    assert page.evaluate(FAULTS_OF_STRUCTURE) == []
    assert page.evaluate(FAINT_TEXT) == []
    assert page.evaluate(OVERFLOWING) == 0
    page.goto(f"{results}results/1/why/")
    open_details(page)
    assert page.evaluate(FAULTS_OF_STRUCTURE) == []
    assert page.evaluate(FAINT_TEXT) == []
    assert page.evaluate(OVERFLOWING) == 0
    page.get_by_role("link", name="Back to the results").click()
    page.get_by_role("link", name="Trace", exact=True).click()
    open_details(page)
    assert page.evaluate(FAULTS_OF_STRUCTURE) == []
    assert page.evaluate(OVERFLOWING) == 0


def test_the_chosen_colours_hold_at_once_and_on_the_next_page(open_page: Callable[..., Page]) -> None:
    page = open_page("/", color_scheme="light")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.get_by_role("button", name="Dark").click()
    dark = page.evaluate(ground)
    assert dark != light
    page.goto("/status/")
    assert page.evaluate(ground) == dark
    expect(page.get_by_role("button", name="Dark")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Automatic").click()
    assert page.evaluate(ground) == light


def test_colours_follow_the_device_until_one_is_chosen(open_page: Callable[..., Page]) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    assert open_page("/", color_scheme="dark").evaluate(ground) != open_page("/", color_scheme="light").evaluate(ground)


def test_colours_can_be_chosen_without_scripts(open_page: Callable[..., Page]) -> None:
    page = open_page("/status/", java_script_enabled=False)
    page.get_by_role("button", name="Dark").click()

    expect(page).to_have_url(re.compile(r"/status/$"))
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
