"""Light and dark, remembered by a cookie."""

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(("chosen", "kept"), [("dark", "dark"), ("light", "light"), ("auto", "auto"), ("<b>", "auto")])
def test_the_chosen_colours_come_with_every_later_page(client: Client, chosen: str, kept: str) -> None:
    answer = client.post("/theme/", {"theme": chosen, "next": "/status/"})

    assert answer["Location"] == "/status/"
    assert f'data-theme="{kept}"' in client.get("/").content.decode()


@pytest.mark.parametrize("back", ["https://elsewhere.example/", "//elsewhere.example", "javascript:alert(1)", ""])
def test_the_way_back_leads_to_no_other_site(client: Client, back: str) -> None:
    assert client.post("/theme/", {"theme": "dark", "next": back})["Location"] == "/"


def test_a_forged_cookie_is_text(client: Client) -> None:
    client.cookies["theme"] = "'><script>"

    assert "'><script>" not in client.get("/").content.decode()
