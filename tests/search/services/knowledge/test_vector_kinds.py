"""A vector set has the kinds of vectors that were asked for; one that it does not have is named."""

from __future__ import annotations

import numpy as np
import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from pytest_django.fixtures import Settings

from search import text, wiring
from search.adapters import vectors_pgvector
from search.domain.errors import InvalidRequest, StageError
from search.domain.graph import Node
from search.domain.vector_kinds import COMPUTED, NAME, USUAL, WHOLE, checked
from search.ingest import vectors
from search.models import VectorSet
from search.models.partitions import partition
from search.services.knowledge import index_snapshot
from search.services.knowledge.index_snapshot import build_index
from tests.fakes import HashEncoder
from tests.oracle import Graph
from tests.search.services.knowledge.test_index_snapshot import GRAPH, snapshot_of

LONG = " ".join(f"word{at}" for at in range(400))
NODES = (*GRAPH.nodes[:1], Node(1, "film/2", "film", "Birch Street", fields={"plot": LONG}), *GRAPH.nodes[2:])
KINDS = ["document", "field:plot", "relation:made by", "chunk"]


@pytest.mark.django_db
def test_every_kind_can_be_searched_where_it_was_built(settings: Settings) -> None:
    settings.GRASP_ENCODERS = {"hash@1": {}}
    encoder = HashEncoder()
    built = build_index(snapshot=snapshot_of(Graph(NODES, GRAPH.edges)), encoder=encoder, kinds=KINDS)
    assert built.release.vector_set.kinds == [*USUAL, *KINDS]
    tools = wiring.Tools(built.release)
    film, birch = tools.nodes.nodes([0, 1])

    def first(kind: str, said: str) -> tuple[int, float]:
        found = tools.vectors.nearest(kind, encoder.vector(said), 3)
        assert len({candidate.key for candidate in found}) == len(found)
        return found[0].key, round(found[0].score, 2)

    assert first("document", text.document(film)) == (0, 1.0)
    assert first("field:plot", str(birch.fields["plot"])) == (1, 1.0)
    assert first("relation:made by", "Person 0") == (1, 1.0)
    stretches = text.chunks(birch)
    assert len(stretches) == 4
    # Only the films have a plot; everybody has a document.
    assert {found.key for found in tools.vectors.nearest("field:plot", encoder.vector("x"), 20)} == {0, 1}
    for stretch in stretches:
        assert first("chunk", stretch) == (1, 1.0)
        assert tools.vectors.cosines(encoder.vector(stretch), [0, 1], "chunk")[1] == pytest.approx(1, abs=1e-3)
    assert tools.vectors.cosines(encoder.vector(LONG), [0, 1, 5], "field:plot").keys() == {0, 1}
    assert tools.vectors.cosines(encoder.vector(LONG), [], "field:plot") == {}


@pytest.mark.django_db
def test_a_kind_that_was_not_built_is_named_with_those_that_were() -> None:
    tools = wiring.Tools(build_index(snapshot=snapshot_of(), encoder=HashEncoder()).release)
    for ask in (tools.vectors.nearest,):
        with pytest.raises(StageError, match=r"hold no vectors of kind 'chunk'; they hold: document\+relations, name"):
            ask("chunk", HashEncoder().vector("x"), 3)
    with pytest.raises(StageError, match="no vectors of kind 'field:plot'") as raised:
        tools.vectors.cosines(HashEncoder().vector("x"), [0], "field:plot")
    assert raised.value.permanent


@pytest.mark.django_db
def test_other_kinds_make_another_release_that_embeds_what_is_new() -> None:
    snapshot, encoder = snapshot_of(), HashEncoder()
    build_index(snapshot=snapshot, encoder=encoder)
    more = build_index(snapshot=snapshot, encoder=encoder, kinds=["field:plot"])
    assert (more.release.number, more.embedded) == (2, 2)
    again = build_index(snapshot=snapshot, encoder=encoder)
    assert (again.release.number, again.embedded) == (1, 0)


@pytest.mark.django_db
def test_kinds_that_there_are_not_are_refused_together() -> None:
    with pytest.raises(InvalidRequest) as refused:
        build_index(
            snapshot=snapshot_of(), encoder=HashEncoder(), kinds=["field:plots", "relation:x", "fields", "name"]
        )
    messages = [fault.message for fault in refused.value.faults]
    assert messages == [
        "'field:plots': there is no field 'plots'; there are: plot, year.",
        "'relation:x': there is no relation 'x'; there are: admires, made by.",
        "'fields' is no kind of vectors; there are: name, document, document+relations, prose, chunk, passage, "
        "passage:drops, field:<name>, relation:<name>.",
    ]
    assert checked(["chunk", "name"], snapshot_of().schema) == (*USUAL, "chunk")


@pytest.mark.django_db
def test_each_kind_has_an_index_of_its_own_whatever_its_field_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "HNSW_ABOVE", 3)
    release = build_index(snapshot=snapshot_of(), encoder=HashEncoder(), kinds=["field:plot", "chunk"]).release
    table = partition("search_vector", release.vector_set_id)
    with connection.cursor() as cursor:
        cursor.execute("SELECT indexdef FROM pg_indexes WHERE tablename = %s AND indexdef LIKE '%%hnsw%%'", [table])
        found = sorted(definition.split(" WHERE ")[1] for (definition,) in cursor.fetchall())
    assert found == [f"(kind = '{kind}'::text)" for kind in sorted([NAME, WHOLE, "field:plot", "chunk"])]
    names = {vectors.index_suffix(kind) for kind in ("field:" + "ä" * 200, "field:x", "relation:x", *USUAL)}
    assert len(names) == 3 + len(USUAL)
    assert max(map(len, names)) <= 20


@pytest.mark.django_db
def test_bm25_finds_nodes_by_the_names_of_their_neighbours() -> None:
    tools = wiring.Tools(build_index(snapshot=snapshot_of(), encoder=HashEncoder()).release)
    # Film 0 was made by twelve persons, film 1 by person 0; person 0 made both and admires film 1.
    assert {found.key for found in tools.text.search("person", 5, field="relation:made by")} == {0, 1}
    assert [found.key for found in tools.text.search("birch", 5, field="relation:admires")] == [2]
    assert tools.text.search("lighthouse", 5, field="relation:made by") == []
    with pytest.raises(StageError, match="the index has no field 'relation:sold by'; it has: plot, relation:admires"):
        tools.text.search("birch", 5, field="relation:sold by")


def test_a_short_document_is_one_stretch_and_a_long_one_is_covered_whole() -> None:
    short = Node(0, "a", "film", "Amber Road")
    assert text.chunks(short) == ["film: Amber Road"]
    stretches = text.chunks(NODES[1])
    said = text.document(NODES[1]).split()
    assert all(stretch.startswith("Birch Street: ") for stretch in stretches[1:])
    assert set(said) <= {word for stretch in stretches for word in stretch.split()}
    assert all(len(stretch.split()) <= text.CHUNK_WORDS + 2 for stretch in stretches)


@pytest.mark.django_db(transaction=True)
def test_vector_sets_that_are_there_outlive_the_migration_to_parts_and_back() -> None:
    encoder = HashEncoder()
    tools = wiring.Tools(build_index(snapshot=snapshot_of(), encoder=encoder).release)
    found = tools.vectors.nearest("name", encoder.vector("Person 3"), 4)
    newest = MigrationExecutor(connection).loader.graph.leaf_nodes()
    try:
        MigrationExecutor(connection).migrate([("training", None), ("search", "0005_artifacts")])
    finally:
        MigrationExecutor(connection).migrate(newest)
    assert tools.vectors.nearest("name", encoder.vector("Person 3"), 4) == found
    assert VectorSet.objects.get().kinds == list(USUAL)
    with connection.cursor() as cursor:
        cursor.execute("SELECT DISTINCT part FROM search_vector")
        assert cursor.fetchall() == [(0,)]


def mean_of_neighbours(tools: wiring.Tools, encoder: HashEncoder, key: int) -> np.ndarray:
    near = {
        other
        for direction in ("out", "in")
        for starts, far in [tools.adjacency.whole(direction)]
        for other in far[starts[key] : starts[key + 1]].tolist()
    } - {key}
    mean = np.mean([encoder.vector(whole_text(tools, other)) for other in sorted(near)], axis=0)
    return (mean / np.linalg.norm(mean)).astype(np.float32)


def whole_text(tools: wiring.Tools, key: int) -> str:
    (node,) = tools.nodes.nodes([key])
    return text.document(node, tools.nodes.neighbour_names(key))


@pytest.mark.django_db
def test_every_release_has_the_means_of_neighbours_and_a_matrix_of_every_kind() -> None:
    encoder = HashEncoder()
    tools = wiring.Tools(build_index(snapshot=snapshot_of(), encoder=encoder, kinds=["chunk", "neighbours"]).release)
    assert tools.vectors.kinds == {*USUAL, "chunk", *COMPUTED}
    mean = mean_of_neighbours(tools, encoder, 0)
    assert tools.vectors.cosines(mean, [0], "neighbours")[0] == pytest.approx(1, abs=2e-3)
    label = tools.nodes.references([0])[0].type
    assert tools.vectors.nearest("neighbours", mean, 1, [label])[0].key == 0
    names = tools.vectors.matrix("name")
    assert names.keys.tolist() == list(range(tools.adjacency.size))
    assert names.rows.shape == (tools.adjacency.size, encoder.dimensions)


@pytest.mark.django_db
def test_a_release_of_an_earlier_version_gets_them_without_encoding_again() -> None:
    snapshot, encoder = snapshot_of(), HashEncoder()
    release = build_index(snapshot=snapshot, encoder=encoder).release
    folder = release.vector_set.directory
    for file in folder.glob("kind*"):
        file.unlink()
    (folder / "part.json").write_text('{"version": 1}')
    vector = encoder.vector("Person 3")
    before = wiring.Tools(release).vectors
    with pytest.raises(StageError, match=r"no vectors of kind 'neighbours'.* `index_kb` adds it"):
        before.nearest("neighbours", vector, 3)
    from_postgres = before.nearest("name", vector, 3)
    again = build_index(snapshot=snapshot, encoder=encoder)
    assert (again.release.pk, again.embedded) == (release.pk, 0)
    # The running process sees them too, and finds the same as before.
    assert before.nearest("neighbours", vector, 3)
    found = wiring.Tools(release).vectors.nearest("name", vector, 3)
    assert [(c.key, round(c.score, 5)) for c in found] == [(c.key, round(c.score, 5)) for c in from_postgres]


@pytest.mark.django_db
def test_the_means_of_a_large_set_are_searched_by_the_index(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = HashEncoder()
    snapshot = snapshot_of()
    for module in (vectors_pgvector, index_snapshot):
        monkeypatch.setattr(module, "IN_MEMORY", snapshot.nodes - 1)
    tools = wiring.Tools(build_index(snapshot=snapshot, encoder=encoder).release)
    mean = mean_of_neighbours(tools, encoder, 0)
    by_index = tools.vectors.nearest("neighbours", mean, 4)
    monkeypatch.setattr(vectors_pgvector, "IN_MEMORY", snapshot.nodes)
    in_memory = tools.vectors.nearest("neighbours", mean, 4)
    assert by_index[0].key == 0
    assert [c.score for c in by_index] == pytest.approx([c.score for c in in_memory], abs=1e-5)
