"""Years, prices and amounts in a question, with the comparison for each: `under 50 euros`, `30 pages or more`.

Only numbers in digits are read. The words around a number give the comparison and the unit. The lists of these words
are English, as all lists of words here; in other languages they match nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from search.domain.plan import Operator
from search.language.words import ASKING_WORDS, FUNCTION_WORDS

Dimension = Literal["money", "mass", "time", "length", "volume"]

FIRST_YEAR, LAST_YEAR = 1000, 2199
"""First and last whole number that may be a year, both included."""
_MEASURES: tuple[tuple[Dimension, float, str], ...] = (
    ("mass", 1.0, "g gram grams gramme grammes"), ("mass", 1e3, "kg kilo kilos kilogram kilograms"),
    ("mass", 1e-3, "mg milligram milligrams"), ("mass", 453.59237, "lb lbs"), ("mass", 28.349523125, "oz ounce ounces"),
    ("time", 1.0, "h hr hrs hour hours"), ("time", 1 / 60, "min mins minute minutes"), ("time", 24.0, "day days"),
    ("length", 1.0, "m metre metres meter meters"), ("length", 1e-2, "cm centimetre centimetres"),
    ("length", 1e-3, "mm millimetre millimetres"), ("length", 1e3, "km kilometre kilometres"),
    ("volume", 1.0, "l litre litres liter liters"), ("volume", 1e-3, "ml millilitre millilitres"),
)  # fmt: skip
_CURRENCIES: tuple[tuple[str, str], ...] = (
    ("EUR", "eur euro euros €"), ("USD", "usd dollar dollars buck bucks $"), ("GBP", "gbp pound pounds quid £"),
    ("JPY", "jpy yen ¥"), ("CNY", "cny rmb yuan renminbi"), ("INR", "inr rupee rupees ₹"),
    ("CHF", "chf franc francs"), ("SEK", "sek"), ("NOK", "nok"), ("DKK", "dkk"), ("PLN", "pln zloty zlotys"),
    ("CZK", "czk koruna korun"), ("HUF", "huf forint forints"), ("RUB", "rub ruble rubles rouble roubles ₽"),
    ("KRW", "krw ₩"), ("CAD", "cad"), ("AUD", "aud"), ("NZD", "nzd"), ("SGD", "sgd"), ("HKD", "hkd"),
    ("BRL", "brl"), ("MXN", "mxn peso pesos"), ("ZAR", "zar"), ("TRY", "lira liras ₺"), ("ILS", "ils shekel shekels"),
    ("krone", "krone kroner krona kronor kr"), ("cent", "cent cents ct pence penny pennies"),
)  # fmt: skip
"""Currencies and their names. `krone` and `cent` belong to several currencies: each matches only a field that uses
the same word."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: its dimension, its factor to the base unit of the dimension, and the currency if it is money.

    Amounts of two currencies are never compared, because this program has no exchange rates.
    """

    dimension: Dimension
    factor: float = 1.0
    currency: str = ""

    def converts_to(self, other: Unit) -> bool:
        """Return whether an amount in this unit can be converted to the other unit."""
        return (self.dimension, self.currency) == (other.dimension, other.currency)


UNITS: dict[str, Unit] = {
    **{name: Unit(dimension, factor) for dimension, factor, names in _MEASURES for name in names.split()},
    **{name: Unit("money", 1.0, code) for code, names in _CURRENCIES for name in names.split()},
}
"""Unit by each of its names, in lower case."""
_SYMBOLS = "".join(name for name in UNITS if not name.isalnum())
_CODES = "|".join(code for code, _ in _CURRENCIES if code.isupper())

_NEAR = 2
"""Number of content words before a number that may name the field."""
_AROUND = 200
"""Number of characters before and after a number that are searched for content words."""
_LESS = "less|fewer|lower|cheaper|smaller|lighter|shorter|earlier|older"
_MORE = "more|greater|higher|larger|bigger|heavier|longer|later|newer|younger|pricier|dearer"
_BEFORE: tuple[tuple[Operator, str], ...] = (
    ("<=", rf"at (?:the )?most|(?:no|not) (?:{_MORE}) than|not (?:over|above|after)|up to|(?:a )?max(?:imum)?(?: of)?"
           r"|until|through"),
    (">=", rf"at (?:the )?least|(?:no|not) (?:{_LESS}) than|not (?:under|below|before)|(?:a )?min(?:imum)?(?: of)?"
           r"|since|from|starting (?:in|from|at)"),
    ("<", rf"(?:{_LESS}) than|under|below|before|prior to"),
    (">", rf"(?:{_MORE}) than|over|above|after|exceeding|beyond"),
    ("=", r"exactly|in|of|for|during|at|costing|the year"),
)  # fmt: skip
_AFTER: tuple[tuple[Operator, str], ...] = (
    (">=", rf"(?:or|and) (?:{_MORE}|above|over|up|after)|\+|plus|onwards?"),
    ("<=", rf"(?:or|and) (?:{_LESS}|under|below|before)"),
)
_TEMPORAL = re.compile(r"(?:in|since|before|after|until|through|during|the year|from|prior to|not before|not after|"
                       r"starting in|(?:no |not )?(?:older|newer|younger|earlier|later) than)\Z")  # fmt: skip
"""Comparing words for times. A number after them is a year if its size allows."""

_SIGN = rf"(?:(?P<{{0}}sign>[{_SYMBOLS}]|\b(?:{_CODES})\b)\s?)?"
_DIGITS = r"(?P<{0}number>\d{{1,3}}(?:,\d{{3}}){{1,3}}(?:\.\d{{1,6}})?|\d{{1,12}}(?:\.\d{{1,6}})?)"
_NUMBER = _SIGN + _DIGITS
_ENDS = r"(?![\d/]|[.,]\d|[-–—]\w|\s?(?:thousand|million|billion|trillion|k|mn|bn)\b)"
"""Condition on the text after a number: the number must not be a part of a date, a code or a number in words."""
_BEGINS = rf"(?<![\w./\-–—{_SYMBOLS}])(?<!\d,)"
_UNIT = rf"(?:\s?(?P<unit>[{_SYMBOLS}]|(?!(?:or|and|to|until|by|in|of|for|from|with|at|on)\b)[a-zA-Z]+))?"
_RANGE = re.compile(
    rf"(?:\b(?P<between>between|from)\s+)?{_BEGINS}{_NUMBER.format('low')}(?:\s?[a-zA-Z{_SYMBOLS}]+)??\s*(?:and|to|[-–—])\s*"
    rf"{_NUMBER.format('high')}{_ENDS}{_UNIT}",
    re.IGNORECASE,
)
_DECADE = re.compile(rf"{_BEGINS}(?P<decade>1\d\d0|20\d0|[2-9]0)['’]?s\b")
_SINGLE = re.compile(
    "(?:" + "|".join(rf"(?P<before{at}>\b(?:{said})\s+)" for at, (_, said) in enumerate(_BEFORE)) + ")?"
    rf"(?:(?:about|around|the year)\s+)?{_BEGINS}{_NUMBER.format('')}{_ENDS}{_UNIT}"
    "(?:" + "|".join(rf"(?P<after{at}>\s*(?:{said})(?!\w))" for at, (_, said) in enumerate(_AFTER)) + ")?",
    re.IGNORECASE,
)  # fmt: skip
_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A condition on a value: a comparison with one number, or a range between two numbers.

    `start` and `end` are the offsets in the question of the number with its comparing words and its unit. `op` is the
    comparison; `low` and `high` are the ends of the range, equal for one number. `unit` is the word or sign of the unit
    in lower case. `words` are the content words around the number; one of them may name the field. `year` says whether
    the number can be a year, by its size and by the words around it.
    """

    start: int
    end: int
    op: Operator
    low: float
    high: float
    unit: str = ""
    words: tuple[str, ...] = ()
    year: bool = False

    @property
    def dimension(self) -> Dimension | None:
        """Dimension of the unit; None without a unit, or if the unit is unknown."""
        return UNITS[self.unit].dimension if self.unit in UNITS else None


def quantities(text: str) -> list[Quantity]:
    """Return every number of a question that may limit a field, in the order of the question."""
    found: list[Quantity] = []
    taken = bytearray(len(text))
    for quantity in _all(text):
        if not any(taken[quantity.start : quantity.end]):
            taken[quantity.start : quantity.end] = b"\1" * (quantity.end - quantity.start)
            found.append(quantity)
    return sorted(found, key=lambda quantity: quantity.start)


def _all(text: str) -> Iterator[Quantity]:
    """Yield ranges, then decades, then single numbers. A single number may be a part of a range or decade."""
    for match in _RANGE.finditer(text):
        low, high = _value(match["lownumber"]), _value(match["highnumber"])
        if low <= high and (match["between"] or not match.group().lower().count(" and ")):
            unit = (match["lowsign"] or match["highsign"] or match["unit"] or "").lower()
            yield _made(text, match, "between", (low, high), unit, temporal=unit not in UNITS)
    for match in _DECADE.finditer(text):
        start = int(match["decade"]) + (1900 if len(match["decade"]) == 2 else 0)
        yield _made(text, match, "between", (start, start + 9), "", temporal=True)
    for match in _SINGLE.finditer(text):
        groups = match.groupdict()
        before = next((at for at in range(len(_BEFORE)) if groups[f"before{at}"]), None)
        after = next((op for at, (op, _) in enumerate(_AFTER) if groups[f"after{at}"]), None)
        said = groups[f"before{before}"].strip().lower() if before is not None else ""
        unit = (groups["sign"] or groups["unit"] or "").lower()
        temporal = unit not in UNITS and (
            bool(_TEMPORAL.search(said)) or not (said or after) or bool(after and not unit)
        )
        op = after or (_BEFORE[before][0] if before is not None else "=")
        value = _value(groups["number"])
        quantity = _made(text, match, op, (value, value), unit, temporal="," not in groups["number"] and temporal)
        # `from 2004` means exactly that year, `from 20 euros` means a lowest price.
        yield _equal(quantity) if said == "from" and quantity.year and not after else quantity


def _made(
    text: str, match: re.Match[str], op: Operator, ends: tuple[float, float], unit: str, *, temporal: bool
) -> Quantity:
    whole = all(end == int(end) and FIRST_YEAR <= end <= LAST_YEAR for end in ends)
    known = unit in UNITS or not unit
    behind = _content(text[match.end() : match.end() + _AROUND])[:1]
    compared = [word for word in _content(match.group()) if word != unit]
    words = [
        *([] if known else [unit]),
        *compared,
        *_content(text[max(0, match.start() - _AROUND) : match.start()])[-_NEAR:][::-1],
        *behind,
    ]
    end = match.end() if known or not match.group().lower().endswith(unit) else match.end() - len(unit)
    return Quantity(match.start(), end, op, *ends, unit, tuple(dict.fromkeys(words)), whole and temporal)


def _equal(quantity: Quantity) -> Quantity:
    return Quantity(quantity.start, quantity.end, "=", quantity.low, quantity.high, quantity.unit, quantity.words, True)


def _content(text: str) -> Sequence[str]:
    """Return the content words of a text in lower case, in their order."""
    words = [match.group().lower() for match in _WORD.finditer(text)]
    return [word for word in words if word not in FUNCTION_WORDS and word not in ASKING_WORDS]


def _value(digits: str) -> float:
    return float(digits.replace(",", ""))
