"""The content of a planner artifact: the weights of all questions, and those fitted without each fold."""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from search.neural.plan_scorer import WEIGHTS, PairWeights
from training.data.examples import Example
from training.data.hashes import question_hash
from training.learning.plan_meanings import PairTable, Places, Values

DIGITS = 3
"""Digits behind the point of a weight that is kept; a weight that they round to 0 is left out."""
MOST_FOLD_BYTES = 64 * 2**20
"""Largest total size, in bytes, of the weights of all folds. An artifact keeps none of them above this size."""


def pair_weights(name: str, table: PairTable, weights: Values, temperature: float) -> PairWeights:
    """Return the weights of pairs in the form that searches read."""
    found: dict[str, dict[str, float]] = {}
    rounded = weights.round(DIGITS)
    for at in rounded.nonzero()[0].tolist():
        element, word = table.pairs[at]
        found.setdefault(element, {})[word] = float(rounded[at])
    return PairWeights(name, found, temperature)


def files_of(whole: PairWeights, folds: Sequence[PairWeights]) -> tuple[dict[str, bytes], list[str]]:
    """Return the files of all weights, and the names of those of the folds: none if they would be too large."""
    files = {f"fold-{fold}.json": orjson.dumps(one.to_json()) for fold, one in enumerate(folds)}
    if sum(map(len, files.values())) > MOST_FOLD_BYTES:
        files = {}
    return {WEIGHTS: orjson.dumps(whole.to_json()), **files}, list(files)


def folds_of_hashes(examples: Sequence[Example], folds: Places) -> bytes:
    """Return the content of the file FOLDS.

    A question that occurs in several folds is left out, because every scorer has learned from it.
    """
    mine: dict[str, set[int]] = {}
    for example, fold in zip(examples, folds.tolist(), strict=True):
        mine.setdefault(question_hash(example), set()).add(fold)
    return orjson.dumps({"hashes": {hashed: min(own) for hashed, own in mine.items() if len(own) == 1}})
