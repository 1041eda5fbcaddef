"""Signing in, for everybody; and what stops whoever tries out passwords."""

from __future__ import annotations

import base64

import pytest
from django.conf import settings as site
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from grasp_site import gate
from grasp_site.heartbeat import broker
from search.models import KnowledgeBase
from search.services.access import sign_in

pytestmark = pytest.mark.django_db
PLACE = "/account/sign-in/"
PASSWORD = "amber-road-1999"


@pytest.fixture(autouse=True)
def nothing_counted(services: object) -> None:
    client = broker(site.REDIS_URL)
    for key in client.scan_iter(f"{gate.PREFIX}*"):
        client.delete(key)


@pytest.fixture
def member() -> User:
    return User.objects.create_user("member", password=PASSWORD)


def enter(client: Client, name: str = "member", password: str = PASSWORD, **more: str) -> int:
    return client.post(PLACE, {"username": name, "password": password, **more}).status_code


def test_somebody_who_is_no_staff_signs_in_and_out_and_sees_it(
    client: Client, films: KnowledgeBase, member: User
) -> None:
    films.visibility = KnowledgeBase.Visibility.MEMBERS
    films.save()
    films.members.add(member)
    assert "Sign in" in client.get("/").content.decode()
    assert "Films" not in client.get("/").content.decode()

    answer = client.post(PLACE, {"username": "member", "password": PASSWORD, "next": "/status/"})
    assert answer["Location"] == "/status/"
    page = client.get("/").content.decode()
    assert "Films" in page
    assert "member</a>" in page
    assert '<a href="/admin/">' not in page

    assert client.get("/account/sign-out/").status_code == 405
    assert client.post("/account/sign-out/")["Location"] == "/"
    assert "Films" not in client.get("/").content.decode()


def test_signing_in_leads_to_no_other_site(client: Client, member: User) -> None:
    answer = client.post(PLACE, {"username": "member", "password": PASSWORD, "next": "https://evil.example/"})
    assert answer["Location"] == "/"


def test_a_password_is_changed_by_who_knows_the_old_one(client: Client, member: User) -> None:
    place = "/account/password/"
    assert client.get(place)["Location"] == f"{PLACE}?next={place}"
    enter(client)
    wrong = {"old_password": "x", "new_password1": "birch-street-2011", "new_password2": "birch-street-2011"}
    assert "Nothing has been changed yet" in client.post(place, wrong).content.decode()
    assert client.post(place, wrong | {"old_password": PASSWORD})["Location"] == "/account/password/changed/"
    assert client.get("/account/password/changed/").status_code == 200
    assert enter(Client()) == 200
    assert enter(Client(), password="birch-street-2011") == 302


def test_the_admin_has_no_door_of_its_own(client: Client, member: User) -> None:
    assert "main" in client.get("/admin/login/?next=/admin/").content.decode()
    assert client.get("/admin/", follow=True).redirect_chain[-1][0].startswith("/admin/login/")
    enter(client)
    page = client.get("/admin/", follow=True).content.decode()
    assert "signed in as <b>member</b>, who may not open that page" in page
    User.objects.create_superuser("keeper", password=PASSWORD)
    answer = client.post("/admin/login/", {"username": "keeper", "password": PASSWORD, "next": "/admin/"})
    assert answer["Location"] == "/admin/"


@pytest.mark.parametrize("place", [PLACE, "/admin/login/"])
def test_after_too_many_wrong_passwords_not_even_the_right_one_is_tried(member: User, place: str) -> None:
    client = Client()
    for _ in range(sign_in.MOST_TOGETHER):
        assert client.post(place, {"username": "member", "password": "wrong"}).status_code == 200
    refused = client.post(place, {"username": "member", "password": PASSWORD})
    assert refused.status_code == 429
    assert 0 < int(refused["Retry-After"]) <= sign_in.PERIOD
    assert "Too many attempts to sign in. Try again in 5 min." in refused.content.decode()
    assert "_auth_user_id" not in client.session
    # The same account from another address is another matter, and so is the same name in capitals.
    assert enter(Client(REMOTE_ADDR="192.0.2.9")) == 302
    assert enter(Client(), name="MEMBER") == 429


def test_one_address_tries_no_more_than_so_many_names(member: User) -> None:
    statuses = [enter(Client(), name=f"name-{n}") for n in range(sign_in.MOST_OF_ADDRESS + 1)]
    assert statuses == [200] * sign_in.MOST_OF_ADDRESS + [429]
    assert enter(Client(REMOTE_ADDR="192.0.2.9")) == 302


def test_one_name_is_tried_from_no_more_than_so_many_addresses(member: User) -> None:
    for n in range(sign_in.MOST_OF_NAME):
        assert enter(Client(REMOTE_ADDR=f"198.51.{n}.1"), password="wrong") == 200
    assert enter(Client(REMOTE_ADDR="203.0.113.1")) == 429


def test_who_knows_the_password_is_never_counted(member: User) -> None:
    assert {enter(Client()) for _ in range(sign_in.MOST_OF_ADDRESS + 5)} == {302}


def test_a_name_and_password_with_each_request_open_nothing_unless_the_site_says_so(
    api: Client, films: KnowledgeBase, member: User
) -> None:
    films.visibility = KnowledgeBase.Visibility.MEMBERS
    films.save()
    films.members.add(member)
    given = base64.b64encode(f"member:{PASSWORD}".encode()).decode()
    answer = api.get("/api/v1/knowledge-bases/films/", headers={"Authorization": f"Basic {given}"})
    assert answer.status_code == 404


def test_without_valkey_nobody_signs_in_and_the_page_says_why(client: Client, member: User, settings) -> None:
    settings.REDIS_URL = "unix:///nowhere/valkey.sock"
    page = client.post(reverse("sign-in"), {"username": "member", "password": PASSWORD})
    assert page.status_code == 503
    assert "Valkey does not answer" in page.content.decode()
