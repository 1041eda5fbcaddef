"""The candidates of training questions, as searches hand them to their reranker, and the documents that it reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from search.domain.run_context import RunContext
from search.domain.trace import Limit
from search.interfaces import Keys, NodeStore
from search.stages.rerank import read_documents
from search.text import DocumentForm
from training.data.hashes import normalised
from training.learning.reranker_settings import RerankerSettings
from training.learning.task import FoundOfTask, LearningTools, Material, TooFew

FEWEST = RerankerSettings.FEWEST
"""Fewest questions with an answer and a negative among their candidates that a training accepts."""
FEW = 100
"""Below this number of such questions, a warning says that little can be learned."""
MOST_TEXTS = 20_000
"""Documents that stay in memory."""


@dataclass(frozen=True)
class CandidateList:
    """A question's first candidates in the order of the search, as keys.

    `positives` are the answers among them, `negatives` the first others. `answers` are all answers, found or not.
    """

    id: str
    text: str
    head: tuple[int, ...]
    positives: tuple[int, ...]
    negatives: tuple[int, ...]
    answers: tuple[int, ...]

    @property
    def teaches(self) -> bool:
        """Whether the list has an answer and something to compare it with."""
        return bool(self.positives and self.negatives)

    def drawn(self, group: int, chance: np.random.Generator) -> tuple[int, ...]:
        """Return one positive, and up to `group` - 1 of the negatives behind it."""
        positive = self.positives[int(chance.integers(len(self.positives)))]
        count = min(group - 1, len(self.negatives))
        return (positive, *(self.negatives[at] for at in chance.permutation(len(self.negatives))[:count].tolist()))


@dataclass
class Documents:
    """Reads the documents of nodes; up to `MOST_TEXTS` stay in memory."""

    nodes: NodeStore
    form: DocumentForm
    _texts: dict[int, str] = field(default_factory=dict)

    def of(self, keys: Sequence[int], limit: Limit) -> list[str]:
        """Return the documents of nodes, in the order of the keys."""
        if len(self._texts) > MOST_TEXTS:
            self._texts.clear()
        missing = [key for key in dict.fromkeys(keys) if key not in self._texts]
        if missing:
            self._texts |= zip(missing, read_documents(self.nodes, missing, self.form, limit), strict=True)
        return [self._texts[key] for key in keys]


@dataclass(frozen=True)
class ReadKeys:
    """Keeps the first candidates of a search (task.Reader)."""

    depth: int

    def __call__(self, found: FoundOfTask, tools: LearningTools) -> Sequence[int]:
        """Return the keys of the first `depth` candidates."""
        return found.fusion.ranking.keys[: self.depth]


def collect(material: Material, settings: RerankerSettings, run: RunContext) -> list[CandidateList]:
    """Return the candidate lists of the questions that can be searched, in the order of the questions.

    Candidates are only those that the search found: an answer that it did not find would be told by its absence from
    every other list. Raises TooFew if there are too few lists to learn from.
    """
    finder = material.found
    lists: dict[int, CandidateList] = {}
    for done, (place, keys) in enumerate(finder.read(finder.places, ReadKeys(settings.depth), run)):
        run.report("searches", done, len(finder.places))
        if keys is not None:
            example = material.examples[place]
            lists[place] = listed(example.id, example.text, keys, material.answers[place], settings.negatives)
    run.progress("searches", len(finder.places), len(finder.places))
    ordered = [lists[place] for place in sorted(lists)]
    refuse_few(ordered, len(material.examples), settings)
    return ordered


def listed(identifier: str, text: str, keys: Sequence[int], answers: Keys, negatives: int) -> CandidateList:
    """Return the candidate list of a question whose search found `keys`."""
    right = {int(key) for key in answers}
    return CandidateList(
        identifier, text, tuple(keys), tuple(key for key in keys if key in right),
        tuple(key for key in keys if key not in right)[:negatives], tuple(sorted(right)),
    )  # fmt: skip


def refuse_few(lists: Sequence[CandidateList], asked: int, settings: RerankerSettings) -> None:
    """Raise TooFew, with the numbers, unless enough lists hold an answer and something to compare it with."""
    teaching = sum(one.teaches for one in lists)
    if teaching >= FEWEST:
        return
    answers, found = sum(len(one.answers) for one in lists), sum(len(one.positives) for one in lists)
    raise TooFew(
        f"A reranker learns from questions whose search finds an answer; it takes {FEWEST} of them, and there are "
        f"{teaching}. Of {asked:,} questions, {len(lists):,} could be searched with models that have not seen them; "
        f"their first {settings.depth} candidates hold {found:,} of {answers:,} answers."
    )


def held_out(lists: Sequence[CandidateList], settings: RerankerSettings) -> NDArray[np.bool_]:
    """Return for each list whether it is held out; questions with the same words are on the same side."""
    said = [normalised(one.text) for one in lists]
    distinct = list(dict.fromkeys(said))
    order = np.random.default_rng([settings.seed, 1]).permutation(len(distinct))
    out = {distinct[at] for at in order[: max(1, round(settings.held_out * len(distinct)))]}
    return np.array([text in out for text in said])
