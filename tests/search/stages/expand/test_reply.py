"""What is read of the documents that models write, also of models that go round in circles."""

from __future__ import annotations

import pytest

from search.prompts.reading import Unusable
from search.stages.expand.reply import document_for, without_repetition

QUESTION = "Which films did Ann Arbor direct?"
read = document_for(QUESTION)


def test_a_document_is_read_without_thinking_and_without_the_fence_around_it() -> None:
    assert (
        read("<think>Tide, I guess.</think>```\nfilm: Tide\nabout: A harbour.\n```") == "film: Tide\nabout: A harbour."
    )


@pytest.mark.parametrize(
    "answer",
    [QUESTION, f"Question: {QUESTION}" * 100, QUESTION * 5_000, "which FILMS ... Ann Arbor, direct", "films " * 30_000],
)
def test_an_answer_that_only_repeats_the_question_is_none(answer: str) -> None:
    with pytest.raises(Unusable, match="only repeats the question"):
        read(answer)


@pytest.mark.parametrize("answer", ["", "  \n", "<think>hm</think>", "```\n```"])
def test_an_empty_answer_is_none(answer: str) -> None:
    with pytest.raises(Unusable, match="empty"):
        read(answer)


def test_each_sentence_is_kept_once() -> None:
    assert (
        without_repetition("film: Tide. A harbour. film: Tide.\nA harbour.\nA pier.")
        == "film: Tide. A harbour.\nA pier."
    )


def test_a_text_ends_where_it_begins_to_go_round_in_circles() -> None:
    circle = "the harbour and the pier and the storm and the night and "
    kept = without_repetition(circle * 200)
    assert kept.startswith("the harbour and the pier")
    assert len(kept.split()) <= 12 + 7


def test_a_document_without_repetition_stays_as_it_is() -> None:
    text = "film: Tide\nabout: A harbour at night, seen by its keeper; the keeper leaves. The harbour stays."
    assert without_repetition(text) == text
