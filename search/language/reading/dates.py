"""Dates and relative times as ranges of days: *in March 2021*, *before 3 May 2020*, *last year*.

A single year is a `Quantity`; a month or day without a year is not read, because any year could be meant.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from itertools import pairwise

from search.domain.plan import Operator
from search.language.languages import language
from search.language.number_words import number_words, small_number
from search.language.reading.days import add_months, back, leading_number, one_day, period_around, whole_month, year_of
from search.language.tokens import Phrases, Token, phrases

_ISO = re.compile(r"(?<![\w.-])(\d{4})-(\d{2})(?:-(\d{2}))?(?![\w-])")
_NUMERIC = re.compile(r"(?<![\w.,/-])(\d{1,2})([./])(\d{1,2})\2(\d{4})(?![\w/-])")
_DAY = re.compile(r"\d{1,2}(?:st|nd|rd|th|er|re|º|ª|e)?")
_NEAR = 2
"""Number of content words on each side that may name the field."""
_AROUND = 12
"""Number of words on each side among which these are looked for."""
_OLDEST = 500
"""Most years or months of an age."""
_COMMAS = ",،、，"
_ROMAN = {
    "x": 10, "xi": 11, "xii": 12, "xiii": 13, "xiv": 14, "xv": 15, "xvi": 16, "xvii": 17, "xviii": 18, "xix": 19,
    "xx": 20, "xxi": 21,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class DateRange:
    """A date or relative time as a range: *in March 2021*, *before 3 May 2020*, *last year*, *in the last five years*.

    `op` is the comparison; `first` and `last` are the first and last day of what is named, both included. Single years
    are `Quantity` with `year`. `words` are the content words around it, as in `Quantity`.
    """

    start: int
    end: int
    op: Operator
    first: date
    last: date
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Days:
    """The days that an expression names: its number of words, and the first and last day."""

    words: int
    first: date
    last: date


class DateReader:
    """Finds the dates of one language, as seen from one day."""

    def __init__(self, code: str) -> None:
        lang = language(code)
        self._numbers = number_words(code)
        self._day_first = bool(lang.value("dates", "day_first", default=True))
        ops: tuple[tuple[Operator, str], ...] = (
            ("<", "before"), (">", "after"), (">=", "since"), ("<=", "until"), ("=", "within"),
        )  # fmt: skip
        self._ops: Phrases[Operator] = Phrases((said, op) for op, name in ops for said in lang.entries("dates", name))
        behind: tuple[tuple[Operator, str], ...] = ((">=", "since_behind"), ("<=", "until_behind"))
        self._ops_behind: Phrases[Operator] = Phrases(
            (said, op) for op, name in behind for said in lang.entries("dates", name)
        )
        self._between = phrases((*lang.entries("dates", "between"), *lang.entries("dates", "from")))
        self._and = phrases(lang.entries("dates", "and"))
        self._months = dict(lang.numbered("dates", "months"))
        self._seasons: dict[str, int] = lang.table("dates", "seasons")
        self._periods = {
            form: period for period, written in lang.table("dates", "periods").items() for form in _split(written)
        }
        self._relative: Phrases[int] = Phrases(lang.table("dates", "relative").items())
        self._last, self._past = lang.set("dates", "last"), lang.set("dates", "past")
        self._this, self._next = lang.set("dates", "this"), lang.set("dates", "next")
        self._ago = phrases(lang.entries("dates", "ago"))
        self._ago_before = phrases(lang.entries("dates", "ago_before"))
        self._of = lang.set("dates", "of")
        ages: tuple[tuple[Operator, str], ...] = (
            ("<", "older"), (">", "younger"), (">=", "age_most"), ("<=", "age_least"),
        )  # fmt: skip
        self._ages: Phrases[tuple[Operator, str]] = Phrases(
            (said, (op, name)) for op, name in ages for said in lang.entries("dates", name)
        )
        self._old = lang.set("dates", "old")
        self._decades: dict[str, int] = lang.table("decades")
        self._function = lang.set("words", "function") | lang.set("words", "asking")

    def read(self, text: str, said: Sequence[Token], today: date) -> list[DateRange]:
        """Return the dates of a text in their order."""
        numeric = self._numeric(text, said)
        found: list[DateRange] = []
        at = 0
        while at < len(said):
            if age := self._age(said, at, today):
                one, at = age
                found.append(one)
                continue
            days = self._days(said, at, today, numeric)
            if days is None:
                at += 1
                continue
            behind = at + days.words
            found.append(self._ranged(said, at, days, today, numeric))
            while behind < len(said) and said[behind].start < found[-1].end:
                behind += 1
            at = behind
        # Two ranges never share words: a comparing word behind one date may stand before the next.
        return [one for one, other in pairwise([*found, None]) if one and not (other and other.start < one.end)]

    def _age(self, said: Sequence[Token], at: int, today: date) -> tuple[DateRange, int] | None:
        """Return the date that an age means, and the place behind: *older than 30 years*, *at most two years old*.

        What is older than 30 years began before the day 30 years ago.
        """
        compared = self._ages.at(said, at)
        if compared is None:
            return None
        length, (op, name) = compared
        place = at + length
        if place >= len(said):
            return None
        in_words = self._numbers.at(said, place)
        count = in_words[1] if in_words else small_number(said[place], self._numbers, _OLDEST)
        behind = place + (in_words[0] if in_words else 1)
        period = self._periods.get(said[behind].word, "") if behind < len(said) and not said[behind].mark else ""
        old = behind + 1 < len(said) and said[behind + 1].word in self._old
        said_old = name in ("older", "younger") or old
        if not count or count > _OLDEST or period not in ("year", "month") or not said_old:
            return None
        if behind + 1 < len(said) and self._ago.length(said, behind + 1):
            return None
        day = back(today, period, count)
        end = behind + 1 + old
        return self._made(said, at, end, op, day, day), end

    def _ranged(self, said: Sequence[Token], at: int, days: _Days, today: date, numeric: dict[int, _Days]) -> DateRange:
        """Return the range of a date with the comparing words before or behind it."""
        behind = at + days.words
        between = self._between.before(said, at, 2)
        joined = self._and.length(said, behind) if between else 0
        if joined and (other := self._days(said, behind + joined, today, numeric)) and other.last >= days.first:
            return self._made(said, at - between, behind + joined + other.words, "between", days.first, other.last)
        if after := self._ops_behind.at(said, behind):
            from_ = self._ops.before(said, at, 3)
            return self._made(said, at - from_, behind + after[0], after[1], days.first, days.last)
        before = self._ops.before(said, at, 5)
        if not before:
            return self._made(said, at, behind, "=", days.first, days.last)
        op = self._ops.at(said, at - before)
        return self._made(said, at - before, behind, op[1] if op else "=", days.first, days.last)

    def _made(self, said: Sequence[Token], begins: int, end: int, op: Operator, first: date, last: date) -> DateRange:
        before = [token.word for token in said[max(0, begins - _AROUND) : begins] if self._is_content(token)]
        behind = [token.word for token in said[end : end + _AROUND] if self._is_content(token)]
        around = tuple(dict.fromkeys([*before[-_NEAR:][::-1], *behind[:1]]))
        return DateRange(said[begins].start, said[end - 1].end, op, first, last, around)

    def _is_content(self, token: Token) -> bool:
        return token.word not in self._function and not token.word.isdigit()

    def _days(self, said: Sequence[Token], at: int, today: date, numeric: dict[int, _Days]) -> _Days | None:
        """Return the days that an expression beginning at a word names; None if none begins there."""
        if at >= len(said):
            return None
        return (
            numeric.get(at)
            or self._calendar(said, at)
            or self._century(said, at, today)
            or self._counted(said, at, today)
            or self._seen_from_today(said, at, today)
        )

    def _numeric(self, text: str, said: Sequence[Token]) -> dict[int, _Days]:
        """Return dates in digits by the place of their first word; a date that can be read in two ways is left out."""
        places = {token.start: at for at, token in enumerate(said)}
        found: dict[int, _Days] = {}
        for match in _ISO.finditer(text):
            year, month, day = (int(part) if part else 0 for part in match.groups())
            days = whole_month(year, month) if not day else one_day(year, month, day)
            self._add(found, places, said, match, days)
        for match in _NUMERIC.finditer(text):
            one, other, year = int(match[1]), int(match[3]), int(match[4])
            if match[2] == "." or self._day_first:
                day, month = one, other
            else:
                day, month = other, one
            if match[2] == "/" and max(one, other) > 12:
                day, month = max(one, other), min(one, other)
            self._add(found, places, said, match, one_day(year, month, day))
        return found

    @staticmethod
    def _add(
        found: dict[int, _Days],
        places: dict[int, int],
        said: Sequence[Token],
        match: re.Match[str],
        days: tuple[date, date] | None,
    ) -> None:
        at = places.get(match.start())
        if at is not None and days is not None:
            words = 0
            while at + words < len(said) and said[at + words].start < match.end():
                words += 1
            found[at] = _Days(words, *days)

    def _calendar(self, said: Sequence[Token], at: int) -> _Days | None:
        """Return *3 May 2020*, *May 3, 2020*, *March 2021*, *summer of 2020*, *the nineties*."""
        word = said[at].word
        if _DAY.fullmatch(word):
            place = self._skip(said, at + 1)
            if place < len(said) and said[place].mark in ("", ".") and (month := self._months.get(said[place].word)):
                return self._with_year(said, at, place + 1, month, leading_number(word))
            return None
        if month := self._months.get(word):
            if at and not said[at].mark and _DAY.fullmatch(said[at - 1].word):
                return None  # a day that the month does not have
            if at + 1 < len(said) and not said[at + 1].mark and _DAY.fullmatch(said[at + 1].word):
                return self._with_year(said, at, at + 2, month, leading_number(said[at + 1].word))
            return self._with_year(said, at, at + 1, month, 0)
        if (month := self._seasons.get(word)) is not None:
            return self._with_year(said, at, at + 1, month, 0, months=3)
        if (start := self._decades.get(word)) is not None:
            return _Days(1, date(1900 + start, 1, 1), date(1909 + start, 12, 31))
        return None

    def _with_year(
        self, said: Sequence[Token], at: int, place: int, month: int, day: int, months: int = 1
    ) -> _Days | None:
        place = self._skip(said, place)
        if place >= len(said) or (said[place].mark and said[place].mark not in _COMMAS):
            return None
        year = year_of(said[place].word)
        if year is None:
            return None
        if day:
            days = one_day(year, month, day)
        elif months == 1:
            days = whole_month(year, month)
        else:
            first = date(year, month, 1)
            days = first, add_months(first, months) - timedelta(days=1)
        return _Days(place + 1 - at, *days) if days else None

    def _skip(self, said: Sequence[Token], place: int) -> int:
        while place < len(said) and said[place].word in self._of and not said[place].mark:
            place += 1
        return place

    def _century(self, said: Sequence[Token], at: int, today: date) -> _Days | None:
        """Return *the 19th century*: the years 1801 to 1900."""
        if at + 1 >= len(said) or said[at + 1].mark not in ("", "."):
            return None
        word, other = said[at].word, said[at + 1].word
        if self._periods.get(word) == "century":
            word, other = other, word  # Spanish *siglo XIX*
        if self._periods.get(other) != "century":
            return None
        number = self._numbers.ordinals.get(word) or _ROMAN.get(word.removesuffix("ème").removesuffix("e"))
        if number is None and (match := re.fullmatch(r"(\d{1,2})(?:st|nd|rd|th|e|è|ème|eme)?", word)):
            number = int(match[1])
        if number is None or not 10 <= number <= 22:
            return None
        return _Days(2, date(100 * (number - 1) + 1, 1, 1), date(100 * number, 12, 31))

    def _counted(self, said: Sequence[Token], at: int, today: date) -> _Days | None:
        """Return *last year*, *the last five years*, *five last years*, *three years ago*."""
        place, number, last, past = at, 0, False, False
        before = self._ago_before.length(said, at)
        place += before
        begins = place
        while place < len(said) and place - begins <= 4 and not (place > at and said[place].mark):
            word = said[place].word
            if word in self._last or word in self._past:
                last, past = True, past or word in self._past
            elif (value := small_number(said[place], self._numbers, 200)) is not None and not number:
                number = value
            else:
                break
            place += 1
        period = (
            self._periods.get(said[place].word) if place < len(said) and not (place > at and said[place].mark) else None
        )
        if period is None:
            return None
        place += 1
        if not last and place < len(said) and not said[place].mark and said[place].word in self._last:
            last, place = True, place + 1
        ago = self._ago.length(said, place)
        if not last and number and (ago or before):
            days = period_around(back(today, period, number), period)
            return _Days(place + ago - at, *days)
        if last and not before:
            if number > 1 or past or (number == 1):
                return _Days(place - at, back(today, period, max(number, 1)), today)
            return _Days(place - at, *period_around(back(today, period, 1), period))
        return None

    def _seen_from_today(self, said: Sequence[Token], at: int, today: date) -> _Days | None:
        """Return *today*, *yesterday*, *this year*, *next month*."""
        if found := self._relative.at(said, at):
            day = today + timedelta(days=found[1])
            return _Days(found[0], day, day)
        word = said[at].word
        if at + 1 >= len(said) or said[at + 1].mark or not (word in self._this or word in self._next):
            return None
        period = self._periods.get(said[at + 1].word)
        if period is None:
            return None
        seen = today if word in self._this else back(today, period, -1)
        return _Days(2, *period_around(seen, period))


def _split(written: str) -> list[str]:
    return [part.strip() for part in written.split(",")]


@lru_cache(maxsize=32)
def date_reader(code: str) -> DateReader:
    """Return the reader of a language."""
    return DateReader(code)
