"""Decides from all values of a column how its numbers or dates are written; what stays open is said, not guessed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from search.ingest.fields import Scalar
from search.ingest.formats import NUMBER_FORMATS, digits_of, is_like_iso_date, number_reader, read_date
from search.ingest.mapping.amounts import is_money, number_in, split_amount, unit_of_marks
from search.ingest.mapping.profile import ColumnShape, Profile

FEW = 0.05
"""Largest share of days that the calendar does not have, among which the order of the others is still decided."""
MOST_SHOWN = 3
TEXT_WORDS = frozenset(("NULL", "null", "N/A", "n/a", "#N/A", "NaN", "nan", "None", "<NA>", "<null>", "\\N", "-"))
"""Words that are no value in a column of texts as well. `NA` may be Namibia there, and `Null` a name."""
_COUNT = re.compile(r"[-+−]?(0|[1-9][0-9]*)")
_LEADING_ZERO = re.compile(r"[-+−]?0[0-9]")
_YEAR = re.compile(r"[0-9]{4}")
_UNEVEN = re.compile(r"[-+−]?[0-9]{1,2}(,[0-9]{2})+,[0-9]{3}")
_SIX_DIGITS = re.compile(r"[-+−]?[0-9]{3}([,.][0-9]{3})*")


@dataclass(frozen=True)
class MappingChoice:
    """One of several formats that fit a column: its kind, its name, and how it reads the example."""

    kind: str
    format: str
    example: str
    read: str


@dataclass(frozen=True)
class Decision:
    """What the values of a column are.

    `kind` is `number`, `date`, or empty for anything else. `format` is one of NUMBER_FORMATS or DATE_FORMATS, empty for
    the plain one. `because` says why, as a part of a sentence; `open` what cannot be decided (empty: nothing), and
    `choices` the formats between which somebody has to choose. `missing` are the words that stand for no value, `unit`
    is what stands beside each number. `mark` is the decimal mark of the numbers, empty if none has one.
    """

    kind: str = ""
    format: str = ""
    because: str = ""
    open: str = ""
    missing: tuple[str, ...] = ()
    choices: tuple[MappingChoice, ...] = ()
    unit: str = ""
    mark: str = ""


def decide(profile: Profile) -> Decision:
    """Return what the values of a column are."""
    shapes = list(profile.shapes.values())
    if not shapes or profile.free or profile.others:
        return Decision(missing=_words_in_texts(profile))
    for decision in (_numbers(shapes), _amounts(shapes), _dates(profile, shapes)):
        if decision.kind:
            return replace(decision, missing=tuple(sorted(profile.missing)))
        if decision.open:
            return replace(decision, missing=_words_in_texts(profile))
    return Decision(missing=_words_in_texts(profile))


def _words_in_texts(profile: Profile) -> tuple[str, ...]:
    marks = any(len(shape.example) <= 2 for shape in profile.shapes.values())
    return tuple(sorted(word for word in profile.missing if word in TEXT_WORDS and not (word == "-" and marks)))


def _numbers(shapes: list[ColumnShape]) -> Decision:
    examples = [shape.example for shape in shapes]
    if any(_LEADING_ZERO.match(text) for text in examples):
        return Decision()
    read = {name: _read_all(name, examples) for name in NUMBER_FORMATS}
    fitting = {name: values for name, values in read.items() if values is not None}
    if not fitting:
        return Decision()
    name, values = next(iter(fitting.items()))
    for other, otherwise in fitting.items():
        for text, one, two in zip(examples, values, otherwise, strict=True):
            if one != two:
                choices = tuple(
                    MappingChoice("number", *both)
                    for both in ((name, text, _written(one)), (other, text, _written(two)))
                )
                both = f"{_written(one)} or {_written(two)}"
                told = f"{text!r} may be {both}: give the format of its numbers, {name} or {other}"
                return Decision(open=told, choices=choices)
    mark = NUMBER_FORMATS[name][1]
    mark = (
        mark if any(mark in text and type(value) is float for text, value in zip(examples, values, strict=True)) else ""
    )
    if name == "1234.5":
        return Decision("number", "", "all its values are numbers", mark=mark)
    if _maybe_lists(name, examples):
        return Decision(
            open=f"{examples[0]!r} may be a number or a list: give the format of its numbers, or a separator"
        )
    shown = next((text, value) for text, value in zip(examples, values, strict=True) if not _COUNT.fullmatch(text))
    because = f"all its values are numbers as in {name}, such as {shown[0]!r}, which is {_written(shown[1])}"
    return Decision("number", name, because, mark=mark)


def _amounts(shapes: list[ColumnShape]) -> Decision:
    """Return what amounts with one unit are: the format of their numbers, and the unit."""
    split = [split_amount(shape.example) for shape in shapes]
    marks = list(dict.fromkeys(found[0] for found in split if found))
    if not marks or any(
        found is None and not shape.example[:1].isdigit() for found, shape in zip(split, shapes, strict=True)
    ):
        return Decision()
    unit = unit_of_marks(marks, sum(shape.count for shape in shapes))
    if not unit:
        return Decision()
    found = _numbers([replace(shape, example=number_in(shape.example, unit)) for shape in shapes])
    if is_money(unit) and (choice := next((one for one in found.choices if "." not in one.read), None)):
        # Nobody writes an amount of money with three decimals.
        found = Decision(
            "number", choice.format, f"all its values are amounts, and {choice.example!r} is {choice.read}"
        )
    if found.kind:
        return replace(found, unit=unit, because=f"{found.because}, in {unit!r}")
    return replace(found, unit=unit) if found.open else Decision()


def _maybe_lists(name: str, examples: list[str]) -> bool:
    """Whether each number has six digits or more, all in threes, or groups as in India: lists of keys look the same."""
    group = NUMBER_FORMATS[name][0]
    uneven = any(map(_UNEVEN.fullmatch, examples))
    return group in (",", ".") and (uneven or all(map(_SIX_DIGITS.fullmatch, examples)))


def _read_all(name: str, examples: Iterable[str]) -> list[int | float] | None:
    read = number_reader(name)
    group = NUMBER_FORMATS[name][0]
    values = []
    for text in examples:
        # 0.125 has no groups of digits, whatever separates them.
        if group and text.lstrip("+-−").startswith(f"0{group}"):
            return None
        try:
            values.append(read(text))
        except ValueError:
            return None
    return values


def _written(value: Scalar) -> str:
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def _dates(profile: Profile, shapes: list[ColumnShape]) -> Decision:
    if all(_YEAR.fullmatch(shape.example) for shape in shapes):
        return Decision()
    numeric = [shape for shape in shapes if digits_of(shape.example)]
    order = _order(profile) if numeric else Decision("date")
    if not order.kind:
        return order if len(numeric) == len(shapes) else Decision()
    others = [shape.example for shape in shapes if not digits_of(shape.example)]
    name = order.format
    for tried in (name,) if numeric else ("iso", "words", "ymd", "dmy"):
        if all(_is_written_as_date(text, tried) for text in others):
            name = tried
            break
    else:
        return Decision()
    because = order.because or _because(name, others)
    if profile.impossible:
        because += f"; but {profile.impossible.example!r} in row {profile.impossible.row} is no day or time that exists"
    return Decision("date", "" if name == "iso" else name, because)


def _because(name: str, examples: list[str]) -> str:
    if name == "iso":
        return "all its values are dates"
    shown = next(text for text in examples if not is_like_iso_date(text) and not _YEAR.fullmatch(text))
    return f"all its values are dates of the format '{name}', such as {shown!r}, which is {read_date(shown, name)}"


def _is_written_as_date(text: str, name: str) -> bool:
    """Whether a text is a date of the format; an ISO date that no calendar has is one too, and told when it is read."""
    if is_like_iso_date(text):
        return True
    try:
        read_date(text, name)
    except ValueError:
        return False
    return True


def _order(profile: Profile) -> Decision:
    """Return the order of days and months of the dates in digits."""
    total = sum(shape.count for shape in profile.days.values())
    fits: dict[str, dict[tuple[int, int, str], ColumnShape]] = {
        name: {day: shape for day, shape in profile.days.items() if _fits(shape.example, name)}
        for name in ("dmy", "mdy")
    }
    known = {day for found in fits.values() for day in found}
    outside = [shape for day, shape in profile.days.items() if day not in known]
    if sum(shape.count for shape in outside) > FEW * total and len(outside) * 2 > len(profile.days):
        return Decision()
    orders = [name for name, found in fits.items() if len(found) == len(known)]
    if not orders:
        day = next(shape.example for day, shape in profile.days.items() if day not in fits["mdy"] and day in known)
        month = next(shape.example for day, shape in profile.days.items() if day not in fits["dmy"] and day in known)
        return Decision(open=f"in {day!r} the day comes first, in {month!r} the month: write all dates in one order")
    dotted = all(mark == "." for _, _, mark in profile.days)
    same = all(one == two for one, two, _ in known)
    if len(orders) == 2 and not dotted and not same:
        text = next(shape.example for day, shape in fits["mdy"].items() if day[0] != day[1])
        choices = tuple(MappingChoice("date", name, text, read_date(text, name)) for name in ("dmy", "mdy"))
        both = " or ".join(choice.read for choice in choices)
        return Decision(open=f"{text!r} may be {both}: give the format of its dates, dmy or mdy", choices=choices)
    name = orders[0]
    shown = (
        next((shape.example for day, shape in fits[name].items() if day[0] != day[1]), "")
        or next(iter(fits[name].values())).example
    )
    because = f"all its values are dates of the format '{name}', such as {shown!r}, which is {read_date(shown, name)}"
    if outside:
        because += f"; but {outside[0].example!r} in row {outside[0].row} is no day or time that exists"
    return Decision("date", name, because)


def _fits(text: str, name: str) -> bool:
    try:
        read_date(text, name)
    except ValueError:
        return False
    return True
