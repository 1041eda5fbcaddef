"""The entities of a question and their documents: by a model, by names, and where the model answers nonsense."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from search.domain.question import Question
from search.domain.trace import Limit
from search.domain.triples import EntityDocuments, NamedEntities, NamedEntity
from search.stages.expand.entities import ParseEntities, RetrieveEntities
from tests import misbehaving
from tests.search.stages.expand.films import (
    ANN,
    ASKED,
    BO,
    DOCUMENT,
    GALE,
    LONE,
    REEF,
    TIDE,
    taken,
    tools_of,
)
from tests.search.stages.expand.models import NoModel, answering, asked, model_at

SIMILAR = {DOCUMENT: {ANN: 0.2, TIDE: 0.6, GALE: 0.3, BO: 0.9, REEF: 0.8, LONE: 0.1}}
ITSELF = NamedEntity("", ASKED)
BY_NAME = NamedEntity("Ann Arbor", "Ann Arbor", keys=(ANN,))


def parsed(folder: Path, model: Any, text: str = ASKED, **options: Any) -> NamedEntities:
    tools = taken(tools_of(folder), "mentions", "schema")
    return ParseEntities(model, **tools, **options)(Question(text), Limit.seconds(20))


def documents(folder: Path, *entities: NamedEntity, **world: Any) -> EntityDocuments:
    tools = taken(tools_of(folder, **world), "mentions", "nodes", "schema", "encoder", "vectors", "text")
    return RetrieveEntities(**tools)(Question(ASKED), NamedEntities(entities), Limit())


def test_a_model_names_the_entities_with_type_and_document_and_the_question_is_one_more(tmp_path: Path) -> None:
    said = {"entities": [{"type": "person", "name": "Ann Arbor", "document": "person: Ann Arbor\njob: director"}]}
    with answering(json.dumps(said)) as server:
        found = parsed(tmp_path, model_at(server))
    assert found.entities == (ITSELF, NamedEntity("Ann Arbor", "person: Ann Arbor\njob: director", "person"))
    assert (found.status, found.detail) == ("ok", "")
    assert found.prompt_fingerprint
    [user] = asked(server)
    assert user == f"Question: {ASKED}"
    form = server.requests[0]["response_format"]["json_schema"]
    assert form["name"] == "entities"
    assert form["schema"]["properties"]["entities"]["items"]["properties"]["type"]["enum"] == ["person", "film"]


def test_without_a_model_names_are_looked_for_in_the_question_and_that_is_said(tmp_path: Path) -> None:
    found = parsed(tmp_path, NoModel())
    assert found.entities == (ITSELF, BY_NAME)
    assert found.status == "degraded"
    assert found.detail == (
        "No language model is configured: names of the knowledge base were looked for in the question."
    )


@pytest.mark.parametrize(
    "answer",
    [
        "The question names Ann Arbor, who is a director.",
        '{"entities": [{"type": "ship", "name": "Ann Arbor", "document": ""}]}',
        '{"entities": "Ann Arbor"}',
        json.dumps({"entities": [{"type": "film", "name": f"F{at}", "document": "x"} for at in range(200)]}),
        f"{ASKED} " * 5_000,
    ],
)
def test_what_is_no_list_of_entities_is_a_sentence_and_names_are_looked_for_instead(
    tmp_path: Path, answer: str
) -> None:
    with answering(answer) as server:
        found = parsed(tmp_path, model_at(server))
    assert found.entities == (ITSELF, BY_NAME)
    assert found.status == "degraded"
    assert found.detail.startswith("The language model gave no answer that can be used: ")
    assert found.detail.endswith("names of the knowledge base were looked for in the question.")


def test_a_model_that_does_not_answer_leaves_time_for_the_other_steps(tmp_path: Path) -> None:
    with misbehaving.running(misbehaving.SLOW) as server:
        found = parsed(tmp_path, model_at(server), seconds=0.3)
    assert found.entities == (ITSELF, BY_NAME)
    assert "did not answer within the time that was left" in found.detail


def test_entities_without_a_name_are_left_out_and_long_ones_cut(tmp_path: Path) -> None:
    items = [{"type": "film", "name": " ", "document": "x"}, {"type": "film", "name": "a" * 5_000, "document": ""}]
    with answering(json.dumps({"entities": items})) as server:
        found = parsed(tmp_path, model_at(server))
    assert found.entities[1:] == (NamedEntity("a" * 200, "a" * 200, "film"),)


def test_with_no_entities_wanted_only_the_question_remains_and_nobody_is_asked(tmp_path: Path) -> None:
    assert parsed(tmp_path, NoModel(), most=0) == NamedEntities((ITSELF,))


def test_the_document_of_the_question_is_the_nearest_and_that_of_a_name_is_the_node_with_it(tmp_path: Path) -> None:
    found = documents(tmp_path, ITSELF, BY_NAME, similar=SIMILAR)
    assert [(one.name, one.node.key, one.text) for one in found.documents] == [
        ("", BO, "person: Bo Derrin"),
        ("Ann Arbor", ANN, "person: Ann Arbor"),
    ]


def test_an_entity_that_no_node_is_called_gets_the_nearest_document_of_its_type(tmp_path: Path) -> None:
    found = documents(tmp_path, NamedEntity("the divers", "film: the divers", "film"), similar=SIMILAR)
    assert [one.node.key for one in found.documents] == [REEF]


def test_an_exact_name_counts_only_for_a_node_of_the_type_that_the_model_gave(tmp_path: Path) -> None:
    found = documents(tmp_path, NamedEntity("Ann Arbor", "film: Ann Arbor", "film"), similar=SIMILAR)
    assert [one.node.key for one in found.documents] == [REEF]


def test_of_several_nodes_with_a_name_the_one_nearest_to_the_question_is_taken(tmp_path: Path) -> None:
    found = documents(tmp_path, NamedEntity("x", "x", keys=(TIDE, GALE, LONE)), similar=SIMILAR)
    assert [one.node.key for one in found.documents] == [TIDE]


def test_two_entities_with_one_document_count_once_under_the_name(tmp_path: Path) -> None:
    found = documents(tmp_path, ITSELF, NamedEntity("Bo", "Bo", keys=(BO,)), similar=SIMILAR)
    assert [(one.name, one.node.key) for one in found.documents] == [("Bo", BO)]


def test_without_vectors_documents_are_found_by_words(tmp_path: Path) -> None:
    found = documents(tmp_path, ITSELF, BY_NAME, words={LONE: 2.0})
    assert [one.node.key for one in found.documents] == [LONE, ANN]
