"""The form of a new version of a pipeline, and what a version's page says differs."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from search.domain.differences import MISSING, Difference, differences
from search.models import KnowledgeBase, PipelineVersion
from search.services.pipelines.compare_versions import compare_with_before, settings_of
from search.services.pipelines.save_pipeline_version import save_pipeline_version

pytestmark = pytest.mark.django_db
FORM = reverse("admin:search_pipelineversion_add") + "?knowledge_base=films&pipeline=path"


@pytest.fixture
def staff(api: Client) -> Client:
    api.force_login(User.objects.create_superuser("admin", password="x"))
    return api


def test_the_form_saves_what_differs_from_the_defaults_and_nothing_else(staff: Client, films: KnowledgeBase) -> None:
    save_pipeline_version(knowledge_base=films, pipeline="path", options={"fuse.k": 9.0, "retrieve.depth": 5})
    page = staff.get(FORM).content.decode()
    assert re.search(r'name="setting-fuse.k"[^>]*value="9.0"|value="9.0"[^>]*name="setting-fuse.k"', page)

    # What the active version has, and the form leaves empty, is the site's default again.
    given = {"setting-fuse.k": "7", "setting-retrieve.depth": "", "note": "wider", "activate": "on"}
    shown = staff.post(FORM, given, follow=True).content.decode()

    version = PipelineVersion.objects.get(version=2)
    assert (version.options, version.note, version.active) == ({"fuse.k": 7.0}, "wider", True)
    assert version.author is not None
    assert "path 2 of Films was saved; the next searches of Films use it." in shown


def test_faults_stand_at_their_fields_and_nothing_is_saved(staff: Client, films: KnowledgeBase) -> None:
    page = staff.post(FORM, {"setting-fuse.k": "many", "setting-retrieve.depth": "-1"}).content.decode()
    assert "The version was not saved." in page
    for name, fault in (("fuse.k", "Enter a number."), ("retrieve.depth", "greater than or equal to")):
        assert fault in page[page.index(f'name="setting-{name}"') :][:1500]
    assert not PipelineVersion.objects.exists()


def test_knowledge_base_and_pipeline_are_chosen_first(staff: Client, films: KnowledgeBase) -> None:
    address = reverse("admin:search_pipelineversion_add")
    assert '<option value="films">' in staff.get(address).content.decode()
    page = staff.get(address, {"knowledge_base": "nothing", "pipeline": "path"}).content.decode()
    assert "Select a valid choice" in page


def test_who_may_not_activate_saves_a_version_that_is_not_used(api: Client, films: KnowledgeBase) -> None:
    maker = User.objects.create_user("maker", is_staff=True)
    api.force_login(maker)
    assert api.get(FORM).status_code == 403
    maker.user_permissions.add(*Permission.objects.filter(codename__in=["add_pipelineversion", "view_pipelineversion"]))
    assert "setting-fuse.k" in api.get(FORM).content.decode()
    assert api.post(FORM, {"setting-fuse.k": "7", "activate": "on"}).status_code == 302
    assert not PipelineVersion.objects.get().active


def test_a_version_shows_what_differs_from_the_default_and_from_the_one_before(
    staff: Client, films: KnowledgeBase
) -> None:
    default = settings_of("path", {})
    first = save_pipeline_version(knowledge_base=films, pipeline="path", options={"fuse.k": 9.0})
    second = save_pipeline_version(knowledge_base=films, pipeline="path", options={"retrieve.depth": 5})

    compared = compare_with_before(second)

    assert compared.before == first
    rows = {row.name: (row.default, row.before, row.now, row.changed) for row in compared.settings}
    assert rows == {
        "fuse.k": (default["fuse.k"], 9.0, 9.0, False),
        "retrieve.depth": (default["retrieve.depth"], default["retrieve.depth"], 5, True),
    }
    page = staff.get(reverse("admin:search_pipelineversion_change", args=[second.pk])).content.decode()
    assert "<strong>5</strong>" in page
    assert f"like={second.pk}" in page


def test_a_version_of_a_pipeline_that_is_gone_is_compared_by_its_options(films: KnowledgeBase) -> None:
    version = PipelineVersion.objects.create(knowledge_base=films, pipeline="gone", version=1, options={"a.b": 1})
    [row] = compare_with_before(version).settings
    assert (row.name, row.default, row.now) == ("a.b", MISSING, 1)


def test_differences_of_nested_values() -> None:
    before, after = {"a": {"b": 1, "c": [1, 2]}, "d": 4}, {"a": {"b": 1, "c": [2, 1]}, "e": None}
    assert list(differences(before, after)) == [
        Difference("a.c", [1, 2], [2, 1]), Difference("d", 4, MISSING), Difference("e", MISSING, None),
    ]  # fmt: skip
    assert list(differences(before, before)) == []
