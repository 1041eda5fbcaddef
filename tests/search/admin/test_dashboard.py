"""The admin's first page: searches by day, quality over time, the disk, workers and queues."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from search.admin.charts import FLOOR, LEFT, WIDTH, pipeline_of, quality_charts, search_bars
from search.models import Job, KnowledgeBase, SearchRun
from search.services.searches.count_searches import SearchDay, count_searches, totals
from search.services.upkeep import measure_storage as storage
from search.services.upkeep.observe_work import waiting_by_queue, workers
from training.models import Evaluation, QuestionSet
from training.services.evaluations.quality import quality_over_time

pytestmark = pytest.mark.django_db
TODAY = date(2026, 3, 14)


@pytest.fixture
def staff(api: Client) -> Client:
    api.force_login(User.objects.create_superuser("admin", password="x"))
    return api


def searched(at: datetime, status: str = "done", origin: str = "page") -> SearchRun:
    run = SearchRun.objects.create(question="Who?", pipeline="path", status=status, origin=origin)
    SearchRun.objects.filter(pk=run.pk).update(created=at)
    return run


def test_searches_are_counted_by_the_day_of_their_request_without_those_of_evaluations() -> None:
    late = datetime(2026, 3, 13, 23, 59, 59, tzinfo=UTC)
    for status in ("done", "done", "failed", "cancelled", "queued", "running"):
        searched(late, status)
    searched(late + timedelta(seconds=1))
    searched(late, origin="evaluation")
    searched(late - timedelta(days=13))
    searched(late - timedelta(days=12))
    with CaptureQueriesContext(
        connection,
    ) as asked:
        days = count_searches(TODAY)
    assert len(asked) == 1
    assert [(day.day.day, day.total) for day in days if day.total] == [(1, 1), (13, 6), (14, 1)]
    assert days[-2] == SearchDay(date(2026, 3, 13), answered=2, failed=1, cancelled=1, open=2)
    assert totals(days) == SearchDay(TODAY, answered=4, failed=1, cancelled=1, open=2)


def test_the_count_reads_the_index_of_searches_of_people_alone() -> None:
    day = datetime(2026, 3, 1, tzinfo=UTC)
    SearchRun.objects.bulk_create(
        SearchRun(question="", pipeline="path", status="done", origin="evaluation") for _ in range(3000)
    )
    searched(day)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE search_searchrun")
        rows = SearchRun.objects.of_people().filter(created__gte=day).values("status")
        query, parameters = rows.query.sql_with_params()
        cursor.execute(f"EXPLAIN {query}", parameters)
        plan = " ".join(line for (line,) in cursor.fetchall())
    assert "searches_of_people" in plan


def test_bars_stand_on_the_floor_and_failures_on_the_others() -> None:
    days = [SearchDay(TODAY - timedelta(days=back)) for back in (1, 0)]
    days[1].answered, days[1].failed = 3, 1
    chart = search_bars(days)
    others, failed = chart.bars
    # The axis goes to 4: 176 - 12 = 164 units high, 3 of 4 are 123, 1 of 4 is 41.
    assert (others.y, others.height, others.failed) == (FLOOR - 123, 123, False)
    assert (failed.y, failed.height, failed.failed) == (12, 41, True)
    assert others.x > LEFT + (WIDTH - LEFT - 12) / 2
    assert [mark.text for mark in chart.up] == ["0", "2", "4"]
    assert chart.summary == "4 searches in 2 days, 1 of them failed."


def quality(
    at: int, value: float, pipeline: str = "grasp@1", questions: int = 10, **other: object
) -> dict[str, object]:
    return {
        "evaluation": f"{at}", "at": datetime(2026, 3, at, tzinfo=UTC), "knowledge_base": "films",
        "question_set": "held", "split": "val", "questions": questions, "pipeline": pipeline,
        "measure": "H@1", "value": value, **other,
    }  # fmt: skip


def test_versions_of_a_pipeline_are_one_line_and_other_questions_another_chart() -> None:
    rows = [quality(1, 40.0), quality(1, 30.0, "bm25"), quality(3, 50.0, "grasp@2"), quality(2, 90.0, questions=5)]
    first, second = quality_charts(rows)
    assert first.title == "films · held · val · 10 questions"
    assert [(line.name, line.last, len(line.dots)) for line in first.lines] == [
        ("grasp", "50.0", 2),
        ("bm25", "30.0", 1),
    ]
    assert first.columns == ("bm25", "grasp@1", "grasp@2")
    assert [row.values for row in first.rows] == [(None, None, 50.0), (30.0, 40.0, None)]
    # From 30 to 55 percent over 164 units: 50 lies 5 of 25 below the top, 12 + 32.8.
    assert first.lines[0].dots[-1] == (WIDTH - 12, 44.8)
    assert second.title == "films · held · val · 5 questions"
    assert second.lines[0].dots[0][0] == (LEFT + WIDTH - 12) / 2
    assert pipeline_of("grasp@2 fuse.k=5") == "grasp"


def test_quality_is_of_finished_reports_and_the_page_draws_it(staff: Client) -> None:
    base = KnowledgeBase.objects.create(name="films")
    held = QuestionSet.objects.create(knowledge_base=base, name="held", version=2, content_hash="1")
    common = {
        "knowledge_base": base,
        "question_set": held,
        "questions": 7,
        "release_name": "films-1",
        "code_version": "",
    }
    report = {"pipelines": {"grasp@1": {"metrics": {"H@1": 51.25}}, "bm25": {"metrics": {}}}}
    done = Evaluation.objects.create(**common, status="done", report=report)
    Evaluation.objects.create(**common, status="done", purpose="tuning", report={"pipelines": {}, "before": {}})
    Evaluation.objects.create(**common, status="done", report={"pipelines": None})
    Evaluation.objects.create(**common, status="failed", report=None)
    [row] = quality_over_time()
    assert (row["evaluation"], row["pipeline"], row["value"], row["question_set"]) == (
        str(done.pk),
        "grasp@1",
        51.25,
        "held",
    )
    page = staff.get(reverse("admin:index")).content.decode()
    assert "H@1 of films · held over 1 evaluations; last: grasp 51.2." in page
    assert f"/evaluations/{done.pk}/" in page


def test_the_page_costs_the_same_however_much_there_is(staff: Client, django_assert_max_num_queries) -> None:  # type: ignore[no-untyped-def]
    now = datetime.now(UTC)
    for number in range(30):
        searched(now, "failed")
        Job.objects.create(kind="index", specification_hash=str(number), state="running" if number % 2 else "queued")
    with django_assert_max_num_queries(70):
        page = staff.get(reverse("admin:index")).content.decode()
    assert "30 searches in 14 days, 30 of them failed." in page
    assert page.count('class="job-bar small"') == 20


def test_an_empty_site_says_what_is_not_there_yet(staff: Client, settings) -> None:  # type: ignore[no-untyped-def]
    # A database of Valkey in which no worker of another file has just reported.
    settings.REDIS_URL = f"{settings.REDIS_URL}?db=15"
    page = staff.get(reverse("admin:index")).content.decode()
    for sentence in (
        "Nothing was asked in the last 14 days.",
        "Nothing has been evaluated yet",
        "No worker is running",
    ):
        assert sentence in page


def test_without_the_broker_the_page_still_tells_what_waits(staff: Client, settings) -> None:  # type: ignore[no-untyped-def]
    Job.objects.create(kind="index", specification_hash="1")
    settings.REDIS_URL = "unix:///nowhere/valkey.sock"
    page = staff.get(reverse("admin:index")).content.decode()
    assert "Unknown while Valkey does not answer." in page
    assert "Whether it has a worker is unknown while Valkey does not answer." in page
    assert waiting_by_queue()["jobs"].number == 1


def test_a_worker_shows_the_jobs_that_its_own_processes_work_on() -> None:
    mine = Job(kind="index", state="running", worker_host="a", worker_process=11)
    others = [
        Job(kind="index", state="running", worker_host="b", worker_process=11),
        Job(kind="index", state="running", worker_host="a", worker_process=12),
        Job(kind="index", state="queued", worker_host="a", worker_process=11),
    ]
    state = {"worker": "jobs@a", "pid": 10, "host": "a", "device": "GPU H100", "processes": [11]}
    [worker] = workers([{"name": "jobs", "workers": [state]}], [mine, *others])
    assert (worker.jobs, worker.device, worker.process, worker.searches) == ((mine,), "GPU H100", 10, 0)


def test_a_folder_of_many_files_is_counted_up_to_a_bound(tmp_path, settings, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    settings.GRASP_HOME = tmp_path
    monkeypatch.setattr(storage, "MOST_COUNTED_FILES", 3)
    (tmp_path / "jobs").mkdir()
    for number in range(5):
        (tmp_path / "jobs" / str(number)).write_bytes(b"12")
    found = {stored.title: stored for stored in storage.measure_storage()}
    assert found["Checkpoints of jobs"] == storage.Stored("Checkpoints of jobs", 3, 6, at_least=True)
    assert found["Postgres, all of it"].bytes > 1_000_000
    disk = storage.measure_disk()
    assert 0 < disk.free <= disk.total
    assert storage.Disk(1, 4).percent_used == 75
