"""Names that complete what somebody types."""

from pathlib import Path

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from search import wiring
from search.models import KnowledgeBase
from search.services.knowledge.import_snapshot import import_snapshot
from tests.search.ingest import bundles

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


@pytest.mark.parametrize(
    ("text", "names"),
    [("hol", ["Ada Holm"]), ("Holm", ["Ada Holm"]), ("st", ["Birch Street"]), ("ada h", ["Ada Holm"]), ("h", []),
     ("by holm", []), ("Ada Holm", [])],
)  # fmt: skip
def test_a_field_for_a_name_suggests_names_by_any_of_their_words(
    client: Client, tmp_path: Path, settings: Settings, text: str, names: list[str]
) -> None:
    settings.GRASP_HOME = tmp_path / "home"
    settings.GRASP_TOOLS = settings.GRASP_TOOLS | {"encoder": {"BACKEND": "tests.fakes.HashEncoder"}}
    wiring.forget()
    import_snapshot(source=bundles.write(tmp_path / "films"))
    found = client.get("/kb/films/suggest/", {"q": text, "whole": "1"}).json()
    assert [item["name"] for item in found["items"]] == names
    # What is taken takes the place of all that was typed.
    assert found["length"] == (len(text) if names else 0)
    # In a question the ordinary words must not: only the start of a name counts there.
    assert client.get("/kb/films/suggest/", {"q": "hol"}).json()["items"] == []


def test_names_of_a_hidden_knowledge_base_are_not_told(client: Client, films: KnowledgeBase) -> None:
    films.visibility = KnowledgeBase.Visibility.STAFF
    films.save()

    assert client.get("/kb/films/suggest/", {"q": "ada"}).status_code == 404
