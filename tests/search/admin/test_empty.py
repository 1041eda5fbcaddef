"""Lists of the admin with nothing in them say what to do next; a list that was only narrowed says how to see all."""

from __future__ import annotations

import re

import pytest
from django.apps import apps
from django.contrib.auth.models import Permission, User
from django.core.management import get_commands
from django.test import Client
from django.urls import reverse
from django.utils.html import escape

from search.admin import empty
from search.models import KnowledgeBase

pytestmark = pytest.mark.django_db

LISTS = {
    "search_knowledgebase": empty.KNOWLEDGE_BASES,
    "search_snapshot": empty.SNAPSHOTS,
    "search_vectorset": empty.VECTOR_SETS,
    "search_release": empty.RELEASES,
    "search_artifact": empty.ARTIFACTS,
    "search_pipelineversion": empty.PIPELINE_VERSIONS,
    "search_searchrun": empty.SEARCHES,
    "search_endpoint": empty.SERVERS,
    "search_languagemodelcall": empty.CALLS,
    "search_apitoken": empty.TOKENS,
    "auth_group": empty.GROUPS,
}


@pytest.fixture
def staff(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("admin", password="x"))
    return client


def shown(staff: Client, name: str, **asked: str) -> str:
    answer = staff.get(reverse(f"admin:{name}_changelist"), asked)
    assert answer.status_code == 200
    return answer.content.decode()


@pytest.mark.parametrize("name", LISTS)
def test_an_empty_list_says_what_to_do_next_and_no_count_of_nothing(staff: Client, name: str) -> None:
    page = shown(staff, name)
    words = LISTS[name]
    assert words.title in page
    assert escape(words.next) in page
    assert escape(words.command) in page
    kind = apps.get_model(name.replace("_", "."))._meta.verbose_name_plural
    for count in (f"0 {kind}", "0 results"):
        assert count not in " ".join(page.split())


@pytest.mark.parametrize("words", LISTS.values(), ids=lambda words: words.title)
def test_the_command_that_is_named_exists(words: empty.WhenEmpty) -> None:
    named = re.findall(r"manage\.py (\w+)", words.command)
    assert set(named) <= set(get_commands())
    assert bool(named) == bool(words.command)


def test_where_rows_can_be_added_the_list_has_the_button(staff: Client) -> None:
    button = r'<a href="{}"[^>]*>Add {}</a>'
    assert re.search(
        button.format(reverse("admin:search_endpoint_add"), "language model endpoint"), shown(staff, "search_endpoint")
    )
    assert "Add imported data" not in shown(staff, "search_snapshot")


@pytest.mark.parametrize(
    ("name", "button"),
    [
        ("search_artifact", ("search_job_launch", "?kind=train_planner", "Train a planner")),
        ("search_snapshot", ("search_import", "", "Import a knowledge base")),
        ("training_evaluation", ("search_job_launch", "?kind=evaluate", "Evaluate a question set")),
        ("training_question", ("training_questionset_add", "", "Import questions")),
    ],
)
def test_what_a_job_makes_has_the_button_that_launches_it(
    staff: Client, name: str, button: tuple[str, str, str]
) -> None:
    address, query, words = button
    whole = reverse(f"admin:{address}") + query
    assert re.search(rf'<a href="{re.escape(whole)}"[^>]*>{words}</a>', shown(staff, name))
    assert staff.get(whole).status_code == 200


def test_who_may_only_look_is_offered_no_button(client: Client) -> None:
    reader = User.objects.create_user("reader", password="x", is_staff=True)
    reader.user_permissions.add(Permission.objects.get(codename="view_artifact"))
    client.force_login(reader)
    assert "Train a planner" not in shown(client, "search_artifact")


def test_a_list_in_which_nothing_fits_is_not_called_empty(staff: Client) -> None:
    KnowledgeBase.objects.create(name="films")
    page = shown(staff, "search_knowledgebase", q="nothing of that name")
    assert "Nothing fits" in page
    assert empty.KNOWLEDGE_BASES.title not in page
    assert '<a href="?"' in page
    assert "1 knowledge base" in " ".join(shown(staff, "search_knowledgebase").split())
