"""The answer above the results, and what stands in the two lists."""

from __future__ import annotations

import json
from typing import Any

from search.domain.payloads import Traversals
from search.services.searches.verdict import told
from search.views.shown.answer import show_answer
from search.views.shown.search import show_search
from search.views.shown.written import show_written


def test_the_answer_has_its_line_and_what_would_settle_its_doubts(described: dict[str, Any]) -> None:
    shown = show_answer(described)

    assert shown is not None
    assert (shown.line, shown.verdict) == ("Perhaps two products: Sval Flask 0.5 and Sval Flask 1.0", "unsure")
    assert (shown.count, shown.here, shown.elsewhere, shown.open) == (2, 2, False, True)
    [ignore] = shown.settle
    assert ignore.sentence.startswith("Ignore “")
    assert json.loads(ignore.plan)["target"]["relevance_text"] == ""


def test_a_choice_marks_the_reading_that_is_shown(described: dict[str, Any]) -> None:
    described["clarify"] = [
        {"sentence": said, "plan": described["plans"][at]["plan"], "plan_index": at}
        for at, said in enumerate(("one", "other"))
    ]

    shown = show_answer(described)

    assert shown is not None
    assert [(one.sentence, one.chosen) for one in shown.choices] == [("one", True), ("other", False)]


def test_there_is_no_answer_before_the_end(described: dict[str, Any]) -> None:
    described["status"] = "running"
    assert show_answer(described | told(described, Traversals(), None)) is None


def test_answers_and_what_is_near_are_two_lists_and_five_near_ones_are_shown(described: dict[str, Any]) -> None:
    first = described["results"][2]
    described["results"] += [first | {"rank": rank} for rank in range(5, 11)]

    shown = show_search(described)

    assert [one.rank for one in shown.answers] == [1, 2]
    assert [one.rank for one in shown.near] == [3, 4, 5, 6, 7]
    assert [one.rank for one in shown.nearer] == [8, 9, 10]


def test_beside_a_number_nothing_near_is_shown_unasked(described: dict[str, Any]) -> None:
    described["answer"] = {"kind": "number", "value": 2, "count": 2, "complete": True}

    shown = show_search(described | told(described, Traversals(), None))

    assert (shown.near, [one.rank for one in shown.nearer]) == ((), [3, 4])


def test_a_written_answer_is_cut_at_the_numbers_of_its_sources_and_not_at_those_of_names() -> None:
    source = {"number": 2, "rank": 3, "id": "n3", "name": "Bach [1]", "evidence": "work"}
    looked_up = {"number": 3, "rank": None, "id": "", "name": "", "evidence": "work: 1 found"}

    shown = show_written(
        "Which work?",
        [
            {"text": "Bach [1] [2] answers this.", "sources": [source]},
            {"text": "It is a work [3].", "sources": [looked_up]},
        ],
    )

    assert shown is not None
    assert [(text, one.place if one else "") for text, one in shown.pieces] == [
        ("Bach [1]", "result-3"), (" answers this.", ""), (" ", ""),
        ("It is a work", "understood"), (".", ""), (" ", ""),
    ]  # fmt: skip
    assert shown.brief == "It is a work."
    assert shown.copied == (
        "Which work?\n\nBach [1] [2] answers this. It is a work [3].\n[2] Bach [1]: work\n[3] work: 1 found"
    )
