"""axe-core on a page: what automatic checks of WCAG 2.2 AA and of good practice find."""

from pathlib import Path
from typing import Any

import axe_playwright_python
from playwright.sync_api import Page

_SCRIPT = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
_OPTIONS = {"resultTypes": ["violations"], "rules": {"target-size": {"enabled": True}}}

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


def _is_not_ours(page: Page, rule: str, target: str) -> bool:
    selector = NOT_OURS.get(rule)
    return bool(selector) and page.evaluate(
        "([target, selector]) => document.querySelector(target).matches(selector)", [target, selector]
    )
