"""The language of a question: by its script, then by function words. The language of the knowledge base wins ties.

Questions are short and full of foreign names, so letters and endings say little. Function words decide, with the words
of the dictionary. Function words of languages without a data file come from stopwords-iso
(https://github.com/stopwords-iso/stopwords-iso).
"""

from __future__ import annotations

import re
from functools import lru_cache

from search.language.accents import typed
from search.language.common import common_words, is_word
from search.language.glossing.dictionary import LANGUAGES, pluralised, question_words, spoken
from search.language.glossing.lists import listed_languages, word_list
from search.language.languages import language
from search.language.mending import asking_forms
from search.language.synonyms import meanings
from search.language.tokens import Token, tokens
from search.language.words import asking_words, function_words

MOST_CHARACTERS_READ = 2_000
CANDIDATES = (
    "en", "de", "fr", "es", "it", "pt", "nl", "sv", "da", "no", "fi", "pl", "cs", "ro", "hu", "tr", "ca", "id",
    "ru", "uk", "bg",
)  # fmt: skip
"""Languages with spaces between words that are told apart by function words."""
_SCRIPTS: tuple[tuple[str, str], ...] = (
    ("ja", r"[\u3040-\u30ff]"), ("ko", r"[\uac00-\ud7af]"), ("zh", r"[\u3400-\u9fff]"), ("el", r"[\u0370-\u03ff]"),
    ("he", r"[\u0590-\u05ff]"), ("ar", r"[\u0600-\u06ff]"), ("hi", r"[\u0900-\u097f]"), ("th", r"[\u0e00-\u0e7f]"),
    ("ru", r"[\u0400-\u04ff]"),
)  # fmt: skip
_WRITTEN = tuple((code, re.compile(pattern)) for code, pattern in _SCRIPTS)
_HAN = re.compile(r"[\u3400-\u9fff]")
_CYRILLIC = ("ru", "uk", "bg")
_LEAST = 0.5
"""Least score of a language other than the default: one word that only two languages share."""
_LEAD = 1.5
"""Times the score of the default that another language must reach."""
_OPENING, _OPENING_WORDS = 6.0, 2
"""What a question word counts among the first words, if it is no English word and no name follows it."""
_SMALL = 2
"""Number of words around a small word in which the capitals of its name stand."""
_SURE = 2.0
"""Score of the default language from which words of content of other languages are not looked up."""
_CLEAR = 2
"""Times the second score that the first must reach, so that words of content are not looked up."""
_LEAST_LISTED = 2
"""Fewest such words that tell another language from the default."""
_MOST_LISTED = 12
"""Most words of content that are looked up."""
_SHORTEST_SMALL = 3
"""Fewest letters of a function word that is told from the default language's words."""
_LONG = 6
"""Fewest letters of a single word that is enough beside no word of the default language."""
_SHORTEST_LISTED = 4
"""Fewest letters of a word of content that says what language a question is in."""


def language_of(text: str, default: str) -> str:
    """Return the code of the language of a question; `default` (the base's language) where nothing says otherwise."""
    said = tokens(text[:MOST_CHARACTERS_READ])
    home = default.lower().replace("_", "-").split("-")[0]
    script = _script(text[:MOST_CHARACTERS_READ])
    if script and script not in _CYRILLIC:
        # A foreign name in a question of the default language does not change its language.
        return default if home not in (script, "zh", "ja") and _score(said, home) >= _LEAST else _han(script, home)
    home_score = _score(said, home)
    scores = {code: _score(said, code) for code in (_CYRILLIC if script else CANDIDATES) if code != home}
    second, first = sorted(scores.values())[-2:]
    best = max(scores, key=lambda code: scores[code])
    if not script and home_score < _SURE and first < _CLEAR * max(second, home_score, _LEAST):
        listed, counted, long = _listed(said, home)
        total = {code: score + listed.get(code, 0.0) for code, score in scores.items()}
        # A single word may be a name: it tells only which of two other languages a question is in.
        single = counted < _LEAST_LISTED
        if single and long and len(said) > 1 and not home_score:
            return max(listed, key=lambda code: total[code])
        likely = [code for code in total if not single or _CLEAR * scores[code] >= first]
        best = max(likely, key=lambda code: total[code])
        scores = scores if single else total
    if scores[best] >= _LEAST and scores[best] > _LEAD * home_score:
        return best
    return "ru" if script and not home_score and home not in _CYRILLIC else default


def _listed(said: list[Token], home: str) -> tuple[dict[str, float], int, bool]:
    """Return for each language with a word list the sum over words of content of one over the languages that list it.

    The second value is the number of words of other languages, function words included; the third says whether a long
    word is listed as it is said. A word of the default language is none.
    """
    lists = {code: found for code in listed_languages() if code != home and (found := word_list(code, home))}
    scores = dict.fromkeys(lists, 0.0)
    plain = dict.fromkeys(token.word for at, token in enumerate(said) if not (token.capital and at))
    words = [word for word in plain if len(word) >= _SHORTEST_LISTED and not _is_known(word, home)][:_MOST_LISTED]
    counted = sum(len(word) >= _SHORTEST_SMALL and _is_foreign(word, home) for word in plain)
    long = False
    for word in words:
        having = [code for code, found in lists.items() if found.has(word)]
        long = long or (bool(having) and len(word) >= _LONG)
        having = having or [code for code, found in lists.items() if found.meanings([word])]
        counted += bool(having)
        for code in having:
            scores[code] += 1 / len(having)
    return scores, counted, long


def _is_foreign(word: str, home: str) -> bool:
    """Whether a word is a function word of another language and no word of the default language."""
    return not is_word(word, home) and any(word in _function_words(code) for code in CANDIDATES if code != home)


def _is_known(word: str, home: str) -> bool:
    """Whether a word is one of the default language, or counted already."""
    return is_word(word, home) or any(word in _function_words(code) for code in CANDIDATES)


def _han(script: str, home: str) -> str:
    """Return Japanese for Chinese characters alone, if it is the default."""
    return "ja" if script == "zh" and home == "ja" else script


def _script(text: str) -> str:
    """Return the language whose script at least a quarter of the letters are written in; empty for Latin letters."""
    letters = sum(character.isalpha() for character in text)
    for code, pattern in _WRITTEN:
        count = len(pattern.findall(text))
        if count and code == "ja":
            count += len(_HAN.findall(text))
        if count and 4 * count >= letters:
            return code
    return ""


def _score(said: list[Token], code: str) -> float:
    """Return the sum over the question's function words in a language of one over the languages that have the word.

    Words with a capital within the question may be names and do not count, nor do small words between two of them. A
    question word at the beginning, as in *Quels articles citent The state of the art*, outweighs a name of ten words.
    """
    owned = _function_words(code)
    score = sum(
        1 / _shared(token.word)
        for at, token in enumerate(said)
        if token.word in owned and not (token.capital and at) and not _within_name(said, at)
    )
    return score + sum(
        _OPENING / _shared(token.word)
        for at, token in enumerate(said[:_OPENING_WORDS])
        if token.word in question_words(code)
        and not is_word(token.word, "en")
        and not any(other.capital for other in said[at + 1 : at + 2])
    )


def _within_name(said: list[Token], at: int) -> bool:
    """Whether a small word stands between two words with capitals: *Butch Cassidy and the Sundance Kid*."""
    before = any(token.capital for token in said[max(1, at - _SMALL) : at])
    behind = any(token.capital for token in said[at + 1 : at + 1 + _SMALL])
    return before and behind and not said[at].mark


@lru_cache(maxsize=64)
def _function_words(code: str) -> frozenset[str]:
    known = spoken(code) if code in LANGUAGES else frozenset()
    if code == "en":
        known |= {pluralised(word) for word in known} | {word for said in meanings() for word in said.split()}
        known |= {pluralised(word) for word in known}
    own = function_words(code) | asking_words(code)
    known |= own
    if code != "en":
        known |= asking_forms(code)
        plain = {way: word for word in known for (way,) in typed((word,))}
        known |= {way for way, word in plain.items() if word in own or way not in common_words("en")}
    alone = {word for word in known if len(word) == 1 and word.isascii()}
    return frozenset(known - {word for word in alone if not language(code).whole or not _is_alone(word)})


@lru_cache(maxsize=200)
def _is_alone(letter: str) -> bool:
    """Whether a single letter is a word of one language only, as far as the lists tell: Spanish *y*."""
    return sum(letter in function_words(code) for code in CANDIDATES) == 1


@lru_cache(maxsize=20_000)
def _shared(word: str) -> int:
    return sum(word in _function_words(code) for code in CANDIDATES) or 1
