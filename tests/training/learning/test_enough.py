"""How many questions each learner takes: one check, which the form, the API, commands and the learner itself ask."""

from __future__ import annotations

from typing import Any

import pytest

from training import wiring


def said(kind: str, real: int, made: int, **settings: Any) -> tuple[str, str]:
    missing = wiring.too_few(kind, settings, real, made)
    return (missing.pointer, missing.message) if missing else ("", "")


@pytest.mark.parametrize(
    ("kind", "real", "synthesised"),
    [
        # Of people alone, 10 for a planner and 20 for the others; a planner takes both sorts together.
        ("planner", 10, 0), ("planner", 4, 6), ("planner", 0, 10), ("ranker", 20, 0), ("ranker", 0, 20),
        ("reranker", 20, 500), ("retriever", 20, 0), ("retriever", 0, 200), ("retriever", 20, 5),
    ],
)  # fmt: skip
def test_enough(kind: str, real: int, synthesised: int) -> None:
    assert said(kind, real, synthesised) == ("", "")


@pytest.mark.parametrize(
    ("kind", "real", "synthesised", "pointer", "message"),
    [
        ("planner", 4, 5, "/question_set", "There are 9 questions to learn from; it takes 10 at least."),
        ("planner", 0, 9, "/synthesised",
         "There are 9 synthesised questions to learn from and no others; it takes 10."),
        # What searches find for a handful of real ones is no sample, however many others there are.
        ("ranker", 19, 500, "/question_set", "There are 19 questions to learn from; it takes 20 at least. Synthesised "
                                             "ones beside them do not count."),
        ("retriever", 15, 200, "/question_set", "There are 15 questions to learn from; it takes 20 at least. "
                                                "Synthesised ones beside them do not count."),
        ("retriever", 0, 199, "/synthesised",
         "There are 199 synthesised questions to learn from and no others; it takes 200."),
    ],
)  # fmt: skip
def test_too_few(kind: str, real: int, synthesised: int, pointer: str, message: str) -> None:
    assert said(kind, real, synthesised) == (pointer, message)


def test_settings_of_the_retriever_that_leave_too_few_of_the_synthesised_ones() -> None:
    assert said("retriever", 0, 500, synthesised=150) == (
        "/settings/synthesised", "synthesised is 200 at least where there are no other questions, not 150.",
    )  # fmt: skip
    assert said("retriever", 0, 500, passes=0)[0] == "/settings/passes"
    assert said("retriever", 30, 500, passes=0, synthesised=0) == ("", "")
    # An encoder of documents learns from pairs, of which a question gives many.
    assert said("retriever", 0, 20, documents="trained", passes=0) == ("", "")
    assert said("retriever", 0, 19, documents="trained")[1].endswith("it takes 20.")
