"""The voice of a verb in a question: *cited by X* and *made from X* are passive, *did not cite X* active."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from search.language.languages import language
from search.language.tokens import Phrases, Token, phrases
from search.language.words import is_participle_in
from search.stages.plan.schema_index import Voice

_BEFORE = 3
"""Most words between a verb and the one that helps it."""


def voice_of(said: Sequence[Token], at: int, code: str) -> Voice:
    """Return the voice of the verb at a place; an empty text where nothing shows it."""
    lang = language(code)
    doer = lang.set("relation_nouns", "doer") | lang.set("words", "origin")
    if said[at].word in doer and at:
        at -= 1
    if (
        at + 1 < len(said)
        and said[at + 1].word in doer
        and not said[at + 1].mark
        and is_participle_in(said[at].word, code)
    ):
        return "passive"
    active, passive = lang.set("relation_nouns", "active"), lang.set("relation_nouns", "passive")
    between = lang.set("turning", "leading") | lang.set("superlatives", "adverbs")
    turning = _turning(code)
    for before in range(at - 1, max(-1, at - 1 - _BEFORE), -1):
        word = said[before].word
        if word in active:
            return "active"
        if word in passive:
            return "passive" if is_participle_in(said[at].word, code) else ""
        if word not in between and not turning.length(said, before):
            return ""
    return ""


@lru_cache(maxsize=8)
def _turning(code: str) -> Phrases[str]:
    return phrases(language(code).entries("turning", "not"))
