"""What of a node fits BibTeX: by fields, by neighbours and by ids; signs of TeX are escaped."""

from __future__ import annotations

from typing import Any

import pytest

from search.domain.graph import Field, NodeType, Relation, RelationType, Schema
from search.services.collections.bibliography import entry_of, meaning, write_entry

SCHEMA = Schema(
    node_types=(
        NodeType("paper", fields=(Field("year", "number"),)), NodeType("scholar", aliases=("author",)),
        NodeType("outlet", aliases=("journal",)),
    ),
    relations=(Relation("WRITES"), Relation("PUBLISHED_IN"), Relation("CITES")),
    relation_types=(RelationType("scholar", "WRITES", "paper"),),
)  # fmt: skip


def node(
    fields: dict[str, Any], relations: dict[str, list[tuple[str, str]]] | None = None, **more: str
) -> dict[str, Any]:
    return {
        "id": "p1", "name": "On Ice", "url": "",
        "fields": [{"name": name, "value": value} for name, value in fields.items()],
        "relations": [
            {"relation": name, "wording": name, "items": [{"name": who, "type": kind} for kind, who in items]}
            for name, items in (relations or {}).items()
        ],
    } | more  # fmt: skip


def test_fields_neighbours_and_the_id_make_an_entry() -> None:
    entry = entry_of(
        node(
            {"publication_date": "2014-03-01", "pages": 18, "bio": "x", "keywords": ["ice", "fjords"]},
            {"WRITES": [("scholar", "Ingrid Solheim"), ("scholar", "Maja Öst")], "PUBLISHED_IN": [("outlet", "Cryo")],
             "CITES": [("paper", "Other")]},
            id="10.5555/jcd_2014.031", url="https://example.org/a_b",
        ),
        SCHEMA,
    )  # fmt: skip
    assert entry.fits
    assert entry.left == ("pages", "bio")
    assert write_entry(entry, set()) == (
        "@article{solheim2014,\n"
        '  author = {Ingrid Solheim and Maja {\\"O}st},\n'
        "  title = {On Ice},\n"
        "  journal = {Cryo},\n"
        "  year = {2014},\n"
        "  doi = {10.5555/jcd_2014.031},\n"
        "  keywords = {ice, fjords},\n"
        "  url = {https://example.org/a_b},\n"
        "}"
    )


def test_signs_of_tex_are_escaped_and_keys_are_taken_once() -> None:
    entry = entry_of(
        node({"authors": ["A. B", "C"], "doi": "10.1/x}y"}, name="50% of {R&D} costs #1 in $\n\\end"), SCHEMA
    )
    taken: set[str] = set()
    written = write_entry(entry, taken, note="a_b")
    assert (
        r"title = {50{\%} of {\textbraceleft}R{\&}D{\textbraceright} costs {\#}1 in {\$} {\textbackslash}end},"
    ) in written
    assert "author = {A. B and C}," in written
    assert "doi = {10.1/xy}," in written
    assert r"note = {a{\_}b}," in written
    assert [write_entry(entry, taken).split("{")[1].split(",")[0] for _ in range(2)] == ["bcosts-2", "bcosts-3"]


@pytest.mark.parametrize(
    ("name", "means"),
    [("Author_Names", "author"), ("publicationYear", "year"), ("DOI", "doi"), ("venue", "journal"), ("plot", None)],
)
def test_names_mean_fields(name: str, means: str | None) -> None:
    assert meaning(name) == means


def test_a_thing_without_author_journal_or_doi_is_no_work() -> None:
    assert not entry_of(node({"year": 1999, "abstract": "x"}), SCHEMA).fits
