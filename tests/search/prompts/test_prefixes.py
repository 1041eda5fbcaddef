"""Servers keep the computed beginning of a prompt: prompts for two questions are equal up to the question itself."""

from __future__ import annotations

import json
from itertools import takewhile

import pytest

from search.domain.conversation import Prompt
from search.prompts import PlanPrompts
from tests.search.demo_schema import demo_briefing
from tests.search.prompts.kinds import CYPHER, KINDS, PLANS, repaired_cypher, repaired_plan

QUESTIONS = ("Which things does Brannholt make?", "Something else about rain")


def written(prompt: Prompt) -> str:
    """Return a prompt as a server reads it: turn after turn."""
    return "".join(f"<{message.role}>{message.content}" for message in prompt.messages)


def beginning(first: str, second: str) -> str:
    """Return what two texts have in common from their beginning."""
    alike = takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False))
    return first[: sum(1 for _ in alike)]


@pytest.mark.parametrize("kind", KINDS)
def test_two_questions_share_everything_before_the_question(kind: str) -> None:
    first, second = (written(KINDS[kind](question)) for question in QUESTIONS)
    shared = beginning(first, second)
    assert first[len(shared) :].startswith(QUESTIONS[0][:3])
    assert second[len(shared) :].startswith(QUESTIONS[1][:3])


@pytest.mark.parametrize("kind", KINDS)
def test_the_schema_of_the_answer_is_the_same_for_every_question(kind: str) -> None:
    first, second = (KINDS[kind](question) for question in QUESTIONS)
    assert json.dumps(first.json_schema) == json.dumps(second.json_schema)
    assert first.version == second.version != ""


def test_a_repair_continues_the_conversation() -> None:
    question = QUESTIONS[0]
    assert written(repaired_plan(question)).startswith(written(PLANS.ask(question)))
    assert written(repaired_cypher(question)).startswith(written(CYPHER.cypher(question, ["product"])))


def test_knowledge_bases_share_the_rules_of_plans() -> None:
    papers, products = (PlanPrompts(demo_briefing(name)).system for name in ("papers", "products"))
    shared = beginning(papers, products)
    assert "# How much to trust the graph" in shared
    assert len(shared) > 0.25 * len(papers)
