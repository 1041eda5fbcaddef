"""The vectors of likely wordings of plans come with the index files, where a base has many walks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from search import wiring
from search.domain.graph import Node
from search.ingest.wordings import folder_of
from search.models import Release, Snapshot
from search.neural.encoders import CachedEncoder
from search.services.knowledge.index_snapshot import index_snapshot
from search.services.knowledge.index_wordings import FEW
from search.stages.plan.knowledge import Knowledge
from tests.fakes import HashEncoder
from tests.graphs import Graph
from tests.search.services.knowledge.test_index_snapshot import snapshot_of

pytestmark = pytest.mark.django_db
RELATIONS = 7
WALKS = 2 * (RELATIONS + RELATIONS**2 + RELATIONS**3)
"""Walks of one, two and three hops between two types that so many relations join, from either."""


def joined_by(relations: int) -> Snapshot:
    nodes = (Node(0, "f", "film", "Amber Road"), Node(1, "p", "person", "Ada Holm"))
    return snapshot_of(Graph(nodes, tuple((0, f"relation {at}", 1) for at in range(relations))), "films")


def folder(release: Release, encoder: str = "hash@1") -> Path:
    return release.snapshot.directory / folder_of(encoder)


def knows(release: Release, encoder: HashEncoder, monkeypatch: pytest.MonkeyPatch) -> tuple[list[str], np.ndarray]:
    """Open a release in a process whose encoder has computed nothing; return the likely wordings and their vectors."""
    cached = CachedEncoder(encoder)
    monkeypatch.setattr(wiring, "encoder", lambda name="": cached)
    tools = wiring.Tools(release)
    texts = Knowledge(tools.schema, tools.encoder).wordings_ahead(2 * WALKS)
    encoder.encoded.clear()
    return texts, tools.encoder.encode(texts)


def test_a_search_computes_none_of_them_again(monkeypatch: pytest.MonkeyPatch) -> None:
    release = index_snapshot(snapshot=joined_by(RELATIONS), encoder=HashEncoder())
    encoder = HashEncoder()
    texts, vectors = knows(release, encoder, monkeypatch)
    assert len(texts) == WALKS > FEW
    assert encoder.encoded == []
    assert np.array_equal(vectors, HashEncoder().encode(texts))
    listed = release.snapshot.index_folders.get(name=folder(release).name)
    assert set(listed.files) == {"texts.json", "vectors.npy", "part.json"}


def test_vectors_of_another_encoder_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    release = index_snapshot(snapshot=joined_by(RELATIONS), encoder=HashEncoder())
    other = HashEncoder("hash@2")
    release.vector_set.encoder = other.name
    texts, _ = knows(release, other, monkeypatch)
    assert other.encoded == texts


def test_a_base_of_few_walks_has_no_file() -> None:
    release = index_snapshot(snapshot=joined_by(2), encoder=HashEncoder())
    assert not folder(release).exists()


def test_a_damaged_file_is_written_again_by_the_encoder_of_now() -> None:
    """The list forgets the folder of an encoder that this site may not have any more."""
    snapshot = joined_by(RELATIONS)
    first = index_snapshot(snapshot=snapshot, encoder=HashEncoder())
    (folder(first) / "vectors.npy").write_bytes(b"")
    second = index_snapshot(snapshot=snapshot, encoder=HashEncoder("hash@2", dimensions=8))
    assert (folder(first).exists(), folder(second, "hash@2").exists()) == (False, True)
    names = {one.name for one in snapshot.index_folders.all()}
    assert folder_of("hash@1") not in names
    assert folder_of("hash@2") in names
