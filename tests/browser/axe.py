"""axe-core on a page: what automatic checks of WCAG 2.2 AA and of good practice find."""

from pathlib import Path
from typing import Any

import axe_playwright_python
from playwright.sync_api import Page

_SCRIPT = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
_OPTIONS = {"resultTypes": ["violations"], "rules": {"target-size": {"enabled": True}}}

# Links of the admin change their colour slowly; what turns for ever has no end to come to.
_SETTLE = """() => {
  for (const one of document.getAnimations()) {
    try { one.finish(); } catch { continue; }
  }
}"""

NOT_OURS = {
    # Django's widget for choosing several rights (SelectFilter2.js) writes an `aria-label` on a span without a role.
    "aria-prohibited-attr": ".selector .help-tooltip",
}
"""Findings in widgets of other projects, which are ignored: {rule: selector of the widget's elements}."""


def violations(page: Page, *rules: str) -> list[str]:
    """Return axe's findings on the page in its current state, one text for each element; `rules` limits the rules."""
    if not page.evaluate("typeof axe === 'object'"):
        page.evaluate(_SCRIPT)
    options: dict[str, Any] = {"resultTypes": ["violations"], "runOnly": list(rules)} if rules else _OPTIONS
    found = page.evaluate("(options) => axe.run(options)", options)["violations"]
    return [
        f"{violation['id']}: {' '.join(map(str, node['target']))} {node['html'][:120]}"
        for violation in found
        for node in violation["nodes"]
        if not _is_not_ours(page, violation["id"], node["target"][-1])
    ]


def faint_in_dark(page: Page) -> list[str]:
    """Return the contrasts that axe finds too low in the dark theme of a page that is looked at in the light one."""
    page.emulate_media(color_scheme="dark")
    page.evaluate(_SETTLE)
    found = [f"dark: {fault}" for fault in violations(page, "color-contrast")]
    page.emulate_media(color_scheme="light")
    page.evaluate(_SETTLE)
    return found


def _is_not_ours(page: Page, rule: str, target: str) -> bool:
    selector = NOT_OURS.get(rule)
    return bool(selector) and page.evaluate(
        "([target, selector]) => document.querySelector(target).matches(selector)", [target, selector]
    )
