"""Dictionaries between languages: the rows of `data/dictionary.txt` and names of countries, languages, months and days.

The names come from the Unicode CLDR through Babel. A dictionary is built once for each pair of languages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

import Stemmer
from babel import Locale, UnknownLocaleError

from search.language.accents import typed
from search.language.languages import FOLDER, forms, split
from search.language.tokens import tokens
from search.language.words import time_words

LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl", "sv", "pl", "ru", "ja", "zh")
"""Codes of the columns of the dictionary."""
WITHOUT_SPACES = frozenset(("ja", "zh"))
_STEMMERS = {
    "de": "german", "en": "english", "es": "spanish", "fr": "french", "it": "italian", "nl": "dutch", "pl": "polish",
    "pt": "portuguese", "ru": "russian", "sv": "swedish",
}  # fmt: skip
_NAMED_LANGUAGES = (
    "ar", "bg", "cs", "da", "de", "el", "en", "es", "et", "fa", "fi", "fr", "he", "hi", "hr", "hu", "id", "is", "it",
    "ja", "ko", "la", "lt", "lv", "nl", "no", "pl", "pt", "ro", "ru", "sk", "sl", "sr", "sv", "sw", "th", "tr", "uk",
    "ur", "vi", "zh",
)  # fmt: skip
_DICTIONARIES = ("dictionary.txt", "dictionary.general.txt", "dictionary.science.txt")
"""Files of rows; of two rows with the same word, the first counts."""
_COLUMNS = "# columns:"
ASKING = frozenset(("which", "what", "who", "whose", "where", "when", "how many", "why", "how"))
"""English entries of the words with which questions begin."""
_SHORTEST_NAME = 4
_SHORTEST_STEM = 4
_CUT = 2
"""Number of letters that are cut from a word of a language without a stemmer."""


@dataclass(frozen=True, slots=True)
class DictionaryEntry:
    """A word in the language that a question is read in.

    `kind` is the part of speech (`n`, `a`, `v`, `f`, `p`) or `name`; `plural` is the plural of a noun, else the word.
    `others` are further words for it.
    """

    word: str
    plural: str
    kind: str
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class Dictionary:
    """Words of one language with their entries in another.

    `phrases` has the words of each entry in lower case, `plurals` those that are plurals, `stems` single words by their
    stem. `around` are pairs of words that stand around others, in a language without spaces (Chinese 与 … 有关), and
    `parted` those of a language with spaces, by the first word (German *hängen … zusammen*). `nouns` are single nouns
    and whether the form is a plural: German tells them from verbs by their capital (*Arbeiten*, *arbeiten*).
    `twins` are words that are another word with an accent, with the meaning of that: Spanish *que*, as *qué*.
    `timely` are words before a year, which may mean something else elsewhere (Dutch *voor 1950*, *voor kinderen*).
    """

    phrases: dict[tuple[str, ...], DictionaryEntry]
    plurals: frozenset[tuple[str, ...]]
    stems: dict[str, DictionaryEntry]
    around: dict[tuple[str, str], str]
    longest: int
    stem: Callable[[str], str]
    parted: dict[str, tuple[tuple[tuple[str, ...], tuple[str, ...], DictionaryEntry], ...]] = field(
        default_factory=dict
    )
    nouns: dict[str, tuple[DictionaryEntry, bool]] = field(default_factory=dict)
    timely: dict[str, DictionaryEntry] = field(default_factory=dict)
    twins: dict[str, DictionaryEntry] = field(default_factory=dict)


@lru_cache(maxsize=64)
def dictionary(source: str, into: str) -> Dictionary | None:
    """Return the dictionary from one language into another; None where there is none."""
    if source not in LANGUAGES or into not in LANGUAGES or source == into:
        return None
    phrases: dict[tuple[str, ...], DictionaryEntry] = {}
    plurals: set[tuple[str, ...]] = set()
    around: dict[tuple[str, str], str] = {}
    parted: dict[str, list[tuple[tuple[str, ...], tuple[str, ...], DictionaryEntry]]] = {}
    nouns: dict[str, tuple[DictionaryEntry, bool]] = {}
    for said, entry, plural in _entries(source, into):
        if "+" in said:
            first, _, second = said.partition("+")
            around[first.strip(), second.strip()] = entry.word
            opening = key_of(first, source)
            parted.setdefault(opening[0], []).append((opening, key_of(second, source), entry))
            continue
        key = key_of(said, source)
        if entry.kind == "n" and len(key) == 1:
            nouns.setdefault(key[0], (entry, plural))
        if key and key not in phrases:
            phrases[key] = entry
            if plural:
                plurals.add(key)
    stem = stemmer(source)
    stems = {} if source in WITHOUT_SPACES else _stems(phrases, stem)
    pairs = {first: tuple(several) for first, several in parted.items()}
    twins = {} if source in WITHOUT_SPACES else _add_typed(phrases, plurals)
    longest, timely = max(map(len, phrases)), _timely(source, into)
    return Dictionary(phrases, frozenset(plurals), stems, around, longest, stem, pairs, nouns, timely, twins)


def _stems(
    phrases: Mapping[tuple[str, ...], DictionaryEntry], stem: Callable[[str], str]
) -> dict[str, DictionaryEntry]:
    """Return the entries of single words of content by the words' stems."""
    found: dict[str, DictionaryEntry] = {}
    for key, entry in phrases.items():
        if len(key) == 1 and entry.kind in ("n", "a", "v", "name") and len(key[0]) >= _SHORTEST_STEM:
            found.setdefault(stem(key[0]), entry)
    return found


def _add_typed(
    phrases: dict[tuple[str, ...], DictionaryEntry], plurals: set[tuple[str, ...]]
) -> dict[str, DictionaryEntry]:
    """Add the phrases as they are typed without accents; return the `twins` of a dictionary."""
    twins: dict[str, DictionaryEntry] = {}
    for key in list(phrases):
        for way in typed(key):
            if way not in phrases:
                phrases[way] = phrases[key]
                if key in plurals:
                    plurals.add(way)
            elif len(way) == 1:
                twins.setdefault(way[0], phrases[key])
    return twins


def _timely(source: str, into: str) -> dict[str, DictionaryEntry]:
    """Return the single words of a language that stand before a year, with their entries."""
    times = time_words(into)
    return {
        said.casefold(): entry for said, entry, _ in _entries(source, into) if entry.word in times and said.isalpha()
    }


def key_of(said: str, source: str) -> tuple[str, ...]:
    """Return the key of a phrase: its words in lower case, or its characters where words are not separated."""
    if source in WITHOUT_SPACES:
        return tuple(said.casefold().replace(" ", ""))
    return tuple(token.word for token in tokens(said))


def stemmer(code: str) -> Callable[[str], str]:
    """Return a function from word to stem; in a language that Snowball does not know it cuts the last letters."""
    name = _STEMMERS.get(code, "")
    if name in Stemmer.algorithms():
        return Stemmer.Stemmer(name).stemWord
    return lambda word: word[: max(_SHORTEST_STEM, len(word) - _CUT)]


def _entries(source: str, into: str) -> Iterator[tuple[str, DictionaryEntry, bool]]:
    """Yield a phrase of the source language, its entry, and whether the phrase is a plural; the better ones first."""
    one, other = LANGUAGES.index(source) + 1, LANGUAGES.index(into) + 1
    for row in _rows():
        written = split(row[other].replace("-", "") if row[other] == "-" else row[other])
        if not written and row[other] != "-":
            continue
        target = forms(written[0]) if written else ("",)
        word = target[0]
        plural = target[1] if len(target) > 1 else pluralised(word) if row[0] == "n" and into == "en" else word
        entry = DictionaryEntry(word, plural, row[0], tuple(forms(one)[0] for one in written[1:]))
        for phrase in split(row[one]) if row[one] != "-" else ():
            several = forms(phrase)
            for at, form in enumerate(several):
                yield form, entry, at > 0
    yield from ((said, DictionaryEntry(name, name, "name"), False) for said, name in _names(source, into))


@lru_cache(maxsize=1)
def _rows() -> tuple[tuple[str, ...], ...]:
    """Return the rows of all files, the part of speech first, then one column for each of `LANGUAGES`.

    A file that does not have all languages says in its head which it has (`# columns: en de fr`). A column that it
    lacks is empty in its rows: nothing is known. (`-` in a row says that a language has no word for it.)
    """
    rows: list[tuple[str, ...]] = []
    for name in _DICTIONARIES:
        columns: tuple[str, ...] = LANGUAGES
        for line in (FOLDER / name).read_text(encoding="utf-8").splitlines():
            if line.startswith(_COLUMNS):
                columns = tuple(line.removeprefix(_COLUMNS).split())
            elif line and not line.startswith("#"):
                kind, *words = line.split("|")
                known = dict(zip(columns, words, strict=True))
                rows.append((kind, *(known.get(code, "") for code in LANGUAGES)))
    return tuple(rows)


@lru_cache(maxsize=64)
def spoken(code: str) -> frozenset[str]:
    """Return all single words of a language's column, those inside phrases included."""
    column = LANGUAGES.index(code) + 1
    return frozenset(
        token.word
        for row in _rows()
        for phrase in split(row[column])
        for form in forms(phrase)
        for token in tokens(form)
        if len(token.word) > 1
    )


@lru_cache(maxsize=64)
def question_words(code: str) -> frozenset[str]:
    """Return the single words with which questions begin in a language; none for a language without a column."""
    if code not in LANGUAGES:
        return frozenset()
    column = LANGUAGES.index(code) + 1
    return frozenset(
        word.casefold() for row in _rows() if row[1] in ASKING for word in split(row[column]) if word.isalpha()
    )


def _names(source: str, into: str) -> Iterator[tuple[str, str]]:
    """Yield names of countries, languages, months, days and currencies in both languages."""
    try:
        one, other = Locale.parse(source), Locale.parse(into)
    except (UnknownLocaleError, ValueError):
        return
    for code, name in one.territories.items():
        if len(code) == 2 and code.isalpha() and code in other.territories:
            yield name, other.territories[code]
    for code in _NAMED_LANGUAGES:
        name = one.languages.get(code, "")
        if len(name) >= _SHORTEST_NAME or source in WITHOUT_SPACES:
            yield name, other.languages.get(code, name)
    for context in ("format", "stand-alone"):
        for number in range(1, 13):
            yield one.months[context]["wide"][number], other.months["format"]["wide"][number]
        for number in range(7):
            yield one.days[context]["wide"][number], other.days["format"]["wide"][number]


def pluralised(word: str) -> str:
    """Return the plural of an English noun: `study` → `studies`, `side effect` → `side effects`."""
    if word.endswith(("s", "music", "software", "research", "physics", "ice", "water", "wool", "species", "series")):
        return word
    irregular = {"person": "people", "child": "children", "bacterium": "bacteria", "knife": "knives"}
    if word in irregular:
        return irregular[word]
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}es" if word.endswith(("x", "ch", "sh")) else f"{word}s"
