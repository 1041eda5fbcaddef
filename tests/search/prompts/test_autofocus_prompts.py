"""The prompts of AF-Retriever: what stands in them, what is concealed, and what never changes stands first."""

from __future__ import annotations

from search.domain.graph import Field, NodeType, Relation, RelationType, Schema
from search.prompts.autofocus import AutofocusPrompts, JudgePrompts

SCHEMA = Schema(
    (
        NodeType("paper", 5, (Field("publication year", "number"),), aliases=("article",)),
        NodeType("field of study", 5, description="A subject."),
        NodeType("shelf", 1, hidden=True),
    ),
    (Relation("has_topic"), Relation("stands_on")),
    (RelationType("paper", "has_topic", "field of study", 9), RelationType("paper", "stands_on", "shelf", 1)),
)


def test_labels_and_relationships_are_listed_as_cypher_writes_them() -> None:
    rules = AutofocusPrompts(SCHEMA).system
    assert "- paper, also called article\n- `field of study`: A subject." in rules
    assert "- (:paper)-[:has_topic]->(:`field of study`)" in rules
    assert "shelf" not in rules
    assert "publication year" not in rules


def test_properties_are_listed_only_if_wanted() -> None:
    rules = AutofocusPrompts(SCHEMA, properties=True).system
    assert "- paper: name, `publication year` (number)" in rules
    assert "- `field of study`: name\n" in rules


def test_a_concealed_label_is_not_shown_nor_are_its_relationships() -> None:
    rules = AutofocusPrompts(SCHEMA, ["Field_of_Study"]).system
    assert "has_topic]->(:`" not in rules
    assert "none: return y without any relationship" in rules


def test_the_question_stands_last_in_a_message_of_its_own() -> None:
    prompts = AutofocusPrompts(SCHEMA)
    one, other = prompts.cypher("Which\n papers?", ("paper",)), prompts.cypher("Which subjects?", ())
    assert one.messages[0] == other.messages[0]
    assert one.version == other.version
    assert one.messages[1].content == "The answers are of the type (y:paper).\nQuestion: Which papers?"
    assert other.messages[1].content == "Question: Which subjects?"
    assert AutofocusPrompts(SCHEMA, ["paper"]).cypher("?", ()).version != one.version


def test_each_way_of_judging_has_rules_and_a_purpose_of_its_own_and_the_question_before_the_descriptions() -> None:
    judge = JudgePrompts()
    prompts = [judge.point("Which?", "A $5 mug"), judge.list("Which?", ["a", "b"]), judge.pair("Which?", "a", "b")]
    assert [prompt.purpose for prompt in prompts] == ["score", "order", "compare"]
    assert len({prompt.version for prompt in prompts}) == 3
    assert prompts[0].messages[1].content == "Question: Which?\n\nA $5 mug"
    assert prompts[1].messages[1].content == prompts[2].messages[1].content == "Question: Which?\n\n1.\na\n\n2.\nb"
