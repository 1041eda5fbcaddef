"""Releases are activated, rolled back, listed and dropped."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from search import wiring
from search.ingest import partitions
from search.models import KnowledgeBase, Release, Snapshot, VectorSet
from search.models.knowledge import BuildStatus
from search.services.knowledge.import_snapshot import import_snapshot
from search.services.knowledge.knowledge_bases import list_knowledge_bases, named
from search.services.knowledge.releases import ReleaseError, activate_release, drop_release, find_release
from tests.search.ingest import bundles


@pytest.fixture
def films(db: None, tmp_path: Path, settings: Settings) -> KnowledgeBase:
    """The films in two releases, the second one active."""
    settings.GRASP_TOOLS = settings.GRASP_TOOLS | {"encoder": {"BACKEND": "tests.fakes.HashEncoder"}}
    wiring.forget()
    import_snapshot(source=bundles.write(tmp_path / "first", title="First"))
    import_snapshot(source=bundles.write(tmp_path / "second", title="Second", edges=bundles.EDGES[:1]))
    return KnowledgeBase.objects.get(name="films")


def release_of(base: KnowledgeBase, number: int) -> Release:
    return find_release(knowledge_base=base, release=str(number))


def test_rolling_back_is_switching_back_with_all_that_the_bundle_said(films: KnowledgeBase) -> None:
    assert (films.active_release.number, films.title) == (2, "Second")
    activate_release(knowledge_base=films, release=release_of(films, 1))
    found = KnowledgeBase.objects.get(name="films")
    assert (found.active_release.number, found.title) == (1, "First")
    assert release_of(films, 1).activated > release_of(films, 2).activated


@pytest.mark.parametrize("status", [BuildStatus.BUILDING, BuildStatus.FAILED, BuildStatus.DROPPED])
def test_only_a_release_that_is_ready_can_answer(films: KnowledgeBase, status: BuildStatus) -> None:
    release = release_of(films, 1)
    Release.objects.filter(pk=release.pk).update(status=status)
    with pytest.raises(ReleaseError, match="only a release that is ready can be searched"):
        activate_release(knowledge_base=films, release=release)
    assert KnowledgeBase.objects.get(name="films").active_release.number == 2


def test_a_release_of_another_knowledge_base_is_refused(films: KnowledgeBase) -> None:
    other = KnowledgeBase.objects.create(name="other")
    for refused in (activate_release, drop_release):
        with pytest.raises(ReleaseError, match="films-1 is no release of 'other'"):
            refused(knowledge_base=other, release=release_of(films, 1))


def test_a_release_is_found_by_number_and_by_name(films: KnowledgeBase) -> None:
    assert find_release(knowledge_base=films, release="films-2") == release_of(films, 2)
    for unknown in ("3", "x", "other-1", ""):
        with pytest.raises(ReleaseError, match="its releases are 1, 2"):
            find_release(knowledge_base=films, release=unknown)
    with pytest.raises(ReleaseError, match="There is no knowledge base 'nope'; there are films"):
        named("nope")


def test_a_dropped_release_leaves_its_row_and_nothing_else(films: KnowledgeBase) -> None:
    release = release_of(films, 1)
    folder = release.snapshot.directory
    assert folder.is_dir()
    drop_release(knowledge_base=films, release=release)
    kept = release_of(films, 2)
    assert partitions.existing() == [
        f"search_edge_{kept.snapshot_id}",
        f"search_node_{kept.snapshot_id}",
        f"search_vector_{kept.vector_set_id}",
    ]
    assert not folder.exists()
    assert Snapshot.objects.get(pk=release.snapshot_id).status == BuildStatus.DROPPED
    assert VectorSet.objects.get(pk=release.vector_set_id).status == BuildStatus.DROPPED
    assert Release.objects.get(pk=release.pk).status == BuildStatus.DROPPED
    assert [entry["release"] for entry in list_knowledge_bases()[0]["releases"]] == ["films-2"]


def test_the_release_that_answers_is_not_dropped(films: KnowledgeBase) -> None:
    with pytest.raises(ReleaseError, match="films-2 is the active release; activate another one first"):
        drop_release(knowledge_base=films, release=films.active_release)
    assert films.active_release.snapshot.directory.is_dir()


def test_a_graph_that_another_release_uses_stays(films: KnowledgeBase) -> None:
    first = release_of(films, 1)
    vectors = VectorSet.objects.create(
        snapshot=first.snapshot, encoder="other@1", dimensions=4, status=BuildStatus.READY
    )
    Release.objects.create(
        knowledge_base=films, number=3, snapshot=first.snapshot, vector_set=vectors, status=BuildStatus.READY
    )
    drop_release(knowledge_base=films, release=first)
    assert f"search_node_{first.snapshot_id}" in partitions.existing()
    assert f"search_vector_{first.vector_set_id}" not in partitions.existing()
    assert first.snapshot.directory.is_dir()


def test_a_number_is_never_given_again(films: KnowledgeBase, tmp_path: Path) -> None:
    activate_release(knowledge_base=films, release=release_of(films, 1))
    drop_release(knowledge_base=films, release=release_of(films, 2))
    assert import_snapshot(source=tmp_path / "second").release == "films-3"


def test_knowledge_bases_are_listed_with_their_releases(films: KnowledgeBase, settings: Settings) -> None:
    [entry] = list_knowledge_bases()
    assert (entry["name"], entry["title"], entry["active_release"]) == ("films", "Second", "films-2")
    assert (entry["nodes"], entry["edges"]) == (3, 1)
    assert [(r["release"], r["active"], r["edges"], r["encoder"]) for r in entry["releases"]] == [
        ("films-2", True, 1, settings.GRASP_ENCODER),
        ("films-1", False, 2, settings.GRASP_ENCODER),
    ]
