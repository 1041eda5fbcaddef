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
from search.models import Job, JobLog, JobMetric, JobSchedule, KnowledgeBase, PipelineVersion, Release
from search.models.knowledge import BuildStatus
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
        address, {"knowledge_base": "films", "argument-kinds": "", "argument-vectors": "on", **fields}, follow=True
    ).content.decode()


def test_the_form_launches_the_job_that_it_describes_and_leads_to_its_page(staff: Client) -> None:
    snapshot_of()
    page = launch(staff, **{"argument-kinds": "field:plot\n\n chunk ", "argument-activate": "on"})
    [job] = Job.objects.all()
    assert (job.kind, job.knowledge_base_name, job.origin) == ("index", "films", "page")
    assert job.arguments == {"kinds": ["field:plot", "chunk"], "vectors": True, "activate": True}
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
    assert "Builds or continues the indexes of the newest import" in page
    assert "(Kind)" not in page
    assert "Unpack an upload" not in page, "the page of uploads begins it"


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
        progress={"parts": PARTS, "part": "encoding", "done": 1, "total": 2, "share": 0.625,
                  "seconds_left_range": [130, 230]},
    )  # fmt: skip
    JobLog.objects.create(job=job, text="<b>line</b>")
    JobMetric.objects.bulk_create(JobMetric(job=job, name="loss", step=step, value=1 / step) for step in range(1, 30))
    page = staff.get(reverse("admin:search_job_change", args=[job.pk])).content.decode()
    assert "Process 7 on here works on it." in page
    assert "62 %" in page
    assert "2 to 4 minutes left" in page
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
    with django_assert_max_num_queries(15):
        page = staff.get(reverse("admin:search_job_changelist")).content.decode()
    assert page.count('<progress class="job-bar"') == 30


def test_unknown_addresses_are_not_found(staff: Client) -> None:
    assert staff.get("/admin/search/job/no-id/change/").status_code == 404
    assert staff.get(reverse("admin:search_job_live", args=["00000000-0000-0000-0000-000000000000"])).status_code == 404


def test_a_schedule_offers_only_what_can_be_repeated_and_shows_how_times_are_written(staff: Client) -> None:
    address = reverse("admin:search_jobschedule_add")
    kinds = re.findall(r'<a href="\?kind=(\w+)"', staff.get(address).content.decode())
    assert "evaluate" in kinds
    assert not {"unpack", "check_backup"} & set(kinds)
    assert "half past two: 30 2 * * *" in staff.get(f"{address}?kind=evaluate").content.decode()


def test_the_result_of_an_evaluation_leads_to_its_report(staff: Client) -> None:
    evaluation = "0f6f0b1e-6a4c-4a0e-9a55-6f3d2f4f9f10"
    job = job_of(kind="evaluate", state="done", result={"evaluation": evaluation})
    page = staff.get(reverse("admin:search_job_change", args=[job.pk])).content.decode()
    assert re.search(rf'<a [^>]*href="/evaluations/{evaluation}/">Read the report</a>', page)


def schedule_of(staff: Client, address: str, **fields: str) -> str:
    """Send the form of a schedule of indexing, and return the page that answers."""
    given = {"name": "nightly", "cron": "30 2 * * *", "enabled": "on", "argument-kinds": "", "argument-vectors": "on"}
    return staff.post(address, given | fields, follow=True).content.decode()


def test_a_schedule_is_told_as_a_job_is_and_checked_as_a_whole(staff: Client) -> None:
    snapshot_of()
    address = reverse("admin:search_jobschedule_add") + "?kind=index"
    form = staff.get(address).content.decode()
    # The same pickers as the form of a single job; the release is the one that is in use when its time comes.
    assert '<option value="films">films</option>' in form
    assert 'name="arguments"' not in form
    assert 'name="release"' not in form
    page = schedule_of(staff, address, cron="61 2 * * *", knowledge_base="films")
    assert "is not a valid time" in page
    assert "The schedule was not saved." in page
    assert "This field is required." in schedule_of(staff, address)
    assert not JobSchedule.objects.exists()
    assert "The schedule nightly was saved." in schedule_of(
        staff, address, knowledge_base="films", **{"argument-kinds": "chunk"}
    )
    [schedule] = JobSchedule.objects.all()
    assert schedule.knowledge_base == KnowledgeBase.objects.get(name="films")
    assert schedule.arguments == {"kinds": ["chunk"], "vectors": True, "activate": False}
    assert schedule.next_run is not None
    assert (schedule.next_run.hour, schedule.next_run.minute) == (2, 30)


def test_a_schedule_is_changed_by_the_form_that_made_it(staff: Client) -> None:
    snapshot_of()
    schedule_of(staff, reverse("admin:search_jobschedule_add") + "?kind=index", knowledge_base="films",
                **{"argument-kinds": "chunk"})  # fmt: skip
    schedule = JobSchedule.objects.get()
    address = reverse("admin:search_jobschedule_change", args=[schedule.pk])
    form = staff.get(address).content.decode()
    assert '<option value="films" selected>films</option>' in form
    assert re.search(r"<textarea[^>]*argument-kinds[^>]*>\s*chunk</textarea>", form)
    schedule_of(staff, address, name="weekly", cron="0 6 * * 1", knowledge_base="films")
    schedule.refresh_from_db()
    assert (schedule.name, schedule.cron, schedule.arguments) == (
        "weekly", "0 6 * * 1", {"vectors": True, "activate": False}
    )  # fmt: skip
    assert "weekly" in staff.get(reverse("admin:search_jobschedule_history", args=[schedule.pk])).content.decode()


def test_a_schedule_says_what_came_of_it_with_a_link_to_its_job(staff: Client) -> None:
    job = job_of(state="done")
    schedule = JobSchedule.objects.create(
        name="nightly", cron="30 2 * * *", kind="index", last_outcome=f"its previous job has not ended: job {job.pk}"
    )
    link = f'href="{reverse("admin:search_job_change", args=[job.pk])}"'
    for address in (reverse("admin:search_jobschedule_changelist"),
                    reverse("admin:search_jobschedule_change", args=[schedule.pk])):  # fmt: skip
        page = staff.get(address).content.decode()
        assert re.search(rf"its previous job has not ended: <a [^>]*{link}>its job</a>", page)
        assert f"job {job.pk}" not in page


def test_a_schedule_of_a_kind_that_is_gone_can_be_seen_and_deleted(staff: Client) -> None:
    schedule = JobSchedule.objects.create(name="old", cron="30 2 * * *", kind="dream", last_outcome="refused: no")
    page = staff.get(reverse("admin:search_jobschedule_change", args=[schedule.pk])).content.decode()
    assert "no jobs of the kind dream any more" in page
    assert reverse("admin:search_jobschedule_delete", args=[schedule.pk]) in page


def test_who_may_only_look_at_schedules_cannot_save_one(staff: Client) -> None:
    snapshot_of()
    reader = User.objects.create_user("reader", password="x", is_staff=True)
    reader.user_permissions.add(Permission.objects.get(codename="view_jobschedule"))
    schedule = JobSchedule.objects.create(name="nightly", cron="30 2 * * *", kind="index")
    address = reverse("admin:search_jobschedule_change", args=[schedule.pk])
    staff.force_login(reader)
    page = staff.get(address).content.decode()
    assert re.search(r'name="cron"[^>]* disabled', page)
    assert not re.search(r"<button[^>]*>Save<", page)
    assert staff.post(address, {"name": "mine", "cron": "30 2 * * *"}).status_code == 403
    assert staff.get(reverse("admin:search_jobschedule_add")).status_code == 403


def test_percent_and_parts_of_a_job() -> None:
    job = Job(state="running", progress={"parts": PARTS, "part": "encoding", "done": 1, "total": 2})
    # (1 · 1 + 3 · 0.5) / 4
    assert percent_of(job) == 62
    assert [(part.name, part.percent, part.counts, part.state) for part in parts_of(job)] == [
        ("reading", 100, "10 of 10", "done"), ("encoding", 50, "1 of 2", "running"),
    ]  # fmt: skip
    assert percent_of(Job(state="done", progress={"parts": PARTS})) == 100
    assert percent_of(Job(state="queued")) == 0


def test_parts_say_of_what_they_count() -> None:
    def counts(kind: str, *parts: tuple[str, int, int | None]) -> list[str]:
        told = [{"name": name, "weight": 1.0, "done": done, "total": total} for name, done, total in parts]
        return [part.counts for part in parts_of(Job(kind=kind, state="running", progress={"parts": told}))]

    # Files are read by their bytes; indexing counts steps that mean nothing to people.
    imported = [("Checking entities", 2048, 4096), ("Loading relations", 7, 9), ("Indexing entities", 4000, 4000)]
    assert counts("import", *imported) == ["2.0\xa0KB of 4.0\xa0KB", "7 of 9 relations", ""]
    assert counts("evaluate", ("grasp", 3, 1200), ("grasp, asked again", 0, None)) == ["3 of 1,200 questions", ""]
    learned = [("planner: plans", 60, 60), ("planner: trial: learning", 3, 40), ("planner: judging: grasp", 5, 10)]
    assert counts("train_all", *learned) == ["60 of 60 questions", "3 of 40 steps", "5 of 10 questions"]
    assert counts("kind that is gone", ("part", 1, 2)) == ["1 of 2"]


def test_a_job_whose_process_is_gone_says_so() -> None:
    job = Job(state="running", lease_until=timezone.now() - timedelta(seconds=1))
    assert (
        sentence_of(job)
        == "Its process has not been heard of; another worker goes on with it from its last checkpoint."
    )


def test_the_first_job_of_its_kind_differs_from_nothing() -> None:
    assert all(one.before is None for one in configuration(job_of()))


def test_arguments_are_shown_as_words() -> None:
    assert [one.name for one in configuration(job_of(arguments={"allow_val": True}))][-1] == "allow val"


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


def test_what_a_job_made_is_promoted_from_its_page_by_who_may(api: Client, films: KnowledgeBase) -> None:
    release = Release.objects.create(
        knowledge_base=films, number=2, snapshot=films.active_release.snapshot, status=BuildStatus.READY
    )
    job = job_of(
        state="done", result={"knowledge_base": "films", "release": "films-2", "snapshot": release.snapshot_id}
    )
    viewer = User.objects.create_user("viewer", password="x", is_staff=True)
    viewer.user_permissions.add(Permission.objects.get(codename="view_job"))
    api.force_login(viewer)
    address, page = (
        reverse("admin:search_job_promote", args=[job.pk]),
        reverse("admin:search_job_change", args=[job.pk]),
    )
    assert "Promote" not in api.get(page).content.decode()
    assert api.post(address).status_code == 403
    viewer.user_permissions.add(Permission.objects.get(codename="change_knowledgebase"))
    shown = api.get(page).content.decode()
    assert "Promote: use release films-2" in shown
    assert reverse("admin:search_release_change", args=[release.pk]) in shown
    assert "release films-2: searches do not use it" in shown
    assert api.get(address).status_code == 405

    shown = api.post(address, follow=True).content.decode()

    assert "The next searches of films use release films-2." in shown
    assert "Promote" not in shown
    films.refresh_from_db()
    assert films.active_release == release


def test_a_pipeline_version_is_promoted_and_links_to_its_page(staff: Client, films: KnowledgeBase) -> None:
    version = PipelineVersion.objects.create(knowledge_base=films, pipeline="path", version=3)
    evaluation = "0f6f0b1e-6a4c-4a0e-9a55-6f3d2f4f9f10"
    result = {"knowledge_base": "films", "pipeline": "path", "pipeline_version": 3, "release": "films-1",
              "evaluation": evaluation}  # fmt: skip
    job = job_of(kind="tune", state="done", result=result)
    shown = staff.post(reverse("admin:search_job_promote", args=[job.pk]), follow=True).content.decode()
    assert "The next searches of films use path 3." in shown
    assert reverse("admin:search_pipelineversion_change", args=[version.pk]) in shown
    assert f"/evaluations/{evaluation}/" in shown
    version.refresh_from_db()
    assert version.active


@pytest.mark.parametrize(
    ("kind", "state", "result"),
    [
        ("index", "failed", {"knowledge_base": "films", "release": "films-1"}),
        ("index", "done", {"knowledge_base": "films", "release": "films-99"}),
        ("index", "done", None),
        # It was asked of this release and made none.
        ("evaluate", "done", {"knowledge_base": "films", "release": "films-1"}),
        ("removed", "done", {"knowledge_base": "films", "release": "films-1"}),
        ("tune", "done", {"knowledge_base": "films", "pipeline": "path", "pipeline_version": None}),
    ],
)
def test_a_job_that_made_nothing_promotes_nothing(
    staff: Client, films: KnowledgeBase, kind: str, state: str, result: object
) -> None:
    job = job_of(kind=kind, state=state, result=result)
    assert "Promote" not in staff.get(reverse("admin:search_job_change", args=[job.pk])).content.decode()
    shown = staff.post(reverse("admin:search_job_promote", args=[job.pk]), follow=True).content.decode()
    assert "neither a release nor a version of a pipeline" in shown


def test_what_a_job_used_is_shown_with_units(staff: Client) -> None:
    used = {"memory_peak_mb": 20480.0, "written_mb": 12.4, "gpu_memory_peak_mb": 512.0, "processor_seconds": 3.25}
    page = staff.get(reverse("admin:search_job_change", args=[job_of(resources=used).pk])).content.decode()
    for name, amount in (("memory, most", "20.0 GB"), ("written to disk", "12 MB"), ("GPU memory, most", "512 MB")):
        assert f"<dt>{name}</dt><dd>{amount}</dd>" in page
    assert "<dt>processor time</dt><dd>3.2 s</dd>" in page


def test_a_job_has_a_name_and_its_knowledge_base_a_column_and_a_filter(staff: Client) -> None:
    job_of(kind="import", state="done", arguments={"name": "museum"}, knowledge_base_name="museum")
    job_of(kind="backup", state="done", knowledge_base_name="")
    page = staff.get(reverse("admin:search_job_changelist")).content.decode()
    assert "Import of museum</a>" in page
    assert ">Backup</a>" in page
    assert re.search(r'<td class="field-base[^>]*>\s*museum', page)
    assert "knowledge base name" not in page
    chosen = staff.get(reverse("admin:search_job_changelist"), {"kind": "import"}).content.decode()
    assert "Import of museum</a>" in chosen
    assert ">Backup</a>" not in chosen
    assert "Check a backup" not in chosen, "only kinds of which there is a job are offered"


def test_the_result_of_an_import_is_tables(staff: Client) -> None:
    group = {"kind": "not a number", "column": "price", "number": 2, "examples": [{"path": "a.csv", "row": 3}]}
    result = {"knowledge_base": "museum", "nodes": 5, "seconds": {"Reading": 0.5}, "fault_groups": [group],
              "faults": [{"row": 3}], "remarks": []}  # fmt: skip
    job = job_of(kind="import", state="done", result=result, arguments={"mapping": {"files": [{"path": "a.csv"}]}})
    page = staff.get(reverse("admin:search_job_change", args=[job.pk])).content.decode()
    assert "Faults by kind and column" in page
    assert re.search(r"<dt>entities</dt>\s*<dd>5", page)
    assert re.search(r'<td[^>]*data-label="column">price</td>', page)
    assert "&#x27;" not in page
    assert "{&quot;" not in page


JUDGED = {
    "switched_on": False, "reason": "It is not switched on, because MRR fell.", "before": {"MRR": 40.0},
    "after": {"MRR": 38.5}, "comparisons": [
        {"metric": "MRR", "difference": -1.5, "interval": [-3.0, 0.25], "p": 0.21, "wins": 2, "ties": 30, "losses": 4},
    ],
}  # fmt: skip


def test_a_training_shows_its_judgement_and_a_button_where_it_is_not_switched_on(
    staff: Client, films: KnowledgeBase
) -> None:
    version = PipelineVersion.objects.create(knowledge_base=films, pipeline="path", version=3)
    one, two = "0f6f0b1e-6a4c-4a0e-9a55-6f3d2f4f9f10", "0f6f0b1e-6a4c-4a0e-9a55-6f3d2f4f9f11"
    result = {"knowledge_base": "films", "pipeline": "path", "pipeline_version": 3, "reason": JUDGED["reason"],
              "metrics": {"accuracy": 0.5, "judged": JUDGED}, "evaluation": two, "evaluation_before": one}  # fmt: skip
    job = job_of(kind="train_planner", state="done", result=result)
    page = staff.get(reverse("admin:search_job_change", args=[job.pk])).content.decode()
    section = page.partition('aria-labelledby="job-judged"')[2].partition("</section>")[0]
    cells = re.findall(r"<td[^>]*>([^<]*)</td>", section)
    assert cells == ["MRR", "40.0", "38.5", "-1.50 (-3.00 to +0.25)", "0.21", "2 better, 30 the same, 4 worse"]
    assert "not switched on" in section
    assert f"a={one}&amp;b={two}" in section
    assert reverse("admin:search_job_promote", args=[job.pk]) in section
    staff.post(reverse("admin:search_job_promote", args=[job.pk]))
    version.refresh_from_db()
    assert version.active
    again = staff.get(reverse("admin:search_job_change", args=[job.pk])).content.decode()
    assert "Use it all the same" not in again


def test_each_part_of_a_training_of_everything_has_its_button(staff: Client, films: KnowledgeBase) -> None:
    version = PipelineVersion.objects.create(knowledge_base=films, pipeline="path", version=4)
    result = {"knowledge_base": "films", "pipeline": "path", "pipeline_version": 0,
              "parts": [{"part": "ranker", "version": version.pk, **JUDGED}]}  # fmt: skip
    job = job_of(kind="train_all", state="done", result=result)
    page = staff.get(reverse("admin:search_job_change", args=[job.pk])).content.decode()
    assert reverse("admin:search_pipelineversion_activate", args=[version.pk]) in page
