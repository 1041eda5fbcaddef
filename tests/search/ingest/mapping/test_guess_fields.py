"""What a column of short values is taken for, and what its reason tells of values that do not fit."""

from __future__ import annotations

from pathlib import Path

from search.ingest.detect import detect

DISHES = (
    "id,name,price,cost,served,code,table\n"
    "d1,Rye porridge,6.50,2.10,2011-03-01,007,1\n"
    "d2,Beetroot in clay,9,n/a,2009-10-11,010,2\n"
    "d3,Bread soup,12.00,3.40,spring 2012,011,B\n"
    'd4,Sour beets,4.5,"1,20",2006-01-15,012,C\n'
)


def reasons(folder: Path) -> dict[str, tuple[str, str]]:
    (folder / "dishes.csv").write_text(DISHES)
    return {one.column: (one.use, one.because) for one in detect(folder).reasons if one.column}


def test_prices_with_zeros_at_the_end_are_numbers_and_codes_with_zeros_in_front_are_not(tmp_path: Path) -> None:
    found = reasons(tmp_path)
    assert found["price"][0] == "number"
    assert found["code"] == ("keyword", "its first values are short")


def test_the_reason_says_that_most_values_are_numbers_or_dates_and_which_are_not(tmp_path: Path) -> None:
    found = reasons(tmp_path)
    assert found["cost"][0] == found["served"][0] == "keyword"
    assert "but 2 of 3 are numbers, only '1,20' not" in found["cost"][1]
    assert "but 3 of 4 are dates, only 'spring 2012' not: with the use 'field: date'" in found["served"][1]
    assert "2 of 4 are numbers, only 'B', 'C' not" in found["table"][1]
