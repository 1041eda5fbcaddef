"""The unit of a field, declared or in its name (`weight_g`, `priceUSD`), and what it measures by it."""

from __future__ import annotations

import re

from search.domain.graph import Field
from search.language.units import UNITS, Dimension
from search.text import words

_MEASURES: dict[Dimension, tuple[str, ...]] = {
    "money": ("price", "cost", "fee"), "mass": ("weight", "mass"), "time": ("duration", "time"), "length": ("length",),
    "volume": ("volume", "capacity"),
}  # fmt: skip
"""Words of scales for what the units of a dimension measure."""
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")


def unit_in(field: Field) -> str | None:
    """Return a field's declared unit if it is a known one, or that in its name.

    In a name it is the last word (`weight_g`, `weightKg`), or a currency anywhere in it.
    """
    if field.unit.lower() in UNITS:
        return field.unit.lower()
    said = words(_HUMP.sub(" ", field.name)).split()
    money = (word for word in said if word in UNITS and UNITS[word].dimension == "money")
    return next(money, said[-1] if said[-1:] and said[-1] in UNITS else None)


def measured_by(field: Field) -> tuple[str, ...]:
    """Return the words for what a field measures by its unit, even where its name does not say so."""
    unit = unit_in(field)
    return _MEASURES.get(UNITS[unit].dimension, ()) if unit is not None else ()
