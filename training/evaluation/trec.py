"""Runs and qrels as TREC files, by ir-measures' conventions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import quote

import numpy as np

from training.data.examples import Example
from training.evaluation.measures import DEPTH
from training.evaluation.runner import QuestionOutcome

LARGEST, SMALLEST = 1e30, 1e-37
"""Bounds of the scores that are written as they are: 32-bit floats hold them with all of their digits."""
STEP = 1e-7
"""By how much an equal score is lowered at least; where 32-bit floats are further apart, it is their distance."""
_NEEDS_ENCODING = re.compile(r"[\s%]")


def encode(name: str) -> str:
    """Return a name as one word: white space and `%` percent-encoded, everything else as it is."""
    return _NEEDS_ENCODING.sub(lambda match: quote(match.group(), safe=""), name)


def run_lines(outcomes: Mapping[str, QuestionOutcome], tag: str) -> Iterable[str]:
    """Yield `qid Q0 docid rank score tag`, 100 deep, with scores that fall strictly; see `falling`.

    Readers sort by score and order equal scores in their own way, so only strictly falling scores give all of them the
    order of the ranking.
    """
    named = encode(tag)
    for question, outcome in outcomes.items():
        asked, head = encode(question), outcome.ranking[:DEPTH]
        scores = falling([score for _, score in head])
        for rank, ((node, _), score) in enumerate(zip(head, scores, strict=True), 1):
            yield f"{asked} Q0 {encode(node)} {rank} {score:.9g} {named}\n"


def falling(scores: Sequence[float]) -> list[float]:
    """Return scores that fall strictly, as near to the given ones as 32-bit floats with nine digits allow.

    trec_eval reads scores as 32-bit floats. A score that is not below the one before it in 32 bits is lowered below it.
    If a score is no number, or too large to be lowered, all are replaced by the places from the end: n, n - 1, …, 1.
    """
    if not all(abs(score) <= LARGEST for score in scores):
        return [float(len(scores) - place) for place in range(len(scores))]
    found: list[float] = []
    for score in scores:
        short = float(np.float32(score)) if abs(score) >= SMALLEST else 0.0
        if found and not short < found[-1]:
            short = float(np.float32(found[-1] - max(STEP, float(np.spacing(np.float32(abs(found[-1])))))))
        found.append(short)
    return found


def qrels_lines(examples: Sequence[Example]) -> Iterable[str]:
    """Yield `qid 0 docid 1` for every answer, and `qid 0 docid 0` for every judged node that is none."""
    for example in examples:
        for node in (*example.answers, *(one for one in example.grades if one not in example.answers)):
            yield f"{encode(example.id)} 0 {encode(node)} {int(node in example.answers)}\n"
