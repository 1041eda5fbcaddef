"""Words of questions: how a word is reduced to its stem, and which words say nothing about the graph.

The lists are English. In other languages they match nothing; planning then uses embeddings and the schema's own words.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from threading import Lock

import Stemmer


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")

FUNCTION_WORDS = _set(
    """a an the this that these those there here it its itself he she they them their theirs his her hers him we our
    ours us you your yours i me my mine one ones some any all both each every either neither no not nor only own same
    other another such so too very just also well then than as if but and or because while until of at by for with
    about against between into through during before after above below to from up down in out on off over under again
    further once within without along among across behind beyond per via am is are was were be been being have has had
    having do does did doing can could will would shall should may might must let s t d ll m re ve don doesn didn isn
    aren wasn weren hasn haven won wouldn couldn shouldn who whom whose which what when where why how whether
    etc please more most less least many much few several lot lots even ever never always often already yet still
    like together both respectively used using"""
)
"""Words that carry no content of their own."""

ASKING_WORDS = _set(
    """tell give show list name find search look looking identify provide suggest recommend know want need help
    question answer kind kinds type types sort sorts thing things people person someone somebody anyone anything
    something example examples following certain particular various different related relate relates relation involve
    involves involved involving include includes included including exist exists called named known word words describe
    describes described main get got make made makes share shares shared sharing common similar number information
    interested possible potential specific available topic topics appear
    appears appeared listed"""
)
"""Words of asking: people use them to phrase a question in any domain, so they do not describe its subject."""

SHARING_WORDS = _set("share shares shared sharing same also co common similar other others another together")
"""Words that say that two nodes have the same neighbour: the plan then walks one relation forth and back."""

ANSWER_OF = {"who": "person author", "whom": "person author", "when": "year date", "where": "place location"}
"""Words for the node type that each question word asks for, separated by spaces; the first is the most usual."""


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


def stems(text: str) -> frozenset[str]:
    """Return the stems of a text's words."""
    return frozenset(stem(word) for word in words(text))


def content(text: str) -> list[str]:
    """Return the words of a text that are neither function words nor words of asking, in their order."""
    return [word for word in words(text) if word not in FUNCTION_WORDS and word not in ASKING_WORDS]
