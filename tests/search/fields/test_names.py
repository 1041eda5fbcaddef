"""Names of lists lead back to the vectors and fields that they search."""

from __future__ import annotations

from search.domain.vector_kinds import IN_MEMORY
from search.fields.names import field_of, kind_of, lists_of, title

KINDS = ("document+relations", "chunk", "name", "neighbours", "neighbours2", "field:plot", "relation:made by")
FIELDS = ("plot", "relation:made by")


def test_every_kind_but_stretches_has_a_list_and_every_list_finds_its_kind_or_field() -> None:
    lists = lists_of(KINDS, FIELDS, 10)
    assert lists == (
        "name/dense", "document/dense", "neighbours/dense", "neighbours2/dense", "field:plot/dense",
        "relation:made by/dense", "text/bm25", "neighbourhood/bm25", "neighbourhood2/bm25", "field:plot/bm25",
        "relation:made by/bm25", "pagerank",
    )  # fmt: skip
    assert {kind_of(name) for name in lists} - {None} == set(KINDS) - {"chunk"}
    assert [field_of(name) for name in lists if field_of(name)] == list(FIELDS)


def test_neighbourhoods_are_left_out_of_large_bases() -> None:
    assert not [name for name in lists_of(KINDS, FIELDS, IN_MEMORY + 1) if name.startswith("neighbourhood")]


def test_lists_have_titles_for_people_and_other_names_have_none() -> None:
    assert title("relation:MADE_BY/bm25") == "Neighbours over “made by”, by words"
    assert title("document/dense") == "Document, by meaning"
    assert title("graph") == title("bm25") == title("a/b") == ""
