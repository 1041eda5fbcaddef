"""Words of questions: how a word is reduced to its stem, and which words say nothing about the graph.

The lists are those of English (`data/en.toml`). A question in another language is read in English: see `gloss.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from threading import Lock

import Stemmer
import stopwordsiso

from search.language.languages import language

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")

_ENGLISH = language("en")
FUNCTION_WORDS = _ENGLISH.set("words", "function")
"""English words that carry no content of their own."""
LINKING_WORDS = _ENGLISH.set("words", "linking")
"""Words that say that things belong together; a schema may have an element that they mean (*linked* to a disease)."""
CHATTING_WORDS = _ENGLISH.set("words", "chatting")
"""Words of greeting, thanking and hesitating."""
ASKING_WORDS = _ENGLISH.set("words", "asking") | LINKING_WORDS | CHATTING_WORDS
"""Words of asking: people use them to phrase a question in any domain, so they do not describe its subject."""
ARTICLES = _ENGLISH.set("words", "articles")
"""Words before a noun that carry no content."""
TELLING = frozenset(_ENGLISH.entries("words", "telling"))
"""What asks for a thing itself, right before its name: *tell me about X*, *what is X*."""
ANSWER_OF: dict[str, str] = _ENGLISH.table("words", "answers")
"""Words for the node type that each question word asks for, separated by spaces; the first is the most usual."""

WHICH = frozenset(("which", "what"))
"""Question words that stand before the noun that is asked for."""
BEING = frozenset(("is", "are", "was", "were"))
"""Forms of *be* that join a noun with what is said of it."""


_DONE = _ENGLISH.set("superlatives", "participles")
_DONE_ENDS = _ENGLISH.entries("superlatives", "participle_ends")


@lru_cache(maxsize=64)
def function_words(code: str) -> frozenset[str]:
    """Return the function words of a language: of its data file, else of stopwords-iso; none if neither has it.

    The lists of stopwords-iso hold a few words of content, so they are taken only where there is no other.
    """
    plain = language_code(code)
    if own := language(plain).set("words", "function"):
        return own
    listed = stopwordsiso.stopwords(plain) if stopwordsiso.has_lang(plain) else ()
    return frozenset(word.casefold() for word in listed)


@lru_cache(maxsize=64)
def asking_words(code: str) -> frozenset[str]:
    """Return the words of asking of a language; none without a data file."""
    return language(code).set("words", "asking")


@lru_cache(maxsize=64)
def time_words(code: str) -> frozenset[str]:
    """Return the single words of a language that stand before a year and say how it compares (*since*, *before*)."""
    return frozenset(word for word in language(code).entries("quantities", "temporal") if " " not in word)


def is_participle(word: str) -> bool:
    """Return whether an English word is a participle, by its form: *sold*, *founded*."""
    return word in _DONE or word.endswith(_DONE_ENDS)


def is_participle_in(word: str, code: str) -> bool:
    """Return whether a word of a language is a participle, by its form."""
    table = language(code)
    ends = table.entries("superlatives", "participle_ends")
    return word in table.set("superlatives", "participles") or bool(ends and word.endswith(ends))


def words(text: str) -> list[str]:
    """Return the words of a text in lower case, without possessive endings."""
    return [re.sub(r"['’]s?$", "", match.group().casefold()) for match in _WORD.finditer(text)]


STEMMERS = {
    "ar": "arabic", "ca": "catalan", "da": "danish", "de": "german", "el": "greek", "en": "english", "es": "spanish",
    "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian", "id": "indonesian",
    "it": "italian", "nl": "dutch", "no": "norwegian", "pt": "portuguese", "ro": "romanian", "ru": "russian",
    "sv": "swedish", "tr": "turkish",
}  # fmt: skip
"""Name of Snowball's stemmer by the code of a language."""
_LEFT_ON = ("er", "or", "en")
"""Endings that Snowball does not remove: those of agents (`writer`, `director`) and of participles (`written`)."""
_SHORTEST = 5


def stemmer_of(language: str) -> Callable[[str], str] | None:
    """Return Snowball's function from word to stem for a language (`en`, `pt-BR`); None if Snowball has none.

    The caller owns the function. Two threads must not call it at the same time.
    """
    code = language_code(language)
    return Stemmer.Stemmer(STEMMERS[code]).stemWord if code in STEMMERS else None


def language_code(language: str) -> str:
    """Return the code of a language without its region, in lower case: `pt` for `pt-BR`."""
    return language.lower().replace("_", "-").split("-")[0]


_snowball = Stemmer.Stemmer("english")
_stemming = Lock()


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """Return an English word without its endings: `written`, `writer`, `writes` → `writ`.

    Snowball's English stemmer runs first; then the endings in `_LEFT_ON` are removed. Names of relations use the verb
    (`directed by`, `written by`), and questions use the agent (`the director`); both must have the same stem.
    """
    with _stemming:
        stemmed: str = _snowball.stemWord(word)
    if len(stemmed) >= _SHORTEST and stemmed.endswith(_LEFT_ON):
        stemmed = stemmed[:-2]
        if len(stemmed) > 3 and stemmed[-1] == stemmed[-2] and stemmed[-1] not in "aeiouls":
            stemmed = stemmed[:-1]
    return stemmed.removesuffix("e") if len(stemmed) > 3 else stemmed


_stemmers: dict[str, Callable[[str], str] | None] = {}


@lru_cache(maxsize=50_000)
def stem_in(word: str, code: str) -> str:
    """Return a word of a language without its endings; the word itself where Snowball does not know the language."""
    if code == "en":
        return stem(word)
    with _stemming:
        if code not in _stemmers:
            _stemmers[code] = stemmer_of(code)
        stemmer = _stemmers[code]
        return stemmer(word) if stemmer is not None else word


def stems(text: str) -> frozenset[str]:
    """Return the stems of a text's words."""
    return frozenset(stem(word) for word in words(text))


def content(text: str) -> list[str]:
    """Return the words of a text that are neither function words nor words of asking, in their order."""
    return [word for word in words(text) if word not in FUNCTION_WORDS and word not in ASKING_WORDS]
