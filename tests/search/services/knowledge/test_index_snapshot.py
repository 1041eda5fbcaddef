"""Indexing a snapshot: what is built, what is known already, and going on after a kill."""

import json
import os
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from django.conf import settings as django_settings
from django.db import connection

from grasp_site.embedded.home import Home
from search import text, wiring
from search.domain.graph import Field, Node
from search.ingest.cleanup import remove_data
from search.ingest.documents import NODES_A_BLOCK
from search.ingest.locks import import_lock
from search.models import KnowledgeBase, Release, Snapshot, VectorSet
from search.models.knowledge import BuildStatus
from search.services.knowledge.index_snapshot import IndexFailed, build_index, index_snapshot
from tests.fakes import HashEncoder
from tests.graphs import schema_of, store
from tests.oracle import Graph

PERSONS = 12
GRAPH = Graph(
    nodes=(
        Node(0, "film/1", "film", "Amber Road", fields={"year": 1999, "plot": "A road through the forest."}),
        Node(1, "film/2", "film", "Birch Street", fields={"plot": "Neighbours and a birch."}),
        *(Node(2 + at, f"person/{at:02}", "person", f"Person {at}") for at in range(PERSONS)),
    ),
    edges=tuple((0, "made by", 2 + at) for at in range(PERSONS)) + ((2, "admires", 1), (1, "made by", 2)),
)
FIELDS = (Field("year", "number"), Field("plot", "text"))


def snapshot_of(graph: Graph = GRAPH, name: str = "films") -> Snapshot:
    base, _ = KnowledgeBase.objects.get_or_create(name=name)
    schema = schema_of(graph)
    schema = replace(schema, node_types=tuple(replace(known, fields=FIELDS) for known in schema.node_types))
    made = Snapshot.objects.create(
        knowledge_base=base,
        status=BuildStatus.READY,
        schema_json=schema.to_json(),
        nodes=len(graph.nodes),
        edges=len(graph.edges),
    )
    store(graph, schema, made.pk)
    return made


def stored(release: Release) -> dict[tuple[str, int], np.ndarray]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT kind, key, embedding::text FROM search_vector WHERE vector_set_id = %s", [release.vector_set_id]
        )
        return {(kind, key): np.array(json.loads(vector), dtype=np.float32) for kind, key, vector in cursor.fetchall()}


@pytest.mark.django_db
def test_a_release_holds_every_kind_of_vector_of_every_node() -> None:
    encoder = HashEncoder()
    release = index_snapshot(snapshot=snapshot_of(), encoder=encoder)
    assert (release.name, release.status, release.vector_set.vectors) == (
        "films-1",
        BuildStatus.READY,
        2 * (2 + PERSONS),
    )
    vectors = stored(release)
    assert {kind for kind, _ in vectors} == {"name", "document+relations"}
    # Twelve persons made film 0, ten are named, in the order of keys.
    names = [f"Person {at}" for at in range(10)]
    whole = text.document(GRAPH.nodes[0], {"made by": names})
    assert vectors["document+relations", 0] == pytest.approx(encoder.vector(whole), abs=1e-3)
    # The fields stand in the order of the schema.
    assert text.document(GRAPH.nodes[0]).index("year") < text.document(GRAPH.nodes[0]).index("plot")
    assert vectors["name", 2] == pytest.approx(encoder.vector("Person 0"), abs=1e-3)


@pytest.mark.django_db
def test_the_tools_of_a_release_read_what_was_built() -> None:
    release = index_snapshot(snapshot=snapshot_of(), encoder=HashEncoder())
    tools = wiring.Tools(release)
    assert tools.nodes.references([1])[0].name == "Birch Street"
    assert tools.nodes.neighbour_names(1) == {"made by": ["Person 0"], "admires": ["Person 0"]}
    assert tools.mentions.lookup("amber road") == (0,)
    assert [found.key for found in tools.text.search("forest", 5)] == [0]
    assert [found.key for found in tools.text.search("forest", 5, field="plot")] == [0]
    assert tools.vectors.nearest("name", HashEncoder().vector("Person 3"), 1)[0].key == 5


@pytest.mark.django_db
def test_a_second_call_makes_no_second_release() -> None:
    snapshot, encoder = snapshot_of(), HashEncoder()
    first = index_snapshot(snapshot=snapshot, encoder=encoder)
    encoder.encoded.clear()
    again = build_index(snapshot=snapshot, encoder=encoder)
    assert (again.release, again.embedded, again.seconds) == (first, 0, {})
    assert encoder.encoded == []


@pytest.mark.django_db
def test_a_second_import_of_the_same_data_embeds_nothing() -> None:
    encoder = HashEncoder()
    first = build_index(snapshot=snapshot_of(), encoder=encoder)
    encoder.encoded.clear()
    second = build_index(snapshot=snapshot_of(), encoder=encoder)
    assert encoder.encoded == []
    assert (second.embedded, second.reused) == (0, 2 * (2 + PERSONS))
    assert second.release.number == 2
    before, after = stored(first.release), stored(second.release)
    assert before.keys() == after.keys()
    assert all(np.array_equal(before[place], after[place]) for place in before)


@pytest.mark.django_db
def test_only_the_texts_that_changed_are_embedded() -> None:
    encoder = HashEncoder()
    build_index(snapshot=snapshot_of(), encoder=encoder)
    changed = Graph((*GRAPH.nodes[:-1], Node(13, "person/11", "person", "Somebody else")), GRAPH.edges)
    encoder.encoded.clear()
    # The new name, the document of the node, and nothing else: it is not among the ten that film 0 names.
    assert build_index(snapshot=snapshot_of(changed), encoder=encoder).embedded == 2
    assert "Somebody else" in encoder.encoded


@pytest.mark.django_db
def test_equal_texts_are_embedded_once() -> None:
    encoder = HashEncoder()
    twins = Graph(tuple(Node(at, f"n{at}", "thing", "Twin") for at in range(5)), ())
    indexed = build_index(snapshot=snapshot_of(twins), encoder=encoder)
    # One name and one document, of five nodes each.
    assert (indexed.embedded, indexed.reused) == (2, 8)
    assert len(encoder.encoded) == 2


@pytest.mark.django_db
def test_another_encoder_makes_a_release_of_its_own() -> None:
    snapshot = snapshot_of()
    build_index(snapshot=snapshot, encoder=HashEncoder())
    second = build_index(snapshot=snapshot, encoder=HashEncoder("hash@2", dimensions=8))
    assert second.embedded > 0
    assert second.release.number == 2
    assert set(VectorSet.objects.values_list("encoder", "dimensions")) == {("hash@1", 16), ("hash@2", 8)}


@pytest.mark.django_db
def test_a_snapshot_that_is_not_loaded_is_refused() -> None:
    snapshot = snapshot_of()
    snapshot.status = BuildStatus.FAILED
    with pytest.raises(IndexFailed, match="failed"):
        index_snapshot(snapshot=snapshot, encoder=HashEncoder())


INDEXING = """
import sys, django
django.setup()
from search.models import Snapshot
from search.services.knowledge.index_snapshot import build_index
from tests.fakes import HashEncoder

class Stalling(HashEncoder):
    def encode(self, texts):
        if len(self.encoded) >= int(sys.argv[2]):
            print("stalled", flush=True)
            sys.stdin.read()
        return super().encode(texts)

build_index(snapshot=Snapshot.objects.get(pk=sys.argv[1]), encoder=Stalling())
"""


def killed_while_embedding(snapshot: Snapshot, services: Home, after: int) -> None:
    """Index in another process, and kill it once it has embedded so many texts."""
    name = django_settings.DATABASES["default"]["NAME"]
    process = subprocess.Popen(
        [sys.executable, "-c", INDEXING, str(snapshot.pk), str(after)],
        env={**os.environ, "DATABASE_URL": services.database_url.replace("/grasp?", f"/{name}?")},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"stalled\n"
    process.kill()
    process.wait()
    deadline = time.monotonic() + 20
    while True:
        with import_lock(snapshot.knowledge_base.name) as free:
            if free:
                return
        assert time.monotonic() < deadline, "Postgres keeps the lock of a process that is dead"


@pytest.mark.django_db(transaction=True)
def test_killed_between_blocks_the_next_run_embeds_only_the_rest(services: Home) -> None:
    many = Graph(tuple(Node(at, f"n{at:05}", "thing", f"Thing {at}") for at in range(2 * NODES_A_BLOCK + 50)), ())
    snapshot = snapshot_of(many, "things")
    try:
        # A name and a document each.
        killed_while_embedding(snapshot, services, after=2 * 2 * NODES_A_BLOCK)
        [left] = VectorSet.objects.filter(snapshot=snapshot)
        assert left.status == BuildStatus.BUILDING
        assert not Release.objects.filter(snapshot=snapshot).exists()
        indexed = build_index(snapshot=snapshot, encoder=HashEncoder())
        assert (indexed.embedded, indexed.reused) == (2 * 50, 0)
        assert "nodes" not in indexed.seconds
        assert indexed.release.vector_set == left
        assert len(stored(indexed.release)) == 2 * len(many.nodes)
    finally:
        remove_data(snapshot)
