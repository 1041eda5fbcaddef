"""Documentation as if it had been built: a page, and what is answered where there is none."""

from pathlib import Path
from typing import Any

from grasp_site.documentation.build import POLICY
from grasp_site.documentation.sources import built


def place(settings: Any, folder: Path) -> None:
    """Put built pages into a folder, and have the site serve them."""
    settings.GRASP_DOCS = folder / "docs"
    pages = built()
    pages.mkdir(parents=True)
    for name, content in (("index.html", "pages"), ("404.html", "no page"), (POLICY, "{}")):
        (pages / name).write_text(content)
