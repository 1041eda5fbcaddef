"""Near names in a question: mentions that say by which way they were found, and how similar they are to the name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, product

from rapidfuzz.distance import OSA

from search.adapters.name_words import words_of
from search.adapters.near_names.asked import AskedName
from search.adapters.near_names.cognates import Cognates
from search.adapters.near_names.files import NearFiles
from search.adapters.near_names.forms import (
    ACRONYM,
    ARTICLES,
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
from search.adapters.near_names.parts import MOST_READ, NamePart, NameParts
from search.adapters.near_names.reordered import Reordered
from search.interfaces import How, Mention

MOST_NAMES = 20
"""Most different names of one stretch that is not a whole name; a stretch that may mean more says too little."""
MOST_OF_A_KIND = 12
"""Most names that one word at their end stands for."""
_WORDS_OF_A_KIND = 3
"""Most words of such a name: a title that ends with a word is not of its kind."""
FEW_NAMES = 5_000
"""Number of names up to which a common word in lower case counts as the plural of a name with a capital. Among more
names, nearly every common word is the plural of one by chance."""
_WIDEST = 12
"""Most words of a stretch, except of those that are names as they are stored."""
_WIDEST_MENDED = 8
_PIECES = 3
_VARIANTS = 32
"""Most combinations of corrections of one stretch."""
_LONG_WORD, _LONG_WORD_OF_FEW = 6, 5
"""Fewest letters of a word in lower case that alone is corrected to a name; of one of few names."""
_TWO_ERRORS = 9
"""Fewest letters of a single word with two errors."""
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
        asked = AskedName(text, self.files, exact)
        found = self._looked_up(asked, [*_whole(asked), *_with_initials(asked), *_acronyms(asked)])
        if mended := [key for key in _mended(asked) if (key.first, key.last) not in found]:
            found |= self._looked_up(asked, mended)
        explained = [
            covered or any(first <= at <= last and last > first for first, last in found)
            for at, covered in enumerate(asked.covered)
        ]
        for part in self._parts.find(asked, explained):
            found.setdefault((part.first, part.last), self._part(asked, part))
        for part in self._reordered.find(asked):
            found.setdefault((part.first, part.last), self._part(asked, part))
        return list(found.values())

    def translated(self, text: str, start: int, end: int) -> list[Mention]:
        """Return the names whose words are nearly those of a stretch of the text, letter by letter, best first."""
        asked = AskedName(text, self.files, ())
        inside = [at for at, token in enumerate(asked.tokens) if start <= token.start and token.end <= end]
        content = [at for at in inside if asked.content[at]]
        if not content:
            return []
        first, last = content[0], content[-1]
        return [
            self._mention(asked, first, last, (one.name,), one.similarity, "translated")
            for one in self._cognates.find(asked.folds(first, last))
        ]

    def ending(self, text: str, start: int, end: int) -> list[Mention]:
        """Return one mention of the names of several words whose last word is a word of the text, if they are few."""
        asked = AskedName(text, self.files, ())
        at = next((at for at, one in enumerate(asked.tokens) if (one.start, one.end) == (start, end)), -1)
        place = asked.places[at] if at >= 0 else -1
        if place < 0 or self.files.having(place) > MOST_READ:
            return []
        names = self.files.names_ending(place, _WORDS_OF_A_KIND).tolist()
        if not 0 < len(names) <= MOST_OF_A_KIND:
            return []
        share = max(self.files.rarity(name)[-1] / sum(self.files.rarity(name)) for name in names)
        return [self._mention(asked, at, at, names, share, "part")]

    def misspelt(self, name: str) -> list[Mention]:
        """Return the names one typing error away from a name; `_WIDEST_MENDED` words of it are read at most."""
        asked = AskedName(name, self.files, ())
        last = len(asked.tokens) - 1
        if not 0 <= last < _WIDEST_MENDED:
            return []
        codes = []
        for at, token in enumerate(asked.tokens):
            close = self.files.spellings.close(token.folds[0]) if len(token.folds) == 1 else []
            for near in (self.files.words[place] for place, errors in close if errors == 1):
                codes.append(code_of("".join([*asked.folds(0, at - 1), near, *asked.folds(at + 1, last)])))
        names = dict.fromkeys(found for _, found, kind in self.files.found(codes) if kind == WHOLE)
        return [self._mention(asked, 0, last, (found,), self._alike(name, found), "spelling") for found in names]

    def _alike(self, said: str, name: int) -> float:
        return OSA.normalized_similarity(" ".join(words_of(said)), " ".join(words_of(self.files.spelling(name))))

    def _looked_up(self, asked: AskedName, keys: Sequence[_Key]) -> dict[tuple[int, int], Mention]:
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

    def _plausible(self, asked: AskedName, key: _Key, name: int, kind: int) -> bool:
        """Whether a stretch may mean a name: a common word in lower case does only if nothing else does."""
        said, stored = asked.stretch(key.first, key.last), self.files.spelling(name)
        few = self.files.size <= FEW_NAMES
        if key.mended and key.first == key.last:
            least = _LONG_WORD_OF_FEW if few or asked.capital[key.first] else _LONG_WORD
            # A capital inside a name makes it a code or an abbreviation, which is another one with another letter.
            code = any(letter.isupper() for letter in stored[1:]) and " " not in stored
            return kind == WHOLE and len(said) >= least and not code and not asked.is_word[key.first]
        if key.first != key.last:
            # An article with the next word is no other spelling of one word: *a kid* is not AKID.
            return not (asked.content[key.first] is False and " " not in stored and "-" not in stored)
        joined = " " in stored or "-" in stored
        if joined and (asked.is_word[key.first] or len(said) < _LONG_WORD):
            return kind != WHOLE and asked.capital[key.first]
        if asked.capital[key.first] or not asked.common[key.first]:
            return True
        return kind == WHOLE and (few or (stored[:1].islower() and not any(asked.covered)))

    def _told(self, asked: AskedName, key: _Key, name: int, kind: int) -> tuple[How, float]:
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

    def _part(self, asked: AskedName, part: NamePart) -> Mention:
        return self._mention(asked, part.first, part.last, part.names, part.similarity, part.how)

    def _mention(
        self, asked: AskedName, first: int, last: int, names: Sequence[int], similarity: float, how: How
    ) -> Mention:
        said = asked.stretch(first, last)
        exact: dict[int, bool] = {}
        for name in names:
            agrees = said in self.files.spelling(name) and not said.islower()
            for key in self.files.keys(name):
                exact[key] = exact.get(key, False) or agrees
        keys = tuple(sorted(exact))
        return Mention(
            asked.tokens[first].start, asked.tokens[last].end, said, keys, tuple(exact[key] for key in keys),
            round(similarity, 4), how, self.files.spelling(names[0]),
        )  # fmt: skip

    @cached_property
    def _cognates(self) -> Cognates:
        return Cognates(self.files)

    @cached_property
    def _reordered(self) -> Reordered:
        return Reordered(self.files)

    @cached_property
    def _parts(self) -> NameParts:
        return NameParts(self.files)


def _stretches(asked: AskedName, widest: int) -> Iterator[tuple[int, int]]:
    """Yield first and last word of every stretch that may be a near name, without those of exact names.

    It begins with a word of content, a capital or an article, ends with a word of content, and is not wholly explained.
    Each word of a longer one is known to names or misspelt; up to `_PIECES` words may be the pieces of one word.
    """
    tokens, covered, content = asked.tokens, asked.covered, asked.content
    known = [place >= 0 or at in asked.mended or len(tokens[at].folds) != 1 for at, place in enumerate(asked.places)]
    for first in range(len(tokens)):
        if not (content[first] or asked.capital[first] or tokens[first].words[0] in ARTICLES):
            continue
        all_known, free = True, False
        for last in range(first, min(len(tokens), first + widest)):
            free, all_known = free or not covered[last], all_known and known[last]
            if not all_known and last - first >= _PIECES:
                break
            if free and content[last] and (tokens[first].start, tokens[last].end) not in asked.known_spans:
                yield first, last


def _whole(asked: AskedName) -> Iterator[_Key]:
    """Yield the keys of all stretches as they are typed: word by word, and as one word, of which only the end folds."""
    for first, last in _stretches(asked, _WIDEST):
        key = "".join(asked.folds(first, last))
        yield _Key(first, last, key, _WHOLE_KINDS)
        if 0 < last - first <= _PIECES:
            joined = asked.files.fold("".join(word for t in asked.tokens[first : last + 1] for word in t.words))
            if joined != key:
                yield _Key(first, last, joined, (WHOLE,))


def _mended(asked: AskedName) -> Iterator[_Key]:
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
        said = " ".join(asked.folds(first, last))
        for chosen in islice(product(*choices[first : last + 1]), _VARIANTS):
            if sum(errors for _, errors in chosen) > (1 if first == last and len(said) < _TWO_ERRORS else 4):
                continue
            if any(errors for _, errors in chosen):
                folds = [word for option, _ in chosen for word in option]
                similarity = OSA.normalized_similarity(said, " ".join(folds))
                yield _Key(first, last, "".join(folds), (WHOLE, MAIN, TURNED), similarity, mended=True)


def _with_initials(asked: AskedName) -> Iterator[_Key]:
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


def _acronyms(asked: AskedName) -> Iterator[_Key]:
    """Yield the keys of words in capitals, which may be the first letters of a name."""
    if asked.text.isupper():
        return
    for at, token in enumerate(asked.tokens):
        said = asked.stretch(at, at)
        known = asked.covered[at] or (token.start, token.end) in asked.known_spans
        if 3 <= len(said) <= 8 and said.isupper() and said.isalpha() and not known:
            yield _Key(at, at, acronym_key("".join(token.folds)), (ACRONYM,))
