"""A result page's own styles and scripts stay small: nobody waits for them, and nobody has to read more of them.

Other pages bring files of their own, which only they load.
"""

import re
from pathlib import Path

from django.conf import settings

MOST = 100_000
"""Bytes of all style sheets and scripts of ours that a result page loads."""
_TEMPLATES = settings.BASE_DIR / "templates"
_STATIC = settings.BASE_DIR / "static"
_LEADS_TO = re.compile(r"""\{%\s*(?:extends|include)\s+"([^"]+)""")
_LOADS = re.compile(r"""\{%\s*static\s+['"]([^'"]+\.(?:css|js))['"]""")


def loaded_by(template: str) -> set[Path]:
    """Return our own style sheets and scripts that a template or one that it extends or includes may load."""
    seen: set[str] = set()
    waiting = [template]
    files: set[Path] = set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        text = (_TEMPLATES / name).read_text()
        waiting += _LEADS_TO.findall(text)
        files |= {_STATIC / path for path in _LOADS.findall(text)}
    # Files of packages lie in their packages.
    return {path for path in files if path.exists()}


def test_a_result_page_loads_few_bytes_of_styles_and_scripts() -> None:
    files = loaded_by("search/results.html")
    assert {"pages.css", "pages.js", "plan.js"} <= {path.name for path in files}
    assert sum(path.stat().st_size for path in files) < MOST
