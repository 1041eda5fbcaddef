"""Grounds triplets with more and more candidates for each constant (AF-Retriever, algorithm 1, lines 5 to 10)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from search.domain.errors import DeadlineExceeded
from search.domain.options import option
from search.domain.question import Question
from search.domain.trace import Limit
from search.domain.triplets import TripletQuery
from search.interfaces import Adjacency, Keys
from search.interfaces.triplets import Grounding, SymbolCandidates
from search.stages.ground.fixpoint import fixed_point

STAGE = "ground"
_TIME = 0.5
"""Part of the remaining time that grounding may take: the answers must still be ranked and judged."""


def growth(most: int, rule: str = "power") -> Iterator[int]:
    """Yield the numbers of candidates per constant that are tried, from 1 up to `most`, each once.

    `power` is the printed rule l ← l^1.5 + 0.5 on real numbers, of which the nearest whole number is taken: 1, 2, 4, 9,
    26, 135 … The rule `factor` is that of the authors' program: l ← ⌊1.5 l + 0.5⌋, hence 1, 2, 3, 5, 8, 12, 18 … The
    last number is always `most`, as the figures for different `most` show that it was tried (table 19).
    """
    size, last = 1.0, 0
    while last < most:
        number = min(most, int(size + 0.5))
        if number > last:
            yield number
            last = number
        size = size**1.5 + 0.5 if rule == "power" else float(int(size * 1.5 + 0.5))


@dataclass(frozen=True)
class Ground:
    """Triplets and candidates → the nodes of each symbol, first with the best candidate of each constant.

    The number of candidates grows until there are enough answers, or until every constant has all its candidates. With
    more candidates every set can only grow, so the answers of the last round contain those of all rounds.
    """

    adjacency: Adjacency
    answers: int = option(20, "Number of answers (k) from which no more entities are tried.", low=1, high=1_000)
    growth: str = option(
        "power",
        "How the number l of entities for a name grows: l^1.5 + 0.5 as printed, or 1.5 l + 0.5 as in the program.",
        choices=("power", "factor"),
    )

    def __call__(
        self, question: Question, query: TripletQuery, candidates: SymbolCandidates, labels: Sequence[str], limit: Limit
    ) -> Grounding:
        """Return the sets of the last round. If time runs out, they are those of the round before, and it is said."""
        limit.check(STAGE)
        wanted = max(self.answers, question.k)
        grounding = Grounding(query, candidates, wanted=wanted)
        if query.obstacle:
            return replace(grounding, detail=f"{query.obstacle} The documents alone answer.")
        own = limit.share(_TIME)
        names = [name for name in candidates.ranked if name in query.used]
        longest = max((len(candidates.ranked[name]) for name in names), default=0)
        try:
            for size in growth(max(1, longest), self.growth):
                grounding = self._grown(grounding, size, labels, own)
                if len(grounding.found_in) >= wanted:
                    break
        except DeadlineExceeded:
            limit.check(STAGE)
            reason = "The time for following the triplets ran out; what was found until then is used."
            return replace(grounding, detail=f"{_told(grounding)} {reason}".strip(), status="degraded")
        return replace(grounding, detail=_told(grounding))

    def _grown(self, before: Grounding, size: int, labels: Sequence[str], limit: Limit) -> Grounding:
        """Return the grounding with the first `size` candidates of each constant."""
        query, candidates = before.query, before.candidates
        used = set(query.used)
        sets: dict[str, Keys] = {name: keys for name, keys in candidates.allowed.items() if name in used}
        for name, ranked in candidates.ranked.items():
            if name in used:
                sets[name] = np.unique(np.asarray(ranked[:size], dtype=np.int32))
        triplets = [triplet for triplet in query.triplets if triplet.head in used]
        types = self._types(query, labels)
        if query.target in sets:
            sets[query.target] = self._only(sets[query.target], types[query.target])
        found = fixed_point(
            self.adjacency, triplets, sets, lambda name: self._of_types(types[name]), lambda: limit.check(STAGE)
        )
        answers = found[query.target]
        round_ = len(before.rounds)
        found_in = {**before.found_in, **{int(key): round_ for key in answers.tolist() if key not in before.found_in}}
        return replace(before, sets=found, rounds=(*before.rounds, (size, len(answers))), found_in=found_in)

    def _types(self, query: TripletQuery, labels: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
        """Return symbol → its node types, none for any; the target's types are always such as may be answers."""
        schema = self.adjacency.schema
        types = {name: query.symbol(name).labels for name in query.used}
        own = tuple(label for label in types[query.target] if label in schema.answerable)
        types[query.target] = own or tuple(labels) or schema.answerable
        return types

    def _only(self, keys: Keys, labels: Sequence[str]) -> Keys:
        """Return the nodes of these types among sorted keys."""
        codes = [self.adjacency.schema.type_codes[label] for label in labels]
        return keys[np.isin(self.adjacency.types[keys], codes)]

    def _of_types(self, labels: Sequence[str]) -> Keys:
        """Return the sorted keys of all nodes of the types."""
        if not labels:
            return np.arange(self.adjacency.size, dtype=np.int32)
        return self.adjacency.of_types([self.adjacency.schema.type_codes[label] for label in labels])


def _told(grounding: Grounding) -> str:
    """Return a sentence on the rounds."""
    if not grounding.rounds:
        return ""
    rounds = ", ".join(f"{size:,} → {answers:,}" for size, answers in grounding.rounds)
    return f"Answers by number of entities tried for each name: {rounds}."
