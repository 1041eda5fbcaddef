"""The page of one entity."""

import html
import re

import pytest
from django.test import Client

from search.models import KnowledgeBase, Snapshot
from search.templatetags.search_text import entity_url
from tests.search.small import ODD_IDS

pytestmark = pytest.mark.django_db


def test_fields_and_relations_of_an_entity_are_shown(client: Client, films: KnowledgeBase) -> None:
    page = client.get("/kb/films/nodes/film/1/").content.decode()

    assert "<h1>Amber Road</h1>" in page
    assert "A road through the amber forest." in page
    assert "1999" in page
    assert '<a href="/kb/films/nodes/person/1/">Ada Holm</a>' in page
    assert "Search from here" in page


def test_relations_are_shown_from_their_other_end_too(client: Client, films: KnowledgeBase) -> None:
    page = client.get("/kb/films/nodes/person/1/").content.decode()

    assert '<span class="hop in"><span class="hop-name">is “directed by” of</span></span>' in page
    assert re.findall(r'<a href="/kb/films/nodes/film/\d/">([^<]+)</a>', page) == ["Amber Road", "amber Light"]


@pytest.mark.parametrize("node_id", ODD_IDS)
def test_every_id_has_a_page_whatever_characters_it_holds(client: Client, films: KnowledgeBase, node_id: str) -> None:
    page = client.get(entity_url("films", node_id))

    assert page.status_code == 200
    assert f"<h1>Odd {ODD_IDS.index(node_id)}</h1>" in page.content.decode()
    assert f"<code>{html.escape(node_id)}</code>" in page.content.decode()


@pytest.mark.parametrize("address", ["/kb/films/nodes/film/9/", "/kb/films/nodes/", "/kb/films/nodes/%00/"])
def test_an_entity_that_does_not_exist_is_not_found(client: Client, films: KnowledgeBase, address: str) -> None:
    assert client.get(address).status_code == 404


@pytest.mark.parametrize("page", ["0", "-1", "x", "99999999999999999999", "²"])
def test_a_page_beyond_what_there_is_shows_the_nearest(client: Client, films: KnowledgeBase, page: str) -> None:
    answer = client.get("/kb/films/nodes/film/1/", {"relation": "directed by", "direction": "out", "page": page})

    assert answer.status_code == 200
    assert "Ada Holm" in answer.content.decode()


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("/srv/private/bundles/films", "films"), ("neo4j://me:s3cret@graph.inside.example:7687/cinema", "cinema"),
        ("bolt+s://graph.inside.example:7687/cinema", "cinema"),
        ("https://me:s3cret@files.inside.example/a/b.zip", "b.zip"),
    ],
)  # fmt: skip
def test_where_an_entity_comes_from_names_no_folder_no_host_and_no_account(
    client: Client, films: KnowledgeBase, source: str, shown: str
) -> None:
    Snapshot.objects.update(source=source)
    page = client.get("/kb/films/nodes/film/1/").content.decode()
    assert f"{shown}" in page
    for part in ("private", "me:", "s3cret", "inside.example", "7687", "://graph"):
        assert part not in page
