"""Launching a job: what is written, what is refused and why, and what is offered instead."""

import re

import pytest
from django.contrib.auth.models import AnonymousUser, Permission, User

from search.domain.errors import InvalidRequest, NotAllowed
from search.domain.job_kinds import Needs
from search.domain.run_context import LeaseLost
from search.models import Job
from search.services.jobs.launch import launch_job
from search.services.jobs.needs import shortages
from search.services.jobs.run_here import run_here
from tests.search.services.knowledge.test_index_snapshot import snapshot_of

pytestmark = pytest.mark.django_db


def test_a_job_that_is_launched_and_run_makes_a_release_and_keeps_the_result() -> None:
    snapshot = snapshot_of()
    job, new = launch_job(kind="index", knowledge_base="films", arguments={"activate": True})
    assert new
    assert (job.state, job.queue, job.attempt, job.arguments) == (
        "queued",
        "jobs",
        0,
        {"kinds": [], "vectors": True, "activate": True},
    )
    result = run_here(job)
    job.refresh_from_db()
    snapshot.knowledge_base.refresh_from_db()
    assert snapshot.knowledge_base.active_release is not None
    assert result["release"] == snapshot.knowledge_base.active_release.name
    assert (job.state, job.attempt, job.result["release"]) == ("done", 1, result["release"])
    assert job.started is not None
    assert job.finished is not None


def test_an_identical_job_that_waits_is_offered_instead_of_started_twice() -> None:
    snapshot_of()
    first, _ = launch_job(kind="index", knowledge_base="films")
    same, new = launch_job(kind="index", knowledge_base="films", arguments={"kinds": []})
    assert (same.pk, new) == (first.pk, False)
    other, new = launch_job(kind="index", knowledge_base="films", arguments={"kinds": ["field:plot"]})
    assert new
    assert other.pk != first.pk
    run_here(first)
    again, new = launch_job(kind="index", knowledge_base="films")
    assert new
    assert again.pk != first.pk


def test_every_fault_of_a_specification_is_told_at_once() -> None:
    with pytest.raises(InvalidRequest) as refused:
        launch_job(
            kind="index", knowledge_base="filmz", arguments={"kindz": [], "activate": "yes"}, queue="gpus",
            question_set="\x00",
        )  # fmt: skip
    told = {fault.pointer: fault.sentence for fault in refused.value.faults}
    assert told == {
        "/arguments/kindz": "A job of the kind 'index' has no argument 'kindz'; it has: kinds, vectors, activate. "
        "Did you mean 'kinds'?",
        "/arguments/activate": "activate is true or false, not 'yes'.",
        "/knowledge_base": "There is no knowledge base 'filmz'. None has been imported yet.",
        "/question_set": "question_set is the name of a question set, or name@version.",
        "/queue": "There is no queue 'gpus'; there are: jobs, gpu. Did you mean 'gpu'?",
    }
    assert not Job.objects.exists()


def test_an_unknown_kind_is_refused_with_the_nearest() -> None:
    with pytest.raises(InvalidRequest) as refused:
        launch_job(kind="indx")
    assert refused.value.faults[0].nearest == "index"


def test_what_the_kind_itself_refuses_stands_at_its_argument() -> None:
    snapshot_of()
    with pytest.raises(InvalidRequest) as refused:
        launch_job(kind="index", knowledge_base="films", arguments={"kinds": ["field:plod", "smell"]})
    assert [fault.pointer for fault in refused.value.faults] == ["/arguments/kinds", "/arguments/kinds"]


def test_only_who_has_the_right_launches() -> None:
    snapshot_of()
    staff = User.objects.create_user("staff", is_staff=True)
    for user in (AnonymousUser(), staff):
        with pytest.raises(NotAllowed):
            launch_job(kind="index", knowledge_base="films", user=user)
    staff.user_permissions.add(Permission.objects.get(codename="add_job"))
    assert launch_job(kind="index", knowledge_base="films", user=User.objects.get(pk=staff.pk))[1]


def test_a_job_that_has_ended_is_not_run_again() -> None:
    snapshot_of()
    job, _ = launch_job(kind="index", knowledge_base="films")
    run_here(job)
    with pytest.raises(LeaseLost):
        run_here(job)


def test_a_machine_that_is_too_small_is_told_with_the_figures() -> None:
    disk, memory = shortages(Needs(disk=10**18, memory=10**18))
    assert re.fullmatch(
        r"The job needs about 931,322,574\.6 GB of disk and 512 MB to spare; "
        r"[\d,]+\.\d GB are free below GRASP_HOME\.",
        disk.message,
    )
    assert re.fullmatch(
        r"The job needs about 931,322,574\.6 GB of memory; [\d,.]+ GB are available on this machine\.", memory.message
    )
    assert shortages(Needs(disk=1, memory=1)) == []
