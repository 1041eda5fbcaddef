"""API tokens: shown once, kept as a hash, revoked for good."""

from __future__ import annotations

import io
import json
import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission, User
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django.fixtures import Settings

from search.models import ApiToken, KnowledgeBase
from search.services.access.tokens import find_token, make_token, revoke_token

pytestmark = pytest.mark.django_db
SECRET = "/api/v1/knowledge-bases/films/"


@pytest.fixture
def member(films: KnowledgeBase) -> User:
    """Somebody who alone may see the films."""
    films.visibility = KnowledgeBase.Visibility.MEMBERS
    films.save()
    user = User.objects.create_user("member")
    films.members.add(user)
    return user


def status(text: str) -> int:
    return Client().get(SECRET, headers={"Authorization": f"Token {text}"}).status_code


def test_a_token_opens_what_its_account_may_see_until_it_is_revoked(member: User) -> None:
    row, text = make_token(member, "a script")
    assert Client().get(SECRET).status_code == 404
    assert status(text) == 200
    revoke_token(row)
    assert status(text) == 401


def test_a_token_of_an_account_that_is_closed_opens_nothing(member: User) -> None:
    _, text = make_token(member)
    User.objects.update(is_active=False)
    assert status(text) == 401


@pytest.mark.parametrize("given", ["Token", "Token ", "Token x", "Token a b", "token \xff", "Token " + "x" * 5000])
def test_a_token_that_was_never_made_is_a_problem_that_says_so(films: KnowledgeBase, given: str) -> None:
    answer = Client().get(SECRET, headers={"Authorization": given})
    assert (answer.status_code, answer["Content-Type"]) == (401, "application/problem+json")
    assert answer["WWW-Authenticate"] == "Token"


def test_nothing_that_is_stored_opens_anything(member: User) -> None:
    row, text = make_token(member)
    stored = [str(value) for value in ApiToken.objects.filter(pk=row.pk).values_list().get()]
    assert not any(text in value for value in stored)
    assert find_token(row.digest) is None
    assert row.beginning == text[:10]


def test_the_last_use_is_noted_to_the_minute(member: User, django_assert_num_queries) -> None:
    row, text = make_token(member)
    assert find_token(text)
    row.refresh_from_db()
    assert row.last_used is not None
    with django_assert_num_queries(1):
        find_token(text)


def test_the_command_prints_a_token_that_works(member: User) -> None:
    out = io.StringIO()
    call_command("create_token", "member", "--name", "nightly", stdout=out)
    assert status(out.getvalue().strip()) == 200
    assert ApiToken.objects.get().name == "nightly"
    out = io.StringIO()
    call_command("create_token", "member", "--json", stdout=out)
    assert status(json.loads(out.getvalue())["token"]) == 200


def test_the_command_makes_none_for_nobody() -> None:
    with pytest.raises(CommandError, match="no active account 'nobody'") as raised:
        call_command("create_token", "nobody")
    assert raised.value.returncode == 2


def test_the_admin_shows_a_new_token_once_and_revokes_it(member: User) -> None:
    keeper = Client()
    keeper.force_login(User.objects.create_superuser("keeper", password="x"))
    made = keeper.post(reverse("admin:search_apitoken_add"), {"user": member.pk, "name": "a script"})
    assert "no-store" in made["Cache-Control"]
    found = re.search(r'<code id="token"[^>]*>(grasp_[\w-]+)</code>', made.content.decode())
    assert found is not None
    assert status(found.group(1)) == 200

    place = reverse("admin:search_apitoken_changelist")
    listed = keeper.get(place).content.decode()
    assert f"{found.group(1)[:10]}…" in listed
    assert found.group(1) not in listed
    row = ApiToken.objects.get()
    assert keeper.get(reverse("admin:search_apitoken_change", args=[row.pk])).status_code == 200
    keeper.post(place, {"action": "revoke", "_selected_action": [row.pk]})
    assert status(found.group(1)) == 401
    assert "revoked" in keeper.get(place).content.decode()


def test_staff_make_tokens_for_themselves_and_see_nobody_elses(member: User) -> None:
    other = User.objects.create_superuser("keeper", password="x")
    _, of_keeper = make_token(other)
    staff = User.objects.create_user("staff", is_staff=True)
    staff.user_permissions.set(Permission.objects.filter(codename__endswith="apitoken"))
    client = Client()
    client.force_login(staff)
    place = reverse("admin:search_apitoken_add")
    assert "Select a valid choice" in client.post(place, {"user": other.pk, "name": ""}).content.decode()
    assert client.post(place, {"user": staff.pk, "name": ""}).status_code == 200
    assert [token.user for token in ApiToken.objects.exclude(user=other)] == [staff]
    assert of_keeper[:10] not in client.get(reverse("admin:search_apitoken_changelist")).content.decode()


def test_who_manages_accounts_sees_and_revokes_the_tokens_of_all_but_makes_none_for_others(member: User) -> None:
    token, text = make_token(member)
    manager = User.objects.create_user("manager", is_staff=True)
    manager.user_permissions.set(Permission.objects.filter(codename__in=("change_user", "view_apitoken",
        "add_apitoken", "change_apitoken", "delete_apitoken")))  # fmt: skip
    client = Client()
    client.force_login(manager)
    place = reverse("admin:search_apitoken_changelist")
    assert text[:10] in client.get(place).content.decode()
    made = client.post(reverse("admin:search_apitoken_add"), {"user": member.pk, "name": ""})
    assert "Select a valid choice" in made.content.decode()
    client.post(place, {"action": "revoke", "_selected_action": [token.pk]})
    assert status(text) == 401


def test_a_token_works_for_the_days_of_the_site_and_then_opens_nothing(member: User, settings: Settings) -> None:
    settings.GRASP_TOKEN_DAYS = 3
    row, text = make_token(member)
    assert row.expires is not None
    assert timedelta(days=2, hours=23) < row.expires - timezone.now() <= timedelta(days=3)
    assert status(text) == 200
    ApiToken.objects.filter(pk=row.pk).update(expires=timezone.now() - timedelta(seconds=1))
    assert status(text) == 401
    assert "expired" in Client().get(SECRET, headers={"Authorization": f"Token {text}"}).json()["detail"]


def test_a_token_of_before_there_were_times_works_on_and_the_list_says_so(member: User, client: Client) -> None:
    row, text = make_token(member, days=0)
    assert row.expires is None
    assert status(text) == 200
    client.force_login(User.objects.create_superuser("root"))
    shown = client.get(reverse("admin:search_apitoken_changelist")).content.decode()
    assert "never expires" in shown
    assert "it is revoked" in shown


@pytest.mark.parametrize(("days", "expires"), [("30", True), ("0", False)])
def test_the_command_takes_the_days(member: User, days: str, expires: bool) -> None:
    out = io.StringIO()
    call_command("create_token", "member", "--days", days, "--json", stdout=out)
    told = json.loads(out.getvalue())["expires"]
    assert (told is not None) == expires
    assert (ApiToken.objects.get().expires is not None) == expires


@pytest.mark.parametrize("days", ["-1", "36501"])
def test_days_that_no_token_works_are_refused_with_a_sentence(member: User, days: str) -> None:
    with pytest.raises(CommandError, match="A token works for 1 to 36,500 days") as refused:
        call_command("create_token", "member", "--days", days)
    assert refused.value.returncode == 2
    assert not ApiToken.objects.exists()


def test_the_form_takes_the_days_and_the_page_says_until_when(member: User, client: Client) -> None:
    root = User.objects.create_superuser("root")
    client.force_login(root)
    address = reverse("admin:search_apitoken_add")
    assert 'value="365"' in client.get(address).content.decode()
    page = client.post(address, {"user": root.pk, "name": "x", "days": "7"}).content.decode()
    made = ApiToken.objects.get()
    assert made.expires is not None
    assert f"{made.expires:%Y-%m-%d}" in page
    assert "greater than or equal to 0" in client.post(address, {"user": root.pk, "days": "-1"}).content.decode()
    assert ApiToken.objects.count() == 1
