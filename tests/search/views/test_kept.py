"""The pages of own searches, of what changed, and of collections: what they show to whom, and what they refuse."""

from __future__ import annotations

import re
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client

from search.models import Collection, KnowledgeBase, SavedSearch, SearchRun
from search.services.searches.run_search import run_search

pytestmark = pytest.mark.django_db(transaction=True)
QUESTION = "Which films did Ada Holm direct?"
AS_SCRIPT = {"HTTP_ACCEPT": "application/json"}


def words(html: bytes) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", html.decode()).split())


def ask(client: Client, question: str = QUESTION) -> SearchRun:
    answer = client.post("/", {"kb": "films", "q": question, "pipeline": "path"})
    assert answer.status_code == 302
    return run_search(answer["Location"].split("/")[2])


@pytest.fixture
def run(client: Client, films: KnowledgeBase, services: object) -> SearchRun:
    """A finished search of a visitor with a cookie."""
    return ask(client)


@pytest.fixture
def collection(client: Client, run: SearchRun) -> Collection:
    """A collection of the visitor with two results of the search."""
    for node in ("film/1", "film/2"):
        given = {"kb": "films", "search": run.pk, "node": node, "name": "Roads"}
        assert client.post("/collect/", given, **AS_SCRIPT).json()["new"]
    return Collection.objects.get()


def test_a_visitor_sees_their_searches_here_and_on_the_home_page_and_nobody_elses(
    client: Client, run: SearchRun
) -> None:
    for address in ("/", "/searches/", "/searches/?q=HOLM&kb=films"):
        assert QUESTION in words(client.get(address).content), address
        assert QUESTION not in words(Client().get(address).content), address
    assert "Nothing fits" in words(client.get("/searches/?q=nothing").content)


def test_pages_of_the_list_are_turned_with_the_filter(client: Client, run: SearchRun) -> None:
    SearchRun.objects.bulk_create(
        SearchRun(
            question=f"Amber {number}?", knowledge_base=run.knowledge_base, knowledge_base_name="films",
            pipeline="path", asker=run.asker, origin="page", status="done",
        )
        for number in range(26)
    )  # fmt: skip
    html = client.get("/searches/?q=amber").content.decode()
    assert "Page 1 of 2" in html
    [address] = re.findall(r'rel="next" href="([^"]*)"', html)
    assert client.get(f"/searches/{address.replace('&amp;', '&')}").content.decode().count("data-item") == 1


def test_the_star_saves_and_takes_back_with_and_without_scripts(client: Client, run: SearchRun) -> None:
    assert client.post(f"/search/{run.pk}/save/", {"saved": "1"}, **AS_SCRIPT).json() == {"saved": True}
    assert 'aria-pressed="true" data-key="s"' in client.get(f"/search/{run.pk}/").content.decode()
    assert QUESTION in words(client.get("/searches/?saved=1").content)
    back = client.post(f"/search/{run.pk}/save/", {"saved": "0", "next": "//elsewhere.example/"})
    assert back["Location"] == f"/search/{run.pk}/"
    assert not SavedSearch.objects.exists()


def test_another_persons_things_are_not_there(client: Client, run: SearchRun, collection: Collection) -> None:
    client.post(f"/search/{run.pk}/save/", {"saved": "1"})
    saved, item = SavedSearch.objects.get(), collection.items.first()
    assert item is not None
    other = Client()
    other.force_login(User.objects.create_superuser("eve"))
    for address in (
        f"/searches/saved/{saved.pk}/", f"/collections/{collection.pk}/change/",
        f"/collections/{collection.pk}/items/{item.pk}/",
    ):  # fmt: skip
        assert other.post(address, {"name": "x", "do": "delete"}).status_code == 404, address
    for address in (f"/collections/{collection.pk}/", f"/collections/{collection.pk}/export.csv"):
        assert other.get(address).status_code == 404, address
    assert other.post(f"/search/{run.pk}/forget/").status_code == 403
    refused = other.post("/collect/", {"kb": "films", "node": "film/3", "collection": collection.pk}, **AS_SCRIPT)
    assert refused.json() == {"fault": "You have no such collection; it may have been deleted."}


def test_a_saved_search_has_a_badge_and_its_page_says_what_changed(client: Client, run: SearchRun) -> None:
    client.post(f"/search/{run.pk}/save/", {"saved": "1"})
    base = run.knowledge_base
    assert base is not None
    assert base.active_release is not None
    old = base.active_release
    base.active_release = base.releases.create(number=2, snapshot=old.snapshot, status=old.status)
    base.save()
    assert "newer release films-2" in words(client.get("/searches/?saved=1").content)
    answer = client.post(f"/search/{run.pk}/again/")
    _, _, new, _, before, _ = answer["Location"].split("/")
    assert before == str(run.pk)
    assert "Waiting for the search worker" in words(client.get(answer["Location"]).content)
    run_search(new)
    shown = words(client.get(answer["Location"]).content)
    assert "All 3 results stand where they stood" in shown
    assert "What it was asked with What Before Now" in shown
    assert "Release films-1 films-2" in shown
    client.post(f"/searches/saved/{SavedSearch.objects.get().pk}/", {"run": new})
    assert "newer release" not in words(client.get("/searches/?saved=1").content)


def test_faults_are_told_where_they_were_made(client: Client, run: SearchRun, collection: Collection) -> None:
    saved = client.post(f"/search/{run.pk}/save/", {"saved": "1"}) and SavedSearch.objects.get()
    said = {
        f"/searches/saved/{saved.pk}/": "Give it a name",
        "/collections/": "Give it a name",
        f"/collections/{collection.pk}/change/": "Give it a name",
    }
    for address, sentence in said.items():
        answer = client.post(address, {"name": " "})
        assert (answer.status_code, sentence in words(answer.content)) == (400, True), address
    answer = client.post("/collect/", {"kb": "films", "node": "film/3", "name": ""})
    assert (answer.status_code, "Choose a collection, or name a new one." in words(answer.content)) == (400, True)
    for address in (f"/search/{run.pk}/changes/{uuid4()}/", "/collect/?kb=nothing&node=x", "/collections/shared/x/"):
        assert client.get(address).status_code == 404, address


def test_a_collection_is_ordered_annotated_and_its_removals_undone(client: Client, collection: Collection) -> None:
    first, second = collection.items.all()
    at = f"/collections/{collection.pk}/items/"
    assert client.post(f"{at}{second.pk}/", {"do": "up"})["Location"].endswith(f"#item-{second.pk}")
    # The first cannot go up and the last cannot go down.
    shown = client.get(f"/collections/{collection.pk}/").content.decode()
    ends = re.findall(r'<button name="do" value="(\w+)" disabled', shown)
    assert ends == ["up", "first", "down"]
    client.post(f"{at}{second.pk}/", {"do": "note", "note": "read\r\nthis"})
    removed = client.post(f"{at}{first.pk}/", {"do": "remove"})
    page = client.get(removed["Location"])
    assert "is removed. Undo" in words(page.content)
    assert "Amber Road” is removed" in words(page.content)
    client.post(f"{at}{first.pk}/", {"do": "restore"})
    assert [item.node_id for item in collection.items.filter(removed=None)] == ["film/2", "film/1"]
    assert collection.items.get(pk=second.pk).note == "read\nthis"


def test_what_was_written_is_lost_only_after_a_question(client: Client, run: SearchRun, collection: Collection) -> None:
    client.post(f"/search/{run.pk}/save/", {"saved": "1"})
    saved = SavedSearch.objects.get()
    client.post(f"/searches/saved/{saved.pk}/", {"name": "Holm", "note": "for May"})
    for address, given in ((f"/search/{run.pk}/save/", {"saved": "0"}), (f"/search/{run.pk}/forget/", {})):
        page = client.post(address, given)
        assert "What you wrote about it goes with it, for good: Holm – for May" in words(page.content)
        assert client.post(address, given, **AS_SCRIPT).status_code == 409
    assert SavedSearch.objects.get() == saved
    client.post(f"/search/{run.pk}/save/", {"saved": "0", "sure": "1"})
    assert not SavedSearch.objects.exists()

    address = f"/collections/{collection.pk}/change/"
    page = client.post(address, {"do": "delete"})
    assert "2 results go with it, for good." in words(page.content)
    assert '<input type="hidden" name="do" value="delete">' in page.content.decode()
    client.post(address, {"do": "delete", "sure": "1"})
    assert not Collection.objects.exists()


def test_what_was_typed_and_refused_is_in_its_field_again(
    client: Client, run: SearchRun, collection: Collection
) -> None:
    [first, _] = collection.items.all()
    at = f"/collections/{collection.pk}/items/{first.pk}/"
    html = client.get(f"/collections/{collection.pk}/").content.decode()
    seen = re.findall(r'name="seen" value="(\w+)"', html)[1]
    given = {"do": "note", "seen": seen}
    client.post(at, given | {"note": "from one window"})
    answer = client.post(at, given | {"note": "from the other"})
    assert answer.status_code == 400
    assert "It is now: “from one window”." in words(answer.content)
    assert ">from the other</textarea>" in answer.content.decode()
    told = client.post(at, given | {"note": "from the other"}, **AS_SCRIPT).json()
    assert (
        client.post(at, given | {"note": "from the other", "seen": told["seen"]}, **AS_SCRIPT).json()["done"] == "note"
    )

    client.post(f"/search/{run.pk}/save/", {"saved": "1"})
    saved = SavedSearch.objects.get()
    for address in (f"/collections/{collection.pk}/change/", f"/searches/saved/{saved.pk}/"):
        refused = client.post(address, {"name": " ", "note": "a long story"})
        assert refused.status_code == 400
        assert ">a long story</textarea>" in refused.content.decode()


def test_what_is_kept_of_a_deleted_base_is_said_and_cannot_be_asked_again(
    client: Client, run: SearchRun, collection: Collection
) -> None:
    client.post(f"/search/{run.pk}/save/", {"saved": "1"})
    SearchRun.objects.update(knowledge_base=None, release=None)
    collection.items.update(knowledge_base=None)
    assert "Amber Road" in client.get(f"/collections/{collection.pk}/").content.decode()
    said = words(client.get("/searches/?saved=1").content)
    assert "1 saved search is of knowledge bases that were deleted" in said
    user = User.objects.create_user("ada")
    SavedSearch.objects.update(user=user, asker="")
    SearchRun.objects.update(user=user, asker="")
    client.force_login(user)
    said = words(client.get("/searches/?saved=1").content)
    assert "This knowledge base was deleted." in said
    assert "Ask again" not in said


def test_a_link_shows_a_collection_without_its_buttons_until_it_is_private_again(
    client: Client, collection: Collection
) -> None:
    client.post(f"/collections/{collection.pk}/change/", {"do": "share"})
    collection.refresh_from_db()
    address = f"/collections/shared/{collection.key}/"
    reader = Client()
    shown = reader.get(address).content.decode()
    assert "Amber Road" in shown
    assert f"/collections/{collection.pk}/" not in shown
    assert b"".join(reader.get(f"{address}export.bib")).startswith(b"% Roads: 0 of 2")
    assert len(b"".join(reader.get(f"{address}export.jsonl")).splitlines()) == 2
    assert reader.get(f"{address}export.xml").status_code == 404
    # Whoever reads what another person shares does not look at own searches.
    assert 'aria-current="page"' not in shown
    assert 'aria-current="page"' in client.get(f"/collections/{collection.pk}/").content.decode()
    KnowledgeBase.objects.update(visibility=KnowledgeBase.Visibility.STAFF)
    assert "Amber Road" not in reader.get(address).content.decode()
    assert b"Amber" not in b"".join(reader.get(f"{address}export.csv"))
    client.post(f"/collections/{collection.pk}/change/", {"do": "hide"})
    assert reader.get(address).status_code == 404


@pytest.mark.parametrize(
    ("name", "saved_as"),
    [
        ("Roads, amber & red", 'attachment; filename="roads-amber-red.{}"'),
        ("Straße nach Łódź", "attachment; filename*=utf-8''stra%C3%9Fe-nach-%C5%82%C3%B3d%C5%BA.{}"),
        ("../../?", 'attachment; filename="collection.{}"'),
    ],
)
def test_the_files_of_a_collection_are_called_like_it(
    client: Client, collection: Collection, name: str, saved_as: str
) -> None:
    Collection.objects.update(name=name)
    for kind in ("csv", "jsonl", "bib"):
        answer = client.get(f"/collections/{collection.pk}/export.{kind}")
        assert answer["Content-Disposition"] == saved_as.format(kind)


def test_the_collections_to_choose_from_say_what_their_number_counts(client: Client, collection: Collection) -> None:
    said = words(client.get("/collect/", {"kb": "films", "node": "film/3"}).content)
    assert f"{collection.name} 2 results" in said


def test_the_embedded_script_is_small_and_may_be_loaded_anywhere(client: Client) -> None:
    answer = client.get("/embed/grasp.js")
    assert (answer["Content-Type"], answer["Access-Control-Allow-Origin"]) == ("text/javascript; charset=utf-8", "*")
    assert len(answer.content) < 15_000
    assert client.get("/embed/grasp.js", HTTP_IF_NONE_MATCH=answer["ETag"]).status_code == 304
