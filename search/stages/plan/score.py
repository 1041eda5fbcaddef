"""How well each candidate plan answers to the wording of a question (METHODS, section 9, point 4).

A few features, each in about [0, 1], are weighed by constants and summed; a softmax over the sums, of all mentions and
plans together, gives the probabilities. The constants are round numbers that say what counts for more, not a fit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from search.stages.plan.enumerate import Branch, Candidate
from search.stages.plan.language import SHARING_WORDS
from search.stages.plan.lexicon import Affinities, Lexicon
from search.stages.plan.mentions import Named
from search.stages.plan.reading import Reading, masked
from search.stages.plan.shape import Metapath
from search.stages.plan.target import answer_types, spoken
from search.stages.plan.vectors import TextVectors
from search.stages.plan.wording import Wording

Scores = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Weights:
    """What each feature counts for.

    `cosine`: masked question and wording of the plan. `hops`: share of hops that some word of the question speaks of.
    `words`: share of the question's relation and type words that the plan uses. `order`: hops and types met in the
    order of the question, read outward from the mention. `target`: answer type. `sharing`: a walk there and back over
    one relation where the question says `same`, `share`, `also`. `surplus`: words that speak of a relation more often
    than the plan has it. `missed`: names marked by the question's writing that the plan leaves out. `size`: a tenfold
    larger result. `text`: the sum of the plan without hops.
    """

    cosine: float = 25.0
    hops: float = 3.0
    words: float = 3.0
    order: float = 3.0
    target: float = 2.0
    sharing: float = 1.0
    surplus: float = -1.0
    missed: float = -3.0
    size: float = -0.3
    text: float = 12.0


@dataclass(frozen=True)
class Scorer:
    """Scores candidates. `encoded` is the most plans whose wording is held against the question by the encoder."""

    lexicon: Lexicon
    wording: Wording
    vectors: TextVectors
    weights: Weights = Weights()
    encoded: int = 48

    def best(self, text: str, names: Sequence[Named], candidates: Sequence[Candidate]) -> list[tuple[Candidate, float]]:
        """Return the candidates whose words fit best with their sums, best first, at most `encoded` of them."""
        if not candidates:
            return []
        groups = _by_mentions(candidates)
        readings = {used: Reading.of(text, [names[m] for m in used]) for used in groups}
        self._learn(readings.values())
        sums = np.zeros(len(candidates))
        for used, members in groups.items():
            sums[members] = self._spoken_for(readings[used], names, [candidates[at] for at in members])
        order = np.argsort(-sums, kind="stable")[: self.encoded]
        chosen = [candidates[at] for at in order]
        total = sums[order] + self.weights.cosine * self._cosines(text, names, chosen)
        ranked = np.argsort(-total, kind="stable")
        return [(chosen[at], float(total[at])) for at in ranked]

    def _learn(self, readings: Iterable[Reading]) -> None:
        """Compute the vectors of all new words of a question in one batch."""
        texts = [text for reading in readings for text in [*(word.text for word in reading.content), *spoken(reading)]]
        self.vectors.learn(self.lexicon.unknown(texts))

    def _cosines(self, text: str, names: Sequence[Named], candidates: Sequence[Candidate]) -> Scores:
        """Return the cosine of the question, mentions masked by the types they play, and each plan's wording."""
        asked = [
            masked(text, [(names[b.start.mention], self.wording.types[b.path.start]) for b in candidate.branches])
            for candidate in candidates
        ]
        told = [self.wording.plan(candidate.paths) for candidate in candidates]
        self.vectors.learn([*asked, *told])
        cosines: Scores = np.einsum("ij,ij->i", self.vectors.of(asked), self.vectors.of(told)).astype(np.float64)
        return cosines

    def _spoken_for(self, reading: Reading, names: Sequence[Named], candidates: Sequence[Candidate]) -> Scores:
        """Return the weighted sum of every feature but the cosine, for candidates that use the same mentions."""
        weights = self.weights
        affinities = self.lexicon.of([word.text for word in reading.content])
        types = answer_types(reading, self.lexicon)
        sharing = any(word.text in SHARING_WORDS for word in reading.words)
        order = _Order(reading, names, affinities, self.lexicon.relations)
        missed = weights.missed * _missed(names, candidates[0].mentions)
        strengths = affinities.max(axis=1, initial=0.0)
        ranked = -np.sort(-affinities, axis=0)
        sums = np.zeros(len(candidates))
        for at, candidate in enumerate(candidates):
            hops, surplus = _hops(candidate.paths, ranked)
            sums[at] = (
                weights.hops * hops
                + weights.surplus * surplus
                + weights.words * self._words(candidate.paths, affinities, strengths)
                + weights.order * order.of(candidate.branches)
                + weights.target * types[candidate.paths[0].end]
                + weights.sharing * _sharing(candidate.paths, sharing)
                + weights.size * np.log10(1 + len(candidate.found))
                + missed
            )
        return sums

    def _words(self, paths: Sequence[Metapath], affinities: Affinities, strengths: Scores) -> float:
        """Return the share of what the question's words speak of that the plan has."""
        explained = affinities[:, elements(paths, self.lexicon.relations)].max(axis=1, initial=0.0)
        return float((explained.sum() + 0.5) / (strengths.sum() + 0.5))


def elements(paths: Sequence[Metapath], relations: int) -> list[int]:
    """Return the columns of a lexicon's rows that a plan speaks of: its relations and its node types."""
    columns: dict[int, None] = {}
    for path in paths:
        columns[relations + path.start] = None
        for step in path.steps:
            columns[step.relation] = None
            columns[relations + step.to_type] = None
    return list(columns)


def _by_mentions(candidates: Sequence[Candidate]) -> dict[tuple[int, ...], list[int]]:
    order = sorted(range(len(candidates)), key=lambda at: candidates[at].mentions)
    return {used: list(members) for used, members in groupby(order, key=lambda at: candidates[at].mentions)}


def _hops(paths: Sequence[Metapath], ranked: Affinities) -> tuple[float, float]:
    """Return the share of hops with a word of their own, and the affinity of words that were left without a hop."""
    counts = Counter(step.relation for path in paths for step in path.steps)
    spoken_for = sum(float(ranked[:times, relation].sum()) for relation, times in counts.items())
    left = sum(float(ranked[times:, relation].sum()) for relation, times in counts.items())
    return spoken_for / sum(counts.values()), left


def _sharing(paths: Sequence[Metapath], asked: bool) -> float:
    back = any(
        one.relation == other.relation and one.direction != other.direction
        for path in paths
        for one, other in zip(path.steps, path.steps[1:], strict=False)
    )
    if asked:
        return 1.0 if back else -0.3
    return -1.0 if back else 0.0


def _missed(names: Sequence[Named], used: Sequence[int]) -> float:
    """Return the share of the marked names that neither are used nor share words with one that is."""
    marked = [name for name in names if name.marked and name.exact]
    if not marked:
        return 0.0
    left = [name for name in marked if not any(name.overlaps(names[m]) for m in used)]
    return len(left) / len(marked)


class _Order:
    """How well a walk follows the question read outward from its mention: an alignment of hops and words in order."""

    def __init__(self, reading: Reading, names: Sequence[Named], affinities: Affinities, relations: int) -> None:
        self._reading = reading
        self._names = names
        self._affinities = affinities
        self._relations = relations
        self._known: dict[tuple[int, Metapath], float] = {}

    def of(self, branches: Sequence[Branch]) -> float:
        """Return the mean over the hops of all branches, 1 when each hop and each type has its word in order."""
        hops = [len(branch.path.steps) for branch in branches]
        aligned = (self._aligned(branch) * count for branch, count in zip(branches, hops, strict=True))
        return sum(aligned) / sum(hops)

    def _aligned(self, branch: Branch) -> float:
        key = (branch.start.mention, branch.path)
        if key not in self._known:
            self._known[key] = self._align(branch)
        return self._known[key]

    def _align(self, branch: Branch) -> float:
        start = self._names[branch.start.mention].mention.start
        slots = [slot for step in branch.path.steps for slot in (step.relation, self._relations + step.to_type)]
        worth = np.array([1.0, 0.5] * len(branch.path.steps))
        gains = (self._affinities[self._reading.outward(start)][:, slots] * worth).tolist()
        row = [0.0] * (len(slots) + 1)
        for gain in gains:
            above = row
            row = [0.0]
            for at, value in enumerate(gain):
                row.append(max(above[at + 1], row[at], above[at] + value))
        return row[-1] / float(worth.sum())
