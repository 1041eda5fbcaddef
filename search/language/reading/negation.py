"""Words that turn a condition round (*not*, *without*, *nobody*, *except*), and the stretch that each one turns.

A scope begins behind its word and ends at a mark, at a word that begins another clause, or at the next turning word.
All texts are read in linear time: no scope is longer than the way to the next turning word.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from search.language.cues import Span, Turning
from search.language.languages import language
from search.language.tokens import Phrases, Token, phrases

Kind = Literal["not", "lack", "except"]
_COMMAS = ",،、，"
_SHORTEST_BASE = 4
_OPENED = 4
"""Largest number of words between both parts of a negation."""
_LIST = 4
"""Largest number of words of an entry in a list of names: *except wool, cotton and silk*."""


class NegationReader:
    """Finds the turning words of one language and their scopes."""

    def __init__(self, code: str) -> None:
        lang = language(code)
        kinds: tuple[Kind, ...] = ("not", "lack", "except")
        self._turning: Phrases[Kind] = Phrases(
            (phrase, kind) for kind in kinds for phrase in lang.entries("turning", kind)
        )
        self._empty = phrases(lang.entries("turning", "empty"))
        self._opening = phrases(lang.entries("turning", "opening"))
        self._ends = phrases(lang.entries("turning", "ends"))
        self._fillers = phrases(lang.entries("turning", "fillers"))
        self._leading = lang.set("turning", "leading")
        self._relative = lang.set("turning", "relative")
        self._relative_after = lang.set("turning", "relative_after")
        self._function = lang.set("words", "function")
        self._opens = lang.set("turning", "opens")
        self._neither, self._nor = lang.set("turning", "neither"), lang.set("turning", "nor")
        self._after_verb = lang.set("turning", "after_verb")
        self._capitals_name = bool(lang.value("turning", "capitals_name"))
        self._clause_words: int = lang.value("turning", "clause", default=0)
        self._prefixes, self._suffixes = lang.entries("turning", "prefixes"), lang.entries("turning", "suffixes")
        self._prefix_endings = lang.entries("turning", "prefix_endings")
        self._not_prefixed, self._not_suffixed = (
            lang.set("turning", "not_prefixed"),
            lang.set("turning", "not_suffixed"),
        )
        self._joining = lang.set("turning", "joining") | self._nor
        self._articles = lang.set("words", "articles")
        self._freed = lang.set("turning", "freed")

    def read(self, said: Sequence[Token], held: Sequence[Span] = ()) -> list[Turning]:
        """Return the turnings of a text in their order; words inside the stretches `held` turn nothing.

        `held` are other cues that contain a turning word, such as *no more than 5*, in the order of the text.
        """
        found: list[tuple[int, int, Kind]] = []
        within: list[Turning] = []
        at, waiting = 0, iter(held)
        hold = next(waiting, None)
        while at < len(said):
            while hold is not None and hold[1] <= said[at].start:
                hold = next(waiting, None)
            if hold is not None and hold[0] <= said[at].start < hold[1]:
                at += 1
                continue
            length, kind = self._turning_at(said, at)
            if kind:
                found.append((at, length, kind))
            elif length == 1 and (turning := self._within(said, at)):
                within.append(turning)
            at += length
        turned = [self._scoped(said, found, place) for place in range(len(found))]
        return sorted([*turned, *within], key=lambda turning: turning.start)

    def _turning_at(self, said: Sequence[Token], at: int) -> tuple[int, Kind | None]:
        """Return the number of words to go on by and the kind of the turning word at a place; no kind without one."""
        empty = self._empty.length(said, at)
        found = self._turning.at(said, at)
        if said[at].word in self._neither or said[at].word in self._nor:
            return 1, "not"
        if empty and empty >= (found[0] if found else 0):
            return empty, None
        if at == 0 and (opened := self._opening.length(said, 0)):
            return opened, None
        return found if found else (1, None)

    def _within(self, said: Sequence[Token], at: int) -> Turning | None:
        """Return the turning inside a word: *uncited*, *non-toxic*, *sugar-free*, *cordless*."""
        token = said[at]
        word = token.word
        if token.joined and at and (word in self._suffixes):
            return Turning(token.start, token.end, (said[at - 1].start, said[at - 1].end), "lack")
        if at + 1 < len(said) and said[at + 1].joined and word in self._prefixes:
            return Turning(token.start, token.end, (said[at + 1].start, said[at + 1].end), "not")
        if at and word in self._suffixes and not token.mark and said[at - 1].word in self._freed:
            return Turning(token.start, token.end, (said[at - 1].start, said[at - 1].end), "lack")
        named = token.capital and at > 0
        if word not in self._not_prefixed and not named:
            for prefix in self._prefixes:
                base = word.removeprefix(prefix)
                if base != word and len(base) >= _SHORTEST_BASE and base.endswith(self._prefix_endings):
                    return Turning(
                        token.start, token.start + len(prefix), (token.start + len(prefix), token.end), "not"
                    )
        if word not in self._not_suffixed and not named:
            for suffix in self._suffixes:
                if word.endswith(suffix) and len(word) - len(suffix) >= _SHORTEST_BASE:
                    cut = token.end - len(suffix)
                    return Turning(cut, token.end, (token.start, cut), "lack")
        return None

    def _scoped(self, said: Sequence[Token], found: Sequence[tuple[int, int, Kind]], place: int) -> Turning:
        at, length, kind = found[place]
        begins = at + length
        limit = found[place + 1][0] if place + 1 < len(found) else len(said)
        behind = begins - 1
        while begins + 1 < limit and said[begins].word in self._leading and not said[begins + 1].mark:
            begins += 1
        end = self._end(said, begins, limit, kind)
        while end > begins and (trailing := self._trailing(said, begins, end)):
            end -= trailing
        if kind == "not" and (opened := self._opened(said, at)) is not None and end > at:
            # French *ne traitent pas l'asthme*: the verb stands between both parts of the negation.
            scope = said[opened].start, said[end - 1].end
        elif end > begins:
            first = self._subject(said, at) if kind == "not" and self._capitals_name else begins
            scope = said[begins if first == at else first].start, said[end - 1].end
        elif said[at].word in self._after_verb and (first := self._clause(said, at)) < at:
            scope = said[first].start, said[at - 1].end
        else:
            scope = said[behind].end, said[behind].end
        return Turning(said[at].start, said[behind].end, scope, kind)

    def _subject(self, said: Sequence[Token], at: int) -> int:
        """Return where a name right before a turning word begins, if it does not act: *papers Ada didn't write*.

        Behind a preposition (*products by Halcyon aren't …*) it is not; then the place itself is returned.
        """
        first = at
        while first > 1 and said[first - 1].capital and not said[first].mark:
            first -= 1
        before = said[first - 1] if first else None
        if first == at or before is None or said[first].mark:
            return at
        return first if before.word not in self._function or before.word in self._relative else at

    def _opened(self, said: Sequence[Token], at: int) -> int | None:
        """Return the place behind the word that opens a negation in two parts, close before its second part."""
        for place in range(at - 1, max(-1, at - 1 - _OPENED), -1):
            if said[place].word in self._opens:
                return place + 1
            if said[place].mark:
                return None
        return None

    def _clause(self, said: Sequence[Token], at: int) -> int:
        """Return where the clause that ends with a turning word begins: German *die man kaufen kann nicht*."""
        first = at
        while (
            first > max(0, at - self._clause_words)
            and not said[first].mark
            and said[first - 1].word not in self._relative
        ):
            first -= 1
        return first

    def _end(self, said: Sequence[Token], begins: int, limit: int, kind: Kind) -> int:
        """Return the place of the first word behind the scope that begins at a word."""
        at = begins
        while at < limit:
            token = said[at]
            if at > begins and token.mark and not (token.mark in _COMMAS and self._goes_on(said, at, limit)):
                return at
            if at > begins and token.word in self._relative:
                # `not` reaches into a relative clause; what a thing lacks or is not ends before it.
                if kind != "not" and said[at - 1].word not in self._relative_after:
                    return at
                at += 1
                continue
            if at > begins and self._ends.length(said, at):
                return at
            if at == begins and token.mark and token.mark not in _COMMAS:
                return at
            at += 1
        return at

    def _goes_on(self, said: Sequence[Token], at: int, limit: int) -> bool:
        """Whether a comma before a word separates entries of a list that ends with *and*, *or* or *nor*."""
        words = 0
        for place in range(at, min(limit, at + 6 * _LIST)):
            token = said[place]
            if place > at and token.mark:
                if token.mark not in _COMMAS:
                    return False
                words = 0
            if token.word in self._joining:
                return (words <= _LIST and place > at) or (place == at and not self._ends.length(said, place))
            if token.word in self._function and token.word not in self._articles:
                return False
            words += 1
            if words > _LIST:
                return False
        return False

    def _trailing(self, said: Sequence[Token], begins: int, end: int) -> int:
        """Return the number of words at the end of a scope that say nothing: *at all*, *yet*."""
        return self._fillers.before(said, end, min(3, end - begins))


@lru_cache(maxsize=32)
def negation_reader(code: str) -> NegationReader:
    """Return the reader of a language."""
    return NegationReader(code)
