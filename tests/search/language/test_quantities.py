"""Numbers in questions: what is compared, what is counted, and what is no quantity at all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.language.quantities import quantities


@pytest.mark.parametrize(
    ("text", "op", "low", "high", "unit", "year"),
    [
        ("tents under 50 dollars", "<", 50, 50, "dollars", False),
        ("tents for less than $50", "<", 50, 50, "$", False),
        ("tents for less than USD 50", "<", 50, 50, "usd", False),
        ("tents under ¥5,000", "<", 5000, 5000, "¥", False),
        ("gear cheaper than 1,200 euros", "<", 1200, 1200, "euros", False),
        ("lamps between 20 and 40 euros", "between", 20, 40, "euros", False),
        ("lamps from $20 to $40", "between", 20, 40, "$", False),
        ("lamps from 20 euros", ">=", 20, 20, "euros", False),
        ("it costs not more than 30", "<=", 30, 30, "", False),
        ("no more than 3 kg", "<=", 3, 3, "kg", False),
        ("a tent under 1.5kg", "<", 1.5, 1.5, "kg", False),
        ("papers with 30 pages or more", ">=", 30, 30, "pages", False),
        ("papers with 30 or fewer pages", "<=", 30, 30, "", False),
        ("knives rated 4 or higher", ">=", 4, 4, "", False),
        ("knives with a rating of at least 4.5", ">=", 4.5, 4.5, "", False),
        ("over 4 stars", ">", 4, 4, "stars", False),
        ("a half life of more than 24 hours", ">", 24, 24, "hours", False),
        ("more than 1,000,000 citations", ">", 1_000_000, 1_000_000, "citations", False),
        ("more than 2000 participants", ">", 2000, 2000, "participants", False),
        ("films before 1990", "<", 1990, 1990, "", True),
        ("films older than 2000", "<", 2000, 2000, "", True),
        ("films after 2010", ">", 2010, 2010, "", True),
        ("not before 2001", ">=", 2001, 2001, "", True),
        ("papers since 2020", ">=", 2020, 2020, "", True),
        ("papers until 2020", "<=", 2020, 2020, "", True),
        ("papers in 2004 by Ada", "=", 2004, 2004, "", True),
        ("papers from 2004", "=", 2004, 2004, "", True),
        ("2004 papers", "=", 2004, 2004, "papers", True),
        ("published between 2001 and 2005", "between", 2001, 2005, "", True),
        ("from 2001 to 2005", "between", 2001, 2005, "", True),
        ("from 2001 through 2005", "between", 2001, 2005, "", True),
        ("tents of 2004-2008", "between", 2004, 2008, "", True),
        ("founded in the 1990s", "between", 1990, 1999, "", True),
        ("music of the 80s", "between", 1980, 1989, "", True),
        ("films before the 1990s", "<", 1990, 1990, "", True),
        ("films after the 1990s", ">", 1999, 1999, "", True),
        ("papers from 2020 on", ">=", 2020, 2020, "", True),
        ("under 5 million", "<", 5_000_000, 5_000_000, "", False),
        ("more than 1.5 million citations", ">", 1_500_000, 1_500_000, "citations", False),
        ("more than 20k", ">", 20_000, 20_000, "", False),
        ("lamps under twenty euros", "<", 20, 20, "euros", False),
        ("at least three authors", ">=", 3, 3, "authors", False),
        ("more than one author", ">", 1, 1, "author", False),
        ("fewer than two hundred and fifty pages", "<", 250, 250, "pages", False),
        ("a dozen pages or more", ">=", 12, 12, "pages", False),
        ("between five and ten euros", "between", 5, 10, "euros", False),
        ("3 kg or lighter", "<=", 3, 3, "kg", False),
        ("rated 4 or better", ">=", 4, 4, "", False),
    ],
)
def test_what_is_said_of_a_number_is_read(text: str, op: str, low: float, high: float, unit: str, year: bool) -> None:
    [quantity] = quantities(text)
    assert (quantity.op, quantity.low, quantity.high, quantity.unit, quantity.year) == (op, low, high, unit, year)


@pytest.mark.parametrize(
    "text",
    [
        "10.5555/x and 3.2.1",
        "the iPhone-13",
        "COVID-19",
        "no number",
        "",
        "x2 and ABC123",
        "two-hop neighbours",
        "the one by Ada",
        "tell me about the Three Mile Island accident",
    ],
)
def test_parts_of_names_and_versions_are_none(text: str) -> None:
    assert quantities(text) == []


def test_a_bare_number_compares_nothing_and_is_no_year() -> None:
    [quantity] = quantities("a type 2 diabetes drug")
    assert (quantity.op, quantity.year) == ("=", False)


def test_the_words_around_a_number_say_what_is_counted_the_nearest_first() -> None:
    assert quantities("papers with at least 30 pages by Ada")[0].words == ("pages", "papers", "ada")
    assert quantities("a rope that weighs less than 900 g")[0].words == ("weighs", "rope")


def test_several_quantities_stand_in_the_order_of_the_question() -> None:
    text = "lamps under 40 euros from 2004 with more than 3 stars"
    assert [text[q.start : q.end] for q in quantities(text)] == ["under 40 euros", "from 2004", "more than 3 "]


@given(st.text(max_size=200))
def test_any_text_is_read(text: str) -> None:
    for quantity in quantities(text):
        assert 0 <= quantity.start < quantity.end <= len(text)
        assert quantity.low <= quantity.high


def test_what_no_field_can_hold_is_no_quantity() -> None:
    for text in ("9" * 2_000, "9" * 2_000 + "x", "1." + "0" * 400, "1" + ",000" * 100):
        assert quantities(f"lamps under {text} euros") == []


def test_many_numbers_are_all_read() -> None:
    assert len(quantities("1 " * 1_000)) == 1_000


def test_only_one_is_a_number() -> None:
    [only] = quantities("papers with only one author")
    assert (only.op, only.low, only.high) == ("=", 1, 1)
