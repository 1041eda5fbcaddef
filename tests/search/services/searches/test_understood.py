"""What a plan leaves out of a question, and how the question was read."""

from __future__ import annotations

from typing import Any

import pytest

from search.domain.graph import NodeType, Relation, Schema
from search.services.searches.understood import understood
from tests.search.services.searches.described import answer, search


def left_over(read: dict[str, Any]) -> bool:
    return bool(read["left"] or read["turning"])


def test_a_question_that_is_left_to_text_names_the_words_that_are_none_of_the_schema() -> None:
    text = {"var": "T", "labels": ["paper"], "relevance_text": "papers by authors from Uppsala"}
    alone = search(answer("list", 0, complete=False), "--", plan={"anchors": [], "target": text})
    alone["question"] = "papers by authors from Uppsala"
    shown = understood(alone, schema=Schema((NodeType("paper", 9), NodeType("author", 9)), (), ()))
    assert shown is not None
    assert shown["left"] == ["Uppsala"]


def test_words_that_the_plan_leaves_out_are_named_one_by_one() -> None:
    target = {"var": "T", "labels": ["paper"], "relevance_text": "show me the zumpty blorble Blorble"}
    shown = understood(search(answer("list", 0), "", plan={"target": target}))
    assert shown is not None
    assert shown["left"] == ["zumpty", "blorble"]


def test_words_of_conditions_that_were_let_go_were_understood() -> None:
    target = {"var": "T", "labels": ["paper"], "relevance_text": "amber not"}
    asked = {"question": "Which papers are by Ada, not about amber?", "plan": {"target": target}}
    shown = understood(search(answer("list", 0), "", **asked))
    assert shown is not None
    assert left_over(shown)
    let_go = search(answer("list", 0), "", given=True, **asked)
    let_go["plans"][0]["given"] |= {"exclude": [{"anchors": [], "hops": []}]}
    shown = understood(let_go)
    assert shown is not None
    assert not left_over(shown)


def test_a_turning_word_counts_as_left_over_unless_the_plan_turns_something_round() -> None:
    asked = {"question": "Which papers are not about amber?"}
    shown = understood(search(answer("list", 0), "", **asked))
    assert shown is not None
    assert shown["turning"] == ["not"]
    none = {"op": "=", "count": {"rel": "ABOUT", "direction": "out", "to_label": None}, "value": 0}
    for plan in ({"exclude": [{"anchors": [], "hops": []}]}, {"filters": [{"op": "!="}]}, {"filters": [none]}):
        shown = understood(search(answer("list", 0), "", plan=plan, **asked))
        assert shown is not None
        assert not left_over(shown)


@pytest.mark.parametrize(
    ("question", "plan", "told"),
    [
        ("which material is used most", {}, ["most"]),
        ("welches Material wird am meisten benutzt", {}, ["am meisten"]),
        ("which material is used most", {"order": {"by": {"field": "year"}, "direction": "desc", "limit": 1}}, []),
        ("papers with at most 3 authors", {}, []),
        ("papers with the fewest authors", {"filters": [{"op": "exists"}]}, ["the fewest"]),
    ],
)
def test_words_that_ask_for_the_most_are_told_unless_the_plan_orders(
    question: str, plan: dict[str, Any], told: list[str]
) -> None:
    shown = understood(search(answer("list", 0), "", question=question, plan=plan))
    assert shown is not None
    assert shown["turning"] == told


def test_a_name_may_hold_a_word_that_asks_for_the_most() -> None:
    named = {"anchors": [{"var": "T", "text": "The Most Dangerous Game"}]}
    shown = understood(search(answer("list", 0), "", question="The Most Dangerous Game", plan=named))
    assert shown is not None
    assert shown["turning"] == []


def test_a_word_that_a_relation_of_the_plan_says_turns_something_round() -> None:
    hop = {"from": "a", "rel": "BARRED_IN", "to_var": "T", "to_label": "drug", "direction": "in"}
    asked = {"question": "What should people with asthma not take?", "plan": {"hops": [hop]}}
    barred = Relation("BARRED_IN", "must not be used in", "rules out the use of")
    for relation, turning in ((barred, []), (Relation("BARRED_IN", "is used in"), ["not"])):
        shown = understood(search(answer("list", 0), "", **asked), Schema((NodeType("drug", 9),), (relation,), ()))
        assert shown is not None
        assert shown["turning"] == turning


def test_of_a_plan_of_a_person_only_the_text_is_told() -> None:
    target = {"var": "T", "labels": ["paper"], "relevance_text": "about amber"}
    described = search(answer("list", 0), "", question="Papers that are not about amber", plan={"target": target})
    described["plans"][0]["source"] = "user"
    shown = understood(described)
    assert shown is not None
    assert (shown["left"], shown["turning"]) == (["amber"], [])


def test_a_question_in_another_language_is_shown_as_it_was_read_and_its_words_as_they_were_asked() -> None:
    asked = {"question": "Welche Artikel sind nicht von Ada?"}
    shown = understood(search(answer("list", 0), "", **asked))
    assert shown is not None
    assert "not" in shown["read_as"]
    assert "Ada" in shown["read_as"]
    assert [said.split()[0] for said in shown["turning"]] == ["nicht"]
    same = understood(search(answer("list", 0), "", question="Which papers are by Ada?"))
    assert same is not None
    assert (same["read_as"], same["notes"], left_over(same)) == ("", [], False)


def test_a_name_that_was_said_in_another_way_is_told_but_a_plural_is_not() -> None:
    def linked(name: str) -> list[dict[str, Any]]:
        return [{"plan_index": 0, "anchor": "a", "bindings": [{"node": {"name": name}}]}]

    for name, told in (("Ada Lovelace", [{"said": "Ada", "name": "Ada Lovelace"}]), ("Adas", []), ("ADA", [])):
        shown = understood(search(answer("list", 0), "", linked=linked(name)))
        assert shown is not None
        assert shown["meant"] == told


def mended(text: str, name: str, *others: tuple[str, str]) -> dict[str, Any]:
    """Return an entry of a described search's `did_you_mean`; the node that was read is a person."""
    named = [{"id": f"o{at}", "name": other, "type": kind} for at, (other, kind) in enumerate(others)]
    return {"text": text, "name": name, "how": "name", "id": "p1", "type": "person", "others": named}


@pytest.mark.parametrize(
    ("question", "entry", "offered"),
    [
        ("Papers by Adda", mended("Adda", "Adda", ("Ada", "person")), [("Ada", "Papers by Ada")]),
        ("Papers by Adda", mended("Adda", "Adda"), []),
        ("Papers by Bob", mended("Adda", "Adda", ("Ada", "person")), []),
        ("Papers by Adda", mended("", "Adda", ("Ada", "person")), []),
        (
            "About Ada",
            mended("Ada", "Ada", ("Ada", "prog_language")),
            [("prog language Ada", "About prog language Ada")],
        ),
        ("About Ada", mended("Ada", "Ada", ("ADA", "person")), []),
        (
            "Artikel über Adda, nicht von Bo",
            mended("Adda", "Adda", ("Ada", "person"), ("Adad", "person")),
            [("Ada", "Artikel über Ada, nicht von Bo"), ("Adad", "Artikel über Adad, nicht von Bo")],
        ),
    ],
)  # fmt: skip
def test_a_better_known_name_that_may_be_meant_makes_a_question_of_it(
    question: str, entry: dict[str, Any], offered: list[tuple[str, str]]
) -> None:
    shown = understood(search(answer("list", 0), "", question=question, did_you_mean=[entry]))
    assert shown is not None
    assert [(one["name"], one["question"]) for one in shown["suggestions"]] == offered
