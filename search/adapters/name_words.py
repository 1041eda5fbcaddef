"""Words of names and of questions: with case, accents and width normalised, and folded so that inflections are equal.

Normalised words tell whether two spellings are the same name. Folded words are looser: singular and plural, possessive
endings, `1st` and `first`, letters with strokes and without become equal.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock

from search.language.words import language_code, stemmer_of

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]|[^\W_\u3040-\u30ff\u3400-\u9fff]+|[+#&]")
QUOTED = re.compile(r"[\"“”«»„]([^\"“”«»„]{2,80})[\"“”«»„]|(?<!\w)['‘]([^'‘’]{2,80})['’](?!\w)")
_ACCENTS = re.compile("[\u0300-\u036f]")
_PLAIN = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ħ": "h"})
_IRREGULAR = {
    "men": "man", "women": "woman", "children": "child", "people": "person", "mice": "mouse", "feet": "foot",
    "teeth": "tooth", "geese": "goose", "knives": "knife", "wives": "wife", "lives": "life", "bacteria": "bacterium",
    "fungi": "fungus", "criteria": "criterion", "phenomena": "phenomenon",
}  # fmt: skip
_ORDINALS = {
    "1st": "first", "2nd": "second", "3rd": "third", "4th": "fourth", "5th": "fifth", "6th": "sixth", "7th": "seventh",
    "8th": "eighth", "9th": "ninth", "10th": "tenth", "11th": "eleventh", "12th": "twelfth", "13th": "thirteenth",
    "14th": "fourteenth", "15th": "fifteenth", "16th": "sixteenth", "17th": "seventeenth", "18th": "eighteenth",
    "19th": "nineteenth", "20th": "twentieth",
}  # fmt: skip
_KEPT_ENDINGS = ("ss", "us", "is")
"""Endings in -s that are no plural: *glass*, *virus*, *arthritis*."""
_LOSE_ES = ("sses", "xes", "ches", "shes", "zzes")


_SYMBOLS = re.compile(r"(?:[^\w\s]|_)+")
_BEFORE_SYMBOLS, _BEHIND_SYMBOLS = "\"'“‘«„(¿¡", "\"'”’»“)?!.,;:？！。、，"
"""Marks that may stand right before a name of symbols, and right behind it."""
_VARIATION = re.compile("[\ufe0e\ufe0f]")


@dataclass(frozen=True, slots=True)
class NameToken:
    """A word as written, its character offsets, and its normalised words (usually one)."""

    start: int
    end: int
    words: tuple[str, ...]


def tokens_of(text: str) -> Iterator[NameToken]:
    """Yield the words of a text with their character offsets.

    Case, accents and width are normalised. Punctuation only separates words; `&` is read as `and`; `+` and `#` are
    words (C++ is not C#). Each Chinese or Japanese character is a word, because these scripts have no spaces.
    """
    for match in _WORD.finditer(text):
        yield NameToken(match.start(), match.end(), normalised(match.group()))


@lru_cache(maxsize=100_000)
def normalised(word: str) -> tuple[str, ...]:
    """Return the words of one word as written, with case, accents and width normalised; usually one."""
    if word == "&":
        return ("and",)
    if word.isascii():
        return (word.lower(),)
    plain = unicodedata.normalize("NFKC", word).casefold()
    plain = unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", plain)))
    return tuple(_WORD.findall(plain)) or (plain,)


def words_of(name: str) -> tuple[str, ...]:
    """Return the normalised words of a name; spellings of the same name have the same words."""
    return tuple(word for token in tokens_of(name) for word in token.words)


def name_words(name: str) -> tuple[str, ...]:
    """Return the words of a name to look it up by; a name of symbols alone is one word: `$$$`, `*`, an emoji."""
    return words_of(name) or ((_symbols(name),) if name.strip() else ())


def symbol_tokens(text: str) -> Iterator[NameToken]:
    """Yield the stretches of symbols that stand free in a text, and may be names, with and without marks around them.

    A mark beside a word (`who?`) is none; a picture such as an emoji is one there, too.
    """
    for match in _SYMBOLS.finditer(text):
        start, end = match.span()
        free = (not start or text[start - 1].isspace()) and (end == len(text) or text[end].isspace())
        run = match.group()
        if not free and not any(unicodedata.category(sign) == "So" for sign in run):
            continue
        first = len(run) - len(run.lstrip(_BEFORE_SYMBOLS))
        last = len(run.rstrip(_BEHIND_SYMBOLS))
        for begin, close in dict.fromkeys(((0, len(run)), (0, last), (first, len(run)), (first, last))):
            if begin < close:
                yield NameToken(start + begin, start + close, (_symbols(run[begin:close]),))


def _symbols(text: str) -> str:
    """Return symbols as they are compared: without white space and without the marks that choose how they look."""
    return _VARIATION.sub("", unicodedata.normalize("NFKC", "".join(text.split())))


def folder_of(language: str) -> Callable[[str], str]:
    """Return the function that folds a normalised word: English plurals by rules, other languages by Snowball.

    English has rules of its own because Snowball also removes endings that make another word: its stem of *university*
    and *universe* is the same.
    """
    code = language_code(language)
    if code == "en":
        return singular
    stemmer, stemming = stemmer_of(code), Lock()

    @lru_cache(maxsize=50_000)
    def folded(word: str) -> str:
        with stemming:
            return (stemmer(word) if stemmer else word).translate(_PLAIN)

    return folded


@lru_cache(maxsize=100_000)
def singular(word: str) -> str:
    """Return a normalised English word without its plural ending: `diseases` → `disease`, `boxes` → `box`."""
    if not word.isascii():
        word = word.translate(_PLAIN)
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word[0].isdigit():
        return _ORDINALS.get(word, word)
    if len(word) < 4 or word[-1] != "s" or word.endswith(_KEPT_ENDINGS):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y" if len(word) > 4 else word[:-1]
    if word.endswith("yses"):
        return word[:-2] + "is"
    if word.endswith("lves"):
        return word[:-3] + "f"
    return word[:-2] if word.endswith(_LOSE_ES) else word[:-1]


@dataclass(frozen=True, slots=True)
class Folded:
    """A word as written with its offsets, its normalised words and its folded words.

    The `s` after an apostrophe has no folded word.
    """

    start: int
    end: int
    words: tuple[str, ...]
    folds: tuple[str, ...]


def folded_tokens(text: str, fold: Callable[[str], str]) -> list[Folded]:
    """Return the words of a text, each with its folded words."""
    found = []
    for token in tokens_of(text):
        possessive = token.words == ("s",) and token.start > 0 and text[token.start - 1] in "'’"
        folds = () if possessive else tuple(fold(word) for word in token.words)
        found.append(Folded(token.start, token.end, token.words, folds))
    return found
