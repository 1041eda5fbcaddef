"""What the words of a question say beside relations and types: a relation once, what is the same, a name's type."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

import numpy as np

from search.language.question import AnalysedQuestion, RemainingWords
from search.language.words import WHICH
from search.stages.plan.enumeration.enumerate import PlanCandidate
from search.stages.plan.knowledge.lexicon import Affinities, Lexicon

_SURE = 0.5
"""Least affinity from which a word says what is the same."""
_MARKS = " \"'“‘«"
"""What may stand between a name and the word before it."""


def counted_once(reading: RemainingWords, affinities: Affinities, lexicon: Lexicon) -> Affinities:
    """Return the affinities where a phrase of several words says its relation once, with its first content word.

    Several words of *annotated with cell type* may say one relation, which is not said twice.
    """
    rows = {word.start: at for at, word in enumerate(reading.content)}
    counted = affinities
    for relation, places in lexicon.phrases_in([word.text for word in reading.words]):
        said = [rows[start] for at in places if (start := reading.words[at].start) in rows]
        if len(said) > 1:
            counted = affinities.copy() if counted is affinities else counted
            counted[said[1:], relation] = 0.0
    return counted


def said_to_be_shared(reading: RemainingWords, affinities: Affinities) -> Affinities | None:
    """Return the affinity of each element to what a question says to be the same; None if it has no such word.

    That is the next word behind `same`, else the word before it (`starred together`). Where it says nothing of the
    schema, any relation may be meant.
    """
    if not reading.sharing:
        return None
    starts = [word.start for word in reading.content]
    found = np.zeros(affinities.shape[1])
    for word in reading.shared:
        behind = bisect_right(starts, word.start)
        for at in (behind, behind - 1):
            if 0 <= at < len(starts) and affinities[at].max(initial=0.0) >= _SURE:
                found = np.maximum(found, affinities[at])
                break
    return found if found.any() else np.ones_like(found)


def types_of_names(
    question: AnalysedQuestion, reading: RemainingWords, candidates: Sequence[PlanCandidate], lexicon: Lexicon
) -> frozenset[int]:
    """Return the places of the words that say the type of the name behind them: `film` of `who made the film X`.

    Behind a question word the same noun asks for the answer (`which film X cites`), and so does a plural (`films X`).
    `candidates` start from the same names.
    """
    found = []
    for place, mention in enumerate(candidates[0].mentions):
        at = question.names[mention].mention.start
        before = [word for word in reading.words if word.start < at][-2:]
        if not before or before[0].text in WHICH or before[-1].text.endswith("s"):
            continue
        word = before[-1]
        if question.text[word.start + len(word.text) : at].strip(_MARKS):
            continue
        said = lexicon.says_types([word.text])
        if said.any() and any(said[one.paths[place].start] for one in candidates):
            found.append(word.start)
    return frozenset(found)
