"""The pages of jobs: the list, the page that follows one, the form that launches one, and the schedules."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from search.admin.curves import HEIGHT, LEFT, WIDTH, curves, thinned
from search.admin.job_shown import configuration, parts_of, percent_of, sentence_of
from search.models import Job, JobLog, JobMetric, JobSchedule, KnowledgeBase
from tests.search.services.knowledge.test_index_snapshot import snapshot_of

pytestmark = pytest.mark.django_db
PARTS = [
    {"name": "reading", "weight": 1.0, "done": 10, "total": 10, "seconds": 4.0, "finished": True},
    {"name": "encoding", "weight": 3.0, "done": 1, "total": 2, "seconds": 9.0, "finished": False},
]


@pytest.fixture
def staff(api: Client) -> Client:
    api.force_login(User.objects.create_superuser("admin", password="x"))
    return api


def job_of(**given: object) -> Job:
    stored = {"kind": "index", "specification_hash": "1", "knowledge_base_name": "films", "arguments": {"kinds": []}}
    return Job.objects.create(**stored | given)


def launch(staff: Client, **fields: str) -> str:
    address = reverse("admin:search_job_launch") + "?kind=index"
    return staff.post(
        address, {"knowledge_base": "films", "argument-kinds": "", **fields}, follow=True
    ).content.decode()


def test_the_form_launches_the_job_that_it_describes_and_leads_to_its_page(staff: Client) -> None:
    snapshot_of()
    page = launch(staff, **{"argument-kinds": "field:plot\n\n chunk ", "argument-activate": "on"})
    [job] = Job.objects.all()
    assert (job.kind, job.knowledge_base_name, job.origin) == ("index", "films", "page")
    assert job.arguments == {"kinds": ["field:plot", "chunk"], "activate": True}
    assert job.user is not None
    assert job.user.username == "admin"
    assert f"{job.pk}/cancel/" in page


def test_two_presses_of_the_button_lead_to_the_same_job(staff: Client) -> None:
    snapshot_of()
    launch(staff)
    assert "waiting or running already" in launch(staff)
    assert Job.objects.count() == 1


def test_faults_stand_at_their_fields_and_what_was_typed_stays(staff: Client) -> None:
    snapshot_of()
    page = launch(staff, **{"argument-kinds": "smell"})
    assert not Job.objects.exists()
    assert "The job was not launched." in page
    field = page[page.index('name="argument-kinds"') :]
    assert "&#x27;smell&#x27; is no kind of vectors" in field[:2000]
    assert "smell</textarea>" in page


def test_the_choice_of_a_kind_says_what_each_does(staff: Client) -> None:
    page = staff.get(reverse("admin:search_job_launch")).content.decode()
    assert "?kind=index" in page
    assert "Builds or continues the indexes of the newest snapshot" in page
    assert "(Kind)" not in page


def test_a_clone_begins_with_the_arguments_of_its_original(staff: Client) -> None:
    snapshot_of()
    job = job_of(arguments={"kinds": ["chunk"], "activate": True})
    page = staff.get(reverse("admin:search_job_launch"), {"kind": "index", "like": str(job.pk)}).content.decode()
    assert "chunk</textarea>" in page
    assert re.search(r'name="argument-activate"[^>]*checked', page)


def test_the_page_shows_parts_curves_log_and_what_differs_from_the_job_before(staff: Client) -> None:
    before = job_of(arguments={"kinds": [], "activate": False}, state="done", specification_hash="0")
    Job.objects.filter(pk=before.pk).update(created=timezone.now() - timedelta(hours=1))
    job = job_of(
        arguments={"kinds": ["chunk"], "activate": False}, state="running", worker_host="here", worker_process=7,
        lease_until=timezone.now() + timedelta(minutes=1),
        progress={"parts": PARTS, "part": "encoding", "done": 1, "total": 2, "share": 0.625, "seconds_left": 130.0},
    )  # fmt: skip
    JobLog.objects.create(job=job, text="<b>line</b>")
    JobMetric.objects.bulk_create(JobMetric(job=job, name="loss", step=step, value=1 / step) for step in range(1, 30))
    page = staff.get(reverse("admin:search_job_change", args=[job.pk])).content.decode()
    assert "Process 7 on here works on it." in page
    assert "62 %" in page
    assert "about 2 min 10 s left" in page
    assert "&lt;b&gt;line&lt;/b&gt;" in page
    assert page.count("<polyline") == 1
    assert "loss: 29 points, lowest 0.03448, highest 1, last 0.03448." in page
    changed = re.findall(r'<div class="changed"><dt>([^<]+)</dt><dd>([^<]+) <span class="was">was ([^<]+)', page)
    assert changed == [("kinds", "chunk", "none")]


def test_the_changing_part_is_sent_only_when_something_has_changed(staff: Client) -> None:
    job = job_of(state="running", changes=5)
    address = reverse("admin:search_job_live", args=[job.pk])
    assert staff.get(address, {"seen": "5"}).status_code == 204
    assert b"job-live" in staff.get(address, {"seen": "4"}).content


def test_cancel_and_resume(staff: Client) -> None:
    snapshot_of()
    launch(staff)
    [job] = Job.objects.all()
    staff.post(reverse("admin:search_job_cancel", args=[job.pk]))
    job.refresh_from_db()
    assert job.state == "cancelled"
    staff.post(reverse("admin:search_job_resume", args=[job.pk]))
    job.refresh_from_db()
    assert job.state == "queued"
    assert staff.get(reverse("admin:search_job_cancel", args=[job.pk])).status_code == 405


def test_who_may_only_look_sees_no_buttons_and_reaches_none(api: Client) -> None:
    viewer = User.objects.create_user("viewer", password="x", is_staff=True)
    viewer.user_permissions.add(Permission.objects.get(codename="view_job"))
    api.force_login(viewer)
    job = job_of()
    page = api.get(reverse("admin:search_job_change", args=[job.pk]))
    assert page.status_code == 200
    assert "cancel-job" not in page.content.decode()
    for refused in ("cancel", "resume"):
        assert api.post(reverse(f"admin:search_job_{refused}", args=[job.pk])).status_code == 403
    assert api.get(reverse("admin:search_job_launch")).status_code == 403


def test_the_list_costs_the_same_however_long_it_is(staff: Client, django_assert_max_num_queries) -> None:  # type: ignore[no-untyped-def]
    for number in range(30):
        job_of(specification_hash=str(number), progress={"parts": PARTS, "part": "encoding"}, state="running")
    with django_assert_max_num_queries(14):
        page = staff.get(reverse("admin:search_job_changelist")).content.decode()
    assert page.count('<progress class="job-bar"') == 30


def test_unknown_addresses_are_not_found(staff: Client) -> None:
    assert staff.get("/admin/search/job/no-id/change/").status_code == 404
    assert staff.get(reverse("admin:search_job_live", args=["00000000-0000-0000-0000-000000000000"])).status_code == 404


def test_a_schedule_is_checked_as_a_whole_and_saved_with_its_next_time(staff: Client) -> None:
    snapshot_of()
    address = reverse("admin:search_jobschedule_add")
    wrong = staff.post(address, {"name": "nightly", "cron": "61 2 * * *", "kind": "index", "arguments": "{}"})
    assert wrong.status_code == 200
    page = wrong.content.decode()
    assert "is not a valid time" in page
    assert "Name the knowledge base." in page
    assert not JobSchedule.objects.exists()
    base = str(snapshot_base())
    right = {"name": "nightly", "cron": "30 2 * * *", "kind": "index", "arguments": "{}", "knowledge_base": base,
             "enabled": "on"}  # fmt: skip
    assert staff.post(address, right).status_code == 302
    [schedule] = JobSchedule.objects.all()
    assert schedule.next_run is not None
    assert (schedule.next_run.hour, schedule.next_run.minute) == (2, 30)


def snapshot_base() -> int:
    return KnowledgeBase.objects.get(name="films").pk


def test_percent_and_parts_of_a_job() -> None:
    job = Job(state="running", progress={"parts": PARTS, "part": "encoding", "done": 1, "total": 2})
    # (1 · 1 + 3 · 0.5) / 4
    assert percent_of(job) == 62
    assert [(part.name, part.percent, part.counts, part.state) for part in parts_of(job)] == [
        ("reading", 100, "10 of 10", "done"), ("encoding", 50, "1 of 2", "running"),
    ]  # fmt: skip
    assert percent_of(Job(state="done", progress={"parts": PARTS})) == 100
    assert percent_of(Job(state="queued")) == 0


def test_a_job_whose_process_is_gone_says_so() -> None:
    job = Job(state="running", lease_until=timezone.now() - timedelta(seconds=1))
    assert (
        sentence_of(job)
        == "Its process has not been heard of; another worker goes on with it from its last checkpoint."
    )


def test_the_first_job_of_its_kind_differs_from_nothing() -> None:
    assert all(one.before is None for one in configuration(job_of()))


def test_a_curve_spans_the_drawing_and_a_level_one_lies_in_its_middle() -> None:
    [falling] = curves({"loss": [(10, 0.0), (0, 2.0)], "none": []})
    points = [tuple(map(float, point.split(","))) for point in falling.points.split()]
    assert [x for x, _ in points] == [LEFT, WIDTH - 12]
    assert points[0][1] == 12
    assert points[1][1] == HEIGHT - 24
    [level] = curves({"flat": [(0, 3.0), (1, 3.0)]})
    assert {point.split(",")[1] for point in level.points.split()} == {"94.0"}


def test_thinning_keeps_both_ends() -> None:
    points = [(step, float(step)) for step in range(100)]
    kept = thinned(points, 12)
    assert len(kept) == 12
    assert (kept[0], kept[-1]) == (points[0], points[-1])
