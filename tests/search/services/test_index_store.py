"""What one machine has built goes to a real object store, and another machine answers from it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import fsspec
import numpy as np
import pytest
from django.core.management import CommandError, call_command
from pytest_django.fixtures import Settings

from search import wiring
from search.adapters.index_files import faults
from search.adapters.index_files.source import BuiltFile
from search.adapters.index_files.store import OWNER, ObjectStore, StoreFailed
from search.domain.run_context import RunCancelled, RunContext
from search.models import IndexFolder, KnowledgeBase, Release, Snapshot
from search.models.knowledge import BuildStatus
from search.services.index_store import delete_dropped, send_again, send_snapshot
from search.services.knowledge.import_snapshot import ImportFailed, import_snapshot
from search.services.knowledge.index_files import look
from search.services.knowledge.releases import drop_release
from search.services.pipelines.register_artifact import register_artifact
from tests.s3_server import SECRET, S3Server
from tests.search.ingest import bundles
from tests.two_homes import asked, file_of, move, refused

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def objects(s3_server: S3Server, tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder in which the server keeps the objects of the configured store."""
    for name, value in s3_server.environment.items():
        monkeypatch.setenv(name, value)
    fsspec.get_filesystem_class("s3").clear_instance_cache()
    bucket = f"b{uuid4().hex}"
    settings.GRASP_INDEX_STORE = f"s3://{bucket}/site"
    yield s3_server.bucket(bucket) / "site"
    fsspec.get_filesystem_class("s3").clear_instance_cache()


@pytest.fixture
def builder(tmp_path: Path, settings: Settings, objects: Path) -> Iterator[Path]:
    """The home in which the films were imported and from which they were sent; it is the present one."""
    settings.GRASP_TOOLS = settings.GRASP_TOOLS | {"encoder": {"BACKEND": "tests.fakes.HashEncoder"}}
    move(settings, tmp_path / "builder")
    import_snapshot(source=bundles.write(tmp_path / "bundle"))
    yield tmp_path / "builder"
    faults.forget()
    wiring.forget()


def sent(objects: Path) -> dict[str, int]:
    """Return the name of each object and when it was written."""
    return {
        path.relative_to(objects).as_posix(): path.stat().st_mtime_ns
        for path in objects.rglob("*") if path.is_file() and path.name != OWNER
    }  # fmt: skip


def expected_objects() -> set[str]:
    return {
        f"indexes/snapshot-{folder.snapshot_id}/{folder.name}/{path}.{digest}"
        for folder in IndexFolder.objects.all() for path, (_, digest) in folder.files.items()
    }  # fmt: skip


def test_an_import_sends_its_files_once_and_another_machine_answers_alike(
    builder: Path, objects: Path, tmp_path: Path, settings: Settings
) -> None:
    before = sent(objects)
    assert before.keys() == expected_objects()
    assert send_snapshot(snapshot=Snapshot.objects.get()) == 0
    call_command("index_kb", "films")
    assert sent(objects) == before

    expected = asked()
    move(settings, tmp_path / "here")
    assert asked() == expected
    assert file_of(tmp_path / "here").read_bytes() == file_of(builder).read_bytes()
    file_of(tmp_path / "here").write_bytes(b"x")
    look()
    assert file_of(tmp_path / "here").read_bytes() == file_of(builder).read_bytes()


def test_a_sending_that_was_ended_goes_on_behind_what_has_arrived(builder: Path, objects: Path) -> None:
    snapshot, whole = Snapshot.objects.get(), sent(objects)
    for name in whole:
        (objects / name).unlink()

    def ended_at_the_fourth(part: str, done: int, total: int | None) -> None:
        if len(sent(objects)) == 3:
            raise RunCancelled

    with pytest.raises(RunCancelled):
        send_snapshot(snapshot=snapshot, run=RunContext(progress=ended_at_the_fourth))
    arrived = sent(objects)
    assert len(arrived) == 3
    assert send_snapshot(snapshot=snapshot) == len(whole) - 3
    now = sent(objects)
    assert now.keys() == whole.keys()
    assert {name: now[name] for name in arrived} == arrived


def test_without_the_store_nothing_is_activated_and_the_next_call_goes_on(
    builder: Path, objects: Path, tmp_path: Path, s3_server: S3Server, caplog: pytest.LogCaptureFixture
) -> None:
    first = active()
    another = bundles.write(tmp_path / "another", [*bundles.NODES, {"id": "f3", "type": "film", "name": "Cedar Lane"}])
    caplog.set_level("DEBUG")
    s3_server.kill()
    try:
        with pytest.raises(ImportFailed, match=r"were not all sent: s3://.* cannot be used") as failed:
            import_snapshot(source=another)
    finally:
        s3_server.start()
    assert "`manage.py index_kb films` or the job Index goes on from there." in str(failed.value)
    assert SECRET not in str(failed.value) + caplog.text
    assert active() == first
    call_command("index_kb", "films")
    call_command("activate_release", "films", "2")
    assert active() != first
    assert sent(objects).keys() == expected_objects()


def test_a_machine_that_meets_no_store_says_so_and_answers_when_it_is_back(
    builder: Path, tmp_path: Path, settings: Settings, s3_server: S3Server
) -> None:
    expected = asked()
    move(settings, tmp_path / "here")
    s3_server.kill()
    try:
        told = refused()
    finally:
        s3_server.start()
    assert "are damaged or missing" in told
    assert f"{settings.GRASP_INDEX_STORE} cannot be used (" in told
    assert SECRET not in told
    look()
    assert faults.faults() == []
    assert asked() == expected


def test_a_damaged_object_is_said_and_fetched_when_it_was_sent_again(
    builder: Path, objects: Path, tmp_path: Path, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = asked()
    [damaged] = objects.glob("indexes/snapshot-*/bm25/types.npy.*")
    content = damaged.read_bytes()
    damaged.write_bytes(content[:-1] + b"?")
    move(settings, tmp_path / "here")
    assert f"bm25/types.npy of {settings.GRASP_INDEX_STORE} is not what was built" in refused()

    move(settings, builder)
    call_command("check_indexes", "--send")
    assert f"{len(expected_objects())} files sent." in capsys.readouterr().out
    move(settings, tmp_path / "here")
    assert asked() == expected


def test_a_machine_with_a_damaged_file_does_not_send_it(builder: Path, objects: Path) -> None:
    [there] = objects.glob("indexes/snapshot-*/bm25/types.npy.*")
    content = there.read_bytes()
    file_of(builder).write_bytes(content[:-1] + b"?")
    with pytest.raises(CommandError):
        call_command("check_indexes", "--send")
    with pytest.raises(StoreFailed, match=r"bm25 is damaged here \(types\.npy is not what was built\)"):
        send_again()
    assert there.read_bytes() == content


def test_dropped_releases_are_removed_and_others_stay(
    builder: Path,
    objects: Path,
    tmp_path: Path,
    settings: Settings,
    s3_server: S3Server,
    caplog: pytest.LogCaptureFixture,
) -> None:
    first = KnowledgeBase.objects.get().active_release
    of_first = expected_objects()
    (tmp_path / "earlier").write_text("an earlier version of a file")
    store = ObjectStore(settings.GRASP_INDEX_STORE)
    store.send(tmp_path / "earlier", BuiltFile(next(iter(of_first)).rpartition(".")[0], 28, "0" * 64))
    import_snapshot(
        source=bundles.write(tmp_path / "more", [*bundles.NODES, {"id": "f3", "type": "film", "name": "Cedar Lane"}])
    )
    assert delete_dropped() == 1
    assert sent(objects).keys() == expected_objects()
    assert first is not None
    drop_release(knowledge_base=KnowledgeBase.objects.get(), release=first)
    s3_server.kill()
    try:
        assert delete_dropped() == 0
    finally:
        s3_server.start()
    assert "dropped files left in the index store" in caplog.text
    assert delete_dropped() == len(of_first)
    assert sent(objects).keys() == expected_objects() - of_first
    assert delete_dropped() == 0


def test_nothing_is_removed_from_the_folder_of_another_site(
    builder: Path, objects: Path, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    assert delete_dropped() == 0
    KnowledgeBase.objects.update(active_release=None)
    Release.objects.update(status=BuildStatus.DROPPED)
    own, settings.SECRET_KEY = settings.SECRET_KEY, "that of another site"
    assert delete_dropped() == 0
    assert "index store of another site: nothing removed" in caplog.text
    settings.SECRET_KEY = own
    assert delete_dropped() == len(expected_objects())


def test_trained_parts_are_sent_when_they_are_registered_and_fetched(
    builder: Path, objects: Path, tmp_path: Path, settings: Settings
) -> None:
    artifact = register_artifact(
        knowledge_base=KnowledgeBase.objects.get(), kind="planner", tensors={"w": np.ones(3, dtype=np.float32)},
        configuration={}, served={}, metrics={}, data_hash="0",
    )  # fmt: skip
    written = {path.name: path.read_bytes() for path in artifact.directory.iterdir()}
    assert len(list((objects / "artifacts" / artifact.pk).iterdir())) == len(written)
    assert delete_dropped() == 0
    move(settings, tmp_path / "here")
    look()
    assert {
        path.name: path.read_bytes() for path in (tmp_path / "here" / "artifacts" / artifact.pk).iterdir()
    } == written  # fmt: skip
    artifact.delete()
    assert delete_dropped() == len(written)


def active() -> int | None:
    return KnowledgeBase.objects.get().active_release_id
