"""Candidate plans without a name: all nodes of a type, for conditions to select from (`brands founded before 1930`)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from search.interfaces import NodeStore
from search.language.question import AnalysedQuestion
from search.stages.plan.enumeration.enumerate import PlanCandidate
from search.stages.plan.knowledge import Knowledge
from search.stages.plan.scoring.features import missed_share
from search.stages.plan.scoring.score import Weights
from search.stages.plan.scoring.target import answer_types

MOST = 3
_FITS = 0.5
"""Least fit of an answer type that the question says."""
_SMOOTH = 0.5


def whole_types(
    question: AnalysedQuestion, knowledge: Knowledge, nodes: NodeStore
) -> list[tuple[PlanCandidate, float]]:
    """Return the types that the question may ask for, as candidates without branches, each with its fit in [0, 1].

    Where no word says a type, it is the type of the node that answers are compared with, or of the values that are
    said.
    """
    fit = answer_types(question.without(()), knowledge.lexicon)
    said = {code: float(fit[code]) for code in np.argsort(-fit, kind="stable").tolist() if fit[code] >= _FITS}
    found = said or dict.fromkeys(_types_of_cues(question, knowledge, nodes), _FITS)
    kinds = knowledge.schema.node_types
    return [
        (PlanCandidate((), (), (), (code,), kinds[code].count), share)
        for code, share in list(found.items())[:MOST]
        if code in knowledge.answerable
    ]


def _types_of_cues(question: AnalysedQuestion, knowledge: Knowledge, nodes: NodeStore) -> list[int]:
    held = [at for cue in question.comparisons for at in question.names_in(cue.reference)]
    codes = [int(code) for at in held for code in nodes.types(question.names[at].mention.keys)]
    codes += [knowledge.schema.type_codes[one.node_type] for one in question.values]
    return list(dict.fromkeys(codes))


def whole_type_sum(
    question: AnalysedQuestion,
    knowledge: Knowledge,
    candidate: PlanCandidate,
    fit: float,
    told: Sequence[tuple[int, int]],
    weights: Weights,
) -> float:
    """Return the sum of a candidate without branches, comparable with those of `Scorer`.

    Without hops there is no hop without a word; `told` are the spans of the question that the conditions express.
    """
    content = [w for w in question.without(()).content if not any(first <= w.start < last for first, last in told)]
    rows = knowledge.lexicon.of([word.text for word in content])
    column = knowledge.lexicon.relations + candidate.types[0]
    own, whole = (float(rows[:, column].sum()), float(rows.max(axis=1).sum())) if len(rows) else (0.0, 0.0)
    words = (own + _SMOOTH) / (whole + _SMOOTH)
    return (
        weights.hops
        + weights.words * words
        + weights.order * words
        + weights.target * fit
        + weights.missed * missed_share(question, (), knowledge.lexicon)
        + weights.size * float(np.log10(1 + candidate.size))
    )
