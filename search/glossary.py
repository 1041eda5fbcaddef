"""The site's words: terms of the field with plain words in four languages, read from the one table of them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

TABLE = Path(__file__).parent / "views" / "words.toml"


@dataclass(frozen=True, slots=True)
class Term:
    """A word of the field: the plain word for it by language, and one or two sentences that explain it in English."""

    words: Mapping[str, str]
    meaning: str

    @property
    def plain(self) -> str:
        """The plain English word, which pages say."""
        return self.words["en"]


def _read(part: str) -> Mapping[str, Term]:
    listed = tomllib.loads(TABLE.read_text(encoding="utf-8"))[part]
    return {word: Term({key: said for key, said in one.items() if key != "meaning"}, one["meaning"])
            for word, one in listed.items()}  # fmt: skip


GLOSSARY = _read("words")
"""Word → its explanation, in the order of the alphabet."""

ACRONYMS = _read("names")
"""Name of a method or measure → what it stands for, and what it is."""


def _several(word: str) -> str:
    return f"{word[:-1]}ies" if word.endswith("y") else word if word.endswith("data") else f"{word}s"


_PLAIN = {word: term.plain for word, term in GLOSSARY.items()}
_PLAIN |= {_several(word): _several(plain) for word, plain in _PLAIN.items()}


def plain_name(name: str) -> str:
    """Return the plain words of a name that files and programs use: `nodes` → `entities`; others stay as they are."""
    return _PLAIN.get(name, name)
