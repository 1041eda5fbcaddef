"""Any pipeline reads the entities of a question: which nodes, where, and how sure."""

from __future__ import annotations

from pathlib import Path

import pytest

from search.adapters import mentions_memmap
from search.interfaces import MentionIndex
from search.language.entities import Entity, entities
from tests.search.stages.plan.films import FILMS, SCHEMA

PEOPLE = (8, 18)
"""Ann Arbor, a person and a tag."""


@pytest.fixture(scope="module")
def mentions(tmp_path_factory: pytest.TempPathFactory) -> MentionIndex:
    folder: Path = tmp_path_factory.mktemp("mentions")
    mentions_memmap.build(folder, ((node.key, node.name, False) for node in FILMS.nodes))
    return mentions_memmap.MemmapMentions(folder)


def test_a_name_is_found_with_its_nodes_and_its_place(mentions: MentionIndex) -> None:
    text = "which films did Ann Arbor direct"
    [found] = entities(text, mentions, SCHEMA)
    assert found == Entity(16, 25, "Ann Arbor", PEOPLE, 0.9)
    assert text[found.start : found.end] == "Ann Arbor"


def test_what_the_question_marks_is_surer_than_what_it_does_not(mentions: MentionIndex) -> None:
    surest = [
        entities(text, mentions, SCHEMA)[0].sure
        for text in ('films like "ann arbor"', "films with Ann Arbor", "films with ann arbor", "films with drama")
    ]
    assert surest == [0.95, 0.9, 0.7, 0.5]


def test_the_surest_come_first_and_no_more_than_asked_for(mentions: MentionIndex) -> None:
    text = "drama by Ann Arbor with Cy Clone"
    assert [entity.text for entity in entities(text, mentions, SCHEMA)] == ["Ann Arbor", "Cy Clone", "drama"]
    assert len(entities(text, mentions, SCHEMA, most=2)) == 2


def test_words_of_the_schema_are_no_names_unless_they_are_marked(mentions: MentionIndex) -> None:
    assert entities("which film", mentions, SCHEMA) == []
    assert [entity.text for entity in entities('what has the tag "film"', mentions, SCHEMA)] == ["film"]


def test_a_question_without_names_has_no_entities(mentions: MentionIndex) -> None:
    assert entities("", mentions, SCHEMA) == []
    assert entities("x" * 100_000, mentions, SCHEMA) == []
