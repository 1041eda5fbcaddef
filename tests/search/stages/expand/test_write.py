"""HyDE and RAR: what the model is asked, what is searched, and what happens where the model fails."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from search.domain.expansion import Expansion
from search.domain.question import Question
from search.domain.ranking import Candidate, Ranking
from search.domain.trace import Limit
from search.stages.expand.write import WriteDocuments
from tests import misbehaving
from tests.misbehaving import Reply
from tests.search.stages.expand.films import ASKED, GALE, LONE, REEF, TIDE, taken, tools_of
from tests.search.stages.expand.models import NoModel, answering, asked, model_at

FIRST = Ranking.in_order([Candidate(GALE, 4.0), Candidate(TIDE, 3.0), Candidate(REEF, 2.0), Candidate(LONE, 1.0)])


def expanded(folder: Path, model: Any, found: list[Ranking], limit: Limit | None = None, **options: Any) -> Expansion:
    tools = taken(tools_of(folder), "nodes", "schema")
    return WriteDocuments(language_model=model, **tools, **options)(Question(ASKED), found, limit or Limit.seconds(20))


def test_hyde_asks_for_three_documents_without_showing_any(tmp_path: Path) -> None:
    drawn = iter(["film: Harbour\nabout: Boats.", "film: Pier", "film: Harbour\nabout: Boats."])
    with answering(lambda said: next(drawn)) as server:
        found = expanded(tmp_path, model_at(server), [])
    assert len(server.requests) == 3
    system, user = (message["content"] for message in server.requests[0]["messages"])
    assert "- film: its name; about; directed by; written by; starring" in system
    assert "- person: its name; directed by; written by; starring" in system
    assert user.endswith(f"Question: {ASKED}")
    assert "film: Gale" not in user
    assert server.requests[0]["temperature"] == 0.7
    assert "response_format" not in server.requests[0]
    # Two equal documents count once; answers to prompts that are sent together may come in any order.
    assert sorted(part.text for part in found.added) == ["film: Harbour\nabout: Boats.", "film: Pier"]
    assert {part.source for part in found.added} == {"model"}
    assert found.text.startswith(f"{ASKED}\n\nfilm: ")
    assert (found.status, found.detail) == ("ok", "")
    assert found.prompt_fingerprint


def test_rar_shows_the_first_three_documents_and_the_question_last(tmp_path: Path) -> None:
    with answering("film: Surge") as server:
        found = expanded(tmp_path, model_at(server), [FIRST], samples=1)
    [user] = asked(server)
    places = [user.index(text) for text in ("[1] film: Gale", "[2] film: Tide", "[3] film: Reef", f"Question: {ASKED}")]
    assert places == sorted(places)
    assert "film: Lone" not in user
    assert found.text == f"{ASKED}\n\nfilm: Surge"


def test_documents_in_the_prompt_are_cut(tmp_path: Path) -> None:
    with answering("film: Surge") as server:
        expanded(tmp_path, model_at(server), [FIRST], samples=1, documents=1, shown=100)
        expanded_text = asked(server)[0]
    assert "A storm takes the pier." in expanded_text


def test_without_a_model_hyde_searches_for_the_question_alone_and_says_so(tmp_path: Path) -> None:
    found = expanded(tmp_path, NoModel(), [])
    assert (found.text, found.status) == (ASKED, "degraded")
    assert found.detail == ("No language model is configured. The documents were searched for the question alone.")


def test_without_a_model_rar_appends_the_documents_and_says_so(tmp_path: Path) -> None:
    found = expanded(tmp_path, NoModel(), [FIRST], documents=1)
    assert found.text == f"{ASKED}\n\nfilm: Gale\nabout: A storm takes the pier."
    assert found.status == "degraded"
    assert found.detail == ("No language model is configured. The documents found first were appended themselves.")


def test_a_hundred_thousand_characters_are_searched_only_as_far_as_retrieval_can_use_them(tmp_path: Path) -> None:
    long = " ".join(f"word{at}" for at in range(12_000))
    assert len(long) > 100_000
    with answering(long) as server:
        found = expanded(tmp_path, model_at(server), [], samples=1)
    [part] = found.added
    assert 980 <= len(part.text) <= 1_000
    assert part.cut == len(long) - len(part.text)
    assert found.detail.endswith(f"characters of the longer text, {len(ASKED) + len(part.text):,} are searched.")


def test_a_model_that_repeats_the_question_for_ever_adds_nothing_and_that_is_said(tmp_path: Path) -> None:
    with answering(f"{ASKED} " * 3_000) as server:
        found = expanded(tmp_path, model_at(server), [FIRST], documents=1)
    assert [part.source for part in found.added] == ["document"]
    assert found.status == "degraded"
    assert "only repeats the question" in found.detail
    assert "The documents found first were appended themselves." in found.detail


def test_one_missing_answer_of_three_is_said_and_the_others_are_used(tmp_path: Path) -> None:
    drawn = iter(["film: Harbour", ASKED, "film: Pier"])
    with answering(lambda said: next(drawn)) as server:
        found = expanded(tmp_path, model_at(server), [])
    assert sorted(part.text for part in found.added) == ["film: Harbour", "film: Pier"]
    assert found.detail.startswith("1 of 3 answers are missing; the first one: ")
    assert found.status == "degraded"


@pytest.mark.parametrize("reply", [misbehaving.SLOW, misbehaving.UNAUTHORISED, misbehaving.FAILING])
def test_a_model_that_fails_leaves_half_of_the_time_to_search(tmp_path: Path, reply: Reply) -> None:
    limit = Limit.seconds(2.0)
    with misbehaving.running(reply) as server:
        found = expanded(tmp_path, model_at(server), [FIRST], limit, documents=1)
    assert time.monotonic() < limit.ends
    assert limit.remaining() > 0.5
    assert [part.source for part in found.added] == ["document"]
    assert found.status == "degraded"
