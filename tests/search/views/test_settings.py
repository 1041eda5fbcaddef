"""The settings page of a knowledge base: who sees it, what it saves, what it refuses, and that searches use it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from search import wiring
from search.adapters.briefing_postgres import plan_prompts
from search.models import KnowledgeBase, Release
from search.services.searches.request_search import request_search

pytestmark = pytest.mark.django_db
PLACE = "/kb/films/settings/"


@pytest.fixture
def keeper(client: Client, films: KnowledgeBase) -> Client:
    """Somebody who may change knowledge bases."""
    user = User.objects.create_user("keeper", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="change_knowledgebase"))
    client.force_login(user)
    return client


def form(**changed: str) -> dict[str, str]:
    """The form as it stands without settings; an empty value takes a box's tick away."""
    boxes = {f"/types/{key}/{name}": "on" for key in ("there", "shown", "answerable") for name in ("film", "person")}
    aliases = {"/types/aliases/film": "", "/types/aliases/person": "", "/relations/aliases/directed by": ""}
    return {
        name: value for name, value in ({"/guidance": ""} | boxes | aliases | changed).items()
        if value or "aliases" in name or name == "/guidance"
    }  # fmt: skip


def values() -> Any:
    active = KnowledgeBase.objects.get(name="films").active_settings
    return None if active is None else (active.version, active.values)


def release() -> Release:
    return Release.objects.select_related("knowledge_base__active_settings", "snapshot").get()


def test_only_keepers_see_it_and_strangers_are_sent_to_sign_in(client: Client, films: KnowledgeBase) -> None:
    for place in (PLACE, "/settings/"):
        assert client.get(place)["Location"] == f"/account/sign-in/?next={place}"
    for name, staff in (("somebody", False), ("staff", True)):
        client.force_login(User.objects.create_user(name, is_staff=staff))
        assert client.get(PLACE).status_code == 403
        assert client.post(PLACE, form()).status_code == 403
        assert client.post(f"{PLACE}back/", {"version": "1"}).status_code == 403
        assert 'href="/settings/"' not in client.get("/").content.decode()
    assert values() is None


def test_the_menu_and_the_admin_lead_to_it(keeper: Client, films: KnowledgeBase) -> None:
    assert 'href="/settings/"' in keeper.get("/").content.decode()
    assert keeper.get("/settings/")["Location"] == PLACE
    KnowledgeBase.objects.create(name="empty")
    listed = keeper.get("/settings/").content.decode()
    assert "unchanged" in listed
    assert "no active release" in listed
    assert keeper.get("/kb/empty/settings/").status_code == 404
    keeper.force_login(User.objects.create_superuser("admin"))
    page = keeper.get(f"/admin/search/knowledgebase/{films.pk}/change/").content.decode()
    assert f'href="{PLACE}"' in page


def test_a_save_is_a_version_with_what_differs_from_the_bundle(keeper: Client) -> None:
    sent = form(**{
        "/guidance": "A maker is a person.\r\n", "/types/aliases/film": "movie,  motion   picture,",
        "/types/answerable/person": "", "/relations/aliases/directed by": "made by",
    })  # fmt: skip
    assert keeper.post(PLACE, sent)["Location"] == PLACE

    assert values() == (1, {
        "guidance": "A maker is a person.",
        "types": {"film": {"aliases": ["movie", "motion picture"]}, "person": {"answerable": False}},
        "relations": {"directed by": {"aliases": ["made by"]}},
    })  # fmt: skip
    page = keeper.get(PLACE).content.decode()
    assert 'name="/types/aliases/film" value="movie, motion picture"' in page
    assert "A maker is a person.</textarea>" in page
    assert re.search(r"<b>1</b>.*keeper", page, re.DOTALL)


def test_the_same_again_makes_no_version(keeper: Client) -> None:
    for _ in range(2):
        keeper.post(PLACE, form(**{"/guidance": "Once."}))

    assert values() == (1, {"guidance": "Once."})


def test_the_next_search_uses_what_was_saved(keeper: Client) -> None:
    before = wiring.tools(release())
    keeper.post(PLACE, form(**{"/types/shown/person": "", "/types/aliases/film": "movie", "/guidance": "Films first."}))

    schema = wiring.tools(release()).schema
    assert wiring.tools(release()) is not before
    assert schema.answerable == ("film",)
    assert schema.node_type("person").hidden
    assert schema.node_type("film").aliases == ("movie",)
    prompt = plan_prompts(release()).system
    assert "Films first." in prompt
    assert "also called movie" in prompt
    assert "person" not in plan_prompts(release()).briefing.type_lines()
    assert request_search(knowledge_base="films", question="Who?", enqueue=False).settings_version == 1


def test_one_can_go_back_and_a_later_save_gets_the_next_number(keeper: Client) -> None:
    keeper.post(PLACE, form(**{"/guidance": "First."}))
    keeper.post(PLACE, form(**{"/guidance": "Second."}))
    keeper.post(f"{PLACE}back/", {"version": "1"})
    assert values() == (1, {"guidance": "First."})

    keeper.post(PLACE, form(**{"/guidance": "Third."}))
    assert values() == (3, {"guidance": "Third."})
    for number in ("9", "", "x", "-1", "9" * 30):
        assert keeper.post(f"{PLACE}back/", {"version": number}).status_code == 404
    assert keeper.get(f"{PLACE}back/").status_code == 405


def test_faults_stand_beside_their_fields_and_nothing_is_lost_or_saved(keeper: Client) -> None:
    sent = form(**{
        "/guidance": "Kept.", "/types/aliases/film": "Person, movie", "/relations/aliases/directed by": "directed-by",
        "/types/aliases/ghost": "spirit",
    })  # fmt: skip
    answer = keeper.post(PLACE, sent)

    page = answer.content.decode()
    assert answer.status_code == 400
    assert values() is None
    assert re.search(r'id="type-fault-1">&#x27;Person&#x27; means person already', page)
    assert re.search(r'id="relation-fault-1">&#x27;directed-by&#x27; is a wording of directed by already', page)
    assert "There is no type &#x27;ghost&#x27; in this knowledge base." in page
    assert "Kept.</textarea>" in page
    assert 'value="Person, movie"' in page


def test_hostile_settings_are_text(keeper: Client) -> None:
    hostile = '"><script>alert(1)</script>'
    for name in ("/guidance", "/types/aliases/film", "/types/aliases/<b>", "/relations/aliases/directed by"):
        page = keeper.post(PLACE, form(**{name: hostile}), follow=True).content.decode()
        assert "<script>alert" not in page
        assert "<b>&" not in page


def test_guidance_that_is_too_long_or_holds_nul_is_refused(keeper: Client) -> None:
    for guidance, said in (("x" * 20_001, "20,000 are the most"), ("a\x00b", "NUL")):
        answer = keeper.post(PLACE, form(**{"/guidance": guidance}))
        assert answer.status_code == 400
        assert said in answer.content.decode()
