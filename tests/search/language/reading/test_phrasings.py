"""Amounts, counts, ages and times in the ways people say them, each with the one condition that it means.

The day from which relative times are seen is 22 November 2026. Expectations are written by hand.
"""

from __future__ import annotations

from datetime import date

import pytest

from search.language.reading import read_cues

TODAY = date(2026, 11, 22)


@pytest.mark.parametrize(
    ("text", "op", "low", "high", "unit"),
    [
        ("lamps under half a kilo", "<", 0.5, 0.5, "kilo"),
        ("flasks of half a litre", "=", 0.5, 0.5, "litre"),
        ("bags up to one and a half kilos", "<=", 1.5, 1.5, "kilos"),
        ("bags of at least a quarter of a kilo", ">=", 0.25, 0.25, "kilo"),
        ("films that last less than an hour", "<", 1, 1, "hour"),
        ("bags that weigh more than a kilo", ">", 1, 1, "kilo"),
        ("films of under two hours", "<", 2, 2, "hours"),
        ("papers cited at least twice", ">=", 2, 2, ""),
        ("papers cited more than once", ">", 1, 1, ""),
        ("drugs approved more than three times", ">", 3, 3, "times"),
        ("at least a dozen papers", ">=", 12, 12, "papers"),
        ("half a dozen papers", "=", 6, 6, "papers"),
        ("authors with a couple of papers", "=", 2, 2, "papers"),
        ("authors with more than a hundred papers", ">", 100, 100, "papers"),
        ("lamps priced above 50 euros", ">", 50, 50, "euros"),
        ("lamps priced under 20", "<", 20, 20, ""),
        ("lamps between 10 and 20 euros", "between", 10, 20, "euros"),
        ("lamps for 10 to 15 euros", "between", 10, 15, "euros"),
        ("papers of 10-20 pages", "between", 10, 20, "pages"),
        ("papers of 10–20 pages", "between", 10, 20, "pages"),
        ("papers of between ten and twenty pages", "between", 10, 20, "pages"),
        ("papers of no more than 5 pages", "<=", 5, 5, "pages"),
        ("papers of fewer than five pages", "<", 5, 5, "pages"),
        ("papers with two or more authors", ">=", 2, 2, "authors"),
        ("tents over 2k euros", ">", 2000, 2000, "euros"),
        ("lamps under €20", "<", 20, 20, "€"),
        ("lamps for 20 € or less", "<=", 20, 20, "€"),
        ("lamps cheaper than 20 quid", "<", 20, 20, "quid"),
        ("tents heavier than two pounds", ">", 2, 2, "pounds"),
        ("bags up to 500 g", "<=", 500, 500, "g"),
        ("bags of 1.5 kg", "=", 1.5, 1.5, "kg"),
        ("papers of exactly twelve pages", "=", 12, 12, "pages"),
        ("films since 2010", ">=", 2010, 2010, ""),
        ("films from 2015 onwards", ">=", 2015, 2015, ""),
        ("films from 2015 on", ">=", 2015, 2015, ""),
        ("films from 2015", "=", 2015, 2015, ""),
        ("films from 2015 to 2018", "between", 2015, 2018, ""),
        ("films 2010-2015", "between", 2010, 2015, ""),
        ("films 2015 through 2018", "between", 2015, 2018, ""),
        ("films until 2017", "<=", 2017, 2017, ""),
        ("films no later than 2017", "<=", 2017, 2017, ""),
        ("films as of 2020", ">=", 2020, 2020, ""),
        ("films from the 1990s", "between", 1990, 1999, ""),
        ("films of the 1990s", "between", 1990, 1999, ""),
        ("films before the 1990s", "<", 1990, 1990, ""),
        ("films since the 1990s", ">=", 1990, 1990, ""),
    ],
)
def test_an_amount_a_count_or_a_year(text: str, op: str, low: float, high: float, unit: str) -> None:
    cues = read_cues(text, "en", TODAY)
    assert [(one.op, one.low, one.high) for one in cues.quantities] == [(op, low, high)]
    if unit in ("", "authors"):
        assert cues.quantities[0].dimension is None
    else:
        assert cues.quantities[0].unit == unit
    assert (cues.dates, cues.turnings) == ((), ())


@pytest.mark.parametrize(
    ("text", "op", "first", "last"),
    [
        ("tools older than 30 years", "<", "1996-11-22", "1996-11-22"),
        ("films older than twenty years", "<", "2006-11-22", "2006-11-22"),
        ("tools newer than five years", ">", "2021-11-22", "2021-11-22"),
        ("tools younger than 6 months", ">", "2026-05-22", "2026-05-22"),
        ("brands at most 10 years old", ">=", "2016-11-22", "2016-11-22"),
        ("brands over 100 years old", "<=", "1926-11-22", "1926-11-22"),
        ("papers of the last five years", "=", "2021-11-22", "2026-11-22"),
        ("papers of last year", "=", "2025-01-01", "2025-12-31"),
        ("papers of two years ago", "=", "2024-01-01", "2024-12-31"),
        ("films of the nineties", "=", "1990-01-01", "1999-12-31"),
        ("brands of the 21st century", "=", "2001-01-01", "2100-12-31"),
        ("papers in March 2020", "=", "2020-03-01", "2020-03-31"),
        ("papers before March 2020", "<", "2020-03-01", "2020-03-31"),
        ("papers in summer 2019", "=", "2019-06-01", "2019-08-31"),
        ("pathways edited on 2020-05-03", "=", "2020-05-03", "2020-05-03"),
    ],
)
def test_an_age_or_a_time(text: str, op: str, first: str, last: str) -> None:
    cues = read_cues(text, "en", TODAY)
    assert [(one.op, str(one.first), str(one.last)) for one in cues.dates] == [(op, first, last)]
    assert cues.quantities == ()


@pytest.mark.parametrize(
    "text",
    ["twice as expensive as X", "once upon a time", "half the price", "at least a film", "over a decade",
     "five years old wine", "papers in March", "films older than X"],
)  # fmt: skip
def test_what_names_no_amount_and_no_day(text: str) -> None:
    cues = read_cues(text, "en", TODAY)
    assert cues.dates == ()
    assert [one for one in cues.quantities if one.op != "="] == []


@pytest.mark.parametrize(
    ("code", "text", "op", "low", "unit"),
    [
        ("de", "unter einem halben Kilo", "<", 0.5, "kg"),
        ("de", "weniger als eine Stunde", "<", 1, "hours"),
        ("de", "mindestens zweimal", ">=", 2, ""),
        ("de", "über anderthalb Liter", ">", 1.5, "l"),
        ("fr", "un demi litre", "=", 0.5, "l"),
        ("es", "menos de medio kilo", "<", 0.5, "kg"),
    ],
)
def test_parts_of_a_unit_in_other_languages(code: str, text: str, op: str, low: float, unit: str) -> None:
    assert [(one.op, one.low, one.unit) for one in read_cues(text, code, TODAY).quantities] == [(op, low, unit)]
