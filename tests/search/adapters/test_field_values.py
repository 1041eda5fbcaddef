"""Values of fields in questions, held against the values of the demo bases and against small ones counted by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from search.adapters import field_values
from search.adapters.values_memmap import MemmapValues
from search.domain.graph import Field, FieldValue, Node, NodeType, Schema
from search.interfaces import ValueMention
from tests.search.demo_schema import demo_nodes, demo_schema


def index(folder: Path, fields: list[Field], *rows: dict[str, FieldValue]) -> MemmapValues:
    schema = Schema((NodeType("tent", len(rows), tuple(fields)),), (), ())
    nodes = [Node(key, f"t{key}", "tent", f"Tent {key}", fields=row) for key, row in enumerate(rows)]
    field_values.build(folder, schema, nodes)
    return MemmapValues(folder, schema)


def told(found: list[ValueMention]) -> list[tuple[str, str, object, int]]:
    return [(mention.text, mention.field, mention.value, mention.nodes) for mention in found]


@pytest.mark.parametrize("base", ["biomedical", "papers"])
def test_every_keyword_of_a_demo_base_is_found_with_its_number_of_nodes(tmp_path: Path, base: str) -> None:
    schema, nodes = demo_schema(base), demo_nodes(base)
    field_values.build(tmp_path, schema, nodes)
    values = MemmapValues(tmp_path, schema)
    keywords = {(kind.name, one.name) for kind in schema.node_types for one in kind.fields if one.kind == "keyword"}
    counted: dict[tuple[str, str, str], int] = {}
    for node in nodes:
        for field, value in node.fields.items():
            if (node.type, field) in keywords:
                for item in set(map(str, value if isinstance(value, list) else [value])):
                    counted[node.type, field, item] = counted.get((node.type, field, item), 0) + 1
    assert len(counted) > 50
    for (kind, field, value), nodes_with in counted.items():
        text = f"which ones have the {field.replace('_', ' ')} {value}"
        found = {
            (m.node_type, m.field, m.value, m.nodes, m.similarity, m.named)
            for m in values.find(text)
            if m.end == len(text)
        }
        assert (kind, field, value, nodes_with, 1.0, True) in found, text


KEYWORD = Field("use", "keyword")


@pytest.mark.parametrize(
    ("text", "similarity"),
    [
        ("tents for Family camping", 1.0),
        ("a family-camping tent", 1.0),
        ("familycamping", 0.95),
        ("families camping", 0.95),
        ("for famliy camping", 0.8),
        ("for famliy campign", 0.8),
    ],
)
def test_inflected_and_misspelt_values_are_found_with_less_similarity(
    tmp_path: Path, text: str, similarity: float
) -> None:
    values = index(tmp_path, [KEYWORD], {"use": "family camping"}, {"use": "racing"})
    assert [(m.value, m.similarity) for m in values.find(text)] == [("family camping", similarity)]


def test_a_part_of_a_list_of_places_is_found_by_contains(tmp_path: Path) -> None:
    places = ["Umeå, Sweden", "Lund, Sweden", "Online"]
    values = index(tmp_path, [Field("address", "keyword")], *({"address": place} for place in places))
    whole, *_ = values.find("events in Umea, Sweden")
    assert (whole.value, whole.op, whole.nodes) == ("Umeå, Sweden", "=", 1)
    (part,) = values.find("events in Sweden")
    assert (part.value, part.op, part.nodes, part.similarity) == ("Sweden", "contains", 2, 0.8)


def test_a_value_that_mostly_stands_in_lists_of_places_is_a_part_of_them(tmp_path: Path) -> None:
    places = ["Lund, Sweden", "Lund, Sweden", "Lund", "Online", "Online", "Oslo, Online"]
    values = index(tmp_path, [Field("address", "keyword")], *({"address": place} for place in places))
    (lund,), (online,) = values.find("events in Lund"), values.find("events Online")
    assert (lund.value, lund.op, lund.nodes) == ("Lund", "contains", 3)
    assert (online.value, online.op, online.nodes) == ("Online", "=", 2)


def test_a_field_of_yes_and_no_is_found_by_its_name(tmp_path: Path) -> None:
    fields = [Field("waterproof", "keyword"), Field("is_open_access", "keyword"), Field("folds", "number")]
    rows: list[dict[str, FieldValue]] = [
        {"waterproof": "true", "is_open_access": "Yes", "folds": 1},
        {"waterproof": "false", "is_open_access": "No", "folds": 0},
        {"waterproof": "true", "is_open_access": "No", "folds": 0},
    ]
    values = index(tmp_path, fields, *rows)
    assert told(values.find("waterproof tents")) == [("waterproof", "waterproof", "true", 2)]
    assert told(values.find("open-access tents")) == [("open-access", "is_open_access", "Yes", 1)]
    assert told(values.find("a tent that folds")) == [("folds", "folds", 1, 1)]
    assert values.find("is it true or no?") == []


def test_a_number_counts_only_beside_the_name_of_its_field(tmp_path: Path) -> None:
    fields = [Field("doors", "number"), Field("size_code", "keyword")]
    values = index(tmp_path, fields, {"doors": 2, "size_code": "17"}, {"doors": 3, "size_code": "x"})
    assert values.find("the 2 of us") == []
    assert values.find("17 tents") == []
    assert told(values.find("tents with 2 doors")) == [("2 doors", "doors", 2, 1)]
    assert told(values.find("the size code is 17")) == [("size code is 17", "size_code", "17", 1)]
    assert values.find("plan x") == []


def test_texts_identifiers_and_addresses_are_no_values(tmp_path: Path) -> None:
    fields = [
        Field("about", "text"),
        Field("page", "keyword"),
        Field("kind", "text"),
        Field("features", "text", many=True),
    ]
    rows: list[dict[str, FieldValue]] = [
        {"about": f"A long text about tent {at}, which goes on and on until it is far too long to be said at once.",
         "page": f"http://shop/{at}", "kind": "tunnel" if at % 2 else f"odd one {at}", "features": ["two doors"]}
        for at in range(4)
    ]  # fmt: skip
    values = index(tmp_path, fields, *rows)
    text = "tent 1, tunnel, odd one 2, two doors, http://shop/1"
    assert told(values.find(text)) == [("two doors", "features", "two doors", 4), ("tunnel", "kind", "tunnel", 2)]


def test_function_words_and_letters_need_the_name_of_the_field_or_their_case(tmp_path: Path) -> None:
    values = index(tmp_path, [Field("size", "keyword"), Field("for", "keyword")], {"size": "M", "for": "all"})
    assert values.find("all of the m tents, i'm sure") == []
    assert told(values.find("tents in M")) == [("M", "size", "M", 1)]
    assert told(values.find("tents of size m")) == [("size m", "size", "M", 1)]


def test_a_release_without_the_files_has_no_values(tmp_path: Path) -> None:
    assert MemmapValues(tmp_path / "values", Schema((), (), ())).find("vegan") == []


def test_no_nodes_and_odd_questions_are_answered(tmp_path: Path) -> None:
    values = index(tmp_path, [KEYWORD])
    assert values.find("family camping") == values.find("") == values.find("  ?! \x00 مرحبا 17") == []
