"""A knowledge base is deleted with what only it has; what others use, and what was asked, stays."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from pytest_django.fixtures import Settings

from search import wiring
from search.ingest import cleanup, partitions
from search.models import Artifact, KnowledgeBase, PipelineVersion, Release, SearchRun, Snapshot
from search.services.knowledge.delete_knowledge_base import delete_knowledge_base
from search.services.knowledge.import_snapshot import import_snapshot
from search.services.pipelines.register_artifact import register_artifact
from tests.search.ingest import bundles

pytestmark = pytest.mark.django_db


@pytest.fixture
def films(tmp_path: Path, settings: Settings) -> Iterator[KnowledgeBase]:
    """The films in two releases, with two artifacts and a search."""
    settings.GRASP_HOME = tmp_path / "home"
    settings.GRASP_TOOLS = settings.GRASP_TOOLS | {"encoder": {"BACKEND": "tests.fakes.HashEncoder"}}
    wiring.forget()
    import_snapshot(source=bundles.write(tmp_path / "first", title="First"))
    import_snapshot(source=bundles.write(tmp_path / "second", title="Second", edges=bundles.EDGES[:1]))
    base = KnowledgeBase.objects.get(name="films")
    learned(base), learned(base)
    SearchRun.objects.create(knowledge_base=base, knowledge_base_name="films", question="Who?", pipeline="grasp")
    yield base
    wiring.forget()


def learned(base: KnowledgeBase) -> Artifact:
    return register_artifact(
        knowledge_base=base, kind="planner", tensors={"w": np.zeros(2)}, configuration={}, served={}, metrics={},
        data_hash="0" * 64,
    )  # fmt: skip


def folders(base: KnowledgeBase) -> list[Path]:
    return [owner.directory for owner in (*base.snapshots.all(), *base.artifacts.all())]


def test_nothing_of_it_is_left_but_the_searches(
    films: KnowledgeBase, django_capture_on_commit_callbacks: object
) -> None:
    gone = folders(films)
    assert len(gone) == 4
    assert all(folder.is_dir() for folder in gone)
    tables = [f"{table}_{pk}" for pk in films.snapshots.values_list("pk", flat=True) for table in partitions.TABLES]
    assert set(tables) <= set(partitions.existing())

    with django_capture_on_commit_callbacks(execute=True):
        deleted = delete_knowledge_base(knowledge_base=films)

    assert (deleted.releases, deleted.artifacts, deleted.kept) == (2, 2, ())
    assert not any(model.objects.exists() for model in (KnowledgeBase, Release, Snapshot, Artifact))
    assert not any(folder.exists() for folder in gone)
    assert partitions.existing() == []
    [run] = SearchRun.objects.all()
    assert (run.knowledge_base, run.knowledge_base_name) == (None, "films")


def test_an_artifact_that_another_knowledge_base_uses_goes_to_that_one(
    films: KnowledgeBase, django_capture_on_commit_callbacks: object
) -> None:
    other = KnowledgeBase.objects.create(name="other")
    used, unused = films.artifacts.all()
    PipelineVersion.objects.create(
        knowledge_base=other, pipeline="grasp", version=1, options={"plan.artifact": used.pk, "fuse.k": 9.0}
    )
    PipelineVersion.objects.create(
        knowledge_base=films, pipeline="grasp", version=1, options={"plan.artifact": unused.pk}
    )

    with django_capture_on_commit_callbacks(execute=True):
        deleted = delete_knowledge_base(knowledge_base=films)

    assert deleted.kept == (used.pk,)
    assert (used.directory.is_dir(), unused.directory.exists()) == (True, False)
    assert Artifact.objects.get().knowledge_base == other


def test_while_the_transaction_does_not_stand_the_files_do(films: KnowledgeBase) -> None:
    # No callback runs here, as when a process dies between the commit and the removal.
    left = folders(films)
    delete_knowledge_base(knowledge_base=films)
    assert all(folder.is_dir() for folder in left)


def test_what_was_left_behind_goes_with_the_next_clean_up(films: KnowledgeBase) -> None:
    left = folders(films)
    delete_knowledge_base(knowledge_base=films)
    for folder in left:
        os.utime(folder, (time.time() - 7200, time.time() - 7200))
    on_its_way = left[0].parents[1] / "artifacts" / "planner-0123"
    on_its_way.mkdir()

    cleanup.remove_dead()

    assert not any(folder.exists() for folder in left)
    assert partitions.existing() == []
    assert on_its_way.is_dir()


def test_a_folder_that_cannot_be_removed_does_not_keep_the_others(
    films: KnowledgeBase, django_capture_on_commit_callbacks: object
) -> None:
    first, *others = folders(films)
    shutil.rmtree(first)
    first.write_text("a file where a folder was")

    with django_capture_on_commit_callbacks(execute=True):
        delete_knowledge_base(knowledge_base=films)

    assert first.exists()
    assert not any(folder.exists() for folder in others)


def test_the_command_deletes_only_what_was_confirmed(films: KnowledgeBase, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(CommandError) as refused:
        call_command("delete_kb", "films")
    assert refused.value.returncode == 2
    assert (
        str(refused.value)
        == "This would delete 'films' with 2 releases and 2 artifacts, for good. Add --yes to delete it."
    )
    assert KnowledgeBase.objects.exists()

    call_command("delete_kb", "films", "--yes")

    assert capsys.readouterr().out == "'films' was deleted with 2 releases and 2 artifacts.\n"
    assert not KnowledgeBase.objects.exists()
    with pytest.raises(CommandError, match="There is no knowledge base 'films'"):
        call_command("delete_kb", "films", "--yes")
