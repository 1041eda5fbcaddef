"""Which knowledge base is asked where the asker names none. What is right is what a question was written for."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.management import call_command
from django.test import Client
from pytest_django.fixtures import Settings

from search import wiring
from search.models import KnowledgeBase
from search.services.searches.check_request import SearchRejected
from search.services.searches.choose_base import choose_base, fitting_base
from search.services.searches.request_search import request_search

pytestmark = pytest.mark.django_db
DEMOS = ("products", "papers", "biomedical")
FILES = Path("search/fixtures/demo")


@pytest.fixture
def demos(settings: Settings) -> list[KnowledgeBase]:
    settings.GRASP_TOOLS = settings.GRASP_TOOLS | {"encoder": {"BACKEND": "tests.fakes.HashEncoder"}}
    wiring.forget()
    for name in DEMOS:
        call_command("import_kb", str(FILES / name), "--json", verbosity=0)
    return list(KnowledgeBase.objects.order_by("name"))


def questions(name: str) -> list[str]:
    described = json.loads((FILES / name / "kb.json").read_text(encoding="utf-8"))
    lines = (FILES / name / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return [*described["examples"], *(json.loads(line)["text"] for line in lines)]


def test_most_questions_go_to_the_knowledge_base_that_they_were_written_for(demos: list[KnowledgeBase]) -> None:
    asked = [(name, text) for name in DEMOS for text in questions(name)]
    right = [choose_base(text, demos)[0].base.name == name for name, text in asked]
    assert sum(right) >= 0.9 * len(asked)


def test_shares_are_probabilities_and_a_base_without_files_comes_last(demos: list[KnowledgeBase]) -> None:
    found = choose_base("cheapest tent", demos)
    assert found[0].base.name == "products"
    assert sum(one.share for one in found) == pytest.approx(1)
    assert [one.share for one in found] == sorted((one.share for one in found), reverse=True)
    release = next(one for one in demos if one.name == "products").active_release
    assert release is not None
    shutil.rmtree(release.snapshot.directory / "bm25")
    wiring.forget()
    last = choose_base("cheapest tent", demos)[-1]
    assert (last.base.name, last.share) == ("products", 0.0)


def test_only_what_the_asker_may_search_is_chosen(demos: list[KnowledgeBase]) -> None:
    KnowledgeBase.objects.filter(name="products").update(visibility=KnowledgeBase.Visibility.STAFF)
    named, others = fitting_base(None, "cheapest tent", AnonymousUser())
    assert named in {"papers", "biomedical"}
    assert "products" not in [named, *(others or ())]


def test_a_base_that_is_named_stays_and_without_a_question_nothing_is_chosen(demos: list[KnowledgeBase]) -> None:
    assert fitting_base("papers", "cheapest tent", None) == ("papers", None)
    assert fitting_base("", "  ", None) == ("", None)
    assert fitting_base(None, 7, None) == (None, None)


def test_a_search_says_that_its_base_was_chosen_and_which_others_may_be_meant(demos: list[KnowledgeBase]) -> None:
    run = request_search(knowledge_base="", question="cheapest tent", enqueue=False)
    assert run.knowledge_base_name == "products"
    assert run.other_bases is not None
    named = request_search(knowledge_base="papers", question="cheapest tent", enqueue=False)
    assert (named.knowledge_base_name, named.other_bases) == ("papers", None)


def test_without_any_base_the_asker_is_told(db: None) -> None:
    with pytest.raises(SearchRejected) as rejected:
        request_search(knowledge_base="", question="cheapest tent", enqueue=False)
    assert [fault.pointer for fault in rejected.value.faults] == ["/knowledge_base"]


def test_the_box_leaves_the_base_open_and_names_of_all_bases_are_completed(
    demos: list[KnowledgeBase], client: Client
) -> None:
    page = client.get("/").content.decode()
    assert '<option value="" selected>what fits the question</option>' in page
    items: list[dict[str, Any]] = client.get("/suggest/", {"q": "who designed the Vicarage Be"}).json()["items"]
    assert [item["name"] for item in items] == ["Vicarage Bench"]
    both = client.get("/suggest/", {"q": "Go"}).json()
    assert both["items"] == []
