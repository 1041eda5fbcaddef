"""The queue of a kind of job: `gpu` where its workers are and the site has GPUs, else `jobs`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytest_django.fixtures import Settings

from grasp_site.health import Queue
from search.models import Job
from search.services import health
from search.services.jobs.kinds import built, queue_of
from search.services.jobs.launch import launch_job

TRAINED_ON_GPUS = ("train_retriever", "train_reranker", "train_all")
workers: set[str] = set()


def queues() -> list[Queue]:
    """Return the queues, those of `workers` with a worker."""
    names = ("search", "jobs", "gpu")
    return [Queue(name, 0, {"worker": f"{name}@test"} if name in workers else None, []) for name in names]


@pytest.fixture(autouse=True)
def asked_each_time(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The state of the queues is asked anew for every look."""
    settings.GRASP_QUEUES = f"{__name__}.queues"
    settings.GRASP_DEVICE = "auto"
    monkeypatch.setattr(health, "QUEUE_STATE_SECONDS", 0.0)
    health.forget()
    yield
    workers.clear()
    health.forget()


@pytest.mark.parametrize("device", ["auto", "cuda", "cuda:1"])
def test_what_is_trained_on_gpus_goes_to_their_workers(device: str, settings: Settings) -> None:
    settings.GRASP_DEVICE = device
    workers.update(("jobs", "gpu"))
    assert {kind for kind in settings.GRASP_JOBS if queue_of(kind) == "gpu"} == set(TRAINED_ON_GPUS)
    assert queue_of("index") == queue_of("train_planner") == "jobs"


def test_without_such_a_worker_or_on_a_site_without_gpus_it_is_done_by_the_others(settings: Settings) -> None:
    workers.add("jobs")
    assert {queue_of(kind) for kind in settings.GRASP_JOBS} == {"jobs"}
    workers.add("gpu")
    settings.GRASP_DEVICE = "cpu"
    assert {queue_of(kind) for kind in settings.GRASP_JOBS} == {"jobs"}


def test_a_training_that_is_told_to_use_the_cpu_takes_no_gpu() -> None:
    workers.update(("jobs", "gpu"))
    assert queue_of("train_reranker", built("train_reranker", {"settings": {"device": "cpu"}})) == "jobs"
    assert queue_of("train_reranker", built("train_reranker", {"settings": {"steps": 5}})) == "gpu"


@pytest.mark.django_db
def test_a_launch_chooses_the_queue_unless_it_names_one(settings: Settings) -> None:
    settings.GRASP_JOBS = {"count": {"TITLE": "Count", "KIND": "tests.job_kinds.CountJob", "QUEUE": "gpu"}}
    workers.update(("jobs", "gpu"))
    chosen = [launch_job(kind="count", arguments={"name": name}, queue=queue)[0].queue
              for name, queue in (("a", ""), ("b", "jobs"), ("c", "gpu"))]  # fmt: skip
    workers.remove("gpu")
    chosen.append(launch_job(kind="count", arguments={"name": "d"})[0].queue)
    assert chosen == ["gpu", "jobs", "gpu", "jobs"]
    assert Job.objects.count() == 4
