"""Folds of questions: each is later scored by what was learned from the others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from search.interfaces import Adjacency, Keys, MentionIndex
from search.language.words import content, stem, words
from search.signals.neighbours import near
from training.data.hashes import normalised

HOPS = 2
"""Answers at most this far from a common node belong together: a row and a page that another row links to are two
steps from their table."""
MOST_REACHED = 3_000
"""Nodes around the answers of a question that are looked at."""
MOST_OF_A_FOLD = 0.5
"""Largest part of a fold that one group of questions may be."""


def patterns_of(texts: Sequence[str], mentions: MentionIndex) -> list[str]:
    """Return the pattern of each question: the stems of its content words outside names, in alphabetical order.

    *What is the highest point in Kansas* and *the highest points of Texas* have one pattern. A question without such
    words has all of its words outside names.
    """
    return [_pattern(text, mentions) for text in texts]


def folds_of(texts: Sequence[str], count: int, seed: int, patterns: Sequence[str] = ()) -> NDArray[np.int64]:
    """Return the fold of each question, from 0 on; there are `count` folds, or as many as there are texts.

    Questions with the same words are in the same fold, and so are those of the same pattern, if `patterns` gives the
    pattern of each. Otherwise a model would learn from the wording that it is measured on, and its gain would be that
    of questions which are asked again with another name. No pattern gets more than `MOST_OF_A_FOLD` of a fold: what so
    many people ask will be asked again. If all questions have the same text, they are divided nevertheless.
    """
    places = _same_words(texts)
    groups = _Groups(places)
    _join_patterns(groups, patterns, len(texts), count)
    own = groups.every()
    names, sizes = np.unique(own, return_counts=True)
    if not patterns or len(names) < count or len(names) == places.max() + 1:
        number = int(places.max()) + 1
        folds = np.arange(number) % min(count, number)
        np.random.default_rng(seed).shuffle(folds)
        return folds[places]
    return _filled(own, names, sizes, count, seed)


def folds_apart(
    texts: Sequence[str], answers: Sequence[Keys], adjacency: Adjacency, count: int, seed: int,
    patterns: Sequence[str] = (),
) -> NDArray[np.int64]:  # fmt: skip
    """Return the folds of `folds_of`, with questions about the same part of the graph in the same fold.

    Two questions belong together if they have the same words or pattern, or if a node is at most `HOPS` steps from an
    answer of each. Nearer nodes join first, of equally near ones those that join fewer questions. No group gets
    more than `MOST_OF_A_FOLD` of a fold: a graph with hubs holds together everywhere. Without this, a model that
    learned from one row of a table would seem to know rows of tables that it has never seen.
    """
    groups = _Groups(_same_words(texts))
    _join_patterns(groups, patterns, len(texts), count)
    most = int(MOST_OF_A_FOLD * len(texts) / count)
    for members in _joined(answers, adjacency):
        groups.join(members, most)
    own = groups.every()
    names, sizes = np.unique(own, return_counts=True)
    if len(names) < count:
        return folds_of(texts, count, seed)
    return _filled(own, names, sizes, count, seed)


def _filled(
    own: NDArray[np.int64], names: NDArray[np.int64], sizes: NDArray[np.int64], count: int, seed: int
) -> NDArray[np.int64]:
    """Return the fold of each question: groups, the largest first, go to the fold with the fewest questions.

    `own` is the group of each question, `names` the groups, and `sizes` their numbers of questions.
    """
    order = np.lexsort((np.random.default_rng(seed).permutation(len(names)), -sizes))
    filled, folds = np.zeros(count, dtype=np.int64), np.empty(len(names), dtype=np.int64)
    for at in order:
        folds[at] = int(filled.argmin())
        filled[folds[at]] += sizes[at]
    return folds[np.searchsorted(names, own)]


def _pattern(text: str, mentions: MentionIndex) -> str:
    """Return the pattern of one question."""
    free = list(text)
    for one in mentions.find(text):
        free[one.start : one.end] = " " * (one.end - one.start)
    rest = "".join(free)
    said = content(rest) or words(rest)
    return " ".join(sorted({stem(word) for word in said}))


def _join_patterns(groups: _Groups, patterns: Sequence[str], questions: int, count: int) -> None:
    """Put the questions of each pattern together, unless they are too many for a fold."""
    members: dict[str, list[int]] = {}
    for at, pattern in enumerate(patterns):
        members.setdefault(pattern, []).append(at)
    most = int(MOST_OF_A_FOLD * questions / count)
    for own in members.values():
        if len(own) <= most:
            groups.join(own, most)


class _Groups:
    """Groups of questions, each named by one of its members."""

    def __init__(self, same: NDArray[np.int64]) -> None:
        """Begin with questions of the same words together; `same` numbers them."""
        first: dict[int, int] = {}
        self._parent = [first.setdefault(number, at) for at, number in enumerate(same.tolist())]
        self._size = np.bincount(self._parent, minlength=len(same)).tolist()

    def of(self, at: int) -> int:
        """Return the name of a question's group."""
        while self._parent[at] != at:
            self._parent[at] = self._parent[self._parent[at]]
            at = self._parent[at]
        return at

    def every(self) -> NDArray[np.int64]:
        """Return the name of each question's group."""
        return np.array([self.of(at) for at in range(len(self._parent))], dtype=np.int64)

    def join(self, members: Sequence[int], most: int) -> None:
        """Put the groups of these questions together, as far as none gets more than `most` questions."""
        into = self.of(members[0])
        for at in members[1:]:
            other = self.of(at)
            if other != into and self._size[into] + self._size[other] <= most:
                self._parent[other] = into
                self._size[into] += self._size[other]


def _same_words(texts: Sequence[str]) -> NDArray[np.int64]:
    said = [normalised(text) for text in texts]
    first = {text: place for place, text in enumerate(dict.fromkeys(said))}
    return np.array([first[text] for text in said] if len(first) > 1 else range(len(said)), dtype=np.int64)


def _joined(answers: Sequence[Keys], adjacency: Adjacency) -> list[list[int]]:
    """Return the questions that each node joins, nearest nodes first, then those of fewer questions, then by key."""
    found: dict[int, list[tuple[int, int]]] = {}
    for at, own in enumerate(answers):
        for key, hops in _around(own, adjacency).items():
            found.setdefault(key, []).append((at, hops))
    several = [(key, held) for key, held in found.items() if len(held) > 1]
    several.sort(key=lambda one: (max(hops for _, hops in one[1]), len(one[1]), one[0]))
    return [[at for at, _ in held] for _, held in several]


def _around(answers: Keys, adjacency: Adjacency) -> dict[int, int]:
    """Return the nodes within `HOPS` steps of the answers, and their distance."""
    reached = dict.fromkeys(answers.tolist(), 0)
    edge = np.asarray(answers, dtype=np.int32)
    for hops in range(1, HOPS + 1):
        if not len(edge) or len(reached) > MOST_REACHED:
            break
        fresh = [key for key in np.unique(near(edge, adjacency).far).tolist() if key not in reached]
        reached |= dict.fromkeys(fresh, hops)
        edge = np.array(fresh, dtype=np.int32)
    return reached
