"""Jobs over HTTP: launching, reading, cancelling, resuming, cloning, following and scheduling them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django.fixtures import Settings

from search.models import Job, JobSchedule
from search.services import health
from search.services.jobs.follow_job import SeenJob, follow_job
from search.services.jobs.launch import launch_job
from search.services.jobs.run_here import run_here
from search.services.jobs.schedules import launch_due
from tests import job_site
from tests.search.services.knowledge.test_index_snapshot import snapshot_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def staff(settings: Settings) -> Client:
    """A client of staff, on a site that also has the kinds of tests and no worker."""
    settings.GRASP_JOBS = job_site.GRASP_JOBS
    health.forget()
    client = Client(raise_request_exception=False)
    client.force_login(User.objects.create_user("staff", is_staff=True, is_superuser=True))
    return client


def post(client: Client, path: str, body: Any = None) -> Any:
    return client.post(f"/api/v1/{path}", json.dumps({} if body is None else body), content_type="application/json")


def faults(answer: Any) -> dict[str, str]:
    assert (answer.status_code, answer["Content-Type"]) == (400, "application/problem+json")
    return {fault["pointer"]: fault["message"] for fault in answer.json()["errors"]}


def test_a_launched_job_has_an_address_and_says_that_no_worker_takes_it(staff: Client) -> None:
    snapshot_of()
    answer = post(staff, "jobs/", {"kind": "index", "knowledge_base": "films"})
    assert answer.status_code == 202
    job = staff.get(answer["Location"]).json()
    assert (job["state"], job["kind"], job["title"], job["user"]) == ("queued", "index", "Index", "staff")
    assert job["specification"]["arguments"] == {"kinds": [], "vectors": True, "activate": False}
    assert (
        job["waiting"]
        == job["reason"]
        == ("Waiting: no worker for queue jobs. `make run` starts one, and so does `manage.py worker --queue jobs`.")
    )
    # No job of the kind has ended on this machine.
    assert (job["progress"]["seconds_left"], job["progress"]["seconds_left_range"]) == (None, None)
    again = post(staff, "jobs/", {"kind": "index", "knowledge_base": "films"})
    assert (again.status_code, again["Location"]) == (200, answer["Location"])
    assert Job.objects.count() == 1


def test_every_fault_of_a_specification_has_its_pointer(staff: Client) -> None:
    told = faults(post(staff, "jobs/", {
        "kind": "count", "knowledge_base": 7, "arguments": {"steps": 0, "pause": "long", "stepz": 1}, "queue": ["gpu"],
    }))  # fmt: skip
    assert set(told) == {
        "/knowledge_base", "/queue", "/arguments/steps", "/arguments/pause", "/arguments/stepz", "/arguments/name",
    }  # fmt: skip
    assert told["/arguments/steps"] == "steps must be between 1 and 100000, not 0."
    assert told["/arguments/name"] == "A job of the kind 'count' needs the argument 'name'."


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ([], ""), ({}, "/kind"), ({"kind": {"a": 1}}, "/kind"), ({"kind": "count", "knd": 1}, "/knd"),
        ({"kind": "count", "arguments": [1]}, "/arguments"),
        ({"kind": "count", "arguments": {"name": "a\x00b"}}, "/arguments/name"),
        ({"kind": "count", "arguments": {"name": "\ud800"}}, "/arguments/name"),
        ({"kind": "count", "arguments": {"name": "a", "pause": 1e999}}, "/arguments/pause"),
        ({"kind": "index", "question_set": "x" * 9, "knowledge_base": "nowhere"}, "/knowledge_base"),
    ],
)  # fmt: skip
def test_a_specification_written_by_hand_with_wrong_values_is_refused(staff: Client, body: Any, where: str) -> None:
    answer = staff.post("/api/v1/jobs/", json.dumps(body).replace("Infinity", "1e999"), content_type="application/json")
    assert where in faults(answer)
    assert not Job.objects.exists()


@pytest.mark.parametrize("path", ["jobs/", "job-kinds/", "job-schedules/"])
def test_who_has_no_right_sees_nothing(staff: Client, path: str) -> None:
    without = Client()
    without.force_login(User.objects.create_user("without", is_staff=True))
    for client, status in ((without, 403), (Client(), 401)):
        for method in ("get", "head"):
            answer = getattr(client, method)(f"/api/v1/{path}")
            assert (answer.status_code, answer["Content-Type"]) == (status, "application/problem+json")
    assert staff.get(f"/api/v1/{path}").status_code == 200


def test_a_waiting_job_is_cancelled_resumed_and_cancelled_again(staff: Client) -> None:
    job, _ = launch_job(kind="count", arguments={"name": "one", "steps": 2, "pause": 0})
    assert post(staff, f"jobs/{job.pk}/cancel/").json()["state"] == "cancelled"
    resumed = post(staff, f"jobs/{job.pk}/resume/")
    assert (resumed.status_code, resumed.json()["state"], resumed.json()["cancel_requested"]) == (202, "queued", False)
    assert faults(post(staff, f"jobs/{job.pk}/resume/")) == {"": "The job is queued already."}
    assert run_here(job) == {"total": 3}
    assert post(staff, f"jobs/{job.pk}/cancel/").json()["state"] == "done"
    assert faults(post(staff, f"jobs/{job.pk}/resume/")) == {"": "The job is done; clone it to do it again."}


def test_a_job_cannot_be_resumed_beside_an_identical_one(staff: Client) -> None:
    job, _ = launch_job(kind="count", arguments={"name": "one"})
    post(staff, f"jobs/{job.pk}/cancel/")
    other, _ = launch_job(kind="count", arguments={"name": "one"})
    told = faults(post(staff, f"jobs/{job.pk}/resume/"))
    assert told == {"": f"An identical job waits or runs already: {other.pk}."}


def test_a_clone_differs_in_what_was_changed(staff: Client) -> None:
    job, _ = launch_job(kind="count", arguments={"name": "one", "steps": 7})
    assert post(staff, f"jobs/{job.pk}/clone/").json()["id"] == str(job.pk)
    clone = post(staff, f"jobs/{job.pk}/clone/", {"arguments": {"steps": 8}})
    assert (clone.status_code, clone.json()["cloned_from"]) == (202, str(job.pk))
    assert clone.json()["arguments"] == {"name": "one", "steps": 8, "pause": 0.02}
    assert set(faults(post(staff, f"jobs/{job.pk}/clone/", {"arguments": {"steps": -1}}))) == {"/arguments/steps"}


def test_a_job_is_followed_by_events_and_from_where_one_was(staff: Client) -> None:
    job, _ = launch_job(kind="count", arguments={"name": "one", "steps": 3, "pause": 0})
    run_here(job)
    events, seen, ended = follow_job(job.pk, SeenJob())
    assert [event.name for event in events] == ["progress", "log", "metrics", "done"]
    assert events[2].data["points"] == [{"name": "total", "step": n, "value": v} for n, v in ((1, 1), (2, 3), (3, 6))]
    assert events[3].data["result"] == {"total": 6}
    assert ended
    assert follow_job(job.pk, SeenJob.parsed(str(seen))) == ([], seen, True)
    assert staff.get(f"/api/v1/jobs/{job.pk}/events/", headers={"Last-Event-ID": str(seen)}).status_code == 204
    assert SeenJob.parsed("1-2") == SeenJob.parsed("") == SeenJob()


def test_the_list_is_filtered_and_paged(staff: Client) -> None:
    for number in range(3):
        launch_job(kind="count", arguments={"name": f"{number}"})
    last = Job.objects.first()
    post(staff, f"jobs/{last.pk}/cancel/")
    assert staff.get("/api/v1/jobs/?state=queued").json()["count"] == 2
    assert staff.get("/api/v1/jobs/?kind=index").json()["count"] == 0
    page = staff.get("/api/v1/jobs/?page_size=2").json()
    assert (page["count"], len(page["results"]), page["results"][0]["id"]) == (3, 2, str(last.pk))


NIGHTLY = {"name": "nightly", "cron": "30 2 * * *", "kind": "index", "knowledge_base": "films"}


def test_a_schedule_launches_its_job_when_its_time_has_come_and_only_once(staff: Client) -> None:
    snapshot_of()
    made = post(staff, "job-schedules/", NIGHTLY)
    assert made.status_code == 201
    assert made.json()["next_run"].endswith("T02:30:00+00:00")
    assert launch_due() == 0
    JobSchedule.objects.update(next_run="2026-01-01T00:00:00Z")
    assert (launch_due(), launch_due()) == (1, 0)
    job, schedule = Job.objects.get(), JobSchedule.objects.get()
    assert (job.origin, job.schedule, job.kind) == ("schedule", schedule, "index")
    assert schedule.last_outcome == f"job {job.pk}"
    JobSchedule.objects.update(next_run="2026-01-01T00:00:00Z")
    assert launch_due() == 0
    schedule.refresh_from_db()
    assert schedule.last_outcome == f"its previous job has not ended: job {job.pk}"


def test_a_schedule_whose_job_is_refused_says_why_and_comes_again(staff: Client) -> None:
    snapshot = snapshot_of()
    post(staff, "job-schedules/", NIGHTLY)
    snapshot.knowledge_base.snapshots.update(status="failed")
    JobSchedule.objects.update(next_run="2026-01-01T00:00:00Z")
    assert launch_due() == 0
    [schedule] = staff.get("/api/v1/job-schedules/").json()
    assert schedule["last_outcome"] == "refused: 'films' has no imported data; import it first."
    assert schedule["next_run"] > "2026-02"


@pytest.mark.parametrize(
    ("cron", "sentence"),
    [
        ("tomorrow", "cron has five fields"), ("61 * * * *", "61 > 59"), ("0 0 31 2 *", "never occurs"),
        ("* * * * * *", "cron has five fields"), (5, "cron has five fields"), ("0 0 0 0 0", "is not a valid time"),
        ("a b c d e", "is not a valid time"), ("*/0 * * * *", "is not a valid time"),
    ],
)  # fmt: skip
def test_a_time_that_never_comes_is_refused(staff: Client, cron: Any, sentence: str) -> None:
    snapshot_of()
    told = faults(post(staff, "job-schedules/", {**NIGHTLY, "cron": cron}))
    assert sentence in told["/cron"]
    assert not JobSchedule.objects.exists()


def test_a_schedule_is_changed_switched_off_and_deleted(staff: Client) -> None:
    snapshot_of()
    number = post(staff, "job-schedules/", NIGHTLY).json()["id"]
    assert "/name" in faults(post(staff, "job-schedules/", NIGHTLY))
    changed = staff.put(
        f"/api/v1/job-schedules/{number}/", json.dumps({**NIGHTLY, "enabled": False}), content_type="application/json"
    )
    assert (changed.status_code, changed.json()["enabled"], changed.json()["next_run"]) == (200, False, None)
    JobSchedule.objects.update(next_run="2026-01-01T00:00:00Z")
    assert launch_due() == 0
    assert staff.delete(f"/api/v1/job-schedules/{number}/").status_code == 204
    assert staff.delete(f"/api/v1/job-schedules/{number}/").status_code == 404
