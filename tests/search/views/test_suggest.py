"""Names that complete what somebody types."""

import json
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


UNSPACED = {
    "zh": "北京大学", "name": "李明", "ja": "千と千尋の神隠し", "kana": "スズキ", "ko": "서울시청",
    "th": "กรุงเทพมหานคร",
    "latin": "Ann Lee", "emoji": "🎉🎸",
}  # fmt: skip


@pytest.fixture
def unspaced(tmp_path: Path, settings: Settings) -> None:
    """A knowledge base with names of scripts that are written without spaces, indexed."""
    settings.GRASP_HOME = tmp_path / "home"
    settings.GRASP_TOOLS = settings.GRASP_TOOLS | {"encoder": {"BACKEND": "tests.fakes.HashEncoder"}}
    wiring.forget()
    nodes = [{"id": key, "type": "thing", "name": name} for key, name in UNSPACED.items()]
    folder = tmp_path / "films"
    folder.mkdir()
    (folder / "kb.json").write_text(json.dumps({"name": "films", "node_types": {"thing": {}}}))
    (folder / "nodes.jsonl").write_text("".join(json.dumps(node) + "\n" for node in nodes), encoding="utf-8")
    (folder / "edges.tsv").write_text("source\trelation\ttarget\nzh\tnear\tko\n")
    import_snapshot(source=folder)


@pytest.mark.parametrize(
    ("text", "length", "names"),
    [
        ("谁写了北", 1, ["北京大学"]),
        ("谁在北京工作北京大", 3, ["北京大学"]),
        ("导演是李", 1, ["李明"]),
        ("誰が千と千", 3, ["千と千尋の神隠し"]),
        ("これはスズ", 2, ["スズキ"]),
        # A single kana is mostly a particle.
        ("これはス", 0, []),
        ("이영화는서울", 2, ["서울시청"]),
        ("누가서", 0, []),
        ("ใครอยู่ในกรุงเท", 6, ["กรุงเทพมหานคร"]),
        ("谁导演了Ann", 3, ["Ann Lee"]),
        ("who made 🎉", 0, []),
        ("谁在哪里", 0, []),
    ],
)
def test_names_are_completed_inside_text_without_spaces(
    client: Client, unspaced: None, text: str, length: int, names: list[str]
) -> None:
    assert asked(client, text) == (length, names)
