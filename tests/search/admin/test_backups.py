"""The pages of backups: the list, one of them with its commands, its file, its check and its removal."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django.fixtures import Settings

from search.models import AuditEntry, BackupRun, Job, JobSchedule
from search.services.backup.make_backup import make_backup
from search.services.upkeep.alerts.machine import backups

pytestmark = pytest.mark.django_db
LIST = "/admin/search/backuprun/"


@pytest.fixture
def folder(settings: Settings, tmp_path: Path) -> Path:
    settings.GRASP_HOME = tmp_path / "home"
    settings.GRASP_BACKUP_FOLDER = tmp_path / "backups"
    settings.GRASP_HOME.mkdir()
    settings.GRASP_BACKUP_FOLDER.mkdir()
    return settings.GRASP_BACKUP_FOLDER


@pytest.fixture
def backup(folder: Path) -> BackupRun:
    make_backup(file=folder / "site-2026-05-01-023000.grasp")
    return BackupRun.objects.get()


@pytest.fixture
def keeper(api: Client) -> Client:
    api.force_login(User.objects.create_superuser("keeper", password="x"))
    return api


def text(client: Client, address: str) -> str:
    return unescape(client.get(address, follow=True).content.decode())


def viewer(client: Client, *rights: str) -> Client:
    user = User.objects.create_user("viewer", password="x", is_staff=True)
    user.user_permissions.add(*Permission.objects.filter(codename__in=rights))
    client.force_login(user)
    return client


def test_an_empty_list_says_how_the_first_is_made_and_where_it_goes(keeper: Client, folder: Path) -> None:
    page = text(keeper, LIST)
    assert "No backups yet" in page
    assert str(folder) in page
    assert "manage.py backup /backups/site.grasp" in page
    assert f"{reverse('admin:search_job_launch')}?kind=backup" in page


def test_the_button_launches_a_job_as_any_other(keeper: Client, folder: Path) -> None:
    page = keeper.post(
        reverse("admin:search_job_launch") + "?kind=backup", {"argument-keep": "7", "argument-check": "on"}, follow=True
    ).content.decode()
    [job] = Job.objects.all()
    assert (job.kind, job.arguments, job.origin) == ("backup", {"keep": 7, "check": True}, "page")
    assert f"{job.pk}/cancel/" in page
    assert AuditEntry.objects.get(action="job launched").who == "keeper"


def test_the_list_shows_size_time_content_and_whether_it_was_checked(keeper: Client, backup: BackupRun) -> None:
    BackupRun.objects.filter(pk=backup.pk).update(bytes=5 << 20, counts={"knowledge_bases": 3, "searches": 1310})
    page = text(keeper, LIST)
    for told in (Path(backup.place).name, "5.0\xa0MB", "3 knowledge bases, 1,310 searches", "not yet", "complete"):
        assert told in page
    BackupRun.objects.filter(pk=backup.pk).update(checked=datetime(2026, 5, 2, 4, 30, tzinfo=UTC))
    assert "2 May 2026, 04:30" in text(keeper, LIST)
    BackupRun.objects.create(place="/gone/b.grasp", finished=timezone.now())
    BackupRun.objects.create(place="/away/c.grasp", finished=timezone.now(), error="The disk is full.")
    page = text(keeper, LIST)
    assert "file is gone" in page
    assert "The disk is full." in page


def test_a_file_that_was_copied_into_the_folder_is_listed(keeper: Client, backup: BackupRun, folder: Path) -> None:
    (folder / "copied.grasp").write_bytes(Path(backup.place).read_bytes())
    assert "copied.grasp" in text(keeper, LIST)
    assert BackupRun.objects.get(place=str(folder / "copied.grasp")).fingerprint == backup.fingerprint


def test_the_page_shows_the_exact_commands_that_restore_it(keeper: Client, backup: BackupRun, folder: Path) -> None:
    page = text(keeper, f"{LIST}{backup.pk}/change/")
    restore = f".venv/bin/python manage.py restore {backup.place} --fingerprint {backup.fingerprint}"
    assert f"GRASP_HOME=/tmp/drill {restore}<" in page
    assert f"GRASP_HOME={folder.parent / 'home'} {restore} --force<" in page


def test_the_file_is_sent_to_whoever_has_the_right_and_the_log_knows(keeper: Client, backup: BackupRun) -> None:
    answer = keeper.get(reverse("admin:search_backuprun_download", args=[backup.pk]))
    assert b"".join(answer.streaming_content) == Path(backup.place).read_bytes()  # type: ignore[attr-defined]
    assert answer["Content-Length"] == str(backup.bytes)
    assert answer["Content-Disposition"] == f'attachment; filename="{Path(backup.place).name}"'
    entry = AuditEntry.objects.get(action="backup downloaded")
    assert (entry.who, entry.object_name) == ("keeper", Path(backup.place).name)
    Path(backup.place).unlink()
    assert keeper.get(reverse("admin:search_backuprun_download", args=[backup.pk])).status_code == 404


def test_a_download_that_is_continued_is_noted_once_as_what_it_is(keeper: Client, backup: BackupRun) -> None:
    address = reverse("admin:search_backuprun_download", args=[backup.pk])
    whole = Path(backup.place).read_bytes()
    tag = keeper.head(address)["ETag"]
    assert not AuditEntry.objects.filter(object_type="backup").exists()
    for start in (0, 10, 500, len(whole) - 1):
        answer = keeper.get(address, headers={"Range": f"bytes={start}-", "If-Range": tag})
        assert (answer.status_code, b"".join(answer.streaming_content)) == (206, whole[start:])  # type: ignore[attr-defined]
    assert keeper.get(address, headers={"Range": f"bytes={len(whole)}-"}).status_code == 416
    noted = AuditEntry.objects.filter(object_type="backup").order_by("pk")
    assert [(one.action, one.details.get("from_byte")) for one in noted] == [
        ("backup downloaded", None), ("backup download continued", 10),
    ]  # fmt: skip
    # The next download, and what is asked for a day later, are noted anew.
    keeper.get(address)
    keeper.get(address, headers={"Range": "bytes=7-"})
    noted.update(at=timezone.now() - timedelta(days=2))
    keeper.get(address, headers={"Range": "bytes=8-"})
    assert [one.details.get("from_byte") for one in noted.all()] == [None, 10, None, 7, 8]


def test_the_button_checks_it_by_a_job(keeper: Client, backup: BackupRun) -> None:
    answer = keeper.post(reverse("admin:search_backuprun_check", args=[backup.pk]))
    [job] = Job.objects.all()
    assert answer["Location"] == reverse("admin:search_job_change", args=[job.pk])
    assert (job.kind, job.arguments) == ("check_backup", {"file": backup.place})
    Path(backup.place).unlink()
    page = keeper.post(reverse("admin:search_backuprun_check", args=[backup.pk]), follow=True).content.decode()
    assert "is not there any more" in page


def test_it_is_removed_after_a_page_that_says_what_goes(keeper: Client, backup: BackupRun) -> None:
    address = f"{LIST}{backup.pk}/delete/"
    page = text(keeper, address)
    assert backup.place in page
    assert "no other backup: until the next one is made, nothing can be restored" in page
    assert Path(backup.place).exists()
    page = keeper.post(address, follow=True).content.decode()
    assert "was removed" in page
    assert not Path(backup.place).exists()
    assert not BackupRun.objects.exists()
    assert [entry.action for entry in AuditEntry.objects.filter(object_type="backup")] == ["backup removed"]


def test_who_may_only_look_gets_no_file_and_sees_no_buttons(api: Client, backup: BackupRun) -> None:
    client = viewer(api, "view_backuprun", "add_job")
    page = text(client, LIST)
    assert Path(backup.place).name in page
    for button in ("Download", "Remove", "Make a backup", "Check<", "Make one every night"):
        assert button not in page
    assert client.get(reverse("admin:search_backuprun_download", args=[backup.pk])).status_code == 403
    assert client.post(reverse("admin:search_backuprun_check", args=[backup.pk])).status_code == 403
    assert client.post(f"{LIST}{backup.pk}/delete/").status_code == 403
    assert client.get(reverse("admin:search_job_launch") + "?kind=backup").status_code == 403
    assert "?kind=backup" not in text(client, reverse("admin:search_job_launch"))
    assert "?kind=index" in text(client, reverse("admin:search_job_launch"))


def test_one_press_leads_to_the_schedule_of_every_night(keeper: Client, folder: Path) -> None:
    found = re.search(r'href="([^"]*jobschedule/add[^"]*)"', keeper.get(LIST).content.decode())
    assert found is not None
    form = text(keeper, unescape(found[1]))
    assert 'value="Nightly backup"' in form
    assert re.search(r'name="argument-keep" value="7"', form)
    given = {"name": "Nightly backup", "cron": "30 2 * * *", "enabled": "on", "argument-keep": "7"}
    keeper.post(unescape(found[1]), given)
    schedule = JobSchedule.objects.get()
    assert (schedule.kind, schedule.arguments) == ("backup", {"keep": 7, "check": False})
    page = text(keeper, LIST)
    assert "Nightly backup" in page
    assert "Make one every night" not in page


def test_the_dashboard_leads_to_the_page(keeper: Client, backup: BackupRun, settings: Settings) -> None:
    settings.GRASP_BACKUP_DAYS = 7
    assert list(backups()) == []
    BackupRun.objects.filter(pk=backup.pk).update(fault="One byte differs.")
    damaged, none = backups()
    assert damaged.title == "The newest backup cannot be restored: One byte differs."
    assert none.title == "There is no backup of this site."
    assert damaged.link == LIST
    BackupRun.objects.filter(pk=backup.pk).update(fault="", finished=timezone.now() - timedelta(days=8))
    BackupRun.objects.create(place="c", finished=timezone.now(), error=BackupRun.CANCELLED)
    [old] = backups()
    assert old.title.startswith("The last backup is 8 days old")
