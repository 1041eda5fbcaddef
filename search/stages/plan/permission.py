"""Words that permit or forbid, where relations of the schema deny: *not recommended in*, *is X safe in*.

A denied permission means a relation that denies by itself (*is contraindicated in*); what is permitted is what no such
relation joins. The words are in the tables `turning` and `grammar` of a language.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from search.language.languages import language
from search.language.tokens import Phrases, Token, phrases

Permission = Literal["FORBID", "PERMIT", "ACT"]
PERMISSIONS = frozenset(("FORBID", "PERMIT", "ACT"))
_NEAR = 8
"""Most words between a word of permission and its denial, or what is permitted."""


@dataclass(frozen=True)
class _Words:
    turning: Phrases[str]
    forbidding: Phrases[str]
    permitting: frozenset[str]
    """Words of permission and advice: what is forbidden where they are denied."""
    safe: frozenset[str]
    """Words that permit by themselves: *safe*."""
    acts: frozenset[str]
    """Words for what is permitted: *used*, *taken*."""
    small: frozenset[str]


def permissions(said: Sequence[Token], code: str) -> Iterator[tuple[Permission, tuple[int, int]]]:
    """Yield the stretches that forbid, that permit by themselves, and that say what is permitted, with their kind."""
    words = _words(code)
    forbidden = list(_forbidden(said, words))
    for span in forbidden:
        yield "FORBID", span
    denied = {at for span in forbidden for at in range(*span)}
    for at, token in enumerate(said):
        if at in denied or words.turning.before(said, at):
            continue
        if token.word in words.safe:
            yield "PERMIT", (at, _with_act(said, at + 1, words))
        elif token.word in words.acts and _is_permitted(said, at, words):
            yield "ACT", (at, at + 1)


def _forbidden(said: Sequence[Token], words: _Words) -> Iterator[tuple[int, int]]:
    for at in range(len(said)):
        if length := words.forbidding.length(said, at):
            yield at, _with_act(said, at + length, words)
        found = words.turning.at(said, at)
        if found is None:
            continue
        length, phrase = found
        start, end = at, at + length
        if phrase.startswith(tuple(words.permitting)):
            yield start, _with_act(said, end, words)
        elif end < len(said) and said[end].word in words.permitting:
            yield start, _with_act(said, end + 1, words)
        elif _is_permitted(said, at, words):
            beside = at > 0 and said[at - 1].word in words.permitting
            yield start - beside, _with_act(said, end, words)


def _with_act(said: Sequence[Token], end: int, words: _Words) -> int:
    """Return the end of a stretch with the words right behind it that say what is permitted: *be used*."""
    found = end
    while end < len(said) and not said[end].mark and said[end].word in words.acts | words.small:
        end += 1
        found = end if said[end - 1].word in words.acts else found
    return found


def _is_permitted(said: Sequence[Token], at: int, words: _Words) -> bool:
    """Whether a word of permission stands before a place."""
    return any(token.word in words.permitting for token in said[max(0, at - _NEAR) : at])


@lru_cache(maxsize=8)
def _words(code: str) -> _Words:
    lang = language(code)
    forbidding = phrases((*lang.entries("turning", "denying"), *lang.entries("grammar", "FORBID")))
    return _Words(
        phrases(lang.entries("turning", "not")), forbidding, lang.set("turning", "permitting"),
        lang.set("grammar", "PERMIT"), lang.set("grammar", "ACT"), lang.set("grammar", "ACT_SMALL"),
    )  # fmt: skip
