"""Gathers all signals of a question's candidates, for training and for searches alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from search.domain.conditions import CheckedConditions
from search.domain.fusion import Fusion
from search.domain.linking import LinkedPlan
from search.domain.question import Question
from search.interfaces import Adjacency, MentionIndex, TextIndex
from search.language.entities import entities
from search.signals.kind_of_node import node_signals
from search.signals.lists import candidates, heads, list_signals
from search.signals.neighbours import near, neighbour_signals
from search.signals.plans import plan_signals
from search.signals.table import SignalTable
from search.signals.words import word_signals

DEPTH = 100
"""Usual number of candidates that each list contributes."""


@dataclass(frozen=True)
class Signals:
    """Gathers the signals of the candidates: of the union of the first `depth` of every list.

    Signals that are learned, such as the probability of the type, are added by whoever has the model.
    """

    adjacency: Adjacency
    mentions: MentionIndex
    text: TextIndex
    depth: int = DEPTH

    def __call__(
        self, question: Question, fusion: Fusion, plans: Sequence[LinkedPlan], checked: CheckedConditions
    ) -> SignalTable:
        """Return the signals; the arguments are those of a reranker. The table is empty if no list has a candidate."""
        found = heads(fusion, self.depth, self.adjacency)
        keys = candidates(found)
        if not len(keys):
            return SignalTable(keys, {})
        around = near(keys, self.adjacency)
        named = entities(question.text, self.mentions, self.adjacency.schema)
        columns = list_signals(found, keys) | plan_signals(fusion, plans, checked, keys)
        columns |= neighbour_signals(named, found, keys, around, self.adjacency)
        columns |= word_signals(question, keys, around, self.text) | node_signals(keys, self.adjacency)
        return SignalTable(keys, columns)
