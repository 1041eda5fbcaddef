"""A backup made while searches run, restored into an empty place: the searches are the same to the byte."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import orjson
import pytest
from django.contrib.auth import authenticate, get_user_model
from django.core.management import CommandError, call_command
from django.db import connection
from pytest_django.fixtures import Settings

from search import wiring
from search.domain.run_context import RunContext
from search.models import KnowledgeBase, Node, SearchRun
from search.services.backup import make_backup as making
from search.services.backup import restore_backup as restoring
from search.services.backup import site_schema
from search.services.backup.archive import ArchiveReader
from search.services.backup.errors import BackupError
from search.services.backup.make_backup import make_backup
from search.services.backup.restore_backup import check_backup, restore_backup
from search.services.knowledge.import_snapshot import import_snapshot
from search.services.knowledge.knowledge_bases import named
from search.services.knowledge.releases import ReleaseError, drop_release, find_release
from search.services.searches.describe_search import describe_search
from search.services.searches.request_search import request_search
from search.services.searches.run_search import run_search

DEMO = Path(__file__).resolve().parents[4] / "search" / "fixtures" / "demo" / "products"
QUESTIONS = 6
OF_ONE_RUN = ("id", "created", "seconds", "steps")
"""Parts of a search that are different each time it is asked."""


class Interrupted(Exception):
    """Stands for the end of the process."""


@pytest.fixture
def site(transactional_db: None, tmp_path: Path, settings: Settings) -> Iterator[Settings]:
    """A site with the demo base of products and a user, in a home of its own."""
    settings.GRASP_TOOLS = settings.GRASP_TOOLS | {"encoder": {"BACKEND": "tests.fakes.HashEncoder"}}
    move(settings, tmp_path / "first")
    import_snapshot(source=DEMO)
    get_user_model().objects.create_user("ada", password="a long password")
    yield settings
    wiring.forget()
    site_schema.drop()


def move(settings: Settings, home: Path) -> None:
    """Go on in another home."""
    home.mkdir(exist_ok=True)
    settings.GRASP_HOME = home
    wiring.forget()


def emptied(settings: Settings, home: Path) -> None:
    """Go on in an empty home with an empty database."""
    for release in named("products").releases.all():
        call_command("delete_kb", release.knowledge_base.name, "--yes")
    call_command("flush", interactive=False, verbosity=0)
    move(settings, home)


def asked() -> list[bytes]:
    """Ask the first questions of the demo, and return the searches as pages and API show them."""
    found = []
    for line in (DEMO / "questions.jsonl").read_bytes().splitlines()[:QUESTIONS]:
        run = request_search(
            knowledge_base="products", question=orjson.loads(line)["text"], origin=SearchRun.Origin.COMMAND,
            enqueue=False,
        )  # fmt: skip
        shown = describe_search(run_search(run.pk))
        assert shown["status"] == "done"
        assert shown["results"]
        found.append(orjson.dumps({key: value for key, value in shown.items() if key not in OF_ONE_RUN}))
    return found


def stopping_in(part: str, after: int = 1) -> RunContext:
    """Return a context in which the process ends at the report of a part."""
    seen = 0

    def progress(name: str, done: int, total: int | None) -> None:
        nonlocal seen
        seen += name == part
        if seen > after:
            raise Interrupted

    return RunContext(progress=progress)


def meanwhile(act: Callable[[], None]) -> RunContext:
    """Return a context in which `act` is called once, while rows are written."""
    waiting = [act]

    def progress(name: str, done: int, total: int | None) -> None:
        if name == making.ROWS and waiting:
            waiting.pop()()

    return RunContext(progress=progress)


def tables() -> set[str]:
    return set(connection.introspection.table_names())


def test_searches_are_the_same_to_the_byte_after_interruptions_of_backup_and_restore(
    site: Settings, tmp_path: Path
) -> None:
    before, there = asked(), tables()
    recorded = SearchRun.objects.count()
    file = tmp_path / "site.grasp"
    with pytest.raises(Interrupted):
        make_backup(file=file, run=stopping_in(making.ROWS))
    assert not file.exists()
    refused: list[str] = []

    def write_and_drop() -> None:
        KnowledgeBase.objects.create(name="later")
        try:
            drop_release(knowledge_base=named("products"), release=find_release(
                knowledge_base=named("products"), release="1"))  # fmt: skip
        except ReleaseError as error:
            refused.append(str(error))

    report = make_backup(file=file, run=meanwhile(write_and_drop))
    assert refused == ["A backup is running, and it reads this; try again when it has ended."]
    assert report.kept > 50
    assert report.counts["searches"] == recorded
    assert report.counts["knowledge_bases"] == 1
    assert check_backup(file=file, fingerprint=report.fingerprint) == report.counts

    emptied(site, tmp_path / "second")
    for part, after in ((restoring.UNPACK, 3), (restoring.UNPACK, 200)):
        with pytest.raises(Interrupted):
            restore_backup(file=file, run=stopping_in(part, after))
        assert not KnowledgeBase.objects.exists()
        assert not (tmp_path / "second" / "indexes").exists()
    restore_backup(file=file)
    wiring.forget()
    assert SearchRun.objects.count() == recorded
    assert list(KnowledgeBase.objects.values_list("name", flat=True)) == ["products"]
    assert asked() == before
    assert authenticate(username="ada", password="a long password") is not None
    assert tables() == there
    assert not site_schema.exists()
    assert not [path for path in (tmp_path / "second").iterdir() if path.name.startswith((".restore", ".replaced"))]
    # The next number is new, also for what was restored.
    again = import_snapshot(source=DEMO)
    assert again.release == "products-2"
    assert Node.objects.filter(snapshot_id=again.snapshot).count() == again.nodes


def test_a_restore_that_is_refused_changes_nothing(site: Settings, tmp_path: Path) -> None:
    file = tmp_path / "site.grasp"
    call_command("backup", str(file))
    with pytest.raises(CommandError, match="exists; give another name"):
        call_command("backup", str(file))
    with pytest.raises(CommandError, match="is not a folder"):
        call_command("backup", str(tmp_path / "nowhere" / "site.grasp"))
    before, there = asked(), tables()
    with pytest.raises(CommandError, match=r"is not empty: it has indexes, 1 knowledge bases, 1 users, 6 searches\."):
        call_command("restore", str(file))
    with pytest.raises(CommandError, match="fingerprint of the backup is"):
        call_command("restore", str(file), "--force", "--fingerprint", "0123")
    whole = file.read_bytes()
    with ArchiveReader(file) as reader:
        last = max(reader.members, key=lambda member: (member.name.startswith("partitions/"), member.offset))
    place = last.offset + last.bytes // 2
    file.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
    with pytest.raises(CommandError, match="is damaged or was changed"):
        call_command("restore", str(file), "--force")
    file.write_bytes(whole.replace(b'"0017_follow_ups"', b'"0099_follow_ups"'))
    with pytest.raises(CommandError, match="does not know search 0099_follow_ups"):
        call_command("restore", str(file), "--force")
    assert tables() == there
    assert not site_schema.exists()
    assert asked() == before
    file.write_bytes(whole)
    call_command("restore", str(file), "--force")
    wiring.forget()
    assert SearchRun.objects.count() == 0
    assert asked() == before


def test_a_disk_that_is_too_small_is_told_before_anything_is_written(
    site: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "site.grasp"
    make_backup(file=file)
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=1000))
    with pytest.raises(BackupError, match=r"The restore needs about .* and 1 KB are free"):
        restore_backup(file=file, force=True)
    with pytest.raises(BackupError, match=r"The backup needs about .* and 1 KB are free"):
        make_backup(file=tmp_path / "second.grasp")
    assert not site_schema.exists()
