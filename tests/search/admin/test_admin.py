"""The admin's pages: they open, cost the same however long the lists are, and change nothing but through services."""

from __future__ import annotations

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from search.models import KnowledgeBase, PipelineVersion, Release, SearchRun, VectorSet
from search.models.knowledge import BuildStatus
from search.services.pipelines.save_pipeline_version import activate_pipeline_version
from search.services.searches.request_search import request_search
from search.services.searches.run_search import run_search

pytestmark = pytest.mark.django_db
MODELS = ("knowledgebase", "release", "snapshot", "vectorset", "pipelineversion", "searchrun")
EVIDENCE = MODELS[1:]


@pytest.fixture
def staff(api: Client) -> Client:
    api.force_login(User.objects.create_superuser("admin", password="x"))
    return api


@pytest.fixture
def asked(films: KnowledgeBase) -> SearchRun:
    """A search that was answered, over a knowledge base with everything that a page can show."""
    release = Release.objects.get()
    release.vector_set = VectorSet.objects.create(
        snapshot=release.snapshot, encoder="MiniLM", dimensions=384, status=BuildStatus.READY
    )
    release.save()
    PipelineVersion.objects.create(knowledge_base=films, pipeline="path", version=1, options={"fuse.k": 9.0})
    return run_search(request_search(knowledge_base="films", question="<b>Who?</b>", enqueue=False).pk)


def rows(model: str) -> list[int]:
    return list(apps.get_model("search", model)._default_manager.values_list("pk", flat=True))


@pytest.mark.parametrize("model", MODELS)
def test_every_list_and_every_row_opens(staff: Client, asked: SearchRun, model: str) -> None:
    listed = staff.get(reverse(f"admin:search_{model}_changelist"))
    assert listed.status_code == 200
    [pk] = rows(model)
    row = staff.get(reverse(f"admin:search_{model}_change", args=[pk]))
    assert row.status_code == 200
    # What a list shows as a coloured label is a pair; no page of one row may show it as such.
    assert "(&#x27;" not in row.content.decode()


@pytest.mark.parametrize("model", EVIDENCE)
def test_evidence_can_neither_be_made_nor_deleted(staff: Client, asked: SearchRun, model: str) -> None:
    [pk] = rows(model)
    if model != "pipelineversion":
        assert staff.get(reverse(f"admin:search_{model}_add")).status_code == 403
    if model != "release":
        assert staff.post(reverse(f"admin:search_{model}_delete", args=[pk]), {"post": "yes"}).status_code == 403
    assert staff.post(reverse(f"admin:search_{model}_change", args=[pk]), {}).status_code == 403
    assert rows(model) == [pk]


def test_a_list_of_searches_costs_the_same_however_long_it_is(
    staff: Client, asked: SearchRun, django_assert_max_num_queries
) -> None:
    address = reverse("admin:search_searchrun_changelist")
    for _ in range(20):
        request_search(knowledge_base="films", question="Who?", enqueue=False)
    with django_assert_max_num_queries(14):
        assert staff.get(address).status_code == 200


def test_searches_can_be_found_by_their_words_and_their_state(staff: Client, asked: SearchRun) -> None:
    failed_run = request_search(knowledge_base="films", question="Where?", enqueue=False)
    SearchRun.objects.filter(pk=failed_run.pk).update(status=SearchRun.Status.FAILED)
    address = reverse("admin:search_searchrun_changelist")
    assert "&lt;b&gt;Who?&lt;/b&gt;" in staff.get(address, {"q": "Who"}).content.decode()
    failed = staff.get(address, {"status__exact": "failed"}).content.decode()
    assert "Who?" not in failed
    assert "Where?" in failed


def test_a_search_shows_its_steps_with_what_they_gave(staff: Client, asked: SearchRun) -> None:
    page = staff.get(reverse("admin:search_searchrun_change", args=[asked.pk])).content.decode()
    for name in ("traverse", "rerank", "No reranker is configured", "&quot;method&quot;: &quot;static&quot;"):
        assert name in page
    assert "<b>Who?</b>" not in page


def test_a_snapshot_shows_its_types_relations_and_seconds(staff: Client, asked: SearchRun) -> None:
    [pk] = rows("snapshot")
    page = staff.get(reverse("admin:search_snapshot_change", args=[pk])).content.decode()
    for text in ("directed by", "year (number)", "0.20"):
        assert text in page


def second_release(films: KnowledgeBase, status: str = BuildStatus.READY) -> Release:
    assert films.active_release is not None
    return Release.objects.create(knowledge_base=films, number=2, snapshot=films.active_release.snapshot, status=status)


def test_another_release_can_be_let_to_answer(staff: Client, films: KnowledgeBase) -> None:
    release = second_release(films)
    asked = {"action": "let_answer", "_selected_action": [release.pk]}
    answer = staff.post(reverse("admin:search_release_changelist"), asked, follow=True)
    assert "films-2 is now the active release of films" in answer.content.decode()
    films.refresh_from_db()
    assert films.active_release == release


def test_a_release_that_is_not_ready_is_refused_with_the_reason(staff: Client, films: KnowledgeBase) -> None:
    release = second_release(films, BuildStatus.FAILED)
    asked = {"action": "let_answer", "_selected_action": [release.pk]}
    answer = staff.post(reverse("admin:search_release_changelist"), asked, follow=True)
    assert "only a release that is ready can be searched" in answer.content.decode()
    films.refresh_from_db()
    assert films.active_release != release


def form_of(films: KnowledgeBase, **changed: object) -> dict[str, object]:
    return {
        "title": films.title, "description": "", "examples": "", "visibility": films.visibility, "domain": "",
        "language": "en", "licence": "", "source": "", "active_release": films.active_release_id,
        "releases-TOTAL_FORMS": 0, "releases-INITIAL_FORMS": 0, **changed,
    }  # fmt: skip


def test_texts_visibility_and_active_release_are_changed_in_one_form(staff: Client, films: KnowledgeBase) -> None:
    release = second_release(films)
    address = reverse("admin:search_knowledgebase_change", args=[films.pk])
    changed = form_of(films, title="Moving pictures", visibility="staff", active_release=release.pk)
    answer = staff.post(address, changed, follow=True)
    assert "films-2 is now the active release of films" in answer.content.decode()
    films.refresh_from_db()
    assert (films.title, films.visibility, films.active_release) == ("Moving pictures", "staff", release)
    assert films.active_release.activated is not None


def test_examples_are_given_and_shown_as_lines(staff: Client, films: KnowledgeBase) -> None:
    address = reverse("admin:search_knowledgebase_change", args=[films.pk])
    assert staff.post(address, form_of(films, examples="Who made Amber Road?\n\n  Films of 2019 \n")).status_code == 302
    films.refresh_from_db()
    assert films.examples == ["Who made Amber Road?", "Films of 2019"]
    assert "Who made Amber Road?\nFilms of 2019</textarea>" in staff.get(address).content.decode()
    refused = staff.post(address, form_of(films, examples="short\n" + "x" * 2_001))
    assert "Line 2 has 2,001 characters; 2,000 are the most." in refused.content.decode()
    films.refresh_from_db()
    assert films.examples == ["Who made Amber Road?", "Films of 2019"]


def test_a_release_of_another_knowledge_base_cannot_be_chosen(staff: Client, films: KnowledgeBase) -> None:
    other = KnowledgeBase.objects.create(name="other")
    foreign = Release.objects.create(
        knowledge_base=other, number=1, snapshot=films.active_release.snapshot, status=BuildStatus.READY
    )
    address = reverse("admin:search_knowledgebase_change", args=[films.pk])
    answer = staff.post(address, form_of(films, active_release=foreign.pk))
    assert answer.status_code == 200
    films.refresh_from_db()
    assert films.active_release != foreign


def two_versions(films: KnowledgeBase) -> tuple[PipelineVersion, PipelineVersion]:
    first, second = (
        PipelineVersion.objects.create(knowledge_base=films, pipeline="path", version=n, options={"fuse.k": 5.0 + n})
        for n in (1, 2)
    )
    activate_pipeline_version(second)
    return first, second


def active(films: KnowledgeBase) -> list[int]:
    return list(PipelineVersion.objects.filter(knowledge_base=films, active=True).values_list("version", flat=True))


def test_an_older_version_of_a_pipeline_is_made_active_by_its_button(staff: Client, films: KnowledgeBase) -> None:
    first, second = two_versions(films)
    place = reverse("admin:search_pipelineversion_activate", args=[first.pk])
    assert f'formaction="{place}"' in staff.get(
        reverse("admin:search_pipelineversion_change", args=[first.pk])
    ).content.decode()  # fmt: skip
    assert "Make active</button>" not in staff.get(
        reverse("admin:search_pipelineversion_change", args=[second.pk])
    ).content.decode()  # fmt: skip

    answer = staff.post(place, follow=True)

    assert "The next searches of Films use path 1." in answer.content.decode()
    assert active(films) == [1]
    assert request_search(knowledge_base="films", question="Who?", enqueue=False).pipeline_number == 1
    assert staff.get(place).status_code == 405
    assert staff.post(reverse("admin:search_pipelineversion_activate", args=[10_000])).status_code == 404


def test_the_list_makes_one_version_active_and_not_two_of_a_pipeline(staff: Client, films: KnowledgeBase) -> None:
    first, second = two_versions(films)
    place = reverse("admin:search_pipelineversion_changelist")

    both = {"action": "make_active", "_selected_action": [first.pk, second.pk]}
    assert "only one of them can be active" in staff.post(place, both, follow=True).content.decode()
    assert active(films) == [2]
    staff.post(place, {"action": "make_active", "_selected_action": [first.pk]})
    assert active(films) == [1]


def test_who_may_only_look_at_versions_cannot_make_one_active(api: Client, films: KnowledgeBase) -> None:
    first, _ = two_versions(films)
    looker = User.objects.create_user("looker", is_staff=True)
    looker.user_permissions.add(Permission.objects.get(codename="view_pipelineversion"))
    api.force_login(looker)

    assert api.post(reverse("admin:search_pipelineversion_activate", args=[first.pk])).status_code == 403
    assert active(films) == [2]


def test_the_menu_leads_to_servers_calls_and_the_prompt_of_a_question(staff: Client) -> None:
    page = staff.get(reverse("admin:index")).content.decode()
    for name in ("search_endpoint_changelist", "search_languagemodelcall_changelist", "search_endpoint_prompt"):
        assert f'href="{reverse(f"admin:{name}")}"' in page
    assert 'href="/settings/"' in page


@pytest.mark.parametrize(
    ("place", "title"),
    [
        ("search_release_changelist", "Releases"),
        ("search_searchrun_changelist", "Searches"),
        ("search_services", "Services"),
        ("index", "Overview"),
    ],
)
def test_only_the_present_page_is_marked_in_the_menu(
    staff: Client, films: KnowledgeBase, place: str, title: str
) -> None:
    page = staff.get(reverse(f"admin:{place}")).context

    items = [item for group in page["sidebar_navigation"] for item in group["items"]]
    assert [item["title"] for item in items if item["active"]] == [title]


def test_the_page_of_services_has_a_title_and_names_what_is_down_and_why(staff: Client) -> None:
    page = staff.get(reverse("admin:search_services")).content.decode()
    title = "Services, workers and queues | GRASP search</title>"
    for text in (title, "postgres", "valkey", "No search worker is running", "waiting: no worker for queue search"):
        assert text in page


def test_the_first_page_shows_what_runs_and_what_was_asked(staff: Client, asked: SearchRun) -> None:
    page = staff.get(reverse("admin:index")).content.decode()
    for text in ("Searches answered", "No search worker is running", "films-1", "&lt;b&gt;Who?&lt;/b&gt;"):
        assert text in page


@pytest.mark.parametrize("app", ["search", "training"])
def test_the_breadcrumb_of_an_app_opens_the_list_of_its_pages(staff: Client, films: KnowledgeBase, app: str) -> None:
    # Every page of a row has this breadcrumb. Unfold's search box has the same address as the page of `search`.
    html = staff.get(reverse("admin:app_list", kwargs={"app_label": app})).content.decode()
    models = [model for model in admin.site._registry if model._meta.app_label == app]
    assert models
    for model in models:
        assert f'href="{reverse(f"admin:{app}_{model._meta.model_name}_changelist")}"' in html


def test_the_search_box_of_the_admin_still_answers(staff: Client, films: KnowledgeBase) -> None:
    found = staff.get("/admin/search/?s=trained").content.decode()
    assert reverse("admin:search_artifact_changelist") in found
    assert staff.get("/admin/search/?s=").content == b""


def test_nobody_else_gets_in(api: Client, films: KnowledgeBase) -> None:
    api.force_login(User.objects.create_user("somebody"))
    for name in ("admin:index", "admin:search_services", "admin:search_searchrun_changelist"):
        assert api.get(reverse(name)).status_code == 302
