"""What a field measures: the words and the unit in its name, and which fields a number without a unit may limit."""

from __future__ import annotations

import re
from collections.abc import Sequence

from search.domain.graph import Field, NodeType
from search.language.quantities import UNITS, Dimension, Quantity
from search.language.reading.scales import scales_of
from search.language.synonyms import synonyms
from search.language.words import stem, stems
from search.stages.plan.years import YearFields
from search.text import words

_PRICES = stems("price cost fee")
_SAID_BY: dict[Dimension, frozenset[str]] = {
    "money": _PRICES, "mass": stems("weight mass"), "time": stems("duration time"), "length": stems("length"),
    "volume": stems("volume capacity"),
}  # fmt: skip
"""Words of scales for what a field of each dimension measures, even where its name does not say so."""
_ANY_NUMBER = "value"
"""A scale with this name may be about any number: *higher than 4*."""
_PAST = "ed"
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")


def name_words(field: str) -> list[str]:
    """Return the words of a field's name in lower case: `last_edited` and `lastEdited` → last, edited."""
    return words(_HUMP.sub(" ", field)).split()


def field_stems(field: Field) -> frozenset[str]:
    """Return the stems of a field's name, its unit left out; a unit that is the whole name (`hours`) is kept."""
    said, unit = name_words(field.name), unit_in(field)
    return frozenset(stem(word) for word in said if word != unit or len(said) == 1)


def unit_in(field: Field) -> str | None:
    """Return the unit in a field's name: its last word (`weight_g`, `weightKg`), or a currency anywhere in it."""
    said = name_words(field.name)
    last = said[-1] if said[-1:] and said[-1] in UNITS else None
    return next((word for word in said if is_money(word if word in UNITS else None)), last)


def is_money(unit: str | None) -> bool:
    """Whether a unit is one of money."""
    return unit is not None and UNITS[unit].dimension == "money"


def is_price(field: Field) -> bool:
    """Whether a field holds amounts of money, by its name or its unit."""
    return bool(field_stems(field) & _PRICES) or is_money(unit_in(field))


def is_generic(quantity: Quantity) -> bool:
    """Whether a bare number says nothing of what it measures: *under 30*, *higher than 4*."""
    return quantity.bare and (not quantity.scale or _ANY_NUMBER in quantity.scale)


def scaled_field(quantity: Quantity, fields: Sequence[Field]) -> Field | None:
    """Return the field that the comparing word of a bare number is about, by its name or its dimension, or None.

    *Longer than 30* is about pages where these are a field, and about a field in hours where there is no such name.
    """
    if not quantity.bare:
        return None
    names = (*quantity.scale, *quantity.against)
    for name in names:
        for one in fields:
            if stems(name) <= field_stems(one):
                return one
    alike = [one for one in fields if measures(one, names)]
    return alike[0] if len(alike) == 1 else None


def measures(field: Field, names: Sequence[str]) -> bool:
    """Whether a field measures what words of a scale name, by its name or by the dimension of its unit."""
    unit = unit_in(field)
    said = field_stems(field) | (_SAID_BY[UNITS[unit].dimension] if unit else frozenset())
    return any(stems(name) <= said for name in names)


def verb_says(word: str, field: Field) -> bool:
    """Whether a word is a verb of what a field measures: *weigh* of `weight_g`, *last* of `half_life_hours`.

    A participle may stand for one in the field's name: *updated* is said of `last_edited`.
    """
    known = scales_of("en").verbs.get(word)
    if known is not None:
        return measures(field, known[1].names)
    alike = (one for one in synonyms(word) if one.endswith(_PAST) and " " not in one) if word.endswith(_PAST) else ()
    return any(stem(one) in field_stems(field) for one in alike)


def is_against(field: Field, names: Sequence[str], against: Sequence[str]) -> bool:
    """Whether a field measures the opposite of a scale with these names: *faster* is less of a duration."""
    return measures(field, against) and not measures(field, names)


def bare_fields(quantity: Quantity, kind: NodeType, fields: Sequence[Field], years: YearFields) -> list[Field]:
    """Return the fields of a type that a generic number may limit: its price, else those that the number divides.

    A number divides a field if it lies between the ends of its values. Where it does not divide a price, the price may
    be meant nevertheless, as any other field that it divides may.
    """
    if not is_generic(quantity):
        return []
    prices = [one for one in fields if is_price(one)]
    divided = [one for one in fields if (ends := years.ends(kind, one)) and _divides(quantity, *ends)]
    only = list(fields) if len(fields) == 1 else []
    return [one for one in prices if one in divided] or [*prices, *divided] or only


def _divides(quantity: Quantity, least: float, most: float) -> bool:
    return least < quantity.high <= most or least <= quantity.low < most
