"""What a job reports: series that stay short, expectations that learn, lines of its log, and what it uses."""

import logging
import os
import re
import socket
from pathlib import Path
from typing import Any

import pytest
import structlog
from django.utils import timezone

from search.domain.errors import InvalidRequest
from search.models import Job, JobMetric
from search.services.jobs.captured import captured
from search.services.jobs.launch import launch_job
from search.services.jobs.learned import USUAL, learned
from search.services.jobs.ownership import claim_this
from search.services.jobs.reports import Reports
from search.services.jobs.resources import Resources
from search.services.jobs.thinning import MOST_POINTS
from tests.search.ingest import bundles


def job_of(kind: str = "import", **values: Any) -> Job:
    number = Job.objects.count()
    return Job.objects.create(kind=kind, specification_hash=f"{number}", **values)


def reports_of(job: Job, **parts: float) -> Reports:
    claim = claim_this(job.pk)
    assert claim is not None
    return Reports(claim, parts, {})


def steps_of(job: Job, name: str = "loss") -> list[int]:
    return list(JobMetric.objects.filter(job=job, name=name).order_by("step").values_list("step", flat=True))


@pytest.mark.django_db
def test_a_long_series_is_thinned_evenly_and_keeps_its_newest_point() -> None:
    job = job_of()
    reports = reports_of(job)
    for step in range(2_501):
        reports.metric("loss", step, float(step))
        if step % 90 == 0:
            reports.written(*reports.write())
    reports.written(*reports.write())
    # 2,501 points in gaps of one or two are more than 1,000; in gaps of four they are 626.
    assert steps_of(job) == list(range(0, 2_501, 4))
    reports.metric("loss", 2_503, 1.0)
    reports.finish()
    reports.written(*reports.write())
    assert steps_of(job)[-2:] == [2_500, 2_503]


@pytest.mark.django_db
def test_a_later_attempt_goes_on_with_the_gap_of_the_one_before() -> None:
    job = job_of()
    JobMetric.objects.bulk_create(
        JobMetric(job=job, name="loss", step=step, value=0.0) for step in range(0, 4 * MOST_POINTS, 4)
    )
    reports = reports_of(job)
    for step in range(4_000, 4_009):
        reports.metric("loss", step, 0.0)
    reports.written(*reports.write())
    # 1,000 points and three more in gaps of four are too many: the gap becomes eight.
    assert steps_of(job) == list(range(0, 4_009, 8))


@pytest.mark.django_db
def test_former_jobs_of_the_same_kind_on_this_machine_correct_the_expected_seconds() -> None:
    here = socket.gethostname()[:255]
    for seconds, host in ((20.0, here), (30.0, here), (90.0, here), (1_000.0, "elsewhere")):
        parts = [
            {"name": "read", USUAL: 10.0, "seconds": seconds},
            {"name": "write", USUAL: 10.0, "seconds": 0.1},
        ]
        job_of(state=Job.State.DONE, worker_host=host, finished=timezone.now(), progress={"parts": parts})
    # The median of 2, 3 and 9; what took a tenth of a second instead of ten took half a second at most, and of `sort`
    # nothing is known.
    found = learned("import", {"read": 4.0, "write": 4.0, "sort": 1.0})
    assert found.expected == {"read": 12.0, "write": 4.0 * 0.5 / 10, "sort": 1.0}
    assert learned("index", {"read": 4.0}).expected == {"read": 4.0}
    reports = reports_of(job_of(), read=4.0)
    assert [(part["weight"], part[USUAL]) for part in reports.estimate()["parts"]] == [(12.0, 4.0)]


def test_what_the_work_logs_becomes_lines_without_secrets() -> None:
    lines: list[str] = []
    with captured(lines.append):
        structlog.get_logger("search.test").warning("disk nearly full", free_mb=12, password="hush")
        logging.getLogger("library").info("a plain line")
        logging.getLogger("library").debug("a detail")
    logging.getLogger("library").warning("after the job")
    assert lines == ["WARNING: disk nearly full free_mb=12 password=***", "a plain line"]


@pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="this system does not tell what a process uses")
def test_resources_are_those_of_the_process_and_add_up_over_attempts() -> None:
    former = {"memory_peak_mb": 1e6, "processor_seconds": 1_000.0, "written_mb": 500.0}
    used = Resources(os.getpid(), former, gpu_bytes=lambda: 3 * 1024**2).measured()
    assert used["memory_peak_mb"] == 1e6
    assert used["processor_seconds"] > 1_000.0
    assert used["written_mb"] >= 500.0
    assert used["gpu_memory_peak_mb"] == 3.0
    assert "gpu_memory_peak_mb" not in Resources(os.getpid()).measured()


@pytest.mark.django_db
def test_a_machine_that_is_too_small_is_told_with_the_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = bundles.write(tmp_path)
    monkeypatch.setattr("search.services.jobs.needs.available_memory", lambda: 50 * 1024**2)
    with pytest.raises(InvalidRequest) as refused:
        launch_job(kind="import", arguments={"source": str(source)})
    assert re.fullmatch(
        r"The job needs about 1\.\d GB of memory; 50 MB are available on this machine\.", str(refused.value)
    )


@pytest.mark.django_db
def test_what_comes_before_the_first_unit_is_learned_apart_from_the_rate() -> None:
    for seconds, steady in ((25.0, [5.0, 0.5]), (14.0, [1.0, 0.25]), (30.0, [2.0, 0.25])):
        part = {"name": "ask", USUAL: 20.0, "seconds": seconds, "steady": steady}
        job_of(state=Job.State.DONE, worker_host=socket.gethostname()[:255], finished=timezone.now(),
               progress={"parts": [part]})  # fmt: skip
    # Units of 10, 4 and 8 s for 20 expected: the median factor is 0.4. Before them 15, 10 and 22 s: the median is 15.
    found = learned("import", {"ask": 100.0})
    assert (found.expected, found.leads) == ({"ask": 55.0}, {"ask": 15.0})
