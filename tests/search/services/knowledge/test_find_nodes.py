"""Names that go on as what was typed, in an indexed knowledge base and in one indexed before that was a part of it."""

from __future__ import annotations

import shutil

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from search.domain.errors import InvalidRequest
from search.domain.graph import Node
from search.models import KnowledgeBase, Release, Snapshot
from search.models.knowledge import BuildStatus
from search.services.knowledge.find_nodes import COMPLETION, complete_name
from search.services.knowledge.index_snapshot import index_snapshot
from tests.fakes import HashEncoder
from tests.graphs import schema_of, store
from tests.oracle import Graph

pytestmark = pytest.mark.django_db

GRAPH = Graph(
    nodes=(
        Node(0, "f1", "film", "The Godfather"),
        Node(1, "f2", "film", "Amélie"),
        Node(2, "f3", "film", "Godfather of Harlem"),
        Node(3, "p1", "person", "Amelie Zürcher"),
    ),
    edges=((0, "made by", 3),),
)


@pytest.fixture
def release() -> Release:
    base = KnowledgeBase.objects.create(name="pictures")
    schema = schema_of(GRAPH)
    made = Snapshot.objects.create(
        knowledge_base=base, status=BuildStatus.READY, schema_json=schema.to_json(), nodes=len(GRAPH.nodes), edges=1
    )
    store(GRAPH, schema, made.pk)
    return index_snapshot(snapshot=made, encoder=HashEncoder())


def names(release: Release, text: str, node_type: str = "", *, inside: bool = True) -> list[str]:
    return [node.name for node in complete_name(release, text, 8, node_type, inside=inside)]


@pytest.mark.parametrize(
    ("text", "node_type", "found"),
    [
        ("godfather", "", ["Godfather of Harlem", "The Godfather"]),
        ("amelie", "", ["Amélie", "Amelie Zürcher"]),
        ("AMÉLIE", "person", ["Amelie Zürcher"]),
        ("zurch", "", ["Amelie Zürcher"]),
        ("the g", "film", ["The Godfather"]),
        ("father", "", []),
        ("", "", []),
        (" \x00 ", "", []),
    ],
)  # fmt: skip
def test_neither_case_nor_accents_nor_the_first_word_have_to_be_typed(
    release: Release, text: str, node_type: str, found: list[str]
) -> None:
    assert names(release, text, node_type) == found


def test_words_within_names_can_be_left_out(release: Release) -> None:
    assert names(release, "godfather", inside=False) == ["Godfather of Harlem"]


def test_a_type_that_is_not_there_is_refused_with_those_that_are(release: Release) -> None:
    with pytest.raises(InvalidRequest, match="There are: film, person"):
        complete_name(release, "a", 8, "planet")


def test_it_costs_one_query_for_the_nodes_that_are_shown(release: Release) -> None:
    names(release, "godfather")
    with CaptureQueriesContext(connection) as asked:
        names(release, "godfather")
    assert len(asked) == 1
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("EXPLAIN " + asked[0]["sql"])
        plan = "\n".join(row[0] for row in cursor.fetchall())
    assert "_pkey" in plan


def test_files_from_before_are_asked_for_beginnings_alone_until_they_are_built_again(release: Release) -> None:
    shutil.rmtree(release.snapshot.directory / COMPLETION)

    assert names(release, "godfather") == ["Godfather of Harlem"]
    assert names(release, "amelie") == ["Amelie Zürcher"]
    assert names(release, " ") == []

    assert index_snapshot(snapshot=release.snapshot, encoder=HashEncoder()) == release
    assert names(release, "godfather") == ["Godfather of Harlem", "The Godfather"]
