"""Units that fields declare: from `kb.json` to the words of a value."""

import json
from pathlib import Path

from search.domain.graph import Field, NodeType, Relation, Schema
from search.ingest.fields import FieldKinds
from search.ingest.manifest import read_manifest
from search.sentences.values import amount_words, measured, order_value
from search.stages.plan.measures import measured_by, unit_in

PRICE, LENGTH = Field("price", "number", unit="EUR"), Field("length", "number", unit="m")
SCHEMA = Schema(
    (NodeType("tent", fields=(PRICE, LENGTH)), NodeType("film", fields=(Field("length", "number", unit="min"),))),
    (Relation("SOLD_AT", "is sold at", "sells", fields=(Field("discount", "number", unit="%"),)),), (),
)  # fmt: skip


def test_a_declared_unit_stands_behind_a_value() -> None:
    words = SCHEMA.wordings
    assert amount_words("price", 389, words) == ("price", "389 €")
    assert measured("discount", 12.5, words) == "discount 12.5 %"
    assert order_value({"by": {"field": "price"}}, 19.5, words) == "price 19.50 €"
    # Two types mean different things by the name.
    assert measured("length", 95, words) == "length 95"
    assert order_value({"by": {"count": {"rel": "SOLD_AT", "direction": "in"}}}, 1200, words) == "sells 1,200"


def test_a_declared_unit_is_kept_with_the_schema() -> None:
    assert Schema.from_json(SCHEMA.to_json()) == SCHEMA
    assert (unit_in(PRICE), measured_by(PRICE)) == ("eur", ("price", "cost", "fee"))
    assert unit_in(Field("weight_g", "number")) == "g"


def test_a_bundle_declares_units(tmp_path: Path) -> None:
    fields = {"price": {"type": "number", "unit": "EUR"}, "weight_g": "number"}
    (tmp_path / "kb.json").write_text(json.dumps({"name": "tents", "node_types": {"tent": {"fields": fields}}}))
    declared = read_manifest(tmp_path).fields["tent"]
    assert FieldKinds(declared["price"]).field("price") == Field("price", "number", inferred=False, unit="EUR")
    assert FieldKinds(declared["weight_g"]).field("weight_g").unit == ""
