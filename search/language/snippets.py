"""Which words of a question tell texts apart, and the part of a node's text that shares most of them."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import lru_cache

from search.domain.graph import Node
from search.language.detection import language_of
from search.language.words import asking_words, function_words, stem, time_words
from search.text import field_text, is_prose, words

SHORTEST = 3
"""Fewest characters of a word that tells texts apart."""
_WORD = re.compile(r"\w+")
_SENTENCE = re.compile(r"[.!?;]\s+|\s{2,}")


@lru_cache(maxsize=1_000)
def telling_stems(question: str) -> frozenset[str]:
    """Return the stems of a question's words of content, by the lists of its own language."""
    language = language_of(question, "en")
    idle = function_words(language) | asking_words(language) | time_words(language)
    said = {word.casefold() for word in _WORD.findall(question)}
    return frozenset(stem(word) for word in said if len(word) >= SHORTEST and word not in idle)


def places_of(text: str, stems: frozenset[str]) -> list[tuple[int, int, str]]:
    """Return start, end and stem of each word of a text that has one of these stems."""
    return [
        (match.start(), match.end(), own)
        for match in _WORD.finditer(text)
        if match.end() - match.start() >= SHORTEST and (own := stem(match.group().casefold())) in stems
    ]


def snippet(node: Node, question: str, width: int = 240) -> str:
    """Return the part of the node's text that shares most words of content with the question.

    It has at most about `width` characters, begins with a sentence, and a cut end is at a word boundary. If any field
    contains prose, fields without prose (numbers, keywords) are left out; else they are named.
    """
    texts = {name: field_text(value) for name, value in node.fields.items()}
    prose = list(filter(is_prose, texts.values()))
    # A bare `12 1995` says nothing: without prose each value stands behind the name of its field.
    text = " ".join(prose) or ", ".join(f"{words(name)}: {said}" for name, said in texts.items() if said)
    if len(text) <= width:
        return text
    best = _best_start(text, places_of(text, telling_stems(question)), width)
    cut = text[best : best + width]
    if best + width < len(text):
        cut = cut.rsplit(" ", 1)[0] + " …"
    return f"… {cut}" if best else cut


def _best_start(text: str, places: list[tuple[int, int, str]], width: int) -> int:
    """Return the start of the last sentence from which `width` characters hold the most of the words; 0 without any."""
    if not places:
        return 0
    begins = [begin for begin, _, _ in places]
    best, most = 0, 0
    for start in (0, *(match.end() for match in _SENTENCE.finditer(text))):
        held = places[bisect_left(begins, start) : bisect_left(begins, start + width)]
        shared = len({own for _, end, own in held if end <= start + width})
        if shared and shared >= most:
            best, most = start, shared
    return best
