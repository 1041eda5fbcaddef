"""The pipelines that expand the question: what is searched, worked out by hand on a few films."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from search.domain.conditions import CheckedConditions
from search.domain.evidence import Result
from search.domain.fusion import Fusion
from search.domain.graph import Node
from search.domain.question import Question
from search.domain.trace import Limit, Trace
from search.pipelines.expansion import FeedbackStages, with_feedback
from search.stages.expand.feedback import AppendDocuments
from search.stages.retrieve import NO_VECTORS, Bm25, Dense, Expanded
from tests.fakes import HashEncoder, MemoryText, MemoryVectors
from tests.graphs import Nodes, schema_of
from tests.oracle import Graph

TIDE, GALE, REEF, LONE = range(4)
FILMS = Graph(
    nodes=(
        Node(TIDE, "t", "film", "Tide", fields={"about": "A harbour at night."}),
        Node(GALE, "g", "film", "Gale", fields={"about": "A storm takes the pier."}),
        Node(REEF, "r", "film", "Reef", fields={"about": "Divers, and what they find."}),
        Node(LONE, "l", "film", "Lone"),
    ),
    edges=(),
)
ASKED = Question("films about the sea")
TEXTS = {
    TIDE: "film: Tide\nabout: A harbour at night.",
    GALE: "film: Gale\nabout: A storm takes the pier.",
    REEF: "film: Reef\nabout: Divers, and what they find.",
}


def nothing_explained(
    question: Question, fusion: Fusion, plans: Any, checked: CheckedConditions, limit: Limit
) -> list[Result]:
    return []


class Words:
    """A text index that finds the given documents and remembers what was searched."""

    def __init__(self, scores: dict[int, float]) -> None:
        self.index = MemoryText(scores)
        self.searched: list[str] = []

    def search(self, text: str, k: int, labels: Any = (), field: str | None = None) -> Any:
        self.searched.append(text)
        return self.index.search(text, k, labels, field)


def prf(
    words: Words, encoder: HashEncoder, vectors: MemoryVectors, retrieve: Any = None, **options: Any
) -> FeedbackStages:
    nodes = Nodes(FILMS, schema_of(FILMS))
    return FeedbackStages(
        first=Bm25(words, encoder, vectors),
        expand=AppendDocuments(nodes, **options),
        retrieve=retrieve or Bm25(words, encoder, vectors),
        explain=nothing_explained,
    )


def test_prf_searches_for_the_question_and_then_for_it_with_the_first_three_documents() -> None:
    words = Words({GALE: 3.0, TIDE: 2.0, REEF: 1.5, LONE: 1.0})
    trace = Trace()
    with_feedback(ASKED, prf(words, HashEncoder(), MemoryVectors({})), trace)
    assert words.searched == [ASKED.text, "\n\n".join([ASKED.text, TEXTS[GALE], TEXTS[TIDE], TEXTS[REEF]])]
    assert [(step.name, step.role) for step in trace.steps] == [
        ("first", "list"),
        ("expand", "expand"),
        ("retrieve", "text list"),
        ("explain", "explain"),
    ]
    shown = [(part["source"], (part["node"] or {}).get("id")) for part in trace.output("expand")["parts"]]
    assert shown == [("question", None), ("document", "g"), ("document", "t"), ("document", "r")]


def test_prf_takes_as_many_documents_as_the_option_says_and_cuts_each() -> None:
    words = Words({GALE: 3.0, TIDE: 2.0})
    trace = Trace()
    with_feedback(ASKED, prf(words, HashEncoder(), MemoryVectors({}), documents=1, each=18), trace)
    assert words.searched[1] == f"{ASKED.text}\n\nfilm: Gale\nabout:"
    assert trace.steps[1].detail == "Of the 60 characters of the longer text, 36 are searched."


def test_without_a_document_the_question_alone_is_searched_and_that_is_said() -> None:
    words = Words({})
    trace = Trace()
    assert len(with_feedback(ASKED, prf(words, HashEncoder(), MemoryVectors({})), trace)) == 0
    assert words.searched == [ASKED.text, ASKED.text]
    assert trace.steps[1].detail == "The first search found no document: the question alone was searched."


def test_the_vector_of_an_expanded_question_is_the_mean_of_its_parts_or_that_of_the_whole_text() -> None:
    encoder = HashEncoder(dimensions=8)
    parts = [encoder.vector(text) for text in (ASKED.text, TEXTS[GALE])]
    mean = np.mean(parts, axis=0) / np.linalg.norm(np.mean(parts, axis=0))
    documents = {key: encoder.vector(f"document {key}") for key in range(4)}
    vectors = MemoryVectors({"document+relations": documents})
    asked = Question(f"{ASKED.text}\n\n{TEXTS[GALE]}")
    words = MemoryText({})
    found = Expanded(words, encoder, vectors, vector="mean")(asked, Limit()).ranking
    assert found.scores == pytest.approx({key: float(mean @ row) for key, row in documents.items()}, abs=1e-6)
    whole = encoder.vector(asked.text)
    found = Expanded(words, encoder, vectors)(asked, Limit()).ranking
    assert found.scores == pytest.approx({key: float(whole @ row) for key, row in documents.items()}, abs=1e-6)


def test_what_the_encoder_does_not_read_of_a_text_is_said() -> None:
    encoder = HashEncoder(dimensions=8)
    encoder.characters_read = 20  # type: ignore[attr-defined]
    vectors = MemoryVectors({"document+relations": {0: encoder.vector("a")}})
    trace = Trace()
    for vector in ("whole", "mean"):
        retrieve = Expanded(MemoryText({}), encoder, vectors, vector=vector)
        trace.step(vector, "text list", retrieve, Question("films about the sea\n\nfilm: Gale"), Limit())
    told = [(step.name, step.status, step.detail) for step in trace.steps]
    assert told == [
        ("whole", "ok", "The encoder reads about 20 of the 31 characters."),
        ("mean", "ok", ""),
    ]


def test_for_the_question_alone_it_is_the_search_by_vectors() -> None:
    encoder = HashEncoder(dimensions=8)
    vectors = MemoryVectors({"document+relations": {key: encoder.vector(f"document {key}") for key in range(4)}})
    found = Expanded(MemoryText({}), encoder, vectors)(ASKED, Limit()).ranking
    plain = Dense(encoder, vectors)(ASKED, Limit()).ranking
    assert found.keys == plain.keys
    assert found.scores == pytest.approx(plain.scores, abs=1e-6)


def test_a_release_without_vectors_is_searched_by_words_and_that_is_said() -> None:
    words = Words({LONE: 2.0, REEF: 1.0})
    found = Expanded(words, HashEncoder(), MemoryVectors({}))(ASKED, Limit())
    assert isinstance(found, Fusion)
    assert (found.ranking.keys, found.status, found.detail) == ((LONE, REEF), "degraded", NO_VECTORS)
