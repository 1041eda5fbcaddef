"""Collections: items with evidence, order by hand, undo, who reads them, and their files."""

from __future__ import annotations

import csv
import io
from datetime import timedelta

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.utils import timezone

from search.domain.errors import InvalidRequest
from search.models import Collection, CollectionItem, KnowledgeBase, SearchRun
from search.services.access.visitors import NOBODY, Visitor
from search.services.collections.collections import (
    make_collection,
    own_collections,
    readable_items,
    rename_collection,
    share_collection,
    shared_collection,
)
from search.services.collections.edits import text_mark
from search.services.collections.export_collection import bibliography_of, objects_of, rows_of
from search.services.collections.items import (
    add_item,
    delete_removed_items,
    move_item,
    remove_item,
    restore_item,
    write_note,
)
from search.services.searches.request_search import request_search
from search.services.searches.run_search import run_search
from search.tables import csv_lines

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada(db: None) -> User:
    return User.objects.create_user("ada")


@pytest.fixture
def roads(films: KnowledgeBase, services: object, ada: User) -> Collection:
    return make_collection(name=" Roads ", user=ada, visitor=NOBODY)


@pytest.fixture
def run(films: KnowledgeBase, services: object) -> SearchRun:
    return run_search(request_search(knowledge_base="films", question="Which films?", enqueue=False).pk)


def add(roads: Collection, node: str, run: SearchRun | None = None, note: str = "") -> CollectionItem:
    base = KnowledgeBase.objects.get(name="films")
    return add_item(roads, base=base, node=node, run=run, note=note, user=roads.user, visitor=NOBODY)[0]


def order(roads: Collection) -> list[str]:
    return list(roads.items.filter(removed=None).values_list("node_id", flat=True))


def test_a_result_comes_with_its_question_rank_and_evidence(roads: Collection, run: SearchRun) -> None:
    item = add(roads, "film/1", run, " good ")
    assert (item.node_name, item.node_type, item.question, item.rank) == ("Amber Road", "film", "Which films?", 1)
    assert (item.evidence, item.note) == ("Ada Holm ← directed by — Amber Road", "good")
    entity = add(roads, "person/1")
    assert (entity.node_name, entity.question, entity.rank, entity.evidence) == ("Ada Holm", "", None, "")


def test_what_is_no_result_or_no_entity_is_refused(roads: Collection, run: SearchRun) -> None:
    with pytest.raises(InvalidRequest, match="'person/1' is not a result of this search"):
        add(roads, "person/1", run)
    with pytest.raises(InvalidRequest, match="'film/9' is not an entity of films"):
        add(roads, "film/9")


def test_a_node_is_there_once_and_comes_back_to_its_place(roads: Collection) -> None:
    items = [add(roads, f"film/{number}") for number in (1, 2, 3)]
    assert add(roads, "film/2") == items[1]
    remove_item(items[1])
    assert order(roads) == ["film/1", "film/3"]
    restore_item(items[1])
    assert order(roads) == ["film/1", "film/2", "film/3"]
    remove_item(items[0])
    assert add(roads, "film/1") == items[0]
    remove_item(items[2])
    CollectionItem.objects.filter(pk=items[2].pk).update(removed=timezone.now() - timedelta(days=2))
    assert delete_removed_items() == 1
    assert order(roads) == ["film/1", "film/2"]


@pytest.mark.parametrize(
    ("place", "expected"), [(1, ["3", "1", "2"]), (2, ["1", "3", "2"]), (0, ["3", "1", "2"]), (99, ["1", "2", "3"])]
)
def test_items_are_ordered_by_hand(roads: Collection, place: int, expected: list[str]) -> None:
    items = [add(roads, f"film/{number}") for number in (1, 2, 3)]
    move_item(items[2], place)
    assert order(roads) == [f"film/{number}" for number in expected]


def test_names_are_a_persons_own(roads: Collection, ada: User) -> None:
    assert make_collection(name="Roads", user=ada, visitor=NOBODY) == roads
    visitor = Visitor(key="k")
    other = make_collection(name="Roads", user=AnonymousUser(), visitor=visitor)
    assert list(own_collections(AnonymousUser(), visitor)) == [other]
    second = make_collection(name="Streets", user=ada, visitor=NOBODY)
    with pytest.raises(InvalidRequest, match="another collection of this name"):
        rename_collection(second, name="Roads", note="", user=ada, visitor=NOBODY)


def test_what_is_left_of_a_deleted_base_is_shown_to_the_owner_alone_with_and_without_an_account(
    roads: Collection, films: KnowledgeBase, ada: User
) -> None:
    visitor = Visitor(key="k")
    mine = make_collection(name="Roads", user=AnonymousUser(), visitor=visitor)
    add_item(mine, base=films, node="film/1", user=AnonymousUser(), visitor=visitor)
    add(roads, "film/1")
    CollectionItem.objects.update(knowledge_base=None)
    assert readable_items(mine, AnonymousUser(), visitor).count() == 1
    assert readable_items(roads, ada, NOBODY).count() == 1
    for user, other in ((AnonymousUser(), Visitor(key="l")), (AnonymousUser(), NOBODY), (ada, visitor)):
        assert readable_items(mine, user, other).count() == 0
    assert readable_items(roads, AnonymousUser(), visitor).count() == 0


def test_a_note_that_was_changed_elsewhere_is_overwritten_only_by_somebody_who_has_seen_the_change(
    roads: Collection, ada: User
) -> None:
    item = add(roads, "film/1")
    seen = text_mark(item.note)
    write_note(item, "one", user=ada, visitor=NOBODY, seen=seen)
    # What is there already is no change.
    write_note(item, "one", user=ada, visitor=NOBODY, seen=seen)
    with pytest.raises(InvalidRequest, match=r"changed in another window meanwhile\. It is now: “one”\.$"):
        write_note(item, "two", user=ada, visitor=NOBODY, seen=seen)
    write_note(item, "two", user=ada, visitor=NOBODY, seen=text_mark("one"))
    rename_collection(roads, name="Streets", note="wide", user=ada, visitor=NOBODY, seen=text_mark("Roads", ""))
    with pytest.raises(InvalidRequest, match=r"It is now: “Streets – wide”\.$"):
        rename_collection(roads, name="Lanes", note="", user=ada, visitor=NOBODY, seen=text_mark("Roads", ""))
    # A program that has seen no page writes what it is told.
    write_note(item, "three", user=ada, visitor=NOBODY)
    item.refresh_from_db()
    assert (item.note, roads.name) == ("three", "Streets")


def test_a_link_is_new_each_time_and_shows_only_what_the_reader_may_see(
    roads: Collection, films: KnowledgeBase, ada: User
) -> None:
    add(roads, "film/1")
    share_collection(roads, True)
    old = roads.key
    assert shared_collection(old) == roads
    assert readable_items(roads, AnonymousUser(), NOBODY).count() == 1
    films.visibility = KnowledgeBase.Visibility.MEMBERS
    films.save()
    films.members.add(User.objects.create_user("mara"))
    assert readable_items(roads, AnonymousUser(), NOBODY).count() == 0
    assert readable_items(roads, ada, NOBODY).count() == 0
    assert readable_items(roads, User.objects.get(username="mara"), NOBODY).count() == 1
    share_collection(roads, False)
    assert shared_collection(old) is None
    assert shared_collection("") is None
    share_collection(roads, True)
    assert roads.key != old


def test_the_table_holds_no_formulas_and_the_objects_hold_the_fields(roads: Collection, run: SearchRun) -> None:
    add(roads, "film/1", run, '=HYPERLINK("x")')
    [header, row] = csv.reader(io.StringIO("".join(csv_lines(rows_of(roads.items.all())))))
    told = dict(zip(header, row, strict=True))
    assert (told["place"], told["name"], told["rank"], told["note"]) == ("1", "Amber Road", "1", '\'=HYPERLINK("x")')
    [one] = objects_of(roads.items.all())
    assert one["fields"] == {"year": 1999, "plot": "A road through the amber forest."}
    assert (one["search"], one["note"]) == (str(run.pk), '=HYPERLINK("x")')


def test_films_are_no_bibliography_and_it_says_so(roads: Collection) -> None:
    add(roads, "film/1")
    written = "".join(bibliography_of(roads.items.all()).write(roads.name))
    assert written == (
        "% Roads: 0 of 1 results are works.\n% Does not fit, for it has no author, journal, DOI or ISBN: Amber Road\n"
    )
