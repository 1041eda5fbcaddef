"""Kinds of fields, and values that fit them."""

import pytest

from search.domain.graph import Field, FieldValue
from search.ingest.fields import FieldKinds, fit, value_fault
from search.ingest.manifest import DeclaredField


def kind_of(*values: FieldValue, declared: DeclaredField | None = None) -> Field:
    kinds = FieldKinds(declared)
    for value in values:
        kinds.observe(value)
    return kinds.field("field")


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ((1, 2.5), "number"),
        (("2016", "-3", "0", "12.25"), "number"),
        ((1, "2"), "number"),
        (("007", "008"), "keyword"),
        (("1.50",), "keyword"),
        (("2016", "n/a"), "keyword"),
        (("1999-01-31", "2004-05"), "date"),
        (("1991-12-01T00:00:00Z",), "date"),
        (("1999-13-01",), "keyword"),
        (("2022-02-26", "20210522"), "date"),
        (("20210522", "2022-02-26"), "date"),
        (("20210522", "20220226"), "number"),
        (("2022-02-26", "20211345"), "keyword"),
        (("2022-02-26", "12345678"), "keyword"),
        (("Mature", "Free of charge"), "keyword"),
        (("one two three four five six",), "text"),
        (("x" * 81,), "text"),
        (("two\nlines",), "text"),
    ],
)
def test_the_narrowest_kind_that_fits_every_value_is_taken(values: tuple[FieldValue, ...], kind: str) -> None:
    assert kind_of(*values).kind == kind


def test_a_field_with_one_list_holds_lists_and_coverage_counts_nodes() -> None:
    assert kind_of(["red", "blue"], "green") == Field("field", "keyword", many=True, coverage=2, inferred=True)


def test_a_declared_kind_stays_whatever_the_values_look_like() -> None:
    field = kind_of("1", "2", declared=DeclaredField("keyword", many=True))
    assert field == Field("field", "keyword", many=True, coverage=2, inferred=False)


@pytest.mark.parametrize(
    ("value", "field", "fitted"),
    [
        ("2016", Field("year", "number"), 2016),
        ("2.5", Field("year", "number"), 2.5),
        (2016, Field("year", "keyword"), "2016"),
        ("red", Field("color", "keyword", many=True), ["red"]),
        (["1", 2], Field("sizes", "number", many=True), [1, 2]),
        ([1, "b"], Field("sizes", "keyword", many=True), ["1", "b"]),
        ("20210522", Field("edited", "date"), "2021-05-22"),
        (20210522, Field("edited", "date"), "2021-05-22"),
        ("2021", Field("edited", "date"), "2021"),
        ("20210522", Field("code", "keyword"), "20210522"),
    ],
)
def test_values_are_made_to_fit(value: FieldValue, field: Field, fitted: FieldValue) -> None:
    assert fit(value, field) == fitted


@pytest.mark.parametrize(
    ("value", "kind", "fits"),
    [
        ("12", "number", True),
        ("1e3", "number", True),
        ("nan", "number", False),
        ("about 12", "number", False),
        ([1, "x"], "number", False),
        ("1999", "date", True),
        (1999, "date", True),
        ("31.1.1999", "date", False),
        ("19990131", "date", True),
        ("19991331", "date", False),
        ("anything", "keyword", True),
    ],
)
def test_a_value_of_a_declared_kind_fits_or_not(value: FieldValue, kind: str, fits: bool) -> None:
    assert (value_fault(value, kind) is None) is fits  # type: ignore[arg-type]
