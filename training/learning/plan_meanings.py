"""The meanings that the grammar tries for training questions: their scores, their elements, and what they find."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from search.domain.trace import Limit
from search.interfaces import Keys
from search.neural.plan_scorer import PairWeights
from search.stages.plan.read import Reader
from search.stages.plan.sparse import WORDS, Elements, LearnedScorer, Words

RIGHT = 0.5
"""Least F1 from which the nearest meanings are taken for right where none finds just the answers."""
SEEN = 3
"""Questions that a pair of an element and a word must occur in, so that a weight for it is learned."""
_WORD = (1 << 32) - 1
"""The bits of a pair's number that are the word's; the others are the element's."""
Values = NDArray[np.float64]
Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Meanings:
    """The tried meanings of one question: the sum of the grammar's features, shape (meanings,), and the F1 of each.

    `same` numbers those that find the same, whose probabilities are added. `parts` are the different pairs of an
    element and words; row i of `of` has the parts of meaning i as places.
    """

    scores: Values
    fit: Values
    same: Places
    parts: Sequence[tuple[str, Words]]
    of: Sequence[Sequence[int]]

    @property
    def right(self) -> NDArray[np.bool_]:
        """Which meanings are taken for right: the nearest ones, if they are near enough."""
        best = float(self.fit.max(initial=0.0))
        return self.fit >= best if best >= RIGHT else np.zeros(len(self.fit), dtype=bool)

    @property
    def teaches(self) -> bool:
        """Whether anything can be learned: some meanings are right and others are not."""
        right = self.right
        return bool(right.any() and not right.all())


def f1(found: Keys, answers: Keys) -> float:
    """Return the F1 of the found keys against the answers; both are sorted and without duplicates."""
    right = len(np.intersect1d(found, answers, assume_unique=True))
    return 2 * right / (len(found) + len(answers)) if right else 0.0


@dataclass(frozen=True, eq=False)
class Collector:
    """Reads questions as searches do. `tried` is the number of meanings that are executed for each."""

    reader: Reader
    tried: int

    def collect(
        self, texts: Sequence[str], answers: Sequence[Keys], tick: Callable[[int], None], limit: Limit
    ) -> list[Meanings]:
        """Return the meanings of each question. `tick` is called with the number of questions that are done.

        Raises DeadlineExceeded and SearchCancelled.
        """
        elements = Elements(self.reader.knowledge.schema)
        reader = replace(self.reader, tried=self.tried, learned=LearnedScorer(PairWeights("", {}), elements))
        found = []
        for done, (text, own) in enumerate(zip(texts, answers, strict=True), 1):
            limit.check("training")
            found.append(_meanings(reader, elements, text, own, limit))
            tick(done)
        return found


def _meanings(reader: Reader, elements: Elements, text: str, answers: Keys, limit: Limit) -> Meanings:
    read = reader.read(text, limit)
    places: dict[tuple[str, Words], int] = {}
    of = []
    for one in read:
        said = one.derivation.extra[WORDS]
        of.append([places.setdefault((element, said), len(places)) for element in elements(one.asked)])
    groups: dict[object, int] = {}
    same = [groups.setdefault(one.finds, len(groups)) for one in read]
    return Meanings(
        np.array([one.score for one in read]), np.array([f1(one.found, answers) for one in read]), np.array(same),
        list(places), of,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class PairTable:
    """The meanings of all questions as matrices.

    `weight` is how much each question counts, 0 for one that teaches nothing. Meanings of the same number in `same`
    find the same. The score of meaning i is `scores[i] + (of @ (parts @ weights))[i]`. `first` is the first meaning of
    each question and `first_part` its first part, each with the total at the end. `pairs` are the columns of `parts`:
    an element and a word. `in_question` says which pairs occur in which question, (questions, pairs).
    """

    scores: Values
    fit: Values
    right: NDArray[np.bool_]
    same: Places
    weight: Values
    first: Places
    first_part: Places
    of: csr_matrix
    parts: csr_matrix
    in_question: csr_matrix
    pairs: Sequence[tuple[str, str]]

    @classmethod
    def of_questions(cls, several: Sequence[Meanings], check: Callable[[], None] = lambda: None) -> PairTable:
        """Return the table of these questions; pairs that occur in fewer than `SEEN` of them are left out.

        `check` raises an exception if the run must stop.
        """
        elements, words = _Numbers(), _Numbers()
        own: list[Places] = []
        numbered: dict[Words, Places] = {}
        for one in several:
            check()
            for element, said in one.parts:
                if said not in numbered:
                    numbered[said] = np.array([words(word) for word in said], dtype=np.int64)
                own.append(elements(element) << 32 | numbered[said])
        part_of = np.repeat(np.arange(len(several)), [len(one.parts) for one in several])
        row = np.repeat(np.arange(len(own)), [len(one) for one in own])
        known, column = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *own]), return_inverse=True)
        seen = _ones(part_of[row], column, (len(several), len(known)))
        kept = np.flatnonzero(np.diff(seen.tocsc().indptr) >= SEEN)
        parts = _ones(row, column, (len(own), len(known))).tocsc()[:, kept].tocsr()
        first_part = np.append(0, np.cumsum([len(one.parts) for one in several]))
        first = np.append(0, np.cumsum([len(one.fit) for one in several]))
        near = [(first[q] + i, first_part[q] + p)
                for q, one in enumerate(several) for i, mine in enumerate(one.of) for p in mine]  # fmt: skip
        pairs = np.array(near, dtype=np.int64).reshape(-1, 2)
        pairs_of = zip(elements.of(known[kept] >> 32), words.of(known[kept] & _WORD), strict=True)
        return cls(
            np.concatenate([one.scores for one in several]), np.concatenate([one.fit for one in several]),
            np.concatenate([one.right for one in several]),
            np.concatenate([at + one.same for at, one in zip(first.tolist(), several, strict=False)]),
            np.array([float(one.fit.max(initial=0.0)) if one.teaches else 0.0 for one in several]),
            first, first_part, _ones(pairs[:, 0], pairs[:, 1], (int(first[-1]), len(own))), parts,
            seen.tocsc()[:, kept].tocsr(),
            list(pairs_of),
        )  # fmt: skip


class _Numbers:
    """Numbers names in the order in which they are met."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}

    def __call__(self, name: str) -> int:
        return self._places.setdefault(name, len(self._places))

    def of(self, numbers: Places) -> list[str]:
        """Return the names of these numbers."""
        names = list(self._places)
        return [names[number] for number in numbers.tolist()]


def _ones(rows: Places, columns: Places, shape: tuple[int, int]) -> csr_matrix:
    """Return a matrix with ones at these places."""
    found = csr_matrix((np.ones(len(rows), dtype=np.float32), (rows, columns)), shape=shape)
    found.data[:] = 1.0
    return found
