"""Names whose words a question says in another order: *diabetes type 2* of Type 2 diabetes mellitus."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from search.adapters.near_names.asked import AskedName
from search.adapters.near_names.files import NearFiles
from search.adapters.near_names.parts import NamePart

_WIDEST = 5
"""Most words of such a stretch."""
_READ = 2_000
"""Most names of the rarest of its words."""
_MOST_NAMES = 3
_NAME_WORDS = 6
"""Most words of such a name."""
_SHARE = 0.6
"""Least share of a name that the words must be, by rarity."""


@dataclass(frozen=True)
class Reordered:
    """Finds such names; read-only, so threads can share it."""

    files: NearFiles

    def find(self, asked: AskedName) -> Iterator[NamePart]:
        """Yield the longest stretches that are the words of a few names in another order."""
        held: list[tuple[int, int]] = []
        for first, last in sorted(_known(asked), key=lambda pair: pair[0] - pair[1]):
            inside = any(begins <= first and last <= ends for begins, ends in held)
            if not inside and self._may_be(asked, first, last) and (part := self._part(asked, first, last)):
                held.append((first, last))
                yield part

    def _may_be(self, asked: AskedName, first: int, last: int) -> bool:
        """Whether a stretch begins and ends with words of content, and no exact names explain it or reach beyond it.

        One of the two may be a number. *And Wnt signaling* is not the name *Signaling and Wnt* in another order.
        """
        if all(asked.covered[first : last + 1]) or not (asked.content[first] and asked.content[last]):
            return False
        if all(asked.tokens[at].words[0].isdigit() for at in (first, last)):
            return False
        start, end = asked.tokens[first].start, asked.tokens[last].end
        cut = any(a < start < b or a < end < b for a, b in asked.known_spans)
        return not cut and (start, end) not in asked.known_spans

    def _part(self, asked: AskedName, first: int, last: int) -> NamePart | None:
        said = asked.places[first : last + 1]
        if len(set(said)) < len(said) or min(map(self.files.having, said)) > _READ:
            return None
        found = [
            (share, name) for name in self._with_all(said).tolist() if (share := self._share(said, name)) >= _SHARE
        ]
        best = max((share for share, _ in found), default=0.0)
        names = tuple(sorted(name for share, name in found if share == best))
        if not names or len(names) > _MOST_NAMES:
            return None
        return NamePart(first, last, names, round(0.5 + 0.4 * best, 4), "part")

    def _with_all(self, said: list[int]) -> NDArray[np.int32]:
        """Return the names that have all words; those of the rarest word are looked up among those of the others."""
        rarest, *others = sorted(said, key=self.files.having)
        names = self.files.names_with(rarest)
        for place in others:
            among = self.files.names_with(place)
            at = np.minimum(np.searchsorted(among, names), len(among) - 1)
            names = names[among[at] == names]
        return names

    def _share(self, said: list[int], name: int) -> float:
        """Return which share of a name some words are, by rarity; 0 where they stand in it in their order."""
        words = self.files.words_of(name)
        order = [words.index(place) for place in said]
        if len(words) > _NAME_WORDS or order == list(range(order[0], order[0] + len(order))):
            return 0.0
        rarity = self.files.rarity(name)
        return float(sum(rarity[at] for at in order) / sum(rarity))


def _known(asked: AskedName) -> Iterator[tuple[int, int]]:
    """Yield first and last word of the stretches whose words are all words of names."""
    places = asked.places
    for first, place in enumerate(places):
        last = first + 1
        while place >= 0 and last < len(places) and last - first < _WIDEST and places[last] >= 0:
            yield first, last
            last += 1
