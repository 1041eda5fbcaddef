"""Signals of the words: which part of the question's words, by rarity, a candidate and its neighbours have."""

from __future__ import annotations

import numpy as np

from search.domain.question import Question
from search.interfaces import Keys, TextIndex
from search.signals.neighbours import Near
from search.signals.table import Column


def word_signals(question: Question, keys: Keys, around: Near, text: TextIndex) -> dict[str, Column]:
    """Return the share of the question's words in the document, in the neighbours' documents, and in both together."""
    every, places = np.unique(np.concatenate([keys, around.far]), return_inverse=True)
    rarity, scores = text.word_scores(question.text, every)
    if not len(rarity):
        return {}
    total = float(rarity.sum())
    # Rows are nodes, so that the neighbours of a node lie side by side.
    held, own = (scores > 0).T, scores.sum(axis=0)
    mine, theirs = places[: len(keys)], places[len(keys) :]
    covered = held[mine]
    near = around.highest(held[theirs])
    return {
        "words:score": own[mine],
        "words:best score at 1 hop": around.highest(own[theirs]),
        "words:covered": (covered @ rarity / total).astype(np.float32),
        "words:covered by neighbours": (near @ rarity / total).astype(np.float32),
        "words:covered by both": ((covered | near) @ rarity / total).astype(np.float32),
    }
