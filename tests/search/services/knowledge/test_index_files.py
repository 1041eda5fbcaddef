"""A machine without index files fetches them, one with damaged files notices: no search is ever answered wrongly."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from pytest_django.fixtures import Settings
from pytest_django.live_server_helper import LiveServer

from search import wiring
from search.adapters.index_files import faults, source
from search.models import Artifact, IndexFolder, KnowledgeBase
from search.models.knowledge import BuildStatus
from search.services.knowledge.import_snapshot import import_snapshot
from search.services.knowledge.index_files import look, servable
from tests.search.ingest import bundles
from tests.two_homes import asked, file_of, move, refused


@pytest.fixture
def builder(transactional_db: None, tmp_path: Path, settings: Settings) -> Iterator[Path]:
    """The home in which the films were imported; it is the present one."""
    settings.GRASP_TOOLS = settings.GRASP_TOOLS | {"encoder": {"BACKEND": "tests.fakes.HashEncoder"}}
    move(settings, tmp_path / "builder")
    import_snapshot(source=bundles.write(tmp_path / "bundle"))
    yield tmp_path / "builder"
    faults.forget()
    wiring.forget()


def test_a_second_machine_fetches_and_a_damaged_file_is_fetched_again(
    builder: Path, tmp_path: Path, settings: Settings
) -> None:
    expected = asked()
    here = tmp_path / "here"
    move(settings, here)
    told = refused()
    assert told.startswith("The index files of films-1 on ")
    assert "are damaged or missing" in told
    assert "neither GRASP_FILES_FROM nor GRASP_INDEX_STORE names a place to fetch them from. " in told
    assert "`manage.py index_kb films` or the job Index builds them." in told
    assert faults.faults() == [told]

    move(settings, here, fetched_from=builder)
    assert asked() == expected
    assert faults.faults() == []
    assert file_of(here).read_bytes() == file_of(builder).read_bytes()

    file_of(here).write_bytes(b"x")
    look()
    assert file_of(here).read_bytes() == file_of(builder).read_bytes()
    assert asked() == expected

    # The other machine has gone, and a file here is damaged: there is a sentence, and no answer.
    shutil.rmtree(file_of(here, "nodes"))
    settings.GRASP_FILES_FROM = str(tmp_path / "gone")
    look()
    assert "nodes: missing), and" in refused()
    assert "cannot be read (No such file or directory)" in faults.faults()[0]


def test_files_of_a_dropped_snapshot_are_deleted_on_the_second_machine_too(
    builder: Path, tmp_path: Path, settings: Settings
) -> None:
    move(settings, tmp_path / "here", fetched_from=builder)
    look()
    assert file_of(tmp_path / "here").exists()
    base = KnowledgeBase.objects.get(name="films")
    base.snapshots.update(status=BuildStatus.DROPPED)
    base.active_release = None
    base.save()
    look()
    assert not list((tmp_path / "here" / "indexes").glob("snapshot-*"))


def test_index_kb_builds_what_is_damaged_and_check_indexes_says_what_it_is(
    builder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    expected, built = asked(), file_of(builder).read_bytes()
    call_command("check_indexes")
    assert "* films-1: " in (shown := capsys.readouterr().out)
    assert "as built" in shown
    file_of(builder).write_bytes(built[:-1] + b"?")
    with pytest.raises(CommandError, match="1 of 1 releases have damaged or missing index files"):
        call_command("check_indexes")
    assert "bm25: types.npy is not what was built" in capsys.readouterr().out
    wiring.forget()
    assert "are damaged or missing" in refused()
    call_command("index_kb", "films")
    assert file_of(builder).read_bytes() == built
    call_command("check_indexes")
    move_on()
    assert asked() == expected


def move_on() -> None:
    """Let the pause after a failure be over."""
    faults.forget()
    wiring.forget()


def test_a_release_of_before_there_were_lists_gets_them_when_it_is_opened(builder: Path) -> None:
    listed = dict(IndexFolder.objects.values_list("name", "fingerprint"))
    IndexFolder.objects.all().delete()
    wiring.forget()
    asked()
    assert dict(IndexFolder.objects.values_list("name", "fingerprint")) == listed


def test_files_are_served_in_pieces_and_only_to_who_signs_for_them(
    builder: Path, live_server: LiveServer, client: Client, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    monkeypatch.setattr(source, "PIECE", 50)
    path = file_of(builder, "mentions/names.bin")
    path.write_bytes(bytes(range(100)))
    name = path.relative_to(builder).as_posix()
    fetched = source.HttpSource(live_server.url)
    file = source.BuiltFile(name, 100, "")
    assert [fetched.piece(file, begin) for begin in (0, 50, 90)] == [
        bytes(range(50)), bytes(range(50, 100)), bytes(range(90, 100)),
    ]  # fmt: skip
    with pytest.raises(source.FetchFailed, match="does not have it, either"):
        fetched.piece(source.BuiltFile(f"{name}.other", 100, ""), 0)

    def answer(name: str, signed: str) -> int:
        return client.get(f"{source.PATH}{name}", headers={source.HEADER: signed}).status_code

    assert answer(name, source.signature(name)) == 200
    assert answer(name, "") == 403
    assert answer(name, source.signature(f"{name}x")) == 403
    settings.SECRET_KEY = "another"
    stranger = source.signature(name)
    settings.SECRET_KEY = "the site's own"
    assert answer(name, stranger) == 403


@pytest.mark.parametrize(
    "name",
    [
        "secrets/secret_key", "indexes/snapshot-1", "indexes/../secrets/secret_key", "/etc/passwd",
        "artifacts/none/model.safetensors", "indexes/snapshot-x/bm25/types.npy", "indexes/snapshot-1/bm25/../x",
    ],
)  # fmt: skip
def test_nothing_else_is_served(builder: Path, name: str) -> None:
    (builder / "secrets").mkdir()
    (builder / "secrets" / "secret_key").touch()
    assert servable(name) is None


def test_artifacts_are_fetched_and_compared_too(builder: Path, tmp_path: Path, settings: Settings) -> None:
    from search.artifact_files import content_hash, manifest_of

    files = {"config.json": b'{"kind": "planner", "format": 1, "hashed": true}', "README.md": b"# A planner\n"}
    folder = builder / "artifacts" / "planner-1"
    folder.mkdir(parents=True)
    files["files.json"] = manifest_of(files)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    Artifact.objects.create(
        id="planner-1", kind="planner", knowledge_base=KnowledgeBase.objects.get(), data_hash="0",
        content_hash=content_hash(files["files.json"]), code_version="1",
    )  # fmt: skip
    move(settings, tmp_path / "here", fetched_from=builder)
    (folder / "README.md").write_bytes(b"# Another\n")
    look()
    assert not (tmp_path / "here" / "artifacts" / "planner-1").exists()
    (folder / "README.md").write_bytes(files["README.md"])
    look()
    found = {path.name: path.read_bytes() for path in (tmp_path / "here" / "artifacts" / "planner-1").iterdir()}
    assert found == files
