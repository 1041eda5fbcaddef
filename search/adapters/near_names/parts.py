"""Parts of names in a question: a surname alone, the telling words of a long title.

A stretch of the question that is also a stretch of a name is a part of the name. It counts if few names have it, and if
it is much of the name: rare words are more of a name than frequent ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from search.adapters.near_names.asked import AskedName
from search.adapters.near_names.files import NearFiles
from search.interfaces import How

MOST_COMPARED = 100
"""Most names that are compared with the question around one of its words."""
MOST_READ = 100_000
"""Most names of a word that are read to find those that have its neighbour, too."""
_MOST_NAMES = 12
"""Most names of which a stretch may be a part."""
_SURNAME, _SEVERAL, _MANY = 0.3, 0.5, 0.35
"""Least share of a name that one word, several words, and `_LONG_RUN` words of content must be."""
_LONG_RUN = 4
_NAME_WORDS = 6
"""Most words of a name that one of its words may stand for."""
_SHORTEST = 3
_MOST_LETTERS = 5
"""Most letters of an abbreviation inside a name."""


@dataclass(frozen=True, slots=True)
class NamePart:
    """The words in [first, last] of a question are a part of these names."""

    first: int
    last: int
    names: tuple[int, ...]
    similarity: float
    how: How


@dataclass(frozen=True, slots=True)
class _Run:
    """Words [first, last] of the question that are words [start, end) of a name, and the share of the name they are.

    `length` is the number of words of content. `before` and `after` are the places of the words of the name beside
    these, -1 if there is none.
    """

    first: int
    last: int
    share: float
    length: int
    before: int
    after: int


@dataclass(frozen=True)
class NameParts:
    """Finds parts of names; read-only, so threads can share it."""

    files: NearFiles

    def find(self, asked: AskedName, explained: Sequence[bool]) -> list[NamePart]:
        """Return the parts of names that include a word which is not explained, the longest of those that overlap."""
        places = self._places(asked)
        runs: dict[tuple[int, int], dict[int, _Run]] = {}
        for at in sorted(range(len(places)), key=lambda at: self._having(places[at])):
            if places[at] < 0 or explained[at] or not asked.content[at]:
                continue
            for name in self._candidates(asked, places, at):
                if (run := self._run(asked, places, at, name)) and self._agrees(asked, run, explained):
                    runs.setdefault((run.first, run.last), {})[name] = run
        found = [part for place, names in runs.items() if (part := self._part(asked, *place, names, explained))]
        return _longest(found)

    def _places(self, asked: AskedName) -> list[int]:
        """Return the place of each word, or of the nearest word if it is misspelt."""
        nearest = {at: close[0][0] for at, close in asked.mended.items() if close[0][1] == 1 or len(close) == 1}
        return [place if place >= 0 else nearest.get(at, -1) for at, place in enumerate(asked.places)]

    def _having(self, place: int) -> int:
        return self.files.having(place) if place >= 0 else 0

    def _candidates(self, asked: AskedName, places: Sequence[int], at: int) -> list[int]:
        """Return names with the word; if many have it, or it says nothing alone, those with the next word, too."""
        having = self._having(places[at])
        alone = asked.capital[at] or not asked.common[at] or self._quoted(asked, at) or self._beside_letters(asked, at)
        if having <= MOST_COMPARED and alone:
            found: list[int] = self.files.names_with(places[at]).tolist()
            return found
        if having > MOST_READ:
            return []
        both: list[int] = []
        names = self.files.names_with(places[at])
        for step in (-1, 1):
            beside = at + step
            while 0 <= beside < len(places) and (places[beside] < 0 or not asked.content[beside]):
                if asked.content[beside]:
                    break
                beside += step
            if 0 <= beside < len(places) and places[beside] >= 0 and self._having(places[beside]) <= MOST_READ:
                shared = np.intersect1d(names, self.files.names_with(places[beside]), assume_unique=True)
                if len(shared) <= MOST_COMPARED:
                    both += shared.tolist()
        return list(dict.fromkeys(both))

    def _run(self, asked: AskedName, places: Sequence[int], at: int, name: int) -> _Run | None:
        """Return the longest stretch around a word of the question that is also a stretch of a name."""
        words = self.files.words_of(name)
        best: tuple[int, int, int, int, int] | None = None
        for place in (place for place, word in enumerate(words) if word == places[at]):
            first, start = self._widened(asked, places, at, words, place, -1)
            last, end = self._widened(asked, places, at, words, place, 1)
            while first < at and not asked.content[first]:
                first += 1
            while last > at and not asked.content[last]:
                last -= 1
            length = sum(asked.content[first : last + 1])
            best = max(best or (0, 0, 0, 0, 0), (length, first, last, start, end))
        if best is None or (best[0] == 1 and len(words) > _NAME_WORDS and best[1:3] not in asked.quoted):
            return None
        length, first, last, start, end = best
        rarity = self.files.rarity(name)
        share = sum(rarity[start : end + 1]) / sum(rarity)
        before, after = words[start - 1] if start else -1, words[end + 1] if end + 1 < len(words) else -1
        return _Run(first, last, share, length, before, after)

    def _agrees(self, asked: AskedName, run: _Run, explained: Sequence[bool]) -> bool:
        """Whether no word with a capital beside one word contradicts the name: *Emma Manning* is not *Chris Manning*.

        A word does not contradict if it is the beginning of the word beside it in the name, or the other way round.
        """
        if run.length > 1:
            return True
        for at in (run.first - 1, run.last + 1):
            if not 0 <= at < len(explained) or explained[at] or not asked.content[at] or not asked.capital[at]:
                continue
            said = asked.folds(at, at)[0]
            beside = [self.files.words[word] for word in (run.before, run.after) if word >= 0]
            if not any(word.startswith(said) or said.startswith(word) for word in beside):
                return False
        return True

    def _widened(
        self, asked: AskedName, places: Sequence[int], at: int, words: Sequence[int], place: int, step: int
    ) -> tuple[int, int]:
        """Return the outermost positions, in the question and in the name, to which both agree in one direction."""
        while 0 <= at + step < len(places):
            beside = at + step
            if 0 <= place + step < len(words) and places[beside] >= 0 and places[beside] == words[place + step]:
                at, place = beside, place + step
                continue
            letters = self._initials(asked, beside, words, place, step)
            if not letters:
                break
            at, place = beside, place + step * letters
        return at, place

    def _initials(self, asked: AskedName, at: int, words: Sequence[int], place: int, step: int) -> int:
        """Return how many words of the name, from `place` on, an abbreviation in capitals stands for; 0 for none."""
        said = asked.stretch(at, at)
        size = len(said)
        if not _abbreviation(said):
            return 0
        span = words[place + 1 : place + 1 + size] if step > 0 else words[max(0, place - size) : place]
        initials = "".join(self.files.words[word][:1] for word in span)
        return size if initials == said.lower() else 0

    def _part(
        self, asked: AskedName, first: int, last: int, runs: dict[int, _Run], explained: Sequence[bool]
    ) -> NamePart | None:
        """Return the part that a stretch is of these names, or None if it says too little."""
        if (asked.tokens[first].start, asked.tokens[last].end) in asked.known_spans:
            return None
        share = max(run.share for run in runs.values())
        names = tuple(sorted(name for name, run in runs.items() if run.share >= 0.7 * share))
        run = runs[names[0]]
        mended = any(at in asked.mended and asked.places[at] < 0 for at in range(first, last + 1))
        if len(names) > _MOST_NAMES or not self._says_enough(asked, run, share, names, mended=mended):
            return None
        similarity = (0.4 + 0.35 * share if run.length == 1 else 0.55 + 0.4 * share) - (0.1 if mended else 0.0)
        return NamePart(first, last, names, min(0.95, similarity), "spelling" if mended else "part")

    def _says_enough(self, asked: AskedName, run: _Run, share: float, names: Sequence[int], *, mended: bool) -> bool:
        at = run.first
        if (run.first, run.last) in asked.quoted and share >= _SURNAME:
            return True
        if not any(self._telling(asked, at) for at in range(run.first, run.last + 1)):
            return False
        if run.length > 1:
            if all(asked.capital[at] for at in range(run.first, run.last + 1) if asked.content[at]) and len(names) <= 3:
                return share >= _MANY
            marked = any(asked.capital[at] for at in range(run.first, run.last + 1))
            rare = any(not asked.common[at] for at in range(run.first, run.last + 1) if asked.content[at])
            if run.length >= _LONG_RUN:
                return share >= _MANY
            return share >= _SEVERAL and (marked or rare or share >= 0.7)
        said = asked.tokens[at].words[0]
        if mended and (not asked.capital[at] or asked.is_word[at]):
            return False
        if not asked.capital[at] and (asked.common[at] or len(said) < 5):
            return False
        return share >= (_SURNAME if asked.capital[at] and not asked.common[at] else _SEVERAL)

    def _beside_letters(self, asked: AskedName, at: int) -> bool:
        """Whether an abbreviation stands beside a word."""
        beside = [place for place in (at - 1, at + 1) if 0 <= place < len(asked.tokens)]
        return any(_abbreviation(asked.stretch(place, place)) for place in beside)

    def _quoted(self, asked: AskedName, at: int) -> bool:
        return any(first <= at <= last for first, last in asked.quoted)

    def _telling(self, asked: AskedName, at: int) -> bool:
        """Whether a word can tell a name: it is a word of content with some letters, and no number."""
        said = asked.tokens[at].words[0]
        return len(said) >= _SHORTEST and not said.isdigit() and asked.content[at]


def _abbreviation(said: str) -> bool:
    return 2 <= len(said) <= _MOST_LETTERS and said.isalpha() and said.isupper()


def _longest(found: Sequence[NamePart]) -> list[NamePart]:
    """Return the parts without those inside another one."""
    return [
        part
        for part in found
        if not any(
            other is not part and other.first <= part.first and part.last <= other.last
            and (other.last - other.first, other.similarity) > (part.last - part.first, part.similarity)
            for other in found
        )
    ]  # fmt: skip
