"""`jobs list|show|cancel|resume`: what is printed, and the exit codes."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from pytest_django.fixtures import Settings

from search.models import Job
from search.services.jobs.launch import launch_job
from search.services.jobs.run_here import run_here
from tests import job_site

pytestmark = pytest.mark.django_db


@pytest.fixture
def job(settings: Settings) -> Job:
    settings.GRASP_JOBS = job_site.GRASP_JOBS
    return launch_job(kind="count", arguments={"name": "one", "steps": 3, "pause": 0})[0]


def printed(*arguments: str) -> Any:
    out = StringIO()
    call_command("jobs", *arguments, "--json", stdout=out)
    return json.loads(out.getvalue())


def test_a_job_is_listed_shown_cancelled_and_resumed(job: Job) -> None:
    [listed] = printed("list")["jobs"]
    assert (listed["id"], listed["state"]) == (str(job.pk), "queued")
    assert printed("list", "--state", "running") == {"jobs": []}
    assert printed("cancel", str(job.pk)[:8])["state"] == "cancelled"
    assert printed("resume", str(job.pk))["state"] == "queued"
    run_here(job)
    shown = printed("show", str(job.pk).replace("-", "")[:12])
    assert (shown["state"], shown["result"], len(shown["metrics"])) == ("done", {"total": 6}, 3)


def test_a_job_is_shown_to_people_with_its_log_and_result(job: Job) -> None:
    run_here(job)
    out = StringIO()
    call_command("jobs", "show", str(job.pk), stdout=out)
    assert f"Count ({job.pk}): done, attempt 1." in out.getvalue()
    assert "goes on behind step 0" in out.getvalue()
    assert '"total": 6' in out.getvalue()


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (("resume", "{id}"), 1, "The job is queued already."),
        (("show", "00000000"), 2, "There is no job '00000000'; `jobs list` lists them."),
        (("show", "nonsense"), 2, "'nonsense' is not the id of a job; `jobs list` lists them."),
        (("cancel", ""), 2, "'' is not the id of a job; `jobs list` lists them."),
    ],
)
def test_what_cannot_be_done_is_said_with_its_exit_code(
    job: Job, arguments: tuple[str, ...], code: int, sentence: str
) -> None:
    with pytest.raises(CommandError) as error:
        call_command("jobs", *(part.format(id=job.pk) for part in arguments))
    assert (error.value.returncode, str(error.value)) == (code, sentence)
