"""The answer in words, the value of an order, and what a plan leaves out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from search.domain.graph import NodeType, Relation, Schema
from search.sentences.values import order_text, order_value, plural
from search.views.shown.answer import show_answer
from search.views.shown.search import ShownSearch
from search.views.shown.understanding import show_understanding

RELATIONS = {"CITES": Relation("CITES", "cites", "is cited by"), "MADE_OF": Relation("MADE_OF")}


EMPTY = ShownSearch(
    id="", state="done", question="", knowledge_base="", release="", pipeline="", pipeline_title="", version=0,
    milliseconds=1.0, degraded=(), error={}, plans=(), queries=(), backend="", candidates=0, truncated=False,
    fusion=None, steps=(), results=(),
)  # fmt: skip


def search(
    answer: dict[str, Any], answers: str, *, plan: dict[str, Any] | None = None, given: bool = False, **more: Any
) -> dict[str, Any]:
    """A described search whose results are answers (`+`) or near (`-`)."""
    whole = {"anchors": [{"var": "a", "text": "Ada"}], "hops": [], "filters": [],
             "target": {"var": "T", "labels": ["paper"], "relevance_text": ""}}  # fmt: skip
    path = [[{"node": {"name": "Ada"}}, {"relation": "WROTE", "direction": "out"}, {"node": {"name": "On amber"}}]]
    results = [
        {"rank": at, "answers": sign == "+", "evidence": {"paths": path if sign == "+" else []}}
        for at, sign in enumerate(answers, 1)
    ]
    entry = {"plan": whole | (plan or {}), "source": "schema"} | (
        {"given": whole, "dropped": ["about amber"]} if given else {}
    )
    return {
        "status": "done", "plan_index": 0, "plans": [entry], "answer": answer, "results": results, "linked": [],
        "knowledge_base": "papers", "question": "?",
    } | more  # fmt: skip


def said(*given: Any, **more: Any) -> tuple[str, str]:
    shown = show_answer(search(*given, **more))
    assert shown is not None
    return shown.head, shown.said


def answer(kind: str, count: int, *, complete: bool = True, **more: Any) -> dict[str, Any]:
    return {"kind": kind, "count": count, "complete": complete} | more


def computed(
    function: str, value: float | None, count: int, nodes: int | None = None, *, field: str = "price", **more: Any
) -> dict[str, Any]:
    """The answer where something is computed from a field of `count` answers, of which `nodes` have it."""
    one = {"function": function, "field": field, "value": value, "nodes": count if nodes is None else nodes}
    return answer("aggregate", count, aggregate=one, field=field, **more)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (said(answer("list", 2), "++-"), ("2 answers", "of the plan; what follows the line is near.")),
        (said(answer("list", 1), "+"), ("1 answer", "of the plan.")),
        (said(answer("list", 1200), "+++"), ("1,200 answers", "of the plan; the first 3 are here.")),
        (said(answer("list", 9, complete=False), "+++"), ("At least 9 answers", "of the plan; the first 3 are here.")),
        (said(answer("list", 30), "+"), ("30 answers", "of the plan; the first is here.")),
        (said(answer("list", 30), "-"), ("30 answers", "of the plan; none of them is here.")),
        (
            said(answer("list", 86, text="whistling"), "++"),
            ("86 possible answers", "of the plan; only their texts can say “whistling”; the likeliest 2 are here."),
        ),
        (
            said(answer("list", 1, text="whistling"), "+-"),
            ("1 possible answer", "of the plan; only its text can say “whistling”; what follows the line is near."),
        ),
        (
            said(answer("number", 86, value=86, text="whistling"), "++"),
            (
                "At most 86",
                "papers, counted in the graph. Only their texts can say “whistling”, which was not counted.",
            ),
        ),
        (said(answer("list", 0), "--"), ("No answer", "No paper is “Ada”. What follows is near.")),
        (
            said(answer("list", 0, complete=False, unbound=["Ada"]), "-"),
            ("No answer", "papers does not know “Ada”. What follows is near."),
        ),
        (
            said(answer("list", 0), "-", given=True),
            ("No answer", "No paper is “Ada”. What follows is near: “about amber” was let go."),
        ),
        (said(answer("number", 14, value=14), "++"), ("14", "papers, counted in the graph.")),
        (said(answer("number", 1, value=1), "+"), ("1", "paper, counted in the graph.")),
        (
            said(answer("number", 14, value=14, complete=False), "++"),
            ("At least 14", "papers, counted in the graph. Not everything could be looked at in time."),
        ),
        (said(computed("mean", 31.5, 3), "+++"), ("31.5", "Mean price of 3 papers.")),
        (said(computed("sum", 12_500, 1), "+"), ("12,500", "Total price of 1 paper.")),
        (
            said(computed("min", -3, 1_200, 1_100, field="weight_g"), "++--"),
            (
                "-3 g",
                "Lowest weight of 1,100 of 1,200 papers; the others have no weight here. "
                "What follows the line is near.",
            ),
        ),
        (said(computed("max", 1 / 3, 3), "+++"), ("0.333333", "Highest price of 3 papers.")),
        (said(computed("mean", 1234567.89, 3), "+++"), ("1,234,568", "Mean price of 3 papers.")),
        (said(computed("mean", 4.0, 3), "+++"), ("4", "Mean price of 3 papers.")),
        (said(computed("sum", 10**400, 3), "+"), (f"{10**400:,}", "Total price of 3 papers.")),
        (
            said(computed("mean", 31.5, 3, complete=False), "+++"),
            ("31.5", "Mean price of 3 papers. Not everything could be looked at in time."),
        ),
        (
            said(computed("mean", 31.5, 3, text="whistling"), "+++"),
            ("31.5", "Mean price of 3 papers. Only their texts can say “whistling”, which was not looked at."),
        ),
        (said(computed("mean", None, 3, 0), "+++"), ("Not known", "3 papers have no price here.")),
        (said(computed("mean", None, 1, 0), "+"), ("Not known", "1 paper has no price here.")),
        (said(computed("mean", None, 0), "--"), ("No answer", "No paper is “Ada”. What follows is near.")),
        (said(answer("yes", 1), "+"), ("Yes", "")),
        (said(answer("yes", 3), "+++"), ("Yes", "3 papers meet the plan.")),
        (said(answer("no", 0), ""), ("No", "The graph was looked through: no paper is “Ada”.")),
        (
            said(answer("unknown", 0, complete=False, unbound=["Ada", "Bo"]), "-"),
            ("Not known", "papers does not know “Ada” and “Bo”. What follows is near."),
        ),
    ],
)
def test_the_answer_is_a_sentence(given: tuple[str, str], expected: tuple[str, str]) -> None:
    assert given == expected


def test_a_yes_or_no_that_was_not_understood_says_what_was_looked_at() -> None:
    walk = {
        "anchors": [{"var": "a", "text": "oak"}, {"var": "T", "text": "Dune"}],
        "hops": [{"from": "a", "rel": "MADE_OF", "to_var": "T", "to_label": "chair", "direction": "in"}],
        "target": {"var": "T", "labels": ["chair"], "relevance_text": "friends with"},
    }
    told = search(answer("unknown", 0), "-", plan=walk)
    shown = show_answer(told, {"MADE_OF": Relation("MADE_OF", "is made of", "is the material of")})
    assert shown is not None
    assert (shown.head, shown.said) == (
        "Not known",
        "“friends with” was not understood, so neither yes nor no is certain. "
        "Looked at was whether “Dune” is made of “oak”: no. What follows is near.",
    )


def test_the_line_stands_behind_the_last_answer_and_only_where_something_follows() -> None:
    between = show_answer(search(answer("list", 2), "+-+--"))
    assert between is not None
    assert (between.last, between.near, between.divides) == (3, 3, True)
    alone = show_answer(search(answer("list", 2), "++"))
    assert alone is not None
    assert not alone.divides
    none = show_answer(search(answer("list", 0), "--"))
    assert none is not None
    assert not none.divides


@pytest.mark.parametrize(
    ("given", "answers", "expected"),
    [
        (answer("list", 2), "++" + 18 * "-", "2 answers, and 18 near them"),
        (answer("list", 1), "+-", "1 answer, and 1 near it"),
        (answer("list", 3), "+++", "3 answers"),
        (answer("list", 57), "+++", "3 answers here"),
        (answer("list", 57, text="whistling"), "+++", "3 results"),
        (answer("list", 0), "--", "2 results"),
        (answer("number", 14, value=14), "++", "2 results"),
    ],
)
def test_the_line_above_counts_answers_and_what_is_near(given: dict[str, Any], answers: str, expected: str) -> None:
    shown = show_answer(search(given, answers))
    whole = replace(EMPTY, answer=shown, results=tuple(answers))  # type: ignore[arg-type]
    assert whole.counted == expected


def test_a_yes_has_its_path() -> None:
    shown = show_answer(search(answer("yes", 1), "+"))
    assert shown is not None
    assert shown.paths == ("Ada — wrote → On amber",)


@pytest.mark.parametrize("more", [{"status": "running"}, {"plan_index": None}])
def test_there_is_no_answer_before_the_end_nor_without_a_plan(more: dict[str, Any]) -> None:
    assert show_answer(search(answer("list", 0), "-", **more)) is None


def test_a_question_that_is_left_to_text_says_that_nothing_could_be_looked_up() -> None:
    alone = search(answer("list", 0, complete=False), "--", plan={"anchors": []})
    shown = show_answer(alone)
    assert shown is not None
    assert (shown.head, shown.said) == (
        "No answer", "Nothing that was asked could be looked up in the graph. What follows is nearest to the text."
    )  # fmt: skip
    assert (shown.divides, shown.none_meets, shown.doubt) == (False, False, None)
    alone["plans"][0]["source"] = "user"
    assert show_answer(alone) is None


def test_a_question_that_is_left_to_text_names_the_words_that_are_none_of_the_schema() -> None:
    text = {"var": "T", "labels": ["paper"], "relevance_text": "papers by authors from Uppsala"}
    alone = search(answer("list", 0, complete=False), "--", plan={"anchors": [], "target": text})
    alone["question"] = "papers by authors from Uppsala"
    shown = show_understanding(alone, schema=Schema((NodeType("paper", 9), NodeType("author", 9)), (), ()))
    assert shown is not None
    assert shown.left == ("Uppsala",)


@pytest.mark.parametrize(
    ("by", "value", "expected"),
    [
        ({"field": "founded"}, 1836, "founded 1836"),
        ({"field": "HAS_PRICE"}, None, "has price not known"),
        ({"field": "people"}, 1234567, "people 1,234,567"),
        ({"count": {"rel": "CITES", "direction": "in"}}, 14, "is cited by 14"),
        ({"count": {"rel": "CITES", "direction": "out"}}, 0, "cites 0"),
        ({"count": {"rel": "MADE_OF", "direction": "in"}}, 3, "made of (incoming) 3"),
        ({"count": {"rel": "*"}}, 3, "edges 3"),
    ],
)
def test_an_order_says_the_value_that_ordered(by: dict[str, Any], value: Any, expected: str) -> None:
    assert order_value({"by": by}, value, RELATIONS) == expected


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("weight_g", 2180, ("2180 g", "weight of Alba.")),
        ("weight_kg", 38_000, ("38,000 kg", "weight of Alba.")),
        ("half_life_hours", 1, ("1 hour", "half life of Alba.")),
        ("priceEUR", 20, ("20 EUR", "price of Alba.")),
        ("price", 20.5, ("20.5", "price of Alba.")),
        ("released", "2004-03-01", ("2004-03-01", "released of Alba.")),
        ("sizes_l", ["s", "l"], ("s, l", "sizes l of Alba.")),
        ("weight_g", None, ("Not known", "Alba has no weight here.")),
    ],
)
def test_the_value_that_was_asked_for_has_its_unit(field: str, value: Any, expected: tuple[str, str]) -> None:
    described = search(answer("list", 1, field=field, values=[{"id": "n0", "value": value}]), "+")
    described["results"][0]["node"] = {"id": "n0", "name": "Alba"}
    shown = show_answer(described)
    assert shown is not None
    assert (shown.head, shown.said) == expected


def test_an_order_by_a_count_reads_as_people_say_it() -> None:
    by = {"count": {"rel": "CITES", "direction": "in", "to_label": "paper"}}
    assert order_text({"by": by, "direction": "desc", "limit": 3}, RELATIONS) == (
        "number of papers it is cited by, most first, 3 places"
    )
    assert [plural(noun) for noun in ("box", "category", "day", "class", "brand")] == [
        "boxes", "categories", "days", "classes", "brands",
    ]  # fmt: skip


def test_words_that_the_plan_leaves_out_are_named_one_by_one() -> None:
    target = {"var": "T", "labels": ["paper"], "relevance_text": "show me the zumpty blorble Blorble"}
    shown = show_understanding(search(answer("list", 0), "", plan={"target": target}))
    assert shown is not None
    assert (shown.left, shown.complete) == (("zumpty", "blorble"), False)


def test_words_of_conditions_that_were_let_go_were_understood() -> None:
    target = {"var": "T", "labels": ["paper"], "relevance_text": "amber not"}
    asked = {"question": "Which papers are by Ada, not about amber?", "plan": {"target": target}}
    shown = show_understanding(search(answer("list", 0), "", **asked))
    assert shown is not None
    assert not shown.complete
    let_go = search(answer("list", 0), "", given=True, **asked)
    let_go["plans"][0]["given"] |= {"exclude": [{"anchors": [], "hops": []}]}
    shown = show_understanding(let_go)
    assert shown is not None
    assert shown.complete


def test_a_turning_word_counts_as_left_over_unless_the_plan_turns_something_round() -> None:
    asked = {"question": "Which papers are not about amber?"}
    shown = show_understanding(search(answer("list", 0), "", **asked))
    assert shown is not None
    assert (shown.turning, shown.complete) == (("not",), False)
    for plan in ({"exclude": [{"anchors": [], "hops": []}]}, {"filters": [{"op": "!="}]}):
        shown = show_understanding(search(answer("list", 0), "", plan=plan, **asked))
        assert shown is not None
        assert shown.complete


def test_a_plan_of_a_person_leaves_nothing_out() -> None:
    described = search(answer("list", 0), "")
    described["plans"][0]["source"] = "user"
    assert show_understanding(described) is None


def test_a_question_in_another_language_is_shown_as_it_was_read_and_its_words_as_they_were_asked() -> None:
    asked = {"question": "Welche Artikel sind nicht von Ada?"}
    shown = show_understanding(search(answer("list", 0), "", **asked))
    assert shown is not None
    assert "not" in shown.read_as
    assert "Ada" in shown.read_as
    assert [said.split()[0] for said in shown.turning] == ["nicht"]
    same = show_understanding(search(answer("list", 0), "", question="Which papers are by Ada?"))
    assert same is not None
    assert (same.read_as, same.notes, same.complete) == ("", (), True)


def test_a_name_that_was_said_in_another_way_is_told_but_a_plural_is_not() -> None:
    def linked(name: str) -> list[dict[str, Any]]:
        return [{"plan_index": 0, "anchor": "a", "bindings": [{"node": {"name": name}}]}]

    for name, told in (("Ada Lovelace", (("Ada", "Ada Lovelace"),)), ("Adas", ()), ("ADA", ())):
        shown = show_understanding(search(answer("list", 0), "", linked=linked(name)))
        assert shown is not None
        assert shown.meant == told


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
    shown = show_understanding(search(answer("list", 0), "", question=question, did_you_mean=[entry]))
    assert shown is not None
    assert [(one.name, one.question) for one in shown.suggestions] == offered


@pytest.mark.parametrize(
    ("kind", "source", "fusion", "right", "doubt"),
    [
        ("list", "schema", {"probability": 0.48}, 0.48, None),
        ("list", "schema", {"probability": None}, None, 0.05),
        ("list", "schema", None, None, 0.05),
        ("list", "user", {"probability": 0.48}, None, None),
        ("number", "schema", {"probability": 0.48}, None, 0.05),
    ],
)
def test_where_a_ranker_says_how_sure_it_is_of_the_first_result_the_plan_is_not_doubted(
    kind: str, source: str, fusion: dict[str, Any] | None, right: float | None, doubt: float | None
) -> None:
    described = search(answer(kind, 1, value=1), "+-", fusion=fusion)
    described["plans"][0] |= {"probability": 0.05, "source": source}
    shown = show_answer(described)
    assert shown is not None
    assert (shown.right, shown.doubt) == (right, doubt)


def test_a_question_left_to_text_says_how_sure_the_ranker_is() -> None:
    nothing = {"anchors": [], "hops": [], "filters": []}
    shown = show_answer(search(answer("list", 0), "-", plan=nothing, fusion={"probability": 0.3}))
    assert shown is not None
    assert (shown.head, shown.right) == ("No answer", 0.3)
    empty = show_answer(search(answer("list", 0), "", plan=nothing, fusion={"probability": 0.3}))
    assert empty is not None
    assert empty.right is None


@pytest.mark.parametrize(("probability", "source", "doubt"), [(0.31, "schema", 0.31), (0.5, "schema", None),
                                                              (0.31, "user", None)])  # fmt: skip
def test_an_answer_of_an_improbable_plan_is_doubted(probability: float, source: str, doubt: float | None) -> None:
    described = search(answer("list", 1), "+")
    described["plans"][0] |= {"probability": probability, "source": source}
    shown = show_answer(described)
    assert shown is not None
    assert shown.doubt == doubt
