"""How well each candidate plan answers to the wording of a question (METHODS, section 9, point 4).

A few features, each in about [0, 1], are weighed by constants and summed; a softmax over the sums, of all mentions and
plans together, gives the probabilities. The constants are round numbers that say what counts for more, not a fit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from search.stages.plan.align import Table, in_order
from search.stages.plan.enumerate import Candidate
from search.stages.plan.language import SHARING_WORDS
from search.stages.plan.lexicon import Lexicon
from search.stages.plan.mentions import Named
from search.stages.plan.reading import Question, Reading
from search.stages.plan.shape import Shape
from search.stages.plan.target import answer_types, spoken
from search.stages.plan.vectors import TextVectors
from search.stages.plan.wording import Wording

Scores = NDArray[np.float64]
_UNMARKED = 0.5


@dataclass(frozen=True, slots=True)
class Weights:
    """What each feature counts for.

    `cosine`: masked question and wording of the plan, above the mean of all plans. `hops`: share of hops that some word
    of the question speaks of.
    `words`: share of the question's relation and type words that the plan uses. `order`: hops and types met in the
    order of the question, read outward from the mention. `target`: answer type. `sharing`: a walk there and back over
    one relation where the question says `same`, `share`, `also`. `surplus`: words that speak of a relation more often
    than the plan has it. `missed`: names that the plan leaves out. `plain`: a name
    that is more likely a word for the schema. `size`: a tenfold larger result. `text`: the sum of the plan without
    hops.
    """

    cosine: float = 15.0
    hops: float = 3.0
    words: float = 3.0
    order: float = 3.0
    target: float = 2.0
    sharing: float = 1.0
    surplus: float = -2.0
    missed: float = -4.0
    plain: float = -3.0
    size: float = -0.3
    text: float = 5.0


EVIDENCE: dict[str, Weights] = {
    "both": Weights(),
    "words": Weights(cosine=0.0),
    "wording": Weights(
        hops=0.0, words=0.0, order=0.0, target=0.0, sharing=0.0, surplus=0.0, missed=0.0, plain=0.0, size=0.0, text=0.0
    ),
}
"""What plans are scored by: single words and the wording as a whole, or one of the two."""


@dataclass(frozen=True)
class Scorer:
    """Scores candidates. `encoded` is the most plans whose wording is held against the question by the encoder."""

    shape: Shape
    lexicon: Lexicon
    wording: Wording
    vectors: TextVectors
    weights: Weights = Weights()
    encoded: int = 48

    def best(self, question: Question, candidates: Sequence[Candidate]) -> list[tuple[Candidate, float]]:
        """Return the candidates whose words fit best with their sums, best first, at most `encoded` of them."""
        if not candidates:
            return []
        groups = _by_mentions(candidates)
        self._learn([question.without(used) for used in groups])
        sums = np.zeros(len(candidates))
        for members in groups.values():
            sums[members] = self._spoken_for(question, [candidates[at] for at in members])
        order = np.argsort(-sums, kind="stable")[: self.encoded]
        chosen = [candidates[at] for at in order]
        total = sums[order]
        if self.weights.cosine:
            total = total + self.weights.cosine * self._cosines(question, chosen)
        ranked = np.argsort(-total, kind="stable")
        return [(chosen[at], float(total[at])) for at in ranked]

    def _learn(self, readings: Iterable[Reading]) -> None:
        """Compute the vectors of all new words of a question in one batch."""
        texts = [text for reading in readings for text in [*(word.text for word in reading.content), *spoken(reading)]]
        self.vectors.learn(self.lexicon.unknown(texts))

    def _plain(self, used: Sequence[Named]) -> float:
        """Return how surely one of these names only speaks of the schema."""
        return max((self._only_speaks(name) for name in used), default=0.0)

    def _only_speaks(self, name: Named) -> float:
        """Return how surely a name, where it is a single unmarked word, is meant as a word for the schema (`film`)."""
        if name.words > 1 or name.marked:
            return 0.0
        return float(self.lexicon.of([name.mention.text.casefold()]).max(initial=0.0))

    def _missed(self, names: Sequence[Named], used: Sequence[int]) -> float:
        """Return the share of the names that neither are used nor share words with one that is.

        Names that the question's writing does not mark weigh half, and less the more they speak of the schema.
        """
        worth = [1.0 if name.marked else _UNMARKED * (1 - self._only_speaks(name)) for name in names]
        worth = [value if name.exact else 0.0 for value, name in zip(worth, names, strict=True)]
        left = [not any(name.overlaps(names[m]) for m in used) for name in names]
        total = sum(worth)
        return sum(value for value, out in zip(worth, left, strict=True) if out) / total if total else 0.0

    def _cosines(self, question: Question, candidates: Sequence[Candidate]) -> Scores:
        """Return the cosine of the question, mentions masked by the types they play, and each plan's wording.

        Less its mean over the plans: where cosines of unrelated texts lie differs from encoder to encoder.
        """
        asked = [
            question.masked([(b.start.mention, self.wording.types[b.path.start]) for b in candidate.branches])
            for candidate in candidates
        ]
        told = [self.wording.plan(candidate.paths) for candidate in candidates]
        # Every later stage asks for the question's own vector: in this batch it costs a fraction of a call.
        self.vectors.learn([question.text, *asked, *told])
        cosines: Scores = np.einsum("ij,ij->i", self.vectors.of(asked), self.vectors.of(told)).astype(np.float64)
        cosines -= cosines.mean()
        return cosines

    def _spoken_for(self, question: Question, candidates: Sequence[Candidate]) -> Scores:
        """Return the weighted sum of every feature but the cosine, for candidates that use the same mentions."""
        weights, names = self.weights, question.names
        reading = question.without(candidates[0].mentions)
        affinities = self.lexicon.of([word.text for word in reading.content])
        types = answer_types(reading, self.lexicon)
        sharing = any(word.text in SHARING_WORDS for word in reading.words)
        table = Table.of([candidate.paths for candidate in candidates], self.shape, sharing)
        hops, surplus = table.hops(affinities, self.lexicon.relations)
        ends = np.array([candidate.paths[0].end for candidate in candidates])
        sizes = np.log10(1 + np.array([candidate.size for candidate in candidates]))
        sums: Scores = (
            weights.hops * hops
            + weights.surplus * surplus
            + weights.words * table.words(affinities)
            + weights.order * in_order(reading, names, candidates, affinities, self.shape)
            + weights.target * types[ends]
            + weights.sharing * np.where(sharing, table.back * 1.3 - 0.3, -table.back)
            + weights.size * sizes
            + weights.missed * self._missed(names, candidates[0].mentions)
            + weights.plain * self._plain([names[m] for m in candidates[0].mentions])
        )
        return sums


def _by_mentions(candidates: Sequence[Candidate]) -> dict[tuple[int, ...], list[int]]:
    groups: dict[tuple[int, ...], list[int]] = {}
    for at, candidate in enumerate(candidates):
        groups.setdefault(candidate.mentions, []).append(at)
    return groups
