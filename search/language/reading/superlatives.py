"""Words that ask for the first of an order: *heaviest*, *the three newest*, *most cited*, *the biggest range*."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Literal

from search.language.cues import Span, Superlative
from search.language.languages import language, split
from search.language.number_words import number_words, small_number
from search.language.reading.scales import Adjective, Scale, scales_of
from search.language.tokens import Phrases, Token, phrases

Degree = Literal["most", "fewest", "many", "few", "ranges", "ranges_few", "more", "less"]
_MOST_COUNTED = 4
"""Largest number of words in the name of what is counted."""
_DETERMINED = 2
"""Number of words before *more* among which the article of its noun stands."""
_CHOICE = 16
"""Largest number of words from a comparative to the *or* of a choice."""
_SHORTEST = 6
"""Least number of letters of a superlative that the lists do not know."""
_VOWELS = "aeiou"


class SuperlativeReader:
    """Finds the superlatives of one language."""

    def __init__(self, code: str) -> None:
        lang = language(code)
        self._scales = scales_of(code)
        self._numbers = number_words(code)
        degrees: tuple[tuple[Degree, str], ...] = (
            ("most", "most"), ("fewest", "fewest"), ("many", "many"), ("few", "many_few"),
            ("ranges", "ranges"), ("ranges_few", "ranges_few"), ("more", "most_numbered"), ("less", "fewest_numbered"),
        )  # fmt: skip
        self._degrees: Phrases[Degree] = Phrases(
            (phrase, degree) for degree, name in degrees for phrase in lang.entries("superlatives", name)
        )
        self._bare = lang.set("superlatives", "most_bare") | lang.set("superlatives", "fewest_bare")
        self._than = phrases(lang.entries("comparisons", "than"))
        self._articles = lang.set("words", "articles")
        self._never = phrases(lang.entries("superlatives", "never"))
        self._choosing, self._either = lang.set("superlatives", "choosing"), lang.set("words", "either")
        self._chosen: dict[str, Degree] = dict.fromkeys(lang.set("comparisons", "more"), "most")
        self._chosen |= dict.fromkeys(lang.set("comparisons", "less"), "fewest")
        self._measuring = lang.set("superlatives", "measuring")
        self._first, self._last = lang.set("superlatives", "first"), lang.set("superlatives", "last")
        self._verb_behind = lang.set("superlatives", "last_verb_behind")
        self._helping = lang.set("superlatives", "last_helping")
        self._verb_before = lang.set("superlatives", "last_verb_before")
        self._top = phrases(lang.entries("superlatives", "top"))
        self._sorted = phrases(lang.entries("superlatives", "sorted"))
        self._down = phrases(lang.entries("superlatives", "down"))
        self._ordered = lang.set("superlatives", "ordered")
        self._not_ordered = lang.set("superlatives", "not_ordered")
        self._ends = lang.entries("superlatives", "ends")
        self._not_superlative = lang.set("superlatives", "not_superlative")
        self._determiners = lang.set("superlatives", "determiners")
        self._participles = lang.set("superlatives", "participles")
        self._participle_ends = lang.entries("superlatives", "participle_ends")
        self._adverbs = lang.set("superlatives", "adverbs")
        self._by_count = phrases(lang.entries("superlatives", "by_count"))
        self._by = phrases(lang.entries("superlatives", "by"))
        self._counting = {word: split(names) for word, names in lang.table("superlatives", "counting").items()}
        self._function = lang.set("words", "function")
        self._dates = scales_of(code).nouns.get(lang.value("superlatives", "date_noun", default="date"), Scale())

    def read(self, said: Sequence[Token], held: Sequence[Span] = ()) -> list[Superlative]:
        """Return the superlatives of a text in their order, outside the stretches `held` (in the order of the text)."""
        found: list[Superlative] = []
        at, waiting = 0, iter(held)
        hold = next(waiting, None)
        while at < len(said):
            while hold is not None and hold[1] <= said[at].start:
                hold = next(waiting, None)
            if hold is not None and hold[0] <= said[at].start < hold[1]:
                at += 1
            elif length := self._never.length(said, at):
                at += length
            elif read := self._at(said, at):
                superlative, behind = read
                if found and superlative.start < found[-1].end:
                    # The number before it belongs to the superlative before that: *most three most*.
                    superlative = replace(superlative, start=said[at].start, limit=1)
                found.append(superlative)
                at = behind
            else:
                at += 1
        return found

    def _at(self, said: Sequence[Token], at: int) -> tuple[Superlative, int] | None:
        """Return the superlative that begins at a word, and the place of the first word behind it."""
        adjective, degree = self._scales.superlative.at(said, at), self._degrees.at(said, at)
        if not adjective and (chosen := self._scales.comparative.at(said, at)) and self._is_choice(said, at):
            adjective = chosen
        if adjective and not (degree and degree[0] > adjective[0]):
            return self._adjective(said, at, *adjective)
        if degree:
            return self._degree(said, at, *degree)
        if (more := self._chosen.get(said[at].word)) and self._is_choice(said, at):
            # *Who wrote more papers, Ada or Bo*.
            return self._degree(said, at, 1, more)
        if said[at].word in self._first or said[at].word in self._last:
            return self._ordinal(said, at)
        if length := self._top.length(said, at):
            return self._ranked(said, at, length)
        if length := self._sorted.length(said, at):
            return self._sorting(said, at, length)
        return self._unknown(said, at)

    def _is_choice(self, said: Sequence[Token], at: int) -> bool:
        """Whether a comparative chooses between named things: *which is heavier, the Glow or the Lantern*."""
        asked = any(token.word in self._choosing for token in said[max(0, at - _MOST_COUNTED) : at])
        behind = said[at + 1 : at + 1 + _CHOICE]
        return asked and not self._than_within(said, at + 1) and any(token.word in self._either for token in behind)

    def _adjective(
        self, said: Sequence[Token], at: int, length: int, adjective: Adjective
    ) -> tuple[Superlative, int] | None:
        """Return a superlative of a known adjective; a noun of a scale behind it is the property (*highest price*)."""
        begins, end, limit = self._with_number(said, at, at + length)
        scale, word = adjective.scale, adjective.word
        named = self._scales.nouns.get(said[end].word) if end < len(said) and not said[end].mark else None
        if named and (word in self._measuring or not _apart(scale, named)):
            scale, word, end = named, said[end].word, end + 1
        elif self._than.length(said, end):
            return None
        elif word in self._measuring and (noun := self._noun(said, end)) > end:
            # *The highest citation count*: what stands behind names the property, or the type.
            scale = Scale((" ".join(token.word for token in said[end:noun]), *scale.names), scale.unit)
        if end < len(said) and said[end].word in self._ordered and not said[end].mark and _closes(said, end):
            end, limit = end + 1, 0
        counted = self._counted_behind(said, end)
        return self._made(said, begins, end, word, adjective.end, scale, counted, limit), end

    def _counted_behind(self, said: Sequence[Token], at: int) -> Span | None:
        """Return what *by number of* within the next few words counts: *the biggest brand by number of products*."""
        for place in range(at, min(len(said), at + _MOST_COUNTED)):
            if length := self._by_count.length(said, place):
                noun = self._noun(said, place + length)
                return (said[place + length].start, said[noun - 1].end) if noun > place + length else None
        return None

    def _degree(self, said: Sequence[Token], at: int, length: int, degree: Degree) -> tuple[Superlative, int] | None:
        down = degree in ("fewest", "few", "ranges_few", "less")
        begins, end, limit = self._with_number(said, at, at + length)
        if degree in ("ranges", "ranges_few"):
            counted = said[at + length - 1].start, said[at + length - 1].end
            return self._made(said, begins, end, "", "low" if down else "high", Scale(), counted, limit), end
        if degree in ("many", "few"):
            noun = self._noun(said, end)
            if noun == end or said[end].word[0].isdigit() or self._than_within(said, end):
                return None
            named = said[end].start, said[noun - 1].end
            return self._made(said, begins, end, "", "low" if down else "high", Scale(), named, limit), end
        if degree in ("more", "less"):
            # Romance languages: *les trois plus récents*, *la lámpara más cara*; before *que* it is a comparison.
            adjective = self._scales.positive.at(said, end)
            participle = end < len(said) and not said[end].mark and self._participle(said[end].word)
            behind = end + (adjective[0] if adjective else 1)
            known = bool(adjective or participle) and not self._compares(said, at, behind)
            if not known or not (limit > 1 or said[at].word in self._bare):
                return None
        if limit == 1 and self._articles:
            limit = self._number_before_noun(said, begins)
        return self._most(said, begins, end, limit, down=down)

    def _compares(self, said: Sequence[Token], at: int, behind: int) -> bool:
        """Whether *than* stands at a place: in *el estado más pequeño que limita con Texas* it begins a clause."""
        length = self._than.length(said, behind)
        if not length or behind + length >= len(said):
            return bool(length)
        determined = any(token.word in self._determiners for token in said[max(0, at - _DETERMINED) : at])
        other = said[behind + length]
        return not determined or other.capital or other.word in self._function or other.word[0].isdigit()

    def _than_within(self, said: Sequence[Token], at: int) -> bool:
        """Whether a comparing *than* stands among the next few words."""
        return any(self._than.length(said, place) for place in range(at, min(len(said), at + _MOST_COUNTED + 1)))

    def _number_before_noun(self, said: Sequence[Token], begins: int) -> int:
        """Return the number in *les trois films* before *les plus récents*; 1 without one."""
        for place in range(begins - 1, max(0, begins - 1 - _MOST_COUNTED), -1):
            if said[place].mark:
                break
            number = self._number(said, place)
            if number is not None and number > 1 and said[place - 1].word in self._articles:
                return number
        return 1

    def _most(
        self, said: Sequence[Token], begins: int, end: int, limit: int, *, down: bool
    ) -> tuple[Superlative, int] | None:
        """Return what *most* or *least* with the words behind it ask for."""
        place = end
        while place < len(said) and not said[place].mark and said[place].word in self._adverbs:
            place += 1
        counting = place < len(said) and not said[place].mark and self._participle(said[place].word)
        adjective = self._scales.positive.at(said, end)
        if adjective and not said[end].mark and not (counting and place > end):
            behind = end + adjective[0]
            low = (adjective[1].end == "low") != down
            counted = (said[end].start, said[end].end) if self._participle(said[end].word) else None
            made = self._made(
                said, begins, behind, adjective[1].word, "low" if low else "high", adjective[1].scale, counted, limit
            )
            return made, behind
        end_of_scale: Literal["high", "low"] = "low" if down else "high"
        if counting:
            word = said[place].word
            counted = said[place].start, said[place].end
            scale = Scale(self._counting.get(word, ()))
            return self._made(said, begins, place + 1, word, end_of_scale, scale, counted, limit), place + 1
        noun = self._noun(said, end)
        if noun > end:
            counted = said[end].start, said[noun - 1].end
            return self._made(said, begins, end, "", end_of_scale, Scale(), counted, limit), end
        if begins and self._participle(said[begins - 1].word) and not said[begins].mark:
            word = said[begins - 1].word
            counted = said[begins - 1].start, said[begins - 1].end
            scale = Scale(self._counting.get(word, ()))
            return self._made(said, begins - 1, place, word, end_of_scale, scale, counted, limit), place
        if verb := self._scales.verb_near(said, begins):
            place, word, scale = verb
            start = place if place == begins - 1 else begins
            return self._made(said, start, end, word, end_of_scale, scale, limit=limit), end
        return self._made(said, begins, end, "", end_of_scale, Scale(), limit=limit), end

    def _ordinal(self, said: Sequence[Token], at: int) -> tuple[Superlative, int] | None:
        """Return the order that *first* or *last* asks for; None where they are no order (*last edited in 2020*)."""
        if said[at].word in self._last and self._is_verb(said, at):
            return None
        named = said[at].capital and at > 0
        begins, end, limit = self._with_number(said, at, at + 1)
        behind = said[end] if end < len(said) and not said[end].mark else None
        determined = begins < at or end > at + 1 or (at > 0 and said[at - 1].word in self._determiners)
        if named or (behind is not None and behind.word in self._not_ordered and not (determined and end > at + 1)):
            return None
        if not determined and at > 0 and behind is not None and behind.word not in self._function:
            return None
        which: Literal["high", "low"] = "low" if said[at].word in self._first else "high"
        return self._made(said, begins, end, said[at].word, which, self._dates, limit=limit), end

    def _is_verb(self, said: Sequence[Token], at: int) -> bool:
        """Whether *last* is a verb: *lamps that last*, *which last more than 20 hours*, *how long does it last*."""
        before = said[at - 1] if at and not said[at].mark else None
        behind = said[at + 1] if at + 1 < len(said) and not said[at + 1].mark else None
        if before is not None and before.word in self._verb_behind:
            return True
        if before is not None and at + 1 == len(said) and any(one.word in self._helping for one in said[:at]):
            return True
        free = before is not None and before.word not in self._determiners
        return free and behind is not None and behind.word in self._verb_before

    def _ranked(self, said: Sequence[Token], at: int, length: int) -> tuple[Superlative, int] | None:
        """Return *top 3*, with the property where *by* names one behind it."""
        number = self._number(said, at + length)
        if number is None:
            return None
        end = at + length + 1
        scale, degree = self._scales.superlative.at(said, end), self._degrees.at(said, end)
        read = self._adjective(said, end, *scale) if scale else self._degree(said, end, *degree) if degree else None
        if read:
            return replace(read[0], start=said[at].start, limit=number), read[1]
        word, names, counted = self._property_behind(said, end) or (said[at].word, Scale(), None)
        return self._made(said, at, end, word, "high", names, counted, number), end

    def _property_behind(self, said: Sequence[Token], at: int) -> tuple[str, Scale, Span | None] | None:
        """Return what *by* names within the next few words: a property (*top 3 lamps by price*) or what is counted."""
        for place in range(at, min(len(said), at + 2 * _MOST_COUNTED)):
            if (length := self._by.length(said, place)) and place + length < len(said):
                word = said[place + length].word
                if word in self._scales.nouns:
                    return word, self._scales.nouns[word], None
                named = said[place + length]
                if not named.capital and word not in self._function:
                    return word, Scale((word,)), (named.start, named.end)
        return None

    def _sorting(self, said: Sequence[Token], at: int, length: int) -> tuple[Superlative, int] | None:
        """Return an order of all results: *sorted by price*; `limit` is 0."""
        end = at + length
        while end < len(said) and said[end].word in self._determiners:
            end += 1
        if end >= len(said) or said[end].mark:
            return None
        word = said[end].word
        scale = self._scales.nouns.get(word, Scale((word,)))
        down = self._down.length(said, end + 1)
        behind = end + 1 + down
        return self._made(said, at, behind, word, "high" if down else "low", scale, limit=0), behind

    def _unknown(self, said: Sequence[Token], at: int) -> tuple[Superlative, int] | None:
        """Return a superlative that the lists do not know (*the shiniest*), behind a determiner."""
        word = said[at].word
        ending = next((ending for ending in self._ends if word.endswith(ending)), None)
        if ending is None or len(word) < _SHORTEST or word in self._not_superlative or said[at].capital:
            return None
        begins, end, limit = self._with_number(said, at, at + 1)
        if begins == at and end == at + 1 and not (at and said[at - 1].word in self._determiners):
            return None
        base = _base(word.removesuffix(ending))
        return self._made(said, begins, end, base, "high", Scale(), limit=limit), end

    def _with_number(self, said: Sequence[Token], begins: int, end: int) -> tuple[int, int, int]:
        """Return the places with a number before or behind, and the number: *the three newest*, *second oldest*."""
        if begins and not said[begins].mark:
            before = said[begins - 1]
            if before.word in self._numbers.ordinals and before.word not in self._first:
                return begins - 1, end, self._numbers.ordinals[before.word]
            if (number := self._number(said, begins - 1)) is not None:
                return begins - 1, end, number
        if (number := self._number(said, end)) is not None and not (end < len(said) and said[end].mark):
            return begins, end + 1, number
        return begins, end, 1

    def _number(self, said: Sequence[Token], at: int) -> int | None:
        return small_number(said[at], self._numbers) if 0 <= at < len(said) else None

    def _noun(self, said: Sequence[Token], begins: int) -> int:
        """Return the place behind the name of what is counted, which begins at a word."""
        at = begins
        while at < min(len(said), begins + _MOST_COUNTED) and not (said[at].mark):
            if said[at].word in self._function and not (at == begins and said[at].word in self._qualifying):
                break
            at += 1
        return at

    _qualifying = frozenset(("other", "own"))

    def _participle(self, word: str) -> bool:
        return (
            word in self._participles
            or word in self._counting
            or bool(self._participle_ends and word.endswith(self._participle_ends) and len(word) >= _SHORTEST - 1)
        )

    def _made(
        self,
        said: Sequence[Token],
        begins: int,
        end: int,
        word: str,
        which: Literal["high", "low"],
        scale: Scale,
        counted: Span | None = None,
        limit: int = 1,
    ) -> Superlative:
        direction: Literal["asc", "desc"] = "desc" if which == "high" else "asc"
        return Superlative(
            said[begins].start,
            said[end - 1].end,
            word,
            direction,
            scale.names,
            scale.unit,
            counted,
            limit,
            scale.against,
        )


def _apart(one: Scale, other: Scale) -> bool:
    """Whether two scales measure different things: the *oldest volume* is no volume that is measured."""
    return bool(one.names) and set(one.names).isdisjoint(other.names)


def _closes(said: Sequence[Token], at: int) -> bool:
    """Whether a word is the last before a mark or the end: *cheapest first*."""
    return at + 1 >= len(said) or bool(said[at + 1].mark)


def _base(root: str) -> str:
    """Return the base form of an English superlative without its ending: `shini` → `shiny`, `redd` → `red`."""
    if root.endswith("i"):
        return f"{root[:-1]}y"
    if len(root) > 3 and root[-1] == root[-2] and root[-1] not in "lsz":
        return root[:-1]
    if len(root) > 3 and root[-1] in "cgv" and root[-2] in _VOWELS + "rnl":
        return f"{root}e"
    return root


@lru_cache(maxsize=32)
def superlative_reader(code: str) -> SuperlativeReader:
    """Return the reader of a language."""
    return SuperlativeReader(code)
