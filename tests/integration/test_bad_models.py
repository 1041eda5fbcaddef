"""Every method with a model that answers nonsense, without end, or not at all: it answers in time, and says why."""

from __future__ import annotations

import pytest

from search.models import SearchRun
from search.services.searches.describe_search import describe_search
from search.services.searches.request_search import request_search
from search.services.searches.run_search import ranking_of, run_search
from tests import misbehaving
from tests.integration.test_language_model_plans import configured, page, results
from tests.integration.test_language_model_plans import films as films
from tests.misbehaving import Body, Reply

pytestmark = pytest.mark.django_db

QUESTION = "Which films did Ada Holm direct in this millennium?"
PIPELINES = ("grasp", "af_retriever", "focused", "spark", "sage", "kar", "hyde", "rar", "agr")
SECONDS = 4.0
BUSY_SECONDS = 4.0
"""By how much a busy machine may be late; a model that hangs would take far longer."""


def repeating(body: Body) -> Reply:
    """Answer with the last line of the prompt, again and again, until the answer is cut off."""
    last = body["messages"][-1]["content"].strip().splitlines()[-1]
    return Reply.says((f"{last}\n" * body["max_tokens"])[: 4 * body["max_tokens"]], "length")


def long(body: Body) -> Reply:
    """Answer with 100,000 characters."""
    return Reply.says('{"anchors": [' * 1_000 + "because " * 11_000)


BEHAVIOURS = {
    "repeats the question": repeating,
    "100,000 characters": long,
    "prose": lambda body: Reply.says("I am afraid that I cannot help with films, but I can tell you about the sea."),
    "hangs": lambda body: misbehaving.SLOW,
    "dies in the middle": lambda body: misbehaving.CUT_OFF,
    "refuses": lambda body: misbehaving.UNAUTHORISED,
}


def asked(pipeline: str, seconds: float) -> SearchRun:
    requested = request_search(
        knowledge_base="films", question=QUESTION, pipeline=pipeline, time_limit=seconds, enqueue=False
    )
    return run_search(requested.pk)


@pytest.mark.parametrize("behaviour", BEHAVIOURS)
@pytest.mark.parametrize("pipeline", PIPELINES)
def test_whatever_the_model_does_every_method_answers_within_its_time(
    films: None, pipeline: str, behaviour: str
) -> None:
    # Without a model first: files are opened and the schema is read, which is not what is measured.
    assert ranking_of(asked(pipeline, 60.0))
    with misbehaving.running() as server:
        server.respond = BEHAVIOURS[behaviour]
        configured(server.url)
        run = asked(pipeline, SECONDS)
    shown = describe_search(run)
    assert (shown["status"], shown["error"]) == ("done", None), shown["error"]
    assert run.seconds is not None
    assert run.seconds < SECONDS + BUSY_SECONDS
    assert ranking_of(run)
    # A text that only expands the question may be nonsense: nothing can tell, and what was searched is shown.
    told = [step["detail"] for step in shown["steps"] if step["status"] == "degraded"]
    written = pipeline in ("kar", "hyde", "rar", "agr") and behaviour in (
        "repeats the question", "100,000 characters", "prose",
    )  # fmt: skip
    assert told or written
    assert all(len(detail) < 2_000 for detail in told)
    assert shown["model_use"]["calls"] <= shown["model_use"]["budget"]["calls"]
    assert len(page(results(run))) < 300_000
