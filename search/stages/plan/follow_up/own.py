"""Whether the words of a follow-up are a question of their own, to be planned anew."""

from __future__ import annotations

import re

from search.domain.plan import Plan
from search.language.words import ANSWER_OF
from search.stages.plan.follow_up.asked import Asked
from search.stages.plan.follow_up.ground import Ground

_NEVER, _HARDLY, _OPEN, _LIKELY = 0.01, 0.05, 0.6, 0.9
"""Probabilities that words are a question of their own, chosen by hand: the words refer to what was found; they have no
subject of their own; they name one without a question word; they name subject and condition in a whole question."""
_TYPE_NAMED = 1.0
"""Least affinity of a word to a node type from which it is the type's own name."""


def own_question(asked: Asked, ground: Ground, plan: Plan | None) -> float:
    """Return the probability that the words are a question of their own.

    Such words say which type of answer they want and name at least one condition, and nothing in them points back.
    """
    if asked.refers or asked.narrows or asked.instead or asked.words.says("sorted", asked.text):
        return _NEVER
    begins = asked.words.begins("asks", asked.text)
    conditions = bool(asked.names or asked.values or asked.cues.quantities or asked.cues.superlatives)
    subject = _names_type(asked, ground) or (begins and _asks_person_or_place(asked))
    if not conditions:
        # A bare type (*which brands?*) asks for what the answers before are joined with.
        return _OPEN if begins and len(asked.free) > 3 else _HARDLY
    if not subject:
        return _OPEN if begins and asked.names and len(asked.free) > 0 else _HARDLY
    return _LIKELY if begins else _OPEN


def _names_type(asked: Asked, ground: Ground) -> bool:
    """Whether a free word is the name of a node type."""
    texts = [word.text for word in asked.free]
    if not texts:
        return False
    lexicon = ground.knowledge.lexicon
    return bool(lexicon.of(texts)[:, lexicon.relations :].max(initial=0.0) >= _TYPE_NAMED)


def _asks_person_or_place(asked: Asked) -> bool:
    first = re.match(r"\W*(\w+)", asked.text)
    return bool(first and first[1].lower() in ANSWER_OF and asked.free)
