"""Years, prices and amounts in a question, with the comparison for each: `under 50 euros`, `30 pages or more`.

Numbers in digits are read in every language, numbers in words in those with number words. The words around a number
give the comparison and the unit; they stand in the data files of languages.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import cast

from search.domain.plan import Operator
from search.language.accents import typed
from search.language.languages import Language, language
from search.language.number_words import number_words
from search.language.tokens import Phrases, Token, phrases, tokens
from search.language.units import CURRENCIES, UNITS, Dimension, Unit

__all__ = ["FIRST_YEAR", "LAST_YEAR", "UNITS", "Dimension", "Quantity", "Unit", "quantities"]

FIRST_YEAR, LAST_YEAR = 1000, 2199
"""First and last whole number that may be a year, both included."""
_NEAR = 2
"""Number of content words before a number that may name the field."""
_AROUND = 200
"""Number of characters before and after a number that are searched for content words."""
_SYMBOLS = "".join(name for name in UNITS if not name.isalnum())
_CODES = "|".join(code for code, _ in CURRENCIES if code.isupper())
_WORD = re.compile(r"[^\W\d_]+")
_CLOSE = 40
"""Number of characters before a decade in which its comparison begins."""
_PLACES = 6


@dataclass(frozen=True, slots=True)
class Quantity:
    """A condition on a value: a comparison with one number, or a range between two numbers.

    `start` and `end` are the offsets in the question of the number with its comparing words and its unit. `op` is the
    comparison; `low` and `high` are the ends of the range, equal for one number. `unit` is the word or sign of the unit
    in lower case; a unit in another language than English is written as `UNITS` has it. `words` are the content words
    around the number; one of them may name the field. `year` says whether the number can be a year, by its size and by
    the words around it. `scale` holds words with which schemas name what its comparing word is about (*cheaper*),
    `against` those for the opposite (*faster* than 30 minutes takes less time), and `bare` says that the number has
    neither a unit nor a noun behind it (`under 30`); `reading.numbers` reads all three.
    """

    start: int
    end: int
    op: Operator
    low: float
    high: float
    unit: str = ""
    words: tuple[str, ...] = ()
    year: bool = False
    scale: tuple[str, ...] = ()
    against: tuple[str, ...] = ()
    bare: bool = False

    @property
    def dimension(self) -> Dimension | None:
        """Dimension of the unit; None without a unit, or if the unit is unknown."""
        return UNITS[self.unit].dimension if self.unit in UNITS else None


def quantities(text: str, code: str = "en") -> list[Quantity]:
    """Return every number of a question that may limit a field, in the order of the question.

    `code` is the language of the question.
    """
    return _reader(code.lower().replace("_", "-").split("-")[0]).read(text)


class _Reader:
    """Reads the numbers of one language."""

    def __init__(self, lang: Language) -> None:
        self._units: dict[str, str] = lang.table("units")
        self._function = lang.set("words", "function") | lang.set("words", "asking")
        self._numbers = number_words(lang.code)
        self._temporal = re.compile(rf"(?:^|\s)(?:{_alternatives(lang, 'temporal') or '(?!)'})\Z")
        self._ops: list[Operator] = list(cast("dict[Operator, str]", lang.table("quantities", "before")))
        self._ops_behind: list[Operator] = list(cast("dict[Operator, str]", lang.table("quantities", "after")))
        self._exact = lang.set("quantities", "exact")
        self._on = re.compile(rf"\s(?:{_alternatives(lang, 'exact_unless') or '(?!)'})(?!\w)", re.IGNORECASE)
        self._needs_between = re.compile(rf"\s(?:{_alternatives(lang, 'needs_between') or '(?!)'})\s", re.IGNORECASE)
        self._comparing: Phrases[Operator] = Phrases(
            (phrase, op)
            for op in self._ops
            if op != "="
            for phrase in _expanded(lang, lang.value("quantities", "before", op))
        )
        self._just = phrases(lang.entries("quantities", "just"))
        self._point, group = lang.value("numbers", "point", default="."), lang.value("numbers", "group", default=",")
        self._group = re.compile(f"[{group}]")
        self._compile(lang, re.escape(self._point), group)

    def _compile(self, lang: Language, point: str, group: str) -> None:
        """Compile the patterns of ranges, decades, single numbers and large numbers (`5 million`)."""
        sign = rf"(?:(?P<{{0}}sign>[{_SYMBOLS}]|\b(?:{_CODES})\b)\s?)?"
        digits = (
            rf"(?P<{{0}}number>\d{{{{1,3}}}}(?:[{group}]\d{{{{3}}}}){{{{1,3}}}}(?:{point}\d{{{{1,6}}}})?"
            rf"|\d{{{{1,12}}}}(?:{point}\d{{{{1,6}}}})?)"
        )
        number = sign + digits
        times = "|".join(lang.table("numbers", "times")) or "(?!)"
        # The number must not be a part of a date, a code or a number in words.
        ends = rf"(?![\d/]|[.,]\d|[-–—]\w|\s?(?:{times})\b)"
        begins = rf"(?<![\w./\-–—{_SYMBOLS}])(?<!\d,)"
        # Nor is a word that compares the next number: *is the Wolke 7 under 400 euros*.
        comparing = "|".join(map(re.escape, sorted(_first_words(lang))))
        no_unit = "|".join(filter(None, [_alternatives(lang, "stop_units"), comparing])) or "(?!)"
        unit = rf"(?:\s?(?P<unit>[{_SYMBOLS}]|(?!(?:{no_unit})\b)[^\W\d_]+))?"
        to = _alternatives(lang, "to") or "(?!)"
        between = _alternatives(lang, "between") or "(?!)"
        self._range = re.compile(
            rf"(?:\b(?P<between>{between})\s+)?{begins}{number.format('low')}(?:\s?[^\W\d_]+|\s?[{_SYMBOLS}])??\s*(?:(?:{to})\b|[-–—])\s*"
            rf"{number.format('high')}{ends}{unit}",
            re.IGNORECASE,
        )
        behind = _alternatives(lang, "decade_behind")
        before = _alternatives(lang, "decade_before")
        tens = r"(?:1\d\d0|20\d0|[2-9]0)"
        shapes = [rf"(?P<decade>{tens})['’]?(?:{behind})\b"] if behind else []
        shapes += [rf"\b(?:{before}) (?P<decade_{'two' if behind else ''}>{tens})\b"] if before else []
        self._decade = re.compile(begins + "|".join(f"(?:{shape})" for shape in shapes) if shapes else "(?!)", re.I)
        phrases = "|".join(_alternatives(lang, "before", op) for op in self._ops) or "(?!)"
        articles = "|".join(lang.set("words", "articles")) or "(?!)"
        self._before_decade = re.compile(rf"\b({phrases})(?:\s(?:{articles}))?\s\Z", re.IGNORECASE)
        about = _alternatives(lang, "about") or "(?!)"
        said_before = [
            rf"(?P<before{at}>\b(?:{_alternatives(lang, 'before', op)})\s+)" for at, op in enumerate(self._ops)
        ]
        said_after = [
            rf"(?P<after{at}>\s*(?:{_alternatives(lang, 'after', op)})(?!\w))" for at, op in enumerate(self._ops_behind)
        ]
        self._single = re.compile(
            (f"(?:{'|'.join(said_before)})?" if said_before else "")
            + rf"(?:(?:{about})\s+)?{begins}{number.format('')}{ends}{unit}"
            + (f"(?:{'|'.join(said_after)})?" if said_after else ""),
            re.IGNORECASE,
        )
        self._large = re.compile(rf"{begins}[{_SYMBOLS}]?{digits.format('')}\s?(?P<times>{times})\b", re.IGNORECASE)
        self._times: dict[str, int] = lang.table("numbers", "times")
        self._fractions: Phrases[float] = Phrases(lang.table("numbers", "fractions").items())
        self._often: dict[str, int] = lang.table("numbers", "often")
        self._articles = lang.set("words", "articles")

    def read(self, text: str) -> list[Quantity]:
        """Return the quantities of a text in their order."""
        digits = self._in_digits(text)
        found: list[Quantity] = []
        taken = bytearray(len(digits.text))
        for quantity in self._all(digits.text):
            if not any(taken[quantity.start : quantity.end]):
                taken[quantity.start : quantity.end] = b"\1" * (quantity.end - quantity.start)
                found.append(quantity)
        found.sort(key=lambda quantity: quantity.start)
        return [replace(q, start=digits.start(q.start), end=digits.end(q.end)) for q in found]

    def _in_digits(self, text: str) -> _Rewritten:
        """Return the text with its numbers in words, and large numbers (`5 million`), written in digits."""
        changes: list[tuple[int, int, str]] = []
        for match in self._large.finditer(text):
            value = self._value(match["number"]) * self._times[match["times"].lower()]
            if value < 10**12:
                changes.append((match.start("number"), match.end(), self._written(value)))
        said = tokens(text)
        at = 0
        while at < len(said):
            if part := self._part_of_unit(said, at):
                changes.append((said[at].start, said[at + part[0] - 1].end, self._written(part[1])))
                at += part[0]
                continue
            found = self._numbers.at(said, at)
            if found is None:
                at += 1
                continue
            words, value = found
            if self._is_counted(said, at, words, value):
                changes.append((said[at].start, said[at + words - 1].end, str(value)))
            at += words
        return _Rewritten(text, sorted(changes))

    def _part_of_unit(self, said: Sequence[Token], at: int) -> tuple[int, float] | None:
        """Return the number of words and the value of *half a* kilo, *less than an* hour, *at least twice*."""
        compared = bool(self._comparing.before(said, at))
        if compared and (times := self._often.get(said[at].word)):
            return 1, times
        if (fraction := self._fractions.at(said, at)) and self._is_unit(said, at + fraction[0]):
            return fraction
        if compared and said[at].word in self._articles and self._is_unit(said, at + 1):
            return 1, 1.0
        return None

    def _is_unit(self, said: Sequence[Token], at: int) -> bool:
        return at < len(said) and not said[at].mark and (said[at].word in UNITS or said[at].word in self._units)

    def _is_counted(self, said: Sequence[Token], at: int, words: int, value: int) -> bool:
        """Whether a number in words is a number and not a part of a name, a compound, or an article (*one*)."""
        behind = at + words
        compound = said[at].joined or (behind < len(said) and said[behind].joined)
        named = said[at].capital and at > 0
        alone = value == 1 and not (self._comparing.before(said, at) or self._just.before(said, at))
        return not (compound or named or alone)

    def _written(self, value: float) -> str:
        written = f"{value:.{_PLACES}f}".rstrip("0").rstrip(".")
        return written.replace(".", self._point)

    def _all(self, text: str) -> Iterator[Quantity]:
        """Yield ranges, then decades, then single numbers. A single number may be a part of a range or decade."""
        for match in self._range.finditer(text):
            low, high = self._value(match["lownumber"]), self._value(match["highnumber"])
            if low <= high and (match["between"] or not self._needs_between.search(match.group())):
                unit = self._unit(match["lowsign"] or match["highsign"] or match["unit"] or "")
                yield self._made(text, match, "between", (low, high), unit, temporal=unit not in UNITS)
        for match in self._decade.finditer(text):
            decade = next(group for group in match.groups() if group)
            start = int(decade) + (1900 if len(decade) == 2 else 0)
            quantity = self._made(text, match, "between", (start, start + 9), "", temporal=True)
            yield self._compared(text, quantity)
        for match in self._single.finditer(text):
            yield self._one(text, match)

    def _compared(self, text: str, decade: Quantity) -> Quantity:
        """Return a decade with the comparison before it: *before the 1990s* ends where they begin."""
        before = self._before_decade.search(text, max(0, decade.start - _CLOSE), decade.start)
        if before is None:
            return decade
        op = self._comparing.at(tokens(before[1]), 0)
        if op is None or before[1].lower() in self._exact:
            return replace(decade, start=before.start())
        end = decade.low if op[1] in ("<", ">=") else decade.high
        return replace(decade, start=before.start(), op=op[1], low=end, high=end)

    def _one(self, text: str, match: re.Match[str]) -> Quantity:
        groups = match.groupdict()
        before = next((at for at in range(len(self._ops)) if groups[f"before{at}"]), None)
        after = next((op for at, op in enumerate(self._ops_behind) if groups[f"after{at}"]), None)
        said = groups[f"before{before}"].strip().lower() if before is not None else ""
        unit = self._unit(groups["sign"] or groups["unit"] or "")
        temporal = unit not in UNITS and (
            bool(self._temporal.search(said)) or not (said or after) or bool(after and not unit)
        )
        op = after or (self._ops[before] if before is not None else "=")
        value = self._value(groups["number"])
        grouped = bool(self._group.search(groups["number"]))
        quantity = self._made(text, match, op, (value, value), unit, temporal=not grouped and temporal)
        if said in self._exact and quantity.year and not after:
            # `from 2004` means exactly that year, `from 2004 on` and `from 20 euros` mean a lowest value.
            if on := self._on.match(text, quantity.end):
                return replace(quantity, end=on.end())
            return replace(quantity, op="=")
        return quantity

    def _unit(self, written: str) -> str:
        lowered = written.lower()
        return self._units.get(lowered, lowered)

    def _made(
        self, text: str, match: re.Match[str], op: Operator, ends: tuple[float, float], unit: str, *, temporal: bool
    ) -> Quantity:
        whole = all(end == int(end) and FIRST_YEAR <= end <= LAST_YEAR for end in ends)
        known = unit in UNITS or not unit
        behind = self._content(text[match.end() : match.end() + _AROUND])[:1]
        compared = [word for word in self._content(match.group()) if self._unit(word) != unit]
        words = [
            *([] if known else [unit]),
            *compared,
            *self._content(text[max(0, match.start() - _AROUND) : match.start()])[-_NEAR:][::-1],
            *behind,
        ]
        end = match.end() if known or not match.group().lower().endswith(unit) else match.end() - len(unit)
        return Quantity(match.start(), end, op, *ends, unit, tuple(dict.fromkeys(words)), whole and temporal)

    def _content(self, text: str) -> Sequence[str]:
        """Return the content words of a text in lower case, in their order."""
        return [word for match in _WORD.finditer(text) if (word := match.group().lower()) not in self._function]

    def _value(self, digits: str) -> float:
        return float(self._group.sub("", digits).replace(self._point, "."))


class _Rewritten:
    """A text after replacements, and the way back from its offsets to those of the original."""

    def __init__(self, text: str, changes: Sequence[tuple[int, int, str]]) -> None:
        parts: list[str] = []
        self._begins, self._ends = [0], [0]
        """Offsets of the new text where a replacement begins or ends, and of the original."""
        behind = length = 0
        for start, end, written in changes:
            if start < behind:
                continue
            parts += [text[behind:start], written]
            length += start - behind
            self._begins += [length, length + len(written)]
            self._ends += [start, end]
            length += len(written)
            behind = end
        self.text = "".join([*parts, text[behind:]])

    def start(self, offset: int) -> int:
        """Return the original offset of the start of a stretch; inside a replacement, where the replacement begins."""
        at = bisect_right(self._begins, offset) - 1
        return self._ends[at] if at % 2 else self._ends[at] + offset - self._begins[at]

    def end(self, offset: int) -> int:
        """Return the original offset of the end of a stretch; inside a replacement, where the replacement ends."""
        at = bisect_right(self._begins, offset - 1) - 1
        return self._ends[at + 1] if at % 2 else self._ends[at] + offset - self._begins[at]


def _expanded(lang: Language, written: str) -> Iterator[str]:
    """Yield the phrases of a list with its placeholders filled: `{more} than` → `more than`, `longer than`, …"""
    fillers = {name: lang.entries("quantities", name) for name in ("more", "less", "no")}
    for phrase in (" ".join(part.split()) for part in written.split(",") if part.strip()):
        several = [phrase]
        for name, words in fillers.items():
            if f"{{{name}}}" in phrase:
                several = [one.replace(f"{{{name}}}", word) for one in several for word in words]
        yield from several


def _first_words(lang: Language) -> set[str]:
    """Return the first words of the phrases that compare a number behind them, without units (*min*)."""
    lists = lang.table("quantities", "before").values()
    found = {phrase.split()[0] for written in lists for phrase in _expanded(lang, written)}
    return found - set(lang.table("units")) - set(UNITS)


def _alternatives(lang: Language, *path: str) -> str:
    """Return a pattern for any phrase of a list, with its accents or without; longer phrases are tried first."""
    listed = set(_expanded(lang, lang.value("quantities", *path, default="")))
    listed |= {" ".join(way) for phrase in listed for way in typed(phrase.split())}
    several = sorted(listed, key=lambda phrase: (-len(phrase), phrase))
    return "|".join(re.escape(phrase) for phrase in several)


@lru_cache(maxsize=64)
def _reader(code: str) -> _Reader:
    return _Reader(language(code))
