"""Knowledge bases, their schema and their nodes over HTTP, whatever their ids hold."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from django.contrib.auth.models import User
from django.test import Client
from httpx2 import Client as Caller

from grasp_site import settings as site_settings
from search.models import KnowledgeBase, PipelineVersion
from tests.search import small

pytestmark = pytest.mark.django_db
BASES = "/api/v1/knowledge-bases/"


def node_address(node_id: str) -> str:
    return f"{BASES}films/nodes/{quote(node_id, safe='')}/"


def test_knowledge_bases_come_in_pages_with_their_counts(api: Client, films: KnowledgeBase) -> None:
    small.films("archive")
    page = api.get(BASES, {"page_size": 1}).json()
    assert (page["count"], page["previous"]) == (2, None)
    assert page["next"].endswith(f"{BASES}?page=2&page_size=1")
    [base] = page["results"]
    assert (base["name"], base["nodes"], base["edges"], base["release"]) == ("archive", 14, 3, "archive-1")


def test_what_somebody_may_not_see_is_in_no_list_and_at_no_address(api: Client, films: KnowledgeBase) -> None:
    small.films("secret", visibility="staff")
    assert [base["name"] for base in api.get(BASES).json()["results"]] == ["films"]
    assert api.get(f"{BASES}secret/").status_code == 404
    assert api.get(f"{BASES}secret/nodes/").status_code == 404
    api.force_login(User.objects.create_user("staff", is_staff=True))
    assert len(api.get(BASES).json()["results"]) == 2
    assert api.get(f"{BASES}secret/").status_code == 200


def test_the_list_costs_the_same_however_long_it_is(
    api: Client, films: KnowledgeBase, django_assert_num_queries
) -> None:
    for number in range(5):
        small.films(f"more-{number}")
    with django_assert_num_queries(2):
        assert len(api.get(BASES).json()["results"]) == 6


def test_a_schema_names_types_fields_and_relations_with_counts(api: Client, films: KnowledgeBase) -> None:
    schema = api.get(f"{BASES}films/").json()
    assert {t["name"]: t["count"] for t in schema["node_types"]} == {"film": 3, "person": 11}
    assert [f["name"] for f in schema["node_types"][0]["fields"]] == ["year", "plot"]
    assert schema["relations"][0] | {"description": ""} == {
        "name": "directed by", "description": "", "inverse": "", "aliases": [], "count": 3,
    }  # fmt: skip
    assert schema["relation_types"] == [{"source": "film", "relation": "directed by", "target": "person", "count": 3}]


def test_a_knowledge_base_without_a_release_has_an_empty_schema_and_no_nodes(api: Client, films: KnowledgeBase) -> None:
    KnowledgeBase.objects.update(active_release=None)
    assert api.get(f"{BASES}films/").json()["node_types"] == []
    assert "no active release" in api.get(f"{BASES}films/nodes/").json()["detail"]


@pytest.mark.parametrize("name", ["nothing", "%00", "a%2Fb", "..%2F.."])
def test_a_knowledge_base_that_is_not_there_is_not_found(api: Client, name: str) -> None:
    for address in (f"{BASES}{name}/", f"{BASES}{name}/nodes/", f"{BASES}{name}/nodes/x/"):
        assert api.get(address).status_code == 404


@pytest.mark.parametrize("node_id", [*small.ODD_IDS, "film/1"])
def test_a_node_is_found_whatever_its_id_holds(api: Client, films: KnowledgeBase, node_id: str) -> None:
    answer = api.get(node_address(node_id))
    assert answer.status_code == 200
    assert answer.json()["id"] == node_id


@pytest.mark.parametrize("node_id", ["a/b//", "film", "\x00", "x" * 5000, "film/1/"])
def test_a_node_that_is_not_there_is_not_found(api: Client, films: KnowledgeBase, node_id: str) -> None:
    assert api.get(node_address(node_id)).status_code == 404


def test_a_node_shows_fields_and_relations(api: Client, films: KnowledgeBase) -> None:
    node = api.get(node_address("film/1")).json()
    assert (node["type"], node["name"]) == ("film", "Amber Road")
    assert node["fields"] == {"year": 1999, "plot": "A road through the amber forest."}
    [group] = node["relations"]
    assert (group["relation"], group["direction"], group["count"]) == ("directed by", "out", 1)
    assert [item["id"] for item in group["items"]] == ["person/1"]


@pytest.mark.parametrize("page", ["0", "99", "x", "-1", "1" * 50, "²"])
def test_a_page_of_relations_that_is_not_there_is_the_nearest_one(api: Client, films: KnowledgeBase, page: str) -> None:
    asked = {"relation": "directed by", "direction": "in", "page": page}
    [group] = api.get(node_address("person/1"), asked).json()["relations"]
    assert (group["page"], group["count"]) == (1, 2)


def names(api: Client, **asked: object) -> list[str]:
    return [node["name"] for node in api.get(f"{BASES}films/nodes/", asked).json()["results"]]


def test_nodes_are_completed_from_the_beginning_of_their_names(api: Client, films: KnowledgeBase) -> None:
    assert names(api, prefix="AMB") == ["amber Light", "Amber Road"]
    assert names(api, prefix="amber r") == ["Amber Road"]
    assert names(api, prefix="odd 1", type="film") == []
    assert names(api, type="film") == ["amber Light", "Amber Road", "Birch Street"]


@pytest.mark.parametrize("prefix", ["%", "_", "\\", "'", "\x00", "é", "x" * 3000, "☃"])
def test_no_sign_stands_for_others_when_names_are_completed(api: Client, films: KnowledgeBase, prefix: str) -> None:
    assert names(api, prefix=prefix) == []


def test_an_unknown_type_is_a_fault_that_names_the_known_ones(api: Client, films: KnowledgeBase) -> None:
    answer = api.get(f"{BASES}films/nodes/", {"type": "flim"})
    assert answer.status_code == 400
    assert "film, person" in answer.json()["errors"][0]["message"]


@pytest.mark.parametrize("page", ["0", "x", "99", "last!"])
def test_a_page_that_is_not_there_is_not_found(api: Client, films: KnowledgeBase, page: str) -> None:
    assert api.get(BASES, {"page": page}).status_code == 404


@pytest.mark.parametrize("size", [1, 2, 3, 5, 14, 100, 1000])
@pytest.mark.parametrize(
    ("path", "entries"),
    [("knowledge-bases/", 3), ("knowledge-bases/films/nodes/", 14), ("knowledge-bases/films/nodes/?type=film", 3),
     ("knowledge-bases/films/nodes/?prefix=odd+1", 1), ("knowledge-bases/films/nodes/?prefix=zzz", 0),
     ("pipelines/?knowledge_base=films", 2)],
)  # fmt: skip
def test_next_leads_from_page_to_page_to_the_last_and_every_entry_comes_once(
    api: Client, films: KnowledgeBase, path: str, entries: int, size: int
) -> None:
    small.films("archive")
    small.films("another")
    found: list[str] = []
    address: str | None = f"/api/v1/{path}{'&' if '?' in path else '?'}page_size={size}"
    pages = 0
    while address:
        answer = api.get(address)
        assert answer.status_code == 200, address
        found += [str(entry.get("id", entry["name"])) for entry in answer.json()["results"]]
        address, pages = answer.json()["next"], pages + 1
    assert len(found) == len(set(found)) == entries
    assert pages == max(1, -(-entries // min(size, 100)))


def test_staff_are_shown_every_setting_and_visitors_what_is_theirs(api: Client, films: KnowledgeBase, settings) -> None:
    settings.GRASP_PIPELINES, settings.GRASP_TOOLS = site_settings.GRASP_PIPELINES, site_settings.GRASP_TOOLS

    def shown() -> dict[str, dict[str, object]]:
        rows = {row["name"]: row for row in api.get("/api/v1/pipelines/").json()["results"]}
        return rows["grasp"]["settings_schema"]["properties"]

    visitors = shown()
    assert "plan.artifact" not in visitors
    assert (visitors["traverse.rows"]["maximum"], visitors["plan.llm_samples"]["maximum"]) == (10_000, 1)
    api.force_login(User.objects.create_user("staff", is_staff=True))
    staff = shown()
    assert "plan.artifact" in staff
    assert (staff["traverse.rows"]["maximum"], staff["plan.llm_samples"]["maximum"]) == (1_000_000, 10)
    assert visitors["fuse.k"] == staff["fuse.k"]


def test_pipelines_say_what_they_do_and_which_settings_they_take(api: Client, films: KnowledgeBase) -> None:
    found = {row["name"]: row for row in api.get("/api/v1/pipelines/").json()["results"]}
    assert list(found) == ["path", "text"]
    assert (found["path"]["available"], found["path"]["reason"], found["path"]["version"]) == (True, None, 0)
    properties = found["text"]["settings_schema"]["properties"]
    assert properties["retrieve.depth"] == {
        "type": "integer", "description": "How many are kept.", "default": 50, "minimum": 1, "maximum": 100,
    }  # fmt: skip
    assert found["path"]["settings_schema"]["properties"]["fuse.method"]["enum"] == ["static", "dynamic"]


def test_pipelines_of_a_knowledge_base_come_in_its_version(api: Client, films: KnowledgeBase) -> None:
    options = {"fuse.k": 33.0}
    PipelineVersion.objects.create(knowledge_base=films, pipeline="path", version=2, options=options, active=True)
    rows = api.get("/api/v1/pipelines/", {"knowledge_base": "films"}).json()["results"]
    assert [row["version"] for row in rows] == [2, 0]
    assert rows[0]["settings_schema"]["properties"]["fuse.k"]["default"] == 33.0
    assert api.get("/api/v1/pipelines/", {"knowledge_base": "nothing"}).status_code == 404


def test_a_pipeline_whose_backend_is_missing_says_which(api: Client, films: KnowledgeBase, small_pipelines) -> None:
    broken = small.PIPELINES["text"] | {"STAGES": {"retrieve": {"BACKEND": "search.stages.nowhere.Find"}}}
    small_pipelines.GRASP_PIPELINES = small.PIPELINES | {"text": broken}
    [_, row] = api.get("/api/v1/pipelines/").json()["results"]
    assert not row["available"]
    assert "search.stages.nowhere" in row["reason"]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("node_id", small.ODD_IDS)
def test_odd_ids_survive_a_real_server(server: str, node_id: str) -> None:
    if node_id == "..":
        pytest.skip("a client leaves such a part of an address out before it asks")
    with Caller() as caller:
        answer = caller.get(f"{server}{node_address(node_id)}")
        assert (answer.status_code, answer.json()["id"]) == (200, node_id)


@pytest.mark.django_db(transaction=True)
def test_a_slash_at_the_end_belongs_to_the_id_when_it_is_encoded(server: str) -> None:
    with Caller() as caller:
        for ending in ("a%2Fb%2F/", "a%2Fb%2F"):
            assert caller.get(f"{server}{BASES}films/nodes/{ending}").json()["id"] == "a/b/"
        assert caller.get(f"{server}{BASES}films/nodes/a/b/").json()["id"] == "a/b"
