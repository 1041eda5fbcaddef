"""A plain request is written without reading anything first, and still always has what is active at that moment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import connection
from django.forms.models import model_to_dict

from search.models import KnowledgeBase, KnowledgeBaseSettings, PipelineVersion, Release, SearchRun
from search.services.searches import record_request
from search.services.searches.check_request import SearchRejected
from search.services.searches.request_search import request_search
from tests.search import small

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_request, "_kept", {})


def ask(**asked: Any) -> SearchRun:
    """Request a search as a visitor does, and return it as its row has it."""
    given = {"knowledge_base": "films", "question": "Who made Amber Road?", "user": AnonymousUser()}
    run = request_search(**given | asked)
    assert not run._state.adding
    return SearchRun.objects.get(pk=run.pk)


def columns(run: SearchRun) -> dict[str, Any]:
    return model_to_dict(run) | {"changes": run.changes, "asker": run.asker}


def test_the_second_plain_request_reads_nothing_and_writes_the_same(
    films: KnowledgeBase, django_assert_num_queries: Callable[..., Any]
) -> None:
    PipelineVersion.objects.create(
        knowledge_base=films, pipeline="path", version=4, options={"fuse.k": 50}, active=True
    )
    first = ask()
    statements: list[str] = []

    def counted(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        statements.append(sql)
        return execute(sql, *rest)

    with connection.execute_wrapper(counted):
        second = request_search(knowledge_base="films", question="Who made Amber Road?", user=AnonymousUser())
    assert statements == []
    again = SearchRun.objects.get(pk=second.pk)
    assert columns(again) == columns(first)
    assert again.created >= first.created
    assert (again.pipeline_number, again.specification["stages"]["fuse"]["OPTIONS"]["k"]) == (4, 50.0)


def other_release(films: KnowledgeBase) -> None:
    old = films.active_release
    assert old is not None
    films.active_release = Release.objects.create(
        knowledge_base=films, number=2, snapshot=old.snapshot, vector_set=old.vector_set, status="ready"
    )
    films.save()


def other_settings(films: KnowledgeBase) -> None:
    films.active_settings = KnowledgeBaseSettings.objects.create(knowledge_base=films, version=3)
    films.save()


def other_version(films: KnowledgeBase) -> None:
    PipelineVersion.objects.create(knowledge_base=films, pipeline="path", version=7, options={}, active=True)


CHANGES = {
    "release_name": (other_release, "films-2"),
    "settings_version": (other_settings, 3),
    "pipeline_number": (other_version, 7),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_is_activated_holds_for_the_next_request_and_so_does_what_is_withdrawn(
    films: KnowledgeBase, what: str
) -> None:
    before = (films.active_release, films.active_settings)
    old = getattr(ask(), what)
    change, new = CHANGES[what]
    change(films)
    assert [getattr(ask(), what) for _ in range(2)] == [new, new]
    films.active_release, films.active_settings = before
    films.save()
    PipelineVersion.objects.update(active=False)
    assert [getattr(ask(), what) for _ in range(2)] == [old, old]
    assert ask().pipeline_version is None


@pytest.mark.parametrize("change", [{"visibility": "staff"}, {"name": "movies"}, {"active_release": None}])
def test_a_base_that_is_hidden_renamed_or_withdrawn_is_refused_at_once(
    films: KnowledgeBase, change: dict[str, Any]
) -> None:
    ask()
    KnowledgeBase.objects.filter(pk=films.pk).update(**change)
    with pytest.raises(SearchRejected):
        ask()


def test_what_only_some_may_search_is_not_kept(films: KnowledgeBase) -> None:
    KnowledgeBase.objects.update(visibility="members")
    ask(user=None)
    assert record_request._kept == {}
    with pytest.raises(SearchRejected):
        ask()


def test_other_rows_of_the_site_make_another_specification(films: KnowledgeBase, settings: Any) -> None:
    ask()
    row = small.PIPELINES["path"]
    fuse = row["STAGES"]["fuse"] | {"OPTIONS": {"k": 33}}
    settings.GRASP_PIPELINES = small.PIPELINES | {"path": row | {"STAGES": row["STAGES"] | {"fuse": fuse}}}
    assert ask().specification["stages"]["fuse"]["OPTIONS"]["k"] == 33


@pytest.mark.parametrize("wrong", [{"settings": []}, {"settings": ""}, {"k": 0}, {"question": ""}, {"plan": []}])
def test_a_known_base_forgives_no_fault(films: KnowledgeBase, wrong: dict[str, Any]) -> None:
    ask()
    with pytest.raises(SearchRejected):
        ask(**wrong)


def test_options_of_one_request_are_not_those_of_the_next(films: KnowledgeBase) -> None:
    ask()
    assert ask(settings={"fuse.k": 9}).specification["stages"]["fuse"]["OPTIONS"]["k"] == 9
    assert ask().specification == ask(settings={}).specification
    assert ask().specification["stages"]["fuse"]["OPTIONS"]["k"] != 9


def test_the_pins_that_are_kept_have_a_largest_number(films: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_request, "MOST_KEPT", 1)
    names = {ask(pipeline=name).pipeline for name in small.PIPELINES}
    assert len(names) > 1
    assert len(record_request._kept) == 1
