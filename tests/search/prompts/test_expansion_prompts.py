"""The prompts of query expansion: every file renders, and what never changes comes first."""

from __future__ import annotations

import pytest

from search.domain.question import LONGEST_QUESTION
from search.prompts.expansion import ExpansionPrompts, entities_schema, structure_lines
from tests.search.domain.shop import SHOP

PROMPTS = ExpansionPrompts(SHOP)
SLOTS = {
    "hyde": {},
    "rar": {"documents": "[1] product: Lantern"},
    "keywords": {},
    "analysis": {"keywords": "rain, Norway"},
    "draft": {"analysis": "It asks for a product."},
    "refine": {"candidates": "[1] product: Rain Jacket"},
}


@pytest.mark.parametrize("name", SLOTS)
def test_the_question_stands_at_the_end_and_the_system_message_is_the_same_for_all(name: str) -> None:
    [prompt] = PROMPTS.ask(name, "What costs $5 & more?", **SLOTS[name])
    system, user = prompt.messages
    assert (system.role, system.content) == ("system", PROMPTS.system)
    assert user.content.endswith("Question: What costs $5 & more?")
    assert prompt.purpose == name
    for slot in SLOTS[name].values():
        assert slot in user.content


def test_the_version_does_not_change_with_the_question_but_with_file_and_schema() -> None:
    one, other = PROMPTS.ask("hyde", "Who?")[0], PROMPTS.ask("hyde", "What?")[0]
    assert one.version == other.version
    assert one.fingerprint != other.fingerprint
    assert PROMPTS.ask("rar", "Who?", documents="x")[0].version != one.version


def test_samples_differ_only_in_their_number() -> None:
    drawn = PROMPTS.expand("Who?", "[1] product: Lantern", 3, 0.7)
    assert [prompt.sample for prompt in drawn] == [0, 1, 2]
    assert len({prompt.messages for prompt in drawn}) == 1
    assert len({prompt.fingerprint for prompt in drawn}) == 3


def test_a_long_question_is_cut() -> None:
    [prompt] = PROMPTS.ask("hyde", "why " * 10_000)
    assert len(prompt.messages[1].content) < LONGEST_QUESTION + 200


def test_types_are_listed_with_their_fields_and_relations() -> None:
    lines = structure_lines(SHOP).splitlines()
    [product] = [line for line in lines if line.startswith("- product:")]
    assert product.startswith("- product: its name; price; released; colour code; description")
    assert "has brand" in product


def test_entities_may_have_the_types_of_the_knowledge_base_and_no_other() -> None:
    form = entities_schema(SHOP, 5)
    item = form["properties"]["entities"]["items"]
    assert item["properties"]["type"]["enum"] == [node_type.name for node_type in SHOP.node_types]
    prompt = PROMPTS.entities("Which lanterns does Tessaly make?", 5, form)
    assert prompt.json_schema == form
    assert '{"entities": [{"type": …' in prompt.messages[0].content
