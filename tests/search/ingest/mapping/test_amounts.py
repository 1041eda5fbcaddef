"""Amounts with one currency, unit or percent sign are numbers, and the unit stands in the name of their field."""

from __future__ import annotations

import pytest

from search.ingest.mapping.amounts import named_with_unit, number_in, split_amount
from search.ingest.mapping.decide import Decision, decide
from search.ingest.mapping.profile import Profile


def decided(values: str) -> Decision:
    profile = Profile()
    for row, value in enumerate(values.split("|"), 2):
        profile.observe(value, row)
    return decide(profile)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("$1,250.00", ("$", "1,250.00")), ("1.250,00 €", ("€", "1.250,00")), ("-$5", ("$", "-5")),
        ("CHF 12", ("CHF", "12")),
        ("15%", ("%", "15")), ("3,5 %", ("%", "3,5")), ("1.2kg", ("kg", "1.2")), ("45 min", ("min", "45")),
        ("12 stars", ("stars", "12")), ("Saal 1", None), ("K-01", None), ("12a", None), ("25-34", None),
        ("4.5/5", None),
        ("€10,000–20,000", None), ("2024S", None), ("12", None),
    ],
)  # fmt: skip
def test_an_amount_is_a_number_with_one_mark_beside_it(text: str, parts: tuple[str, str] | None) -> None:
    assert split_amount(text) == parts


@pytest.mark.parametrize(
    ("values", "format_", "unit"),
    [
        ("$49.50|$1,299.00", "1,234.5", "$"), ("5%|12.5%", "", "%"), ("1.000,00 €|12,50 €", "1.234,5", "€"),
        ("0.3 kg|1.2 kg", "", "kg"), ("27.808 €|1.204 €", "1.234,5", "€"), ("5 kg|7", "", "kg"),
        ("EUR 5|6 €", "", "EUR"),
        ("3 stars|4 stars|5 stars", "", "stars"),
    ],
)  # fmt: skip
def test_a_column_of_amounts_with_one_unit_is_one_of_numbers(values: str, format_: str, unit: str) -> None:
    found = decided(values)
    assert (found.kind, found.format, found.unit) == ("number", format_, unit)


@pytest.mark.parametrize("values", ["$5|6 €", "500 g|1.2 kg", "3 stars|4 stars", "5 kg|heavy", "4 Seasons"])
def test_amounts_with_several_units_or_few_of_an_unknown_one_stay_texts(values: str) -> None:
    assert decided(values).kind == ""


def test_weights_that_may_be_thousands_are_asked_with_their_unit() -> None:
    found = decided("27.808 kg|1.204 kg")
    assert (found.kind, [choice.read for choice in found.choices], found.unit) == ("", ["27.808", "27808"], "kg")


def test_the_number_is_taken_out_and_the_unit_goes_into_the_name() -> None:
    assert number_in("1.250,00 EUR", "€") == "1.250,00"
    assert number_in("12 USD", "€") == "12 USD"
    assert named_with_unit("Price", "$") == "Price usd"
    assert named_with_unit("net_weight", "kg") == "net_weight_kg"
    assert named_with_unit("Height (cm)", "") == "Height cm"
    assert named_with_unit("weight_kg", "kg") == named_with_unit("Title (German)", "") == ""
