"""Backups that jobs make, check and remove: on the real site, with its real file."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib.auth.models import Permission, User
from django.utils import timezone
from pytest_django.fixtures import Settings

from search.domain.errors import InvalidRequest, NotAllowed
from search.domain.run_context import RunCancelled
from search.models import AuditEntry, BackupRun, Job
from search.services.backup import kept
from search.services.backup.archive import ArchiveReader, Writer
from search.services.backup.contents import counted
from search.services.backup.errors import BackupError
from search.services.backup.kept import BackupKept, note_found, remove_backup, settle_restored, state_of
from search.services.backup.make_backup import make_backup
from search.services.jobs.launch import launch_job
from search.services.jobs.ownership import claim_this
from search.services.jobs.run_here import run_here
from search.services.jobs.schedules import save_schedule

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def folder(settings: Settings, tmp_path: Path) -> Path:
    settings.GRASP_HOME = tmp_path / "home"
    (settings.GRASP_HOME / "artifacts" / "of-nobody").mkdir(parents=True)
    settings.GRASP_BACKUP_FOLDER = tmp_path / "backups"
    User.objects.create_user("ada", password="a long password")
    return settings.GRASP_BACKUP_FOLDER


def done(**arguments: object) -> BackupRun:
    """Make a backup by its job, and return its row."""
    job, new = launch_job(kind="backup", arguments=arguments, here=True)
    assert new
    result = run_here(job)
    return BackupRun.objects.get(place=result["file"])


def damage(file: Path) -> None:
    """Change one byte of the first member behind the greeting."""
    with ArchiveReader(file) as reader:
        at = reader.members[0].offset + reader.members[0].bytes // 2
    content = bytearray(file.read_bytes())
    content[at] ^= 0xFF
    file.write_bytes(content)


def test_a_job_writes_a_checked_backup_into_the_folder_and_says_what_is_inside(folder: Path) -> None:
    job, _ = launch_job(kind="backup", here=True)
    assert [part["name"] for part in job.progress["parts"]] == ["Files", "Rows", "Check"]
    result = run_here(job)
    file = folder / result["backup"]
    row = BackupRun.objects.get()
    assert (folder.stat().st_mode & 0o777, file.stat().st_mode & 0o777) == (0o700, 0o600)
    assert (row.place, row.bytes, row.error, row.fault) == (str(file), file.stat().st_size, "", "")
    assert (row.counts["users"], row.counts["jobs"]) == (1, 1)
    assert row.checked is not None
    with ArchiveReader(file) as reader:
        assert reader.fingerprint == row.fingerprint == result["fingerprint"]
    assert state_of(row) == "done"
    assert {part["name"]: part["finished"] for part in job.progress["parts"]} == {
        "Files": True, "Rows": True, "Check": True,
    }  # fmt: skip


def test_the_same_backup_is_not_launched_twice_at_once(folder: Path) -> None:
    first, _ = launch_job(kind="backup")
    assert launch_job(kind="backup") == (first, False)


def test_a_cancelled_backup_is_no_failure_and_its_job_goes_on_with_the_same_file(folder: Path) -> None:
    job, _ = launch_job(kind="backup", here=True)

    def cancel(part: str, done: int, total: int | None) -> None:
        raise RunCancelled

    with pytest.raises(RunCancelled):
        run_here(job, cancel)
    row = BackupRun.objects.get()
    assert state_of(row) == "cancelled"
    Job.objects.filter(pk=job.pk).update(state="queued", finished=None, reason="")
    job.refresh_from_db()
    result = run_here(job)
    assert result["file"] == row.place
    row.refresh_from_db()
    assert (BackupRun.objects.count(), state_of(row)) == (1, "done")


def test_an_attempt_after_the_file_was_complete_does_not_make_it_again(folder: Path) -> None:
    job, _ = launch_job(kind="backup", here=True)
    file = folder / "site-2026-05-01-023000.grasp"
    make_backup(file=file)
    BackupRun.objects.update(finished=None, bytes=0, counts={})
    Job.objects.filter(pk=job.pk).update(notes={"file": str(file)})
    written = file.stat().st_mtime_ns
    assert run_here(job)["backup"] == file.name
    row = BackupRun.objects.get()
    assert (file.stat().st_mtime_ns, row.bytes, row.counts["users"]) == (written, file.stat().st_size, 1)


def test_a_check_finds_a_changed_byte_and_the_row_says_so(folder: Path) -> None:
    row = done(check=False)
    assert row.checked is None
    damage(Path(row.place))
    job, _ = launch_job(kind="check_backup", arguments={"file": row.place}, here=True)
    with pytest.raises(BackupError, match="is damaged or was changed"):
        run_here(job)
    row.refresh_from_db()
    assert (job.state, state_of(row)) == ("failed", "damaged")
    assert "is damaged or was changed" in row.fault
    with pytest.raises(InvalidRequest, match="knows no complete backup"):
        launch_job(kind="check_backup", arguments={"file": "/etc/passwd"})


def test_older_ones_are_removed_until_so_many_good_ones_are_left(folder: Path) -> None:
    folder.mkdir()
    for name in ("a", "b", "c"):
        make_backup(file=folder / f"{name}.grasp")
    elsewhere = folder.parent / "kept.grasp"
    make_backup(file=elsewhere)
    damaged = BackupRun.objects.get(place=str(folder / "c.grasp"))
    damaged.fault = "It is damaged."
    damaged.save()
    (folder / "d.grasp.partial").write_bytes(b"half")
    BackupRun.objects.create(place=str(folder / "d.grasp"), finished=timezone.now(), error="The disk is full.")
    newest = done(keep=2)
    # The newest and b are good; a is one too many, c is damaged, d has failed before the newest was made.
    assert sorted(file.name for file in folder.iterdir()) == sorted(["b.grasp", Path(newest.place).name])
    assert elsewhere.exists()
    removed = AuditEntry.objects.filter(action="backup removed").values_list("object_name", flat=True)
    assert sorted(removed) == ["a.grasp", "c.grasp", "d.grasp"]


def test_a_backup_is_not_removed_while_it_is_written_nor_outside_of_the_folder(folder: Path) -> None:
    folder.mkdir()
    running = BackupRun.objects.create(place=str(folder / "a.grasp"))
    with Writer(folder / "a.grasp", "here"):
        assert state_of(running) == "running"
        with pytest.raises(BackupKept, match="It is being made now"):
            remove_backup(running, user=None)
    assert state_of(running) == "interrupted"
    remove_backup(running, user=None)
    assert list(folder.iterdir()) == []
    make_backup(file=folder.parent / "mine.grasp")
    with pytest.raises(BackupKept, match="lies outside"):
        remove_backup(BackupRun.objects.get(), user=None)
    (folder.parent / "mine.grasp").unlink()
    assert state_of(BackupRun.objects.get()) == "gone"
    remove_backup(BackupRun.objects.get(), user=None)
    with pytest.raises(NotAllowed):
        remove_backup(running, user=User.objects.get(username="ada"))


def test_files_that_were_put_into_the_folder_are_taken_up_once(folder: Path) -> None:
    folder.mkdir()
    make_backup(file=folder / "copied.grasp")
    made = BackupRun.objects.get()
    BackupRun.objects.all().delete()
    (folder / "other.grasp").write_bytes(b"no backup at all")
    (folder / "notes.txt").write_bytes(b"not looked at")
    note_found()
    note_found()
    other, copied = BackupRun.objects.order_by("-place")
    assert (copied.fingerprint, copied.counts, copied.bytes) == (made.fingerprint, made.counts, made.bytes)
    assert state_of(copied) == "done"
    assert "is no backup of GRASP search" in other.fault


def test_the_backup_itself_is_complete_in_the_tables_that_it_restores(folder: Path) -> None:
    file = folder / "site.grasp"
    job, _ = launch_job(kind="backup")
    claim_this(job.pk)
    Job.objects.filter(pk=job.pk).update(notes={kept.FILE: str(file)})
    make_backup(file=file)
    # So it stands in the tables of the backup: neither has ended.
    BackupRun.objects.update(finished=None, bytes=0, fingerprint="", counts={})
    moved = file.rename(folder / "moved.grasp")
    with ArchiveReader(moved) as reader:
        settle_restored(reader)
        row = BackupRun.objects.get()
        assert (row.place, row.fingerprint) == (str(moved), reader.fingerprint)
    job.refresh_from_db()
    assert (state_of(row), job.state, job.result["backup"]) == ("done", "done", "moved.grasp")
    assert claim_this(job.pk) is None


def test_the_right_to_launch_jobs_is_not_enough_for_backups_or_their_schedules(folder: Path) -> None:
    ada = User.objects.get(username="ada")
    rights = ("add_job", "add_jobschedule")
    ada.user_permissions.add(*Permission.objects.filter(codename__in=rights))
    ada = User.objects.get(pk=ada.pk)
    with pytest.raises(NotAllowed, match="launch jobs of the kind backup"):
        launch_job(kind="backup", user=ada)
    with pytest.raises(NotAllowed):
        save_schedule(name="nightly", cron="30 2 * * *", kind="backup", user=ada)
    ada.user_permissions.add(Permission.objects.get(codename="add_backuprun"))
    ada = User.objects.get(pk=ada.pk)
    assert save_schedule(name="nightly", cron="30 2 * * *", kind="backup", user=ada).kind == "backup"
    assert launch_job(kind="backup", user=ada)[1]


def test_a_folder_that_cannot_be_made_refuses_the_launch(folder: Path) -> None:
    folder.write_text("a file where the folder should be")
    with pytest.raises(InvalidRequest, match="GRASP_BACKUP_FOLDER names the folder"):
        launch_job(kind="backup")


def test_what_is_inside_is_told_in_one_order_and_number() -> None:
    counts = {"jobs": 1, "searches": 1310, "knowledge_bases": 1, "nodes": 0, "maps": 2}
    assert counted(counts) == "1 knowledge base, 1,310 searches, 1 job, 2 maps"
