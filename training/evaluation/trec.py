"""Runs and qrels as TREC files, by ir-measures' conventions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import quote

from training.data.examples import Example
from training.evaluation.measures import DEPTH
from training.evaluation.runner import QuestionOutcome

_NEEDS_ENCODING = re.compile(r"[\s%]")


def encode(name: str) -> str:
    """Return a name as one word: white space and `%` percent-encoded, everything else as it is."""
    return _NEEDS_ENCODING.sub(lambda match: quote(match.group(), safe=""), name)


def run_lines(outcomes: Mapping[str, QuestionOutcome], tag: str) -> Iterable[str]:
    """Yield `qid Q0 docid rank score tag`, 100 deep, with strictly falling scores.

    Equal scores and scores out of order are lowered by a small step, because readers sort by score and must get the
    same order.
    """
    named = encode(tag)
    for question, outcome in outcomes.items():
        last, asked = float("inf"), encode(question)
        for rank, (node, score) in enumerate(outcome.ranking[:DEPTH], 1):
            last = score if score < last - 1e-9 else last - 1e-9 * max(1.0, abs(last))
            yield f"{asked} Q0 {encode(node)} {rank} {last:.12f} {named}\n"


def qrels_lines(examples: Sequence[Example]) -> Iterable[str]:
    """Yield `qid 0 docid 1` for every answer, and `qid 0 docid 0` for every judged node that is none."""
    for example in examples:
        for node in (*example.answers, *(one for one in example.grades if one not in example.answers)):
            yield f"{encode(example.id)} 0 {encode(node)} {int(node in example.answers)}\n"
