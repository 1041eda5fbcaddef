"""The data files of languages, `search/language/data/CODE.toml`, and access to their lists.

A list is one text with commas between its entries; slashes separate forms of one entry. Languages without a file have
empty lists: of their questions only names, numbers in digits and embeddings are read.

Tables: `words` (function words, words of asking, `answers`: question word → words for node types), `numbers`,
`quantities`, `units`, `decades`, `dates`, `asking`, `turning`, `superlatives`, `comparisons` and `scales`. A scale is a
property with an order: `names` are the words with which schemas name it, `high` and `low` the adjectives of its ends
(base form/comparative/superlative), `verbs` and `nouns` other words for it, `against` words for what is small where the
property is large (little time where the speed is high).
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "data"


@dataclass(frozen=True, eq=False)
class Language:
    """A language's code and its tables. `whole` says that all kinds of cues are read in it."""

    code: str
    tables: Mapping[str, Any] = field(default_factory=dict)
    _sets: dict[tuple[str, ...], frozenset[str]] = field(default_factory=dict, init=False, repr=False)

    @property
    def whole(self) -> bool:
        """Whether questions in this language are read in full."""
        return bool(self.tables.get("whole"))

    def value(self, *path: str, default: Any = None) -> Any:
        """Return the entry of a table, `default` without one."""
        found: Any = self.tables
        for part in path:
            if not isinstance(found, Mapping) or part not in found:
                return default
            found = found[part]
        return found

    def entries(self, *path: str) -> tuple[str, ...]:
        """Return the entries of a list in their order; none if the language does not have the list."""
        return split(self.value(*path, default=""))

    def set(self, *path: str) -> frozenset[str]:
        """Return the entries of a list as a set, made once."""
        found = self._sets.get(path)
        if found is None:
            found = self._sets[path] = frozenset(self.entries(*path))
        return found

    def table(self, *path: str) -> dict[str, Any]:
        """Return a table; an empty one if the language does not have it."""
        return dict(self.value(*path, default={}))

    def numbered(self, *path: str, first: int = 1) -> Iterator[tuple[str, int]]:
        """Yield each form of the entries of a list with the entry's number, counted from `first`."""
        for number, entry in enumerate(self.entries(*path), start=first):
            for form in forms(entry):
                yield form, number


@lru_cache(maxsize=4_000)
def split(text: str) -> tuple[str, ...]:
    """Return the entries of a list: the parts between commas, without white space around them."""
    return tuple(" ".join(part.split()) for part in text.split(",") if part.strip())


def forms(entry: str) -> tuple[str, ...]:
    """Return the forms of an entry: the parts between slashes."""
    return tuple(part.strip() for part in entry.split("/") if part.strip())


@lru_cache(maxsize=128)
def language(code: str) -> Language:
    """Return a language by its code (`en`, `pt-BR`); one without lists if there is no file for it."""
    plain = code.lower().replace("_", "-").split("-")[0]
    path = FOLDER / f"{plain}.toml"
    if not plain.isalpha() or not path.is_file():
        return Language(plain)
    return Language(plain, tomllib.loads(path.read_text(encoding="utf-8")))


def known_languages() -> tuple[str, ...]:
    """Return the codes of all languages with a file, in the order of the alphabet."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))
