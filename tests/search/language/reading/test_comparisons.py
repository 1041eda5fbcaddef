"""Comparisons with another thing, written by hand."""

import pytest

from search.language.reading import read_cues


@pytest.mark.parametrize(
    ("text", "said", "op", "reference", "first_name"),
    [
        ("lamps cheaper than the Lantern", "cheaper than", "<", "the Lantern", "price"),
        ("a heavier boat than the Osprey", "heavier", ">", "the Osprey", "weight"),
        ("not cheaper than the Lantern", "not cheaper than", ">=", "the Lantern", "price"),
        ("less expensive than the Lantern", "less expensive than", "<", "the Lantern", "price"),
        ("what costs more than the Lantern?", "costs more than", ">", "the Lantern", "price"),
        ("schools younger than the Institute for Sea Ice", "younger than", ">", "the Institute for Sea Ice", "date"),
        ("museums older than the Louvre", "older than", "<", "the Louvre", "date"),
        ("films that came out after Titanic", "came out after", ">", "Titanic", "date"),
        ("brands founded before Maplethorn", "founded before", "<", "Maplethorn", "date"),
        ("edited more recently than Ice: a guide", "more recently than", ">", "Ice: a guide", "date"),
        ("lamps as heavy as the Lantern", "as heavy as", "=", "the Lantern", "weight"),
        ("lamps at least as expensive as the Lantern", "at least as expensive as", ">=", "the Lantern", "price"),
        ("lamps at least as cheap as the Lantern", "at least as cheap as", "<=", "the Lantern", "price"),
        ("the same price as the Lantern", "the same price as", "=", "the Lantern", "price"),
        ("lamps with a higher rating than the Lantern", "higher rating than", ">", "the Lantern", "rating"),
        ("lamps costing as much as the Lantern", "costing as much as", "=", "the Lantern", "price"),
        ("papers more cited than Ice", "more cited than", ">", "Ice", "citations"),
        ("films longer than Titanic that won a prize", "longer than", ">", "Titanic", "length"),
    ],
)
def test_a_thing_is_compared(text: str, said: str, op: str, reference: str, first_name: str) -> None:
    [found] = read_cues(text).comparisons
    assert (text[found.start : found.end], found.op) == (said, op)
    assert (text[found.reference[0] : found.reference[1]], found.scale[0]) == (reference, first_name)


def test_what_is_counted_is_the_word() -> None:
    [found] = read_cues("authors with more papers than Ada Lund").comparisons
    assert (found.op, found.word, found.scale) == (">", "papers", ())


@pytest.mark.parametrize(
    "text", ["heavier than 3 kg", "older than 1950", "before March 2020", "named after Ada Lund", "better than ever"]
)
def test_numbers_dates_and_other_meanings_are_none(text: str) -> None:
    assert read_cues(text).comparisons == ()
