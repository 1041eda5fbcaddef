"""The gallery: every state is made of a template of the site, and only those who may look at it do."""

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from pytest_django.fixtures import Settings

from search.views.gallery.states import ALL

pytestmark = pytest.mark.django_db


@pytest.fixture
def shown(settings: Settings) -> None:
    settings.GRASP_GALLERY = True


@pytest.mark.usefixtures("shown")
def test_every_state_is_a_whole_page_and_loads_nothing_that_asks_for_more(client: Client) -> None:
    index = client.get("/gallery/").content.decode()
    for state in ALL:
        address = f"/gallery/{state.component}/{state.name}/"
        answer = client.get(address, {"theme": "dark"})
        page = answer.content.decode()
        admin = state.component.startswith("admin-")
        assert answer.status_code == 200, address
        assert ('class="dark"' if admin else 'data-theme="dark"') in page, address
        assert admin or "<h1" in page, address
        assert "htmx-4" not in page, address
        assert f'href="{address}framed/"' in index


@pytest.mark.usefixtures("shown")
def test_the_frame_has_the_chosen_theme_width_and_direction_and_ignores_others(client: Client) -> None:
    address = "/gallery/search/one/"
    page = client.get(f"{address}framed/", {"theme": "dark", "width": "320", "direction": "rtl"}).content.decode()
    assert f'<iframe src="{address}?theme=dark&amp;direction=rtl" width="320"' in page
    assert 'dir="rtl"' in client.get(address, {"direction": "rtl"}).content.decode()
    other = client.get(f"{address}framed/", {"theme": "<b>", "width": "9", "direction": "up"}).content.decode()
    assert f'<iframe src="{address}?theme=light&amp;direction=ltr" width="1280"' in other


@pytest.mark.usefixtures("shown")
def test_a_ranked_list_says_how_sure_the_ranker_is_of_the_first_result(client: Client) -> None:
    said = "The first result is right with a probability of 48 %."
    assert said in client.get("/gallery/search/ranked/").content.decode()
    assert "The first result is right" not in client.get("/gallery/search/many/").content.decode()


@pytest.mark.usefixtures("shown")
def test_a_state_answers_its_own_script_with_made_up_items(client: Client) -> None:
    address = "/gallery/judging/one/data/next/"
    assert address in client.get("/gallery/judging/one/").content.decode()
    items = client.post(address, {}, content_type="application/json").json()["items"]
    assert [one["candidate"]["name"] for one in items] == ["Amber Road"]
    assert client.post("/gallery/judging/error/data/next/").status_code == 404


@pytest.mark.usefixtures("shown")
def test_a_state_that_there_is_not_is_not_found(client: Client) -> None:
    assert client.get("/gallery/search/nothing/").status_code == 404


def test_the_gallery_is_for_staff_unless_it_is_switched_on(client: Client) -> None:
    assert client.get("/gallery/")["Location"].startswith("/account/sign-in/")
    accounts = get_user_model().objects
    client.force_login(accounts.create_user("searcher"))
    assert client.get("/gallery/search/one/").status_code == 403
    client.force_login(accounts.create_user("keeper", is_staff=True))
    assert client.get("/gallery/search/one/").status_code == 200
