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
from search.domain.work_parts import Former
from search.models import Job, JobMetric
from search.services.jobs.captured import captured
from search.services.jobs.launch import launch_job
from search.services.jobs.learned import history
from search.services.jobs.ownership import claim_this
from search.services.jobs.reports import Reports
from search.services.jobs.resources import Resources
from search.services.jobs.thinning import MOST_POINTS
from tests.search.ingest import bundles


def job_of(kind: str = "import", **values: Any) -> Job:
    number = Job.objects.count()
    return Job.objects.create(kind=kind, specification_hash=f"{number}", **values)


HERE = socket.gethostname()[:255]


def done(parts: list[dict[str, Any]], host: str) -> Job:
    return job_of(state=Job.State.DONE, worker_host=host, finished=timezone.now(), progress={"parts": parts})


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
def test_former_jobs_of_the_same_kind_on_this_machine_say_how_long_the_parts_take() -> None:
    for seconds, host in ((19.5, HERE), (19.5, HERE), (19.5, HERE), (1_000.0, "elsewhere")):
        parts = [{"name": "read", "size": 9.5, "seconds": seconds}, {"name": "tidy", "seconds": 3.0}]
        done(parts, host)
    done([{"name": "read", "foreseen": 5.0, "seconds": 10.0}], HERE)
    # Of what has no size nothing is learned. An earlier version called the size what is foreseen.
    assert history("import") == {"read": [Former(5.0, 0.0, 10.0), *[Former(9.5, 0.0, 19.5)] * 3]}
    assert history("index") == {}
    # 19.5 and 0.5 s are twice 9.5 and 0.5 s, and so are 10 and 0.5 s nearly of 5 and 0.5 s: 4 s take about 8.
    (part,) = reports_of(job_of(), read=4.0).estimate()["parts"]
    assert part["size"] == 4.0
    assert part["weight"] == pytest.approx(8.0, abs=1.0)


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
        done([{"name": "ask", "size": 20.0, "seconds": seconds, "steady": steady}], HERE)
    # All units take 8, 4 and 10 s at the rates that were observed; the rest came before them.
    assert history("import")["ask"] == [Former(20.0, 22.0, 8.0), Former(20.0, 10.0, 4.0), Former(20.0, 15.0, 10.0)]
