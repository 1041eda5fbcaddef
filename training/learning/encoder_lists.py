"""The questions that an encoder learns from, with their hard negatives, and the texts of nodes that it embeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest

import numpy as np
from numpy.typing import NDArray

from search.domain.run_context import RunContext
from search.domain.trace import Limit
from search.domain.vector_kinds import WHOLE
from search.interfaces import Keys, NodeStore
from search.text import vector_texts
from training.data.examples import Example
from training.data.hashes import normalised
from training.learning.retriever_settings import RetrieverSettings
from training.learning.task import LearningTools, TooFew

RETRIEVED = 100
"""An answer counts as retrieved if it is among so many first results by words or by vectors."""
MOST_NODES = 50_000
"""Nodes whose texts stay in memory."""
MINING = "questions"


@dataclass(frozen=True)
class EncoderAsked:
    """A question with the keys of its answers, and the first results that are none, best first.

    `retrieved` says whether an answer is among the first `RETRIEVED` results by words or by vectors.
    """

    id: str
    text: str
    answers: tuple[int, ...]
    negatives: tuple[int, ...]
    retrieved: bool

    def drawn(self, hard: int, chance: np.random.Generator) -> tuple[int, ...]:
        """Return one answer, and up to `hard` of the negatives behind it."""
        answer = self.answers[int(chance.integers(len(self.answers)))]
        places = chance.permutation(len(self.negatives))[:hard].tolist()
        return (answer, *(self.negatives[at] for at in places))


@dataclass
class Texts:
    """Reads what indexing embeds of nodes, by kind of vectors; those of up to `MOST_NODES` nodes stay in memory."""

    nodes: NodeStore
    kinds: tuple[str, ...]
    _known: dict[int, tuple[str, ...]] = field(default_factory=dict)

    def of(self, keys: Sequence[int], limit: Limit) -> list[tuple[str, ...]]:
        """Return for each node one text for each kind, empty where the node has none."""
        if len(self._known) > MOST_NODES:
            self._known.clear()
        if missing := [key for key in dict.fromkeys(keys) if key not in self._known]:
            for node in self.nodes.nodes(missing, limit):
                near = self.nodes.neighbour_names(node.key)
                self._known[node.key] = tuple("".join(vector_texts(kind, node, near)[:1]) for kind in self.kinds)
        return [self._known[key] for key in keys]


def asked_of(
    examples: Sequence[Example], answers: Sequence[Keys], tools: LearningTools, mined: int, run: RunContext,
    done: int = 0, total: int = 0,
) -> list[EncoderAsked]:  # fmt: skip
    """Return the questions that have an answer whose type may be one, each with its hard negatives.

    Negatives come from the questions' own searches by words and by vectors. `done` of `total` questions count as read
    in the progress.
    """
    labels = [label.name for label in tools.schema.node_types if label.answerable]
    answerable = np.array([label.answerable for label in tools.schema.node_types], dtype=bool)
    found = []
    for at, (example, own) in enumerate(zip(examples, answers, strict=True)):
        run.report(MINING, done + at, total or len(examples))
        right = tuple(int(key) for key in own[answerable[tools.adjacency.types[own]]])
        if right:
            words = [one.key for one in tools.text.search(example.text, RETRIEVED, labels)]
            vector = tools.encoder.encode([example.text])[0]
            near = [one.key for one in tools.vectors.nearest(WHOLE, vector, RETRIEVED, labels, run.limit)]
            others = dict.fromkeys(key for key in chain(*zip_longest(near, words)) if key is not None)
            wrong = tuple(key for key in others if key not in right)[:mined]
            found.append(EncoderAsked(example.id, example.text, right, wrong, not others.keys().isdisjoint(right)))
    return found


def refuse_unretrieved(found: int, questions: int, where: str) -> None:
    """Raise TooFew if no question has an answer among its first results; `where` says where was looked."""
    if questions and not found:
        raise TooFew(
            f"Of {questions:,} questions, 0 have an answer among {where}. Nothing can be learned from them: look "
            "whether the answers belong to these questions, and to this knowledge base."
        )


def held_out(questions: Sequence[EncoderAsked], settings: RetrieverSettings) -> NDArray[np.bool_]:
    """Return for each question whether it is held out; questions with the same words are on the same side."""
    said = [normalised(one.text) or one.text for one in questions]
    distinct = list(dict.fromkeys(said))
    order = np.random.default_rng([settings.seed, 1]).permutation(len(distinct))
    out = {distinct[at] for at in order[: max(1, round(settings.held_out * len(distinct)))]}
    return np.array([text in out for text in said], dtype=np.bool_)


def pool_of(questions: Sequence[EncoderAsked], tools: LearningTools, settings: RetrieverSettings) -> list[int]:
    """Return the nodes among which the answers of held-out questions are looked for, sorted.

    They are the questions' answers and hard negatives, and nodes drawn at random up to `measured_nodes`.
    """
    answerable = np.array([label.answerable for label in tools.schema.node_types], dtype=bool)
    every = np.flatnonzero(answerable[tools.adjacency.types])
    near = {key for one in questions for key in (*one.answers, *one.negatives)}
    room = min(len(every), max(0, settings.measured_nodes - len(near)))
    drawn = np.random.default_rng([settings.seed, 4]).choice(every, room, replace=False)
    return sorted({*near, *drawn.tolist()})
