"""Accounts in the admin: a role is chosen by its name; where people land after signing in."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse

from search.services.access.roles import give_role, make_roles, role_of

pytestmark = pytest.mark.django_db
SECRET = "kestrel-over-9-lakes"


@pytest.fixture
def keeper(client: Client) -> Client:
    make_roles()
    client.force_login(User.objects.create_superuser("keeper", password=SECRET))
    return client


def stored(name: str) -> User:
    return User.objects.get(username=name)


def test_a_new_account_has_the_role_that_was_chosen(keeper: Client) -> None:
    given = {
        "username": "ada",
        "role": "annotator",
        "usable_password": "true",
        "password1": SECRET,
        "password2": SECRET,
    }
    answer = keeper.post(reverse("admin:auth_user_add"), given)
    assert answer.status_code == 302, answer.content.decode()
    assert role_of(stored("ada")) == "annotator"
    assert stored("ada").is_staff


def test_the_page_of_an_account_offers_roles_first_and_single_rights_as_advanced(keeper: Client) -> None:
    ada = User.objects.create_user("ada", password=SECRET)
    give_role(ada, "annotator")
    address = reverse("admin:auth_user_change", args=[ada.pk])
    page = keeper.get(address).content.decode()
    roles = re.findall(r'<option value="(\w*)"', page.partition('name="role"')[2].partition("</select>")[0])
    assert roles == ["", "searcher", "annotator", "admin"]
    assert '<option value="annotator" selected' in page
    assert page.index('name="role"') < page.index("Advanced: rights one by one") < page.index('name="user_permissions"')
    fields = {"username": "ada", "role": "searcher", "is_active": "on", "is_staff": "on",
              "groups": [Group.objects.get(name="annotator").pk], "date_joined_0": "2026-01-01",
              "date_joined_1": "00:00:00"}  # fmt: skip
    assert keeper.post(address, fields).status_code == 302
    assert [group.name for group in stored("ada").groups.all()] == ["searcher"]
    assert not stored("ada").is_staff


def test_other_groups_and_the_rights_that_come_with_them_stay_with_a_new_role() -> None:
    make_roles()
    ada = User.objects.create_user("ada", is_staff=True)
    ada.groups.add(Group.objects.create(name="night watch"), Group.objects.get(name="admin"))
    give_role(ada, "")
    assert [group.name for group in stored("ada").groups.all()] == ["night watch"]
    assert stored("ada").is_staff


@pytest.mark.parametrize(("role", "there"), [("annotator", "/annotate/?open=1"), ("admin", "/"), ("searcher", "/")])
def test_annotators_land_on_their_queue_and_others_where_they_search(client: Client, role: str, there: str) -> None:
    make_roles()
    give_role(User.objects.create_user("ada", password=SECRET), role)
    answer = client.post(reverse("sign-in"), {"username": "ada", "password": SECRET})
    assert answer["Location"] == there
    asked = client.post(reverse("sign-in") + "?next=/status/", {"username": "ada", "password": SECRET})
    assert asked["Location"] == "/status/"
