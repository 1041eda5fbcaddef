"""The checks of a page see what they are for: the contrast of one element among many alike, of a theme, other rules."""

import pytest
from playwright.sync_api import Browser

from tests.browser.axe import faint_in_dark, violations

pytestmark = pytest.mark.browser

PAGE = """<!doctype html><html lang="en"><title>Contrasts</title><style>
  p {{ color: #111; background: #fff }}
  .pale {{ background: {pale} }}
  @media (prefers-color-scheme: dark) {{ body, p {{ background: #111; color: {dark} }} }}
</style><main><h1>Contrasts</h1>{alike}
<div class="pale"><p id="odd" style="background: none; color: {odd}">odd</p></div>
{more}</main></html>"""
SOUND = {"pale": "#fff", "dark": "#eee", "odd": "#111", "more": "", "alike": "<p>one of many</p>" * 30}


@pytest.mark.parametrize(
    ("fault", "light", "dark"),
    [
        ({}, [], 0),
        # The element itself, what is behind it, and what only the other theme does.
        ({"odd": "#bbb"}, ["color-contrast: #odd"], 1),
        ({"pale": "#222"}, ["color-contrast: #odd"], 1),
        ({"dark": "#222", "odd": "inherit"}, [], 1),
        ({"more": '<img src="data:,">'}, ["image-alt: img"], 0),
    ],
)
def test_a_fault_is_found_wherever_it_is(chromium: Browser, fault: dict[str, str], light: list[str], dark: int) -> None:
    page = chromium.new_page(color_scheme="light")
    page.set_content(PAGE.format(**{**SOUND, **fault}))

    found = [one.split(" <")[0] for one in violations(page)]
    assert found == light
    assert bool(faint_in_dark(page)) is bool(dark)
    page.close()
