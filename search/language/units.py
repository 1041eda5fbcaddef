"""Units of amounts: their dimensions and factors, and currencies."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Dimension = Literal["money", "mass", "time", "length", "volume"]

MEASURES: tuple[tuple[Dimension, float, str], ...] = (
    ("mass", 1.0, "g gram grams gramme grammes"), ("mass", 1e3, "kg kilo kilos kilogram kilograms"),
    ("mass", 1e-3, "mg milligram milligrams milligramme milligrammes"), ("mass", 1e6, "tonne tonnes"),
    ("mass", 453.59237, "lb lbs"), ("mass", 28.349523125, "oz ounce ounces"),
    ("time", 1.0, "h hr hrs hour hours"), ("time", 1 / 60, "min mins minute minutes"), ("time", 24.0, "day days"),
    ("time", 168.0, "week weeks"), ("time", 1 / 3600, "second seconds"),
    ("length", 1.0, "m metre metres meter meters"),
    ("length", 1e-2, "cm centimetre centimetres centimeter centimeters"),
    ("length", 1e-3, "mm millimetre millimetres millimeter millimeters"),
    ("length", 1e3, "km kilometre kilometres kilometer kilometers"),
    ("length", 0.3048, "ft foot feet"),
    ("length", 0.0254, "inch inches"), ("length", 1609.344, "mile miles"),
    ("volume", 1.0, "l litre litres liter liters"),
    ("volume", 1e-3, "ml millilitre millilitres milliliter milliliters"),
)  # fmt: skip
CURRENCIES: tuple[tuple[str, str], ...] = (
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
    **{name: Unit(dimension, factor) for dimension, factor, names in MEASURES for name in names.split()},
    **{name: Unit("money", 1.0, code) for code, names in CURRENCIES for name in names.split()},
}
"""Unit by each of its names, in lower case."""


def unit_of_name(name: str) -> tuple[str, str]:
    """Return the words of a field's name without the unit at their end, and the unit: `weight_g` → `weight`, `g`.

    The unit is empty where the name has none, or nothing else.
    """
    said = [word for word in re.split(r"[_\s]+|(?<=[a-z])(?=[A-Z])", name.strip()) if word]
    if len(said) > 1 and (said[-1].lower() in UNITS or said[-1].lower() == "percent"):
        return " ".join(said[:-1]).lower(), said[-1].lower()
    return " ".join(said).lower(), ""


def written_unit(unit: str, *, one: bool = False) -> str:
    """Return a unit as it is written behind an amount: currencies by their code, one hour in the singular."""
    known = UNITS[unit]
    if known.dimension == "money":
        return known.currency if unit.upper() == known.currency else unit
    return unit[:-1] if one and unit.endswith("s") and unit[:-1] in UNITS else unit
