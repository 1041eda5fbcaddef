"""A name that is nearly that of a better-known node: the search says it, and its page offers the other question."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from search import wiring
from search.models import SearchRun
from search.services.knowledge.import_snapshot import import_snapshot
from search.services.searches.describe_search import describe_search
from search.services.searches.request_search import request_search
from search.services.searches.run_search import run_search
from tests.search.ingest import bundles

pytestmark = pytest.mark.django_db

FILMS = 6
NODES = (
    {"id": "p1", "type": "person", "name": "Hanna Holm", "fields": {}},
    {"id": "p2", "type": "person", "name": "Hana Holm", "fields": {}},
    *({"id": f"f{at}", "type": "film", "name": f"Cedar Lane {at}", "fields": {}} for at in range(FILMS + 1)),
)
EDGES = (
    {"source": "f0", "relation": "DIRECTED_BY", "target": "p1"},
    *({"source": f"f{at}", "relation": "DIRECTED_BY", "target": "p2"} for at in range(1, FILMS + 1)),
)
"""Hanna Holm has one film, Hana Holm six."""


@pytest.fixture(autouse=True)
def holms(tmp_path: Path, settings: Settings) -> Iterator[None]:
    """The two persons and their films, indexed with vectors that mean nothing."""
    settings.GRASP_TOOLS = settings.GRASP_TOOLS | {"encoder": {"BACKEND": "tests.fakes.HashEncoder"}}
    wiring.forget()
    wiring.encoder.cache_clear()
    import_snapshot(source=bundles.write(tmp_path, NODES, EDGES))
    yield
    wiring.forget()
    wiring.encoder.cache_clear()


def asked(question: str) -> SearchRun:
    run = run_search(request_search(knowledge_base="films", question=question, enqueue=False).pk)
    assert run.status == "done", run.error
    return run


def test_a_better_known_name_that_is_nearly_the_same_is_offered_and_can_be_asked_for() -> None:
    run = asked("films directed by Hanna Holm")
    described = describe_search(run)
    assert [(one["text"], one["how"], [o["name"] for o in one["others"]]) for one in described["did_you_mean"]] == [
        ("Hanna Holm", "name", ["Hana Holm"])
    ]
    assert described["understood"]["suggestions"] == [
        {"text": "Hanna Holm", "name": "Hana Holm", "question": "films directed by Hana Holm"}
    ]
    assert described["answer"]["settle"] == [
        {"sentence": "I meant Hana Holm", "question": "films directed by Hana Holm"}
    ]
    page = Client().get(f"/search/{run.pk}/").content.decode()
    offered = re.search(r'Did you mean <button class="link" name="q" value="([^"]*)">([^<]*)<', page)
    assert offered is not None
    assert html.unescape(offered[1]) == "films directed by Hana Holm"
    assert offered[2] == "Hana Holm"


def test_the_better_known_of_two_names_is_not_asked_about() -> None:
    run = asked("films directed by Hana Holm")
    assert describe_search(run)["did_you_mean"] == []
    assert "Did you mean" not in Client().get(f"/search/{run.pk}/").content.decode()


def test_a_misspelt_name_is_told_as_it_was_taken() -> None:
    """One letter of *Hanna* is wrong twice over, so that only one of the names is near."""
    run = asked("films directed by Hannna Holmm")
    described = describe_search(run)
    assert [(one["how"], one["name"]) for one in described["did_you_mean"]] == [("spelling", "Hanna Holm")]
    read = described["understood"]
    assert (read["meant"], read["suggestions"]) == ([{"said": "Hannna Holmm", "name": "Hanna Holm"}], [])
