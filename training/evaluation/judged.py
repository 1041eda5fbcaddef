"""Judgements in evaluations: how much of a ranking was judged, and bpref, which looks at judged results only.

A ranking that finds what nobody has judged is not wrong, only unknown, and measures such as H@1 count it as wrong.
judged@k is the share of the first k results that were judged. bpref (Buckley and Voorhees, SIGIR 2004, in trec_eval's
definition) counts how often a judged wrong node stands before an answer, and ignores all others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import ir_measures
import numpy as np

from training.data.examples import Example
from training.evaluation.measures import DEPTH, SEED, Values, intervals, means
from training.evaluation.runner import QuestionOutcome

BPREF = "bpref"
JUDGED_MEASURES = {
    BPREF: ir_measures.Bpref,
    "judged@5": ir_measures.Judged @ 5,
    "judged@10": ir_measures.Judged @ 10,
    "judged@20": ir_measures.Judged @ 20,
}


def judged_values(examples: Sequence[Example], rankings: Mapping[str, Sequence[str]]) -> Values:
    """Return each measure's value in percent of every example, in their order. All examples have grades.

    A question without a ranking has nothing that is judged and scores 0.
    """
    values = {name: np.zeros(len(examples)) for name in JUDGED_MEASURES}
    qrels = [
        ir_measures.Qrel(str(place), node, int(node in example.answers))
        for place, example in enumerate(examples)
        for node in example.judged
    ]
    run = [
        ir_measures.ScoredDoc(str(place), node, float(-rank))
        for place, example in enumerate(examples)
        for rank, node in enumerate(rankings.get(example.id, ())[:DEPTH])
    ]
    names = {measure: name for name, measure in JUDGED_MEASURES.items()}
    if run:
        for found in ir_measures.iter_calc(list(JUDGED_MEASURES.values()), qrels, run):
            values[names[found.measure]][int(found.query_id)] = 100.0 * found.value
    return values


def judged_part(
    examples: Sequence[Example], outcomes: Mapping[str, QuestionOutcome], seed: int = SEED
) -> dict[str, Any] | None:
    """Return `{"questions", "judgements", "metrics", "intervals"}` over the judged questions; None if none was judged.

    `outcomes` are by question's id. Questions that nobody judged take no part: all their results are unjudged.
    """
    graded = [example for example in examples if example.grades]
    if not graded:
        return None
    rankings = {example.id: [node for node, _ in outcomes[example.id].ranking] for example in graded}
    values = judged_values(graded, rankings)
    return {
        "questions": len(graded), "judgements": sum(len(example.judged) for example in graded),
        "metrics": means(values), "intervals": intervals(values, seed=seed),
    }  # fmt: skip
