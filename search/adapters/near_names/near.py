"""Near names in a question: mentions that say by which way they were found, and how similar they are to the name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, product

from rapidfuzz.distance import OSA

from search.adapters.name_words import words_of
from search.adapters.near_names.asked import Asked
from search.adapters.near_names.files import NearFiles
from search.adapters.near_names.forms import (
    ACRONYM,
    BRACKET,
    INITIALS,
    MAIN,
    SHORT,
    TURNED,
    WHOLE,
    acronym_key,
    code_of,
    folds_of,
    initial_keys,
    initials_key,
)
from search.adapters.near_names.parts import Part, Parts
from search.interfaces import How, Mention

MOST_NAMES = 20
"""Most different names of one stretch that is not a whole name; a stretch that may mean more says too little."""
FEW_NAMES = 5_000
"""Number of names up to which a common word in lower case counts as the plural of a name with a capital. Among more
names, nearly every common word is the plural of one by chance."""
_WIDEST = 12
"""Most words of a stretch, except of those that are names as they are stored."""
_WIDEST_MENDED = 8
_VARIANTS = 32
"""Most combinations of corrections of one stretch."""
_LONG_WORD, _LONG_WORD_OF_FEW = 6, 5
"""Fewest letters of a word in lower case that alone is corrected to a name; of one of few names."""
_SIMILARITY = {MAIN: 0.9, BRACKET: 0.9, TURNED: 0.97, INITIALS: 0.8, SHORT: 0.8, ACRONYM: 0.75}
_HOW: dict[int, How] = {
    MAIN: "part", BRACKET: "abbreviation", TURNED: "part", INITIALS: "initials", SHORT: "initials",
    ACRONYM: "abbreviation",
}  # fmt: skip
_PLURAL, _POSSESSIVE, _JOINED, _FULL_OF_SHORT = 0.95, 0.97, 0.93, 0.6
"""Similarity of the forms to the name. Round numbers chosen by hand: the more a form leaves out, the less."""


@dataclass(frozen=True, slots=True)
class _Key:
    """A key that is looked up for the words in [first, last], the forms that it may be, and its number of errors."""

    first: int
    last: int
    key: str
    kinds: tuple[int, ...]
    similarity: float = 1.0
    mended: bool = False


_WHOLE_KINDS = (WHOLE, TURNED, MAIN, BRACKET)


@dataclass(frozen=True)
class NearNames:
    """Finds near names; read-only, so threads can share it."""

    files: NearFiles

    def find(self, text: str, exact: Sequence[Mention]) -> list[Mention]:
        """Return the mentions of names that the text says in another way than they are stored.

        `exact` are the mentions of names as they are stored: no other mention of the same stretch is returned, and
        their words are not corrected.
        """
        asked = Asked(text, self.files, exact)
        found = self._looked_up(asked, [*_whole(asked), *_with_initials(asked), *_acronyms(asked)])
        if mended := [key for key in _mended(asked) if (key.first, key.last) not in found]:
            found |= self._looked_up(asked, mended)
        explained = [
            covered or any(first <= at <= last and last > first for first, last in found)
            for at, covered in enumerate(asked.covered)
        ]
        for part in self._parts.find(asked, explained):
            found.setdefault((part.first, part.last), self._part(asked, part))
        return list(found.values())

    def _looked_up(self, asked: Asked, keys: Sequence[_Key]) -> dict[tuple[int, int], Mention]:
        """Return the best mention of each stretch for which a form with one of its keys exists."""
        best: dict[tuple[int, int], tuple[float, How, list[int]]] = {}
        for at, name, kind in self.files.found([code_of(key.key) for key in keys]):
            key = keys[at]
            if kind not in key.kinds or not self._plausible(asked, key, name, kind):
                continue
            how, similarity = self._told(asked, key, name, kind)
            place = key.first, key.last
            if place not in best or similarity > best[place][0]:
                best[place] = similarity, how, [name]
            elif similarity == best[place][0] and name not in best[place][2]:
                best[place][2].append(name)
        return {
            place: self._mention(asked, *place, names, similarity, how)
            for place, (similarity, how, names) in best.items()
            if len(names) <= MOST_NAMES
        }

    def _plausible(self, asked: Asked, key: _Key, name: int, kind: int) -> bool:
        """Whether a stretch may mean a name: a common word in lower case does only if nothing else does."""
        if key.first != key.last or asked.capital[key.first]:
            return True
        few = self.files.size <= FEW_NAMES
        if key.mended:
            long = len(asked.stretch(key.first, key.last)) >= (_LONG_WORD_OF_FEW if few else _LONG_WORD)
            return long and not asked.common[key.first]
        if not asked.common[key.first]:
            return True
        return kind == WHOLE and (few or (self.files.spelling(name)[:1].islower() and not any(asked.covered)))

    def _told(self, asked: Asked, key: _Key, name: int, kind: int) -> tuple[How, float]:
        """Return by which way a form was found and how similar it is to the name."""
        if key.mended:
            return "spelling", key.similarity * _SIMILARITY.get(kind, 1.0)
        if kind == SHORT and key.kinds == (SHORT,):
            return "initials", _FULL_OF_SHORT
        if kind != WHOLE:
            return _HOW[kind], _SIMILARITY[kind]
        said, stored = asked.folds(key.first, key.last), folds_of(self.files.spelling(name), self.files.fold)
        if said != stored:
            return "joined", _JOINED
        words = [word for token in asked.tokens[key.first : key.last + 1] for word in token.words]
        possessive = "s" in words or "s" in words_of(self.files.spelling(name))
        return ("possessive", _POSSESSIVE) if possessive else ("plural", _PLURAL)

    def _part(self, asked: Asked, part: Part) -> Mention:
        return self._mention(asked, part.first, part.last, part.names, part.similarity, part.how)

    def _mention(
        self, asked: Asked, first: int, last: int, names: Sequence[int], similarity: float, how: How
    ) -> Mention:
        said = asked.stretch(first, last)
        exact: dict[int, bool] = {}
        for name in names:
            agrees = said in self.files.spelling(name)
            for key in self.files.keys(name):
                exact[key] = exact.get(key, False) or agrees
        return Mention(
            asked.tokens[first].start, asked.tokens[last].end, said, tuple(exact), tuple(exact.values()),
            round(similarity, 4), how, self.files.spelling(names[0]),
        )  # fmt: skip

    @cached_property
    def _parts(self) -> Parts:
        return Parts(self.files)


def _stretches(asked: Asked, widest: int) -> Iterator[tuple[int, int]]:
    """Yield first and last word of every stretch that no exact name explains and that has a word of content."""
    tokens, covered, content = asked.tokens, asked.covered, asked.content
    for first in range(len(tokens)):
        if not tokens[first].folds:
            continue
        free = says = False
        for last in range(first, min(len(tokens), first + widest)):
            free, says = free or not covered[last], says or content[last]
            known = (tokens[first].start, tokens[last].end) in asked.known_spans
            if free and says and tokens[last].folds and not known:
                yield first, last


def _whole(asked: Asked) -> Iterator[_Key]:
    """Yield the keys of all stretches as they are typed."""
    for first, last in _stretches(asked, _WIDEST):
        yield _Key(first, last, "".join(asked.folds(first, last)), _WHOLE_KINDS)


def _mended(asked: Asked) -> Iterator[_Key]:
    """Yield the keys of all stretches with corrections of misspelt words, in every combination up to a number.

    A stretch of one word that names have is not corrected: it is a name or a part of one already.
    """
    if not asked.mended:
        return
    words = asked.files.words
    choices = [
        [*([(token.folds, 0)] if asked.places[at] >= 0 or at not in asked.mended else []),
         *(((words[place],), errors) for place, errors in asked.mended.get(at, ()))]
        for at, token in enumerate(asked.tokens)
    ]  # fmt: skip
    for first, last in _stretches(asked, _WIDEST_MENDED):
        if not any(at in asked.mended for at in range(first, last + 1)):
            continue
        if first == last and asked.places[first] >= 0:
            continue
        for chosen in islice(product(*choices[first : last + 1]), _VARIANTS):
            if any(errors for _, errors in chosen):
                folds = [word for option, _ in chosen for word in option]
                said = " ".join(asked.folds(first, last))
                similarity = OSA.normalized_similarity(said, " ".join(folds))
                yield _Key(first, last, "".join(folds), (WHOLE, MAIN, TURNED), similarity, mended=True)


def _with_initials(asked: Asked) -> Iterator[_Key]:
    """Yield the keys of names with initials, and of names in full that are stored with initials."""
    tokens = asked.tokens
    for first, last in _stretches(asked, 4):
        dotted = asked.text[tokens[first].end : tokens[first].end + 1] == "."
        if last == first or not (asked.capital[last] or dotted):
            continue
        words = ["".join(token.folds) for token in tokens[first : last + 1]]
        letters = [word for word in words if len(word) == 1]
        longer = [word for word in words if len(word) > 1]
        upper = [asked.text[token.start].isupper() for token in tokens[first : last + 1]]
        if letters and longer and (all(upper) or (dotted and upper[0] and len(words) == 2)):
            for key in initial_keys("".join(letters), "".join(longer)):
                yield _Key(first, last, key, (INITIALS, SHORT))
        elif not letters and asked.capital[first] and asked.capital[last] and all(words):
            yield _Key(first, last, initials_key(words[0][0], words[-1]), (SHORT,))


def _acronyms(asked: Asked) -> Iterator[_Key]:
    """Yield the keys of words in capitals, which may be the first letters of a name."""
    if asked.text.isupper():
        return
    for at, token in enumerate(asked.tokens):
        said = asked.stretch(at, at)
        known = asked.covered[at] or (token.start, token.end) in asked.known_spans
        if 3 <= len(said) <= 8 and said.isupper() and said.isalpha() and not known:
            yield _Key(at, at, acronym_key("".join(token.folds)), (ACRONYM,))
