"""Features of each candidate plan: one row of numbers a plan, most of them in [0, 1].

Without a learned scorer, constants weigh the features `SPOKEN` (`score`). A learned scorer weighs all (`learned`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from search.language.names import Named
from search.language.question import AnalysedQuestion, RemainingWords
from search.stages.plan.enumeration.enumerate import PlanCandidate
from search.stages.plan.knowledge.lexicon import Affinities, Lexicon
from search.stages.plan.knowledge.shape import Shape
from search.stages.plan.knowledge.target import (
    answer_types,
    asked_agent,
    barred_types,
    kinds_asked,
    kinds_before,
    says_kind,
    spoken,
)
from search.stages.plan.scoring.align import Table
from search.stages.plan.scoring.order import in_order
from search.stages.plan.scoring.said import counted_once, said_to_be_shared, types_of_names

Matrix = NDArray[np.float64]

SPOKEN = ("hops", "words", "order", "target", "sharing", "surplus", "missed", "plain", "size")
"""Features that compare a plan with the words of the question.

`hops`: share of the plan's hops that have a word in the question. `words`: share of the question's relation and type
words that the plan uses. `order`: how well hops and types follow the order of the question, read outward from the
mention. `target`: how well the answer type fits; less than 0 if it cannot be what is asked for. `sharing`: positive
where the plan walks one relation there and back and the question says `same`, `share` or `also` of it; negative where
only one of the two is true, unless the question has a word for each of both hops (`written by the writer of`).
`surplus`: affinity of words for a relation beyond the hops that the plan has of it. `missed`: share of the names that
the plan leaves out.
`plain`: how surely a name of the plan is only a word for the schema; one that describes the head of a bare phrase
and is used with it (*winter boots*) is none. `size`: decimal logarithm of the number of
results."""
NAMING = ("mentions", "length", "quoted", "capitalised", "exact", "ordinary", "spelling", "ambiguity")
"""Features of the mentions that a plan starts from, each as the mean over these mentions.

`mentions`: their number divided by 3. `length`: words of the name divided by `_LONG`, at most 1. `quoted` and
`capitalised`: how the question writes the name. `exact`: whether its case agrees with a stored name. `ordinary`:
whether all its words are ordinary words. `spelling`: similarity of the spelling. `ambiguity`: decimal logarithm of the
number of nodes with this name."""
SHAPE = ("one hop", "two hops", "three hops", "open")
"""Features of the size of a plan: the hops of all branches together, and whether a branch was counted, not walked."""
FEATURES = (*SPOKEN, *NAMING, *SHAPE)

_BARRED = 2.0
"""What a type that cannot be asked for takes from the fit of the answer type."""
_UNSAID = 1.5
"""Fit of the type that a base describes most, where no word says what is asked for."""
_UNMARKED = 0.5
_UNLIKE = 0.5
"""Least affinity of a word for the schema; a word at or below it names nothing of the schema.

`asthma` is like the type disease, but does not name it.
"""
_LONG = 5.0
"""Number of words from which a name counts as long."""


@dataclass(frozen=True)
class Features:
    """Computes the features of candidate plans with the lexicon of a schema.

    `described` has about how many words of prose the nodes of each type have (knowledge.described), shape (types,).
    """

    shape: Shape
    lexicon: Lexicon
    described: Affinities

    def of(self, question: AnalysedQuestion, candidates: Sequence[PlanCandidate]) -> Matrix:
        """Return one row a candidate, shape (len(candidates), len(FEATURES)), in the order of `FEATURES`."""
        named = np.zeros((len(candidates), len(NAMING)))
        for used, members in _by_mentions(candidates).items():
            named[members] = _naming([question.names[m] for m in used])
        return np.concatenate((self.spoken(question, candidates), named, _shapes(candidates)), axis=1)

    def spoken(self, question: AnalysedQuestion, candidates: Sequence[PlanCandidate]) -> Matrix:
        """Return the columns `SPOKEN` alone, shape (len(candidates), len(SPOKEN))."""
        rows = np.zeros((len(candidates), len(SPOKEN)))
        groups = _by_mentions(candidates)
        self.learn([question.without(used) for used in groups])
        speaks = [only_speaks(name, self.lexicon) for name in question.names]
        for used, members in groups.items():
            rows[members] = self._spoken_for(question, used, [candidates[at] for at in members], speaks)
        return rows

    def learn(self, readings: Iterable[RemainingWords]) -> None:
        """Compute the vectors of all new words of these readings in one batch; `of` calls this for one question."""
        texts = [text for reading in readings for text in [*(word.text for word in reading.content), *spoken(reading)]]
        self.lexicon.vectors.learn(self.lexicon.unknown(texts))

    def _spoken_for(
        self,
        question: AnalysedQuestion,
        used: tuple[int, ...],
        candidates: Sequence[PlanCandidate],
        speaks: Sequence[float],
    ) -> Matrix:
        """Return the columns `SPOKEN` for candidates that use the same mentions; `speaks`: `only_speaks` a name."""
        names, reading = question.names, question.without(used)
        affinities: Affinities = self.lexicon.of([word.text for word in reading.content])
        kinds = self.lexicon.of(kinds_asked(reading, self.lexicon))
        counted = np.concatenate((counted_once(reading, affinities, self.lexicon), kinds))
        beside = types_of_names(question, reading, candidates, self.lexicon) | kinds_before(question, self.lexicon)
        types = answer_types(reading, self.lexicon, beside)
        if not types.any() and not says_kind(reading):
            types = _UNSAID * self.described / max(1.0, self.described.max(initial=0.0))
        types = types - _BARRED * barred_types(reading, self.lexicon)
        table = Table.of([candidate.paths for candidate in candidates], self.shape, reading.sharing)
        hops, surplus = table.hops(counted, self.lexicon.relations, asked_agent(reading, self.lexicon))
        columns = (
            hops,
            table.words(np.concatenate((affinities, kinds))),
            in_order(reading, names, candidates, affinities, self.shape),
            types[[candidate.paths[0].end for candidate in candidates]],
            table.returns(counted, self.lexicon.relations, said_to_be_shared(reading, affinities)),
            surplus,
            missed_share(question, used, speaks),
            max((speaks[m] for m in used if len(used) == 1 or not question.describes(m)), default=0.0),
            np.log10(1 + np.array([candidate.size for candidate in candidates])),
        )
        return np.stack([np.broadcast_to(column, len(candidates)) for column in columns], axis=1)


def only_speaks(name: Named, lexicon: Lexicon) -> float:
    """Return how surely a name is only a word for the schema (`film`), in [0, 1].

    It is 0 for a name of several words, for a name that the question marks, and for one that no word of the schema says
    by its letters or as a synonym.
    """
    if name.words > 1 or name.marked:
        return 0.0
    # A name is often like its own type (*leather* and material), which it does not say.
    nearest = lexicon.letters(name.mention.text.casefold())
    return max(0.0, (nearest - _UNLIKE) / (1 - _UNLIKE))


def missed_share(question: AnalysedQuestion, used: Sequence[int], speaks: Sequence[float]) -> float:
    """Return the share of the names to start from that a plan leaves out, in [0, 1], by their weight.

    A name that shares words with a used name is not left out. Only exact names count. A name that the question does
    not mark weighs half at most, and less the more surely it is a word for the schema: `speaks` has `only_speaks` of
    each name of the question.
    """
    starts = [at for at, role in enumerate(question.roles) if role == "start"]
    names = [question.names[at] for at in starts]
    taken = [question.names[m] for m in used]
    worth = [1.0 if question.names[at].marked else _UNMARKED * (1 - speaks[at]) for at in starts]
    worth = [value if name.exact else 0.0 for value, name in zip(worth, names, strict=True)]
    left = [not any(name.overlaps(other) for other in taken) for name in names]
    total = sum(worth)
    return sum(value for value, out in zip(worth, left, strict=True) if out) / total if total else 0.0


def _naming(used: Sequence[Named]) -> NDArray[np.float64]:
    """Return the columns `NAMING` of plans that start from these names, shape (len(NAMING),)."""
    rows = [
        (
            len(used) / 3,
            min(name.words / _LONG, 1.0),
            name.quoted,
            name.capitalised,
            name.exact,
            name.ordinary,
            name.mention.similarity,
            np.log10(len(name.mention.keys)),
        )
        for name in used
    ]
    mean: NDArray[np.float64] = np.array(rows, dtype=np.float64).mean(axis=0)
    return mean


def _shapes(candidates: Sequence[PlanCandidate]) -> Matrix:
    """Return the columns `SHAPE`, one row a candidate."""
    hops = np.array([sum(len(path.steps) for path in candidate.paths) for candidate in candidates])
    walked = np.array([all(branch.walked for branch in candidate.branches) for candidate in candidates], dtype=bool)
    return np.stack((hops == 1, hops == 2, hops >= 3, ~walked), axis=1).astype(np.float64)


def _by_mentions(candidates: Sequence[PlanCandidate]) -> dict[tuple[int, ...], list[int]]:
    groups: dict[tuple[int, ...], list[int]] = {}
    for at, candidate in enumerate(candidates):
        groups.setdefault(candidate.mentions, []).append(at)
    return groups
