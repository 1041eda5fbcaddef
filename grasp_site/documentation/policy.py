"""The content security policy of the built pages: their inline scripts are allowed one by one, by hash."""

import base64
import hashlib
from html.parser import HTMLParser
from pathlib import Path

from csp.constants import SELF

# Blocks of data, which browsers do not run.
DATA_TYPES = ("application/json", "application/ld+json")


class _Inline(HTMLParser):
    """Collects the texts of inline scripts and styles of a page, and names what no hash can allow."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.texts: dict[str, set[str]] = {"script": set(), "style": set()}
        self.refused: set[str] = set()
        self._inside = ""
        self._text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        self.refused |= {name for name in named if name == "style" or name.startswith("on")}
        if tag == "style" or (tag == "script" and "src" not in named and named.get("type") not in DATA_TYPES):
            self._inside, self._text = tag, ""

    def handle_data(self, data: str) -> None:
        self._text += data

    def handle_endtag(self, tag: str) -> None:
        if tag == self._inside:
            self.texts[tag].add(self._text)
            self._inside = ""


def directives(site: Path) -> dict[str, list[str]]:
    """Return the directives that the pages below `site` need beside the site's own."""
    found: dict[str, set[str]] = {"script": set(), "style": set()}
    for path in site.rglob("*.html"):
        page = _Inline()
        page.feed(path.read_text(encoding="utf-8"))
        for tag, texts in page.texts.items():
            found[tag] |= texts
    return {
        **{f"{tag}-src": [SELF, *sorted(map(hash_source, texts))] for tag, texts in found.items() if texts},
        # Icons of the theme's style sheets are drawn by data addresses.
        "img-src": [SELF, "data:"],
    }


def attributes_refused(page: str) -> set[str]:
    """Return the names of attributes of a page that the policy stops: `style`, and those that hold scripts."""
    parsed = _Inline()
    parsed.feed(page)
    return parsed.refused


def hash_source(text: str) -> str:
    """Return the source that allows one inline text: its SHA-256, as Content Security Policy Level 3 writes it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
