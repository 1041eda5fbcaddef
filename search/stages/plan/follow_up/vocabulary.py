"""The words of a language that refer to an earlier question: one data file for each language."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from importlib.resources import files

from search.language.words import language_code

_FOLDER = "words"
_FALLBACK = "en"


@dataclass(frozen=True)
class Vocabulary:
    """Phrases of a language by what they do; the comments of the data files explain each list. In lower case."""

    openers: tuple[str, ...]
    instead: tuple[str, ...]
    further: tuple[str, ...]
    found: tuple[str, ...]
    back: tuple[str, ...]
    everything: tuple[str, ...]
    sorted: tuple[str, ...]
    up: tuple[str, ...]
    down: tuple[str, ...]
    first: tuple[str, ...]
    number: tuple[str, ...]
    which: tuple[str, ...]
    whether: tuple[str, ...]
    asks: tuple[str, ...]
    frame: tuple[str, ...]

    @cached_property
    def patterns(self) -> dict[str, re.Pattern[str]]:
        """A pattern for each list, which finds its phrases as whole words, the longest first."""
        return {one.name: _pattern(getattr(self, one.name)) for one in fields(self)}

    def spans(self, name: str, text: str) -> list[tuple[int, int]]:
        """Return the stretches of a text (start, end) that are phrases of a list."""
        return [match.span() for match in self.patterns[name].finditer(text)]

    def says(self, name: str, text: str) -> bool:
        """Whether a phrase of a list is in a text."""
        return self.patterns[name].search(text) is not None

    def begins(self, name: str, text: str) -> bool:
        """Whether a text begins with a phrase of a list."""
        return self.patterns[name].match(text.lstrip(" \t\n\"'“‘«¿¡(…-–—,.")) is not None


@lru_cache(maxsize=32)
def vocabulary(language: str) -> Vocabulary:
    """Return the phrases of a language (`en`, `pt-BR`); the English ones for a language without a data file."""
    folder = files(__package__).joinpath(_FOLDER)
    file = folder.joinpath(f"{language_code(language)}.toml")
    data = tomllib.loads((file if file.is_file() else folder.joinpath(f"{_FALLBACK}.toml")).read_text("utf-8"))
    return Vocabulary(**{
        one.name: tuple(phrase.strip() for phrase in data[one.name].split(",") if phrase.strip())
        for one in fields(Vocabulary)
    })  # fmt: skip


def _pattern(phrases: tuple[str, ...]) -> re.Pattern[str]:
    said = "|".join(re.escape(phrase).replace(r"\ ", r"\s+") for phrase in sorted(phrases, key=len, reverse=True))
    return re.compile(rf"(?<!\w)(?:{said})(?!\w)" if said else r"(?!)", re.IGNORECASE)
