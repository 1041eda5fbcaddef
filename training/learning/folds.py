"""Folds of questions: each is later scored by what was learned from the others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from training.data.hashes import normalised


def folds_of(texts: Sequence[str], count: int, seed: int) -> NDArray[np.int64]:
    """Return the fold of each question, from 0 on; there are `count` folds, or as many as there are texts.

    Questions with the same words are in the same fold. Otherwise a model would learn from the words that it is measured
    on. If all questions have the same text, they are divided nevertheless.
    """
    said = [normalised(text) for text in texts]
    first = {text: place for place, text in enumerate(dict.fromkeys(said))}
    places = np.array([first[text] for text in said]) if len(first) > 1 else np.arange(len(said))
    number = int(places.max()) + 1
    folds = np.arange(number) % min(count, number)
    np.random.default_rng(seed).shuffle(folds)
    return folds[places]
