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
def vocabulary(*languages: str) -> Vocabulary:
    """Return the phrases of some languages (`en`, `pt-BR`) together; the English ones if none has a data file.

    A question that was translated word by word keeps words that no dictionary knows, so both languages count.
    """
    codes = dict.fromkeys(language_code(language) for language in languages)
    folder = files(__package__).joinpath(_FOLDER)
    known = [file for code in codes if (file := folder.joinpath(f"{code}.toml")).is_file()]
    read = [tomllib.loads(file.read_text("utf-8")) for file in known or [folder.joinpath(f"{_FALLBACK}.toml")]]
    phrases = {
        one.name: dict.fromkeys(phrase.strip() for data in read for phrase in data[one.name].split(","))
        for one in fields(Vocabulary)
    }
    return Vocabulary(**{name: tuple(filter(None, several)) for name, several in phrases.items()})


def _pattern(phrases: tuple[str, ...]) -> re.Pattern[str]:
    said = "|".join(re.escape(phrase).replace(r"\ ", r"\s+") for phrase in sorted(phrases, key=len, reverse=True))
    return re.compile(rf"(?<!\w)(?:{said})(?!\w)" if said else r"(?!)", re.IGNORECASE)
