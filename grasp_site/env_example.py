"""`python -m grasp_site.env_example`: writes the settings of `docs/settings.md` into `docker/env.example`.

What stands above the mark in that file, the variables of the compose files, is written by hand and stays.
"""

import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

from grasp_site.setting_names import EXAMPLE

PAGE = Path(__file__).resolve().parent.parent / "docs" / "settings.md"
MARK = "# --- The settings of the site: docs/settings.md, written by `python -m grasp_site.env_example` ---\n"
SECRET = "🔑"
_WIDTH = 116
_ROW = re.compile(r"^\|(?P<names>[^|]*`[A-Z][A-Z0-9_]+`[^|]*)\|(?P<default>[^|]*)\|(?P<text>.*)\|$", flags=re.MULTILINE)
_LINK = re.compile(r"\[(?P<text>[^\]]*)\]\((?P<target>[^)]*)\)")


def settings_of(readme: str) -> Iterator[str]:
    """Yield the lines of each setting: what it is as a comment, and the setting with its default, commented out."""
    for row in _ROW.finditer(readme):
        yield "\n"
        text = (
            _LINK.sub(
                lambda link: f"docs/{link['target']}" if link["target"].endswith(".md") else link["target"], row["text"]
            )
            .replace("`", "")
            .strip()
        )
        yield from (f"# {line}\n" for line in textwrap.wrap(text, _WIDTH, break_on_hyphens=False))
        default = row["default"].strip()
        literal = re.findall(r"`([^`]*)`", default) if re.fullmatch(r"(`[^`]*`(, )?)*", default) else []
        cells = [cell.strip() for cell in row["names"].split(",")]
        if not literal and default:
            yield f"# Default: {default.replace('`', '')}.\n"
        for at, cell in enumerate(cells):
            name = re.sub(r"[^A-Z0-9_]", "", cell)
            one = len(literal) == 1 and len(cells) == 1
            yield f"#{name}={literal[0] if one else literal[at] if len(literal) == len(cells) else ''}\n"
            if SECRET in cell:
                yield f"#{name}_FILE=\n"


def example(present: str, readme: str) -> str:
    """Return the file: the part of `present` above the mark, the mark, and the settings of the table."""
    return present.partition(MARK)[0] + MARK + "".join(settings_of(readme))


def main() -> int:
    """Write the file."""
    present = EXAMPLE.read_text(encoding="utf-8")
    EXAMPLE.write_text(example(present, PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
