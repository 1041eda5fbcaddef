"""Whether the words of a follow-up are a question of their own, to be planned anew."""

from __future__ import annotations

import re

from search.domain.plan import Plan
from search.language.words import ANSWER_OF
from search.stages.plan.follow_up.asked import Asked, is_schema_word
from search.stages.plan.follow_up.ground import Ground
from search.text import words as as_words

_NEVER, _HARDLY, _OPEN, _LIKELY = 0.01, 0.05, 0.6, 0.9
"""Probabilities that words are a question of their own, chosen by hand: the words refer to what was found; they have no
subject of their own; they name one without a question word; they name subject and condition in a whole question."""


def own_question(asked: Asked, ground: Ground, plan: Plan | None) -> float:
    """Return the probability that the words are a question of their own.

    Such words say which type of answer they want and name at least one condition, and nothing in them points back.
    """
    if asked.refers or asked.narrows or asked.instead or asked.words.says("sorted", asked.text):
        return _NEVER
    begins = asked.words.begins("asks", asked.text)
    values = any(
        not one.part and not is_schema_word(asked.text[one.start : one.end].lower(), ground) for one in asked.values
    )
    conditions = values or bool(asked.names or asked.cues.quantities or asked.cues.superlatives)
    subject = names_type(asked, ground) or (begins and _asks_person_or_place(asked))
    if not conditions:
        # A bare type (*which brands?*) asks for what the answers before are joined with.
        return _OPEN if begins and len(asked.free) > 3 else _HARDLY
    if not subject:
        return _OPEN if begins and asked.names and len(asked.free) > 0 else _HARDLY
    return _LIKELY if begins else _OPEN


def names_type(asked: Asked, ground: Ground) -> bool:
    """Whether a free word is the name of a node type, in its singular or plural."""
    names = {
        word.casefold()
        for kind in ground.schema.node_types
        for phrase in (as_words(kind.name), *kind.aliases)
        for word in phrase.split()[-1:]
    }
    return any(one in names for word in asked.free for one in _singular(word.text))


def _singular(word: str) -> tuple[str, ...]:
    return word, word.removesuffix("s"), word.removesuffix("es"), word.removesuffix("ies") + "y"


def _asks_person_or_place(asked: Asked) -> bool:
    first = re.match(r"\W*(\w+)", asked.text)
    return bool(first and first[1].lower() in ANSWER_OF and asked.free)
