"""The unit in the name of a field: `weight_g`, `priceUSD`."""

from __future__ import annotations

import re

from search.domain.graph import Field
from search.language.units import UNITS
from search.text import words

_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")


def unit_in(field: Field) -> str | None:
    """Return the unit in a field's name: its last word (`weight_g`, `weightKg`), or a currency anywhere in it."""
    said = words(_HUMP.sub(" ", field.name)).split()
    money = (word for word in said if word in UNITS and UNITS[word].dimension == "money")
    return next(money, said[-1] if said[-1:] and said[-1] in UNITS else None)
