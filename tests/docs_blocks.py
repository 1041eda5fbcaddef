"""The fenced blocks of the pages in `docs/`: commands, what they print, and why some are not run."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt

from tests.conftest import PROJECT

DOCS = PROJECT / "docs"
COMMANDS = ("sh", "bash", "console")
NOT_RUN = re.compile(r"<!--\s*not run:\s*(.*?)\s*-->", re.DOTALL)
OUTPUT = re.compile(r"<!--\s*output\s*-->")
# A word of shell that may stand before the arguments of a command of the site.
CALLED = re.compile(r"manage\.py\s+([a-z_]+)((?:[^|;&>#\n]|\\\n)*)")
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]*")


@dataclass(frozen=True)
class Block:
    """A block of commands of a page: its first line, its text, why it is not run, and the output shown below it."""

    page: str
    line: int
    text: str
    reason: str = ""
    output: str = ""


def pages() -> list[Path]:
    """Return all pages, and README."""
    return [*sorted(DOCS.rglob("*.md")), PROJECT / "README.md"]


def blocks(path: Path) -> list[Block]:
    """Return the blocks of commands of a page, in order."""
    tokens = [token for token in MarkdownIt("commonmark").parse(path.read_text(encoding="utf-8")) if token.nesting == 0]
    found: list[Block] = []
    before = ""
    for token in tokens:
        if token.type == "fence" and token.map and token.info.split()[:1] and token.info.split()[0] in COMMANDS:
            said = NOT_RUN.search(before)
            text = token.content
            if token.info.split()[0] == "console":
                text = "".join(line[2:] + "\n" for line in text.splitlines() if line.startswith("$ "))
            found.append(Block(path.name, token.map[0] + 1, text, said[1] if said else ""))
        elif token.type == "fence" and OUTPUT.search(before) and found:
            last = found.pop()
            found.append(Block(last.page, last.line, last.text, last.reason, token.content))
        before = token.content if token.type == "html_block" else ""
    return found


def named_commands(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield every command of the site that a page names anywhere, in prose too, with the options named after it."""
    tokens = MarkdownIt("commonmark").parse(path.read_text(encoding="utf-8"))
    for token in tokens:
        texts = [token.content] if token.type == "fence" else []
        texts += [child.content for child in token.children or () if child.type == "code_inline"]
        for text in texts:
            for name, rest in CALLED.findall(text):
                yield name, FLAG.findall(rest)


def missing_from(output: str, expected: str) -> list[str]:
    """Return the pieces of `expected`, which `…` separates, that do not stand in `output` in this order."""
    missing, at = [], 0
    for line in expected.splitlines():
        for piece in filter(None, (part.strip() for part in line.split("…"))):
            found = output.find(piece, at)
            if found < 0:
                missing.append(piece)
            else:
                at = found + len(piece)
    return missing
