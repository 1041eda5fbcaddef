"""A written answer in the words of a language model, of which only what its sources bear out is kept."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from typing import Any

import pytest
from pytest_django.fixtures import Settings

from search.services.searches.reword import FAILED, NO_MODEL, NOTHING, REFUSED, arrived, checked, may_reword, reword
from tests import misbehaving
from tests.misbehaving import Reply

pytestmark = pytest.mark.django_db

FIRST = {"number": 1, "rank": 1, "id": "n1", "name": "On amber", "evidence": "paper; Ada wrote On amber"}
EVERY = {"number": 2, "rank": None, "id": "", "name": "", "evidence": "paper that was written by “Ada”: 1 found"}
COMPOSED = [
    {"text": "On amber [1] answers this.", "sources": [FIRST]},
    {"text": "It is a paper that was written by “Ada” [2].", "sources": [EVERY]},
]


def says(*sentences: str) -> Reply:
    return Reply.says(json.dumps({"sentences": sentences}))


def reworded(settings: Settings, *replies: Reply) -> tuple[list[dict[str, Any]], str]:
    with misbehaving.running(*replies) as server:
        settings.LLM_BASE_URL, settings.LLM_MODEL = server.url, "tiny-1"
        told = reword("Which paper did Ada write?", COMPOSED)
        return [dict(one) for one in told.sentences], told.because


def test_what_the_sources_bear_out_is_kept_with_the_sources_that_it_cites(settings: Settings) -> None:
    reply = says("Ada wrote the paper On amber[1].", "She was famous [1].", "It was written by Ada [1][2].")
    assert reworded(settings, reply) == (
        [
            {"text": "Ada wrote the paper On amber [1].", "sources": [FIRST]},
            {"text": "It was written by Ada [1] [2].", "sources": [FIRST, EVERY]},
        ],
        "",
    )


def test_each_sentence_is_told_once_it_has_arrived_whole(settings: Settings) -> None:
    sentences = ("Ada wrote On amber [1].", "Bob wrote it [1].", "It is a paper [1].")
    told: list[list[str]] = []
    # The server does not end before something has been told.
    heard = threading.Event()

    def tell(some: list[Mapping[str, Any]]) -> None:
        told.append([one["text"] for one in some])
        heard.set()

    with misbehaving.running(misbehaving.streamed(json.dumps({"sentences": sentences}), gate=heard)) as server:
        settings.LLM_BASE_URL, settings.LLM_MODEL = server.url, "tiny-1"
        said = reword("Which?", COMPOSED, tell).sentences
    assert told[0] == [sentences[0]]
    assert told[-1] == [one["text"] for one in said] == [sentences[0], sentences[2]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"sentences": ["A [1].", "B', ["A [1]."]),
        ('{"sentences": ["A [1]."', []),
        ('{"sentences": ["A \\"b\\" [1].", "C, \\u00e9 [2]."]}', ['A "b" [1].', "C, é [2]."]),
        ('<think>{"sentences": ["no",', []),
        ('<think>well</think> ```json {"sentences" : [ "A [1]." ,', ["A [1]."]),
        ("", []),
    ],
)
def test_only_whole_sentences_have_arrived(text: str, expected: list[str]) -> None:
    assert arrived(text) == expected


def test_a_refused_first_sentence_leaves_the_composed_one_in_its_place(settings: Settings) -> None:
    said, because = reworded(settings, says("Bob wrote On amber [1].", "Ada wrote On amber [1]."))
    assert ([one["text"] for one in said], because) == (["On amber [1] answers this.", "Ada wrote On amber [1]."], "")


@pytest.mark.parametrize(
    ("reply", "because"),
    [
        (says("Bob wrote it [1]."), REFUSED),
        (says(), REFUSED),
        (Reply.says("I would rather not."), REFUSED),
        (misbehaving.WRONG_SCHEMA, FAILED),
        (misbehaving.HTML, FAILED),
        (misbehaving.UNAUTHORISED, FAILED),
        (misbehaving.NO_CHOICES, FAILED),
    ],
)
def test_where_nothing_is_left_the_composed_text_stays_and_says_why(
    settings: Settings, reply: Reply, because: str
) -> None:
    assert reworded(settings, reply) == (COMPOSED, because)


def test_without_a_model_the_composed_text_stays(settings: Settings) -> None:
    settings.LLM_BASE_URL = ""
    assert not may_reword()
    told = reword("Which paper did Ada write?", COMPOSED)
    assert (told.sentences, told.because) == (COMPOSED, NO_MODEL)
    assert reword("Which paper did Bob write?", []).because == NOTHING


def test_what_is_left_open_stays_open() -> None:
    composed = [COMPOSED[0] | {"text": "On amber [1] may answer this."}]
    assert checked(["On amber answers this [1]."], composed) == []
    assert checked(["Ada wrote On amber [1]."], composed) == []
    assert [one["text"] for one in checked(["On amber may answer this [1]."], composed)] == [
        "On amber may answer this [1]."
    ]
