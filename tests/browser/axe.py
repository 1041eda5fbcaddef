"""axe-core on a page: what automatic checks of WCAG 2.2 AA and of good practice find."""

from pathlib import Path
from typing import Any

import axe_playwright_python
from playwright.sync_api import Page

_SCRIPT = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
_OPTIONS = {
    "resultTypes": ["violations"],
    "rules": {"target-size": {"enabled": True}, "color-contrast": {"enabled": False}},
}

# Four fifths of axe's time are contrasts. Elements whose colours and type are the same, and whose ancestors' are, have
# the same contrast, so one of each kind is looked at. What only lies over another element is not seen by this.
_CONTRASTS = """(options) => {
  const keys = new Map(), known = new WeakMap();
  const look = ['color', 'backgroundColor', 'backgroundImage', 'opacity', 'fontSize', 'fontWeight', 'textShadow',
    'filter', 'mixBlendMode', 'position'];
  const keyOf = (e) => {
    if (!e) return 0;
    if (known.has(e)) return known.get(e);
    const style = getComputedStyle(e);
    const said = keyOf(e.parentElement) + '|' + look.map((name) => style[name]).join('|') + (e.disabled ? '|off' : '');
    if (!keys.has(said)) keys.set(said, keys.size + 1);
    known.set(e, keys.get(said));
    return known.get(e);
  };
  const kinds = new Map();
  for (const e of document.body.querySelectorAll('*')) {
    const written = [...e.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
    if (!(written || e.matches('input, select, textarea')) || !e.checkVisibility()) continue;
    if (!kinds.has(keyOf(e))) kinds.set(keyOf(e), e);
  }
  return kinds.size ? axe.run({include: [...kinds.values()]}, options) : {violations: []};
}"""
_CONTRAST = "color-contrast"

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
    others = [rule for rule in rules if rule != _CONTRAST]
    found: list[dict[str, Any]] = []
    if others or not rules:
        options = {"resultTypes": ["violations"], "runOnly": others} if others else _OPTIONS
        found += page.evaluate("(options) => axe.run(options)", options)["violations"]
    if _CONTRAST in rules or not rules:
        options = {"resultTypes": ["violations"], "runOnly": [_CONTRAST]}
        found += page.evaluate(_CONTRASTS, options)["violations"]
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
    found = [f"dark: {fault}" for fault in violations(page, _CONTRAST)]
    page.emulate_media(color_scheme="light")
    page.evaluate(_SETTLE)
    return found


def _is_not_ours(page: Page, rule: str, target: str) -> bool:
    selector = NOT_OURS.get(rule)
    return bool(selector) and page.evaluate(
        "([target, selector]) => document.querySelector(target).matches(selector)", [target, selector]
    )
