"""Settings laid over a schema: further wordings, hidden types, and what is refused."""

from __future__ import annotations

from search.domain.schema_settings import adapted, faults_of
from tests.search.domain.shop import SHOP


def test_wordings_are_added_behind_those_of_the_bundle() -> None:
    values = {"types": {"brand": {"aliases": ["label", "maker"]}}, "relations": {"USED_FOR": {"aliases": ["good for"]}}}

    schema = adapted(SHOP, values)

    assert schema.node_type("brand").aliases == ("maker", "company", "label")
    assert schema.relation("USED_FOR").aliases == ("good for",)
    assert (schema.type_codes, schema.relation_codes) == (SHOP.type_codes, SHOP.relation_codes)


def test_a_hidden_type_is_no_answer_and_an_unanswerable_one_is_still_shown() -> None:
    schema = adapted(SHOP, {"types": {"city": {"hidden": True}, "country": {"answerable": False}}})

    assert schema.answerable == ("product", "brand", "field_of_use")
    assert [t.name for t in schema.node_types if t.hidden] == ["city"]


def test_without_settings_the_schema_is_the_very_same() -> None:
    assert adapted(SHOP, {}) is SHOP
    assert adapted(SHOP, {"guidance": "Prefer brands."}) is SHOP


def test_names_that_a_new_snapshot_has_no_more_are_passed_over() -> None:
    assert adapted(SHOP, {"types": {"gone": {"hidden": True}}, "relations": {"GONE": {"aliases": ["x"]}}}) == SHOP


def test_every_fault_of_settings_is_named_with_its_place() -> None:
    values = {
        "guidance": "x" * 20_001,
        "types": {
            "brand": {"aliases": ["Item", "Maker", "!?"]},
            "a/b": {"aliases": []},
            "city": {"aliases": ["town", "Town"]},
        },
        "relations": {"USED_FOR": {"aliases": ["Replaces"]}},
    }

    assert [(f.pointer, f.message) for f in faults_of(values, SHOP)] == [
        ("/guidance", "The guidance has 20,001 characters; 20,000 are the most."),
        ("/types/brand/aliases", "'Item' means product already; a word has to mean one thing."),
        ("/types/brand/aliases", "'Maker' is a wording of brand already."),
        ("/types/brand/aliases", "'!?' has no letters or digits, so that no question can say it."),
        ("/types/a~1b", "There is no type 'a/b' in this knowledge base."),
        ("/types/city/aliases", "'Town' is a wording of city already."),
        ("/relations/USED_FOR/aliases", "'Replaces' means REPLACES already; a word has to mean one thing."),
    ]


def test_something_has_to_be_left_that_may_be_an_answer() -> None:
    every = {t.name: {"hidden": True} for t in SHOP.node_types}

    assert [f.pointer for f in faults_of({"types": every}, SHOP)] == ["/types"]
