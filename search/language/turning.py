"""Words that turn a condition round: *not*, *without*, *except*, *nobody*."""

from __future__ import annotations

from functools import lru_cache

from search.language.languages import language
from search.language.quantities import quantities
from search.language.tokens import Phrases, tokens

Span = tuple[int, int]


def turning_words(text: str, code: str) -> list[Span]:
    """Return the places of the turning words of a text in its language, in their order.

    *Not only* turns nothing, nor does the *no* of *no more than 5*, nor an auxiliary that opens a question: *isn't
    there a lamp under 20 euros?*
    """
    said, phrases = tokens(text), _phrases(code)
    amounts = [(one.start, one.end) for one in quantities(text, code)]
    found: list[Span] = []
    at = 0
    while at < len(said):
        if at == 0 and (opened := phrases.opening.length(said, 0)):
            at = opened
            continue
        length, empty = phrases.turning.length(said, at), phrases.empty.length(said, at)
        start = said[at].start
        if length > empty and not any(first <= start < last for first, last in amounts):
            found.append((start, said[at + length - 1].end))
        at += max(length, empty, 1)
    return found


def most_words(text: str, code: str) -> list[Span]:
    """Return the places of words that ask for the most or the fewest, in their order; those of *at most 5* do not."""
    said, phrases = tokens(text), _most(code)
    amounts = [(one.start, one.end) for one in quantities(text, code)]
    found: list[Span] = []
    for at in range(len(said)):
        start, length = said[at].start, phrases.length(said, at)
        inside = any(first <= start < last for first, last in (*amounts, *found[-1:]))
        if length and not inside:
            found.append((start, said[at + length - 1].end))
    return found


@lru_cache(maxsize=8)
def _most(code: str) -> Phrases[bool]:
    lang = language(code)
    return Phrases((phrase, True) for name in ("MOST", "FEW") for phrase in lang.entries("grammar", name))


class _Turning:
    """The phrases of a language that turn something round, those that hold such a word and turn nothing."""

    def __init__(self, code: str) -> None:
        lang = language(code)
        kinds = ("not", "lack", "except", "neither", "nor")
        self.turning = Phrases((one, kind) for kind in kinds for one in lang.entries("turning", kind))
        self.empty = Phrases((one, True) for one in lang.entries("turning", "empty"))
        self.opening = Phrases((one, True) for one in lang.entries("turning", "opening"))


@lru_cache(maxsize=8)
def _phrases(code: str) -> _Turning:
    return _Turning(code)
