"""A search with an expanded question: recorded, described, and given by the API, with references in place of keys."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings

from search import wiring
from search.models import KnowledgeBase, SearchRun
from search.services.searches.describe_search import describe_search
from search.services.searches.request_search import request_search
from search.services.searches.run_search import run_search
from tests.search import small

pytestmark = pytest.mark.django_db

QUESTION = "Which films are about waiting?"


@pytest.fixture
def run(films: KnowledgeBase, settings: Settings) -> SearchRun:
    find = {"BACKEND": "tests.search.small.Find"}
    settings.GRASP_PIPELINES = small.PIPELINES | {
        "prf": {
            "TITLE": "PRF",
            "DESCRIPTION": "Reads the first documents.",
            "BACKEND": "search.pipelines.expansion.with_feedback",
            "STAGES_CLASS": "search.pipelines.expansion.FeedbackStages",
            "STAGES": {
                "first": find,
                "expand": {
                    "BACKEND": "search.stages.expand.feedback.AppendDocuments",
                    "OPTIONS": {"documents": 2, "each": 100},
                },
                "retrieve": find,
                "explain": {"BACKEND": "tests.search.small.Show"},
            },
        }
    }
    wiring.forget()
    asked = request_search(knowledge_base="films", question=QUESTION, pipeline="prf", enqueue=False)
    return run_search(asked.pk)


def test_every_door_gives_the_searched_text_and_its_parts(run: SearchRun, api: Client) -> None:
    described = describe_search(run)
    documents = [
        "film: Amber Road\nyear: 1999\nplot: A road through the amber forest.",
        "film: amber Light\nyear: 2004\nplot: A lighthouse keeper waits.",
    ]
    assert described["expansion"] == {
        "text": "\n\n".join([QUESTION, *documents]),
        "parts": [
            {"source": "question", "text": QUESTION, "node": None, "path": None, "cut": 0},
            {
                "source": "document",
                "text": documents[0],
                "node": {"id": "film/1", "type": "film", "name": "Amber Road"},
                "path": None,
                "cut": 0,
            },
            {
                "source": "document",
                "text": documents[1],
                "node": {"id": "film/2", "type": "film", "name": "amber Light"},
                "path": None,
                "cut": 0,
            },
        ],
        "left_out": 0,
    }
    assert api.get(f"/api/v1/searches/{run.pk}/").json()["expansion"] == described["expansion"]


def test_the_page_shows_it(run: SearchRun, api: Client) -> None:
    page = api.get(reverse("search-results", args=[run.pk])).content.decode()
    assert "The documents were searched for the question and 2 parts added to it." in page
    assert 'href="/kb/films/nodes/film/2/"' in page


def test_results_are_explained_by_the_question_itself_and_its_results_are_those_of_the_longer_text(
    run: SearchRun,
) -> None:
    described = describe_search(run)
    assert described["question"] == QUESTION
    assert [result["node"]["id"] for result in described["results"]] == ["film/1", "film/2", "film/3"]
    assert [step["role"] for step in described["steps"]] == ["list", "expand", "text list", "explain"]


def test_a_search_for_the_question_itself_has_none(films: KnowledgeBase) -> None:
    asked = request_search(knowledge_base="films", question=QUESTION, pipeline="text", enqueue=False)
    assert describe_search(run_search(asked.pk))["expansion"] is None
