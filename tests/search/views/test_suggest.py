"""Names that complete what somebody types."""

import pytest
from django.test import Client

from search.models import KnowledgeBase

pytestmark = pytest.mark.django_db


def asked(client: Client, text: str) -> tuple[int, list[str]]:
    answer = client.get("/kb/films/suggest/", {"q": text})
    assert answer.status_code == 200
    found = answer.json()
    return found["length"], [item["name"] for item in found["items"]]


@pytest.mark.parametrize(
    ("text", "length", "names"),
    [
        ("films by ada", 3, ["Ada Holm"]),
        ("films by Ada Ho", 6, ["Ada Holm"]),
        ("amb", 3, ["amber Light", "Amber Road"]),
        ("who made Amber Road", 0, []),
        ("am", 0, []),
        ("what else is there ", 0, []),
        ("", 0, []),
        ("100% of a_b\\", 0, []),
    ],
)
def test_the_longest_ending_that_begins_a_name_is_completed(
    client: Client, films: KnowledgeBase, text: str, length: int, names: list[str]
) -> None:
    assert asked(client, text) == (length, names)


def test_names_come_with_their_types(client: Client, films: KnowledgeBase) -> None:
    assert client.get("/kb/films/suggest/", {"q": "ada"}).json()["items"] == [{"name": "Ada Holm", "type": "person"}]


def test_names_of_a_hidden_knowledge_base_are_not_told(client: Client, films: KnowledgeBase) -> None:
    films.visibility = KnowledgeBase.Visibility.STAFF
    films.save()

    assert client.get("/kb/films/suggest/", {"q": "ada"}).status_code == 404
