"""The answer of a search in one line, how sure it is, why, and what would settle it."""

from __future__ import annotations

from typing import Any

import pytest

from search.domain.graph import NodeType, Relation, Schema
from search.domain.payloads import Traversals
from search.domain.payloads.lists import Listed
from search.domain.payloads.plans import Traversed
from search.services.searches.verdict import told
from search.stages.retrieve import NO_VECTORS
from tests.search.services.searches.described import answer, search

WROTE = Schema((NodeType("paper", 9), NodeType("person", 9)), (Relation("WROTE", "wrote", "was written by"),), ())
BY_ADA = {"hops": [{"from": "a", "rel": "WROTE", "to_var": "T", "to_label": "paper", "direction": "out"}]}
TEXT = {"target": {"var": "T", "labels": ["paper"], "relevance_text": "whistling"}}
NOBODY = {"anchors": [], "target": {"var": "T", "labels": ["paper"], "relevance_text": "asdf qwer"}}
CITED = {"count": {"rel": "CITES", "direction": "in", "to_label": "paper"}}
LIGHTEST = {"by": {"field": "weight_g"}, "direction": "asc", "limit": 1}


def of(described: dict[str, Any], *found: Traversed) -> dict[str, Any]:
    return told(described, Traversals(found), WROTE)


def line(*given: Any, evidence: dict[str, Any] | None = None, **more: Any) -> str:
    described = search(*given, **{"plan": BY_ADA} | more)
    for result in described["results"]:
        result["evidence"] |= evidence or {}
    return str(of(described)["answer"]["line"])


def computed(value: float | None, count: int, nodes: int | None = None) -> dict[str, Any]:
    one = {"function": "mean", "field": "weight_g", "value": value, "nodes": count if nodes is None else nodes}
    return answer("aggregate", count, aggregate=one, field="weight_g")


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (line(answer("list", 2), "++-"), "Two papers: A and B"),
        (line(answer("list", 1), "+-"), "A"),
        (line(answer("list", 1200), "+++"), "1,200 papers: A, B, C and 1,197 more"),
        (line(answer("list", 30, complete=False), "++"), "At least 30 papers: A, B and 28 more"),
        (line(answer("list", 2), "++", plan=TEXT), "Perhaps two papers: A and B"),
        (line(answer("list", 1), "+", plan=TEXT), "Perhaps A"),
        (line(answer("list", 86), "+++", plan=TEXT), "Perhaps A, the closest of 86 papers"),
        (line(answer("list", 1, field="weight_g"), "+", evidence={"value": 2180}), "A, 2.18 kg"),
        (line(answer("list", 1, field="price"), "+", evidence={"value": 29}), "A, price 29"),
        (line(answer("list", 1, field="price"), "+"), "A, price not known"),
        (line(answer("list", 2, field="weight_g"), "++", evidence={"value": 9}), "Two papers: A (9 g) and B (9 g)"),
        (
            line(answer("list", 1), "+", plan={"order": LIGHTEST}, evidence={"order": {"value": 160, "place": 1}}),
            "A, 160 g",
        ),
        (
            line(answer("list", 2), "++", plan={"order": LIGHTEST}, evidence={"order": {"value": 9, "place": 1}}),
            "Two papers share the first place: A (9 g) and B (9 g)",
        ),
        (
            line(answer("list", 5), "+++++", plan={"order": {"by": {"field": "year"}, "direction": "desc"}}),
            "Five papers, latest year first",
        ),
        (
            line(answer("list", 5), "+++++", plan={"order": {"by": CITED, "direction": "desc", "limit": 5}}),
            "Five papers, highest number of papers it cites first",
        ),
        (line(answer("list", 0), "--"), "Nothing here answers this exactly; the closest results are below"),
        (line(answer("list", 0), ""), "Nothing here answers this"),
        (line(answer("number", 14, value=14), "++"), "14 papers"),
        (line(answer("number", 1, value=1), "+"), "1 paper"),
        (line(answer("number", 14, value=14, complete=False), "++"), "At least 14 papers"),
        (line(answer("number", 14, value=14), "++", plan=TEXT), "At most 14 papers"),
        (line(answer("number", 0, value=0), ""), "None: no paper was written by “Ada”"),
        (line(computed(31.5, 3), "+++"), "31.5 g, the mean weight of 3 papers"),
        (line(computed(31.5, 3, 2), "+++"), "31.5 g, the mean weight of 2 of 3 papers"),
        (line(computed(None, 3, 0), "+++"), "Not known: 3 papers have no weight here"),
        (line(answer("yes", 1), "+"), "Yes: Ada wrote On amber"),
        (line(answer("no", 0), ""), "No: no paper was written by “Ada”"),
        (line(answer("unknown", 0), ""), "This data says neither yes nor no"),
    ],
)
def test_the_answer_is_one_line(said: str, expected: str) -> None:
    assert said == expected


def test_names_that_are_too_long_for_the_line_are_counted() -> None:
    described = search(answer("list", 3), "+++", plan=BY_ADA)
    for result in described["results"]:
        result["node"]["name"] *= 40
    assert of(described)["answer"]["line"] == f"Three papers: {'A' * 40} and 2 more"


def verdict(described: dict[str, Any], probability: float = 0.9, *found: Traversed, **entry: Any) -> tuple[str, str]:
    described["plans"][0] |= {"probability": probability} | entry
    said = of(described, *found)["answer"]
    return said["verdict"], said["because"]


SURE = ("sure", "Sure: everything that was asked was checked.")
BROKEN = {"name": "retrieve", "status": "degraded", "role": "text list", "detail": "the encoder is away"}


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (verdict(search(answer("list", 2), "++", plan=BY_ADA)), SURE),
        (verdict(search(answer("no", 0), "", plan=BY_ADA)), SURE),
        (
            verdict(search(answer("list", 2), "++", plan=BY_ADA), 0.79),
            ("probably", "Probably: this is the likeliest meaning, and all of it was checked."),
        ),
        (
            verdict(search(answer("list", 2), "++", plan=BY_ADA), 0.49),
            ("unsure", "We are not sure, because the question can be meant in several ways."),
        ),
        (
            verdict(search(answer("list", 2), "++", plan=BY_ADA), 0.05, source="user"),
            ("sure", "Sure: this meaning was chosen, and all of it was checked."),
        ),
        (
            verdict(search(answer("list", 2), "++", plan=TEXT)),
            ("unsure", "We are not sure, because “whistling” could not be checked."),
        ),
        (
            verdict(search(answer("list", 2), "++", plan=BY_ADA, question="which papers did Ada not write")),
            ("unsure", "We are not sure, because “not” could not be applied."),
        ),
        (
            verdict(search(answer("list", 2), "++", plan=BY_ADA), alike=["coffee"]),
            ("unsure", "We are not sure, because what “coffee” means was only guessed."),
        ),
        (
            verdict(search(answer("list", 2), "++", plan=BY_ADA), alike=["coffee", "read"]),
            ("unsure", "We are not sure, because what “coffee” and “read” mean was only guessed."),
        ),
        (
            verdict(search(answer("list", 2, complete=False), "++", plan=BY_ADA, steps=[BROKEN])),
            (
                "unsure",
                "We are not sure, because not everything could be looked at in time and a part of the search did not "
                "work.",
            ),
        ),
        # A base without vectors was made so; nothing failed.
        (verdict(search(answer("list", 2), "++", plan=BY_ADA, steps=[BROKEN | {"detail": NO_VECTORS}])), SURE),
        # A guess of which the texts have to say something is no answer.
        (verdict(search(answer("list", 2), "++", plan=TEXT), 0.19), ("none", "“whistling” could not be checked.")),
        (verdict(search(answer("list", 0), "--", plan=BY_ADA)), ("none", "No paper was written by “Ada”.")),
        (
            verdict(search(answer("list", 0, complete=False, unbound=["Ada"]), "-", plan=BY_ADA)),
            ("none", "Nothing here is called “Ada”."),
        ),
        (
            verdict(search(answer("list", 0), "--", plan=NOBODY)),
            ("none", "Nothing in the question names anything here, so only texts could be compared."),
        ),
        (
            verdict(search(answer("list", 2), "++", plan=TEXT, fusion={"probability": 0.85})),
            ("sure", "Sure: everything that was asked was checked."),
        ),
    ],
)
def test_the_verdict_says_why(said: tuple[str, str], expected: tuple[str, str]) -> None:
    assert said == expected


def test_without_plans_only_texts_were_compared() -> None:
    said = of(search(answer("list", 0, complete=False), "--", plan_index=None, plans=[]))
    assert (said["answer"]["verdict"], said["understood"]) == ("none", None)
    assert said["answer"]["because"] == "Only texts were compared, so nothing was checked."


@pytest.mark.parametrize("status", ["queued", "running", "failed", "cancelled"])
def test_there_is_no_verdict_before_the_end(status: str) -> None:
    said = of(search(answer("list", 2), "++", status=status))
    assert (said["answer"]["line"], said["answer"]["verdict"], said["clarify"]) == ("", None, [])


def test_a_yes_or_no_that_was_not_understood_says_what_was_looked_at() -> None:
    walk = {
        "anchors": [{"var": "a", "text": "Ada"}, {"var": "T", "text": "Dune"}], **BY_ADA,
        "target": {"var": "T", "labels": ["paper"], "relevance_text": "with pleasure"},
    }  # fmt: skip
    assert of(search(answer("unknown", 0), "-", plan=walk))["answer"]["because"] == (
        "“pleasure” could not be checked. We checked whether “Dune” was written by “Ada”: no."
    )


def test_each_doubt_has_a_button_that_settles_it() -> None:
    described = search(answer("list", 2), "++", plan=BY_ADA | TEXT)
    [left] = of(described)["answer"]["settle"]
    assert left["sentence"] == "Ignore “whistling”"
    assert left["plan"]["target"]["relevance_text"] == ""
    assert left["plan"]["hops"] == BY_ADA["hops"]
    # Without the text there would be nothing to ask.
    assert of(search(answer("list", 0), "--", plan=NOBODY))["answer"]["settle"] == []


def test_conditions_that_were_let_go_can_be_given_up() -> None:
    described = search(answer("list", 0), "--", given=True, plan=BY_ADA)
    described["plans"][0]["plan"]["target"] = TEXT["target"]
    [without] = of(described)["answer"]["settle"]
    assert without["sentence"] == "Search without “about amber”"
    assert without["plan"]["target"]["relevance_text"] == ""


def test_a_better_known_name_can_be_chosen_and_makes_the_answer_less_sure() -> None:
    meant = {"text": "Ada", "name": "Ada", "how": "name", "id": "p1", "type": "person",
             "others": [{"id": "p2", "name": "Adah", "type": "person"}]}  # fmt: skip
    described = search(answer("list", 1), "+", plan=BY_ADA, question="papers by Ada", did_you_mean=[meant])
    said = of(described)["answer"]
    assert (said["verdict"], said["because"]) == ("probably", "Probably: a better-known name may be meant.")
    assert said["settle"] == [{"sentence": "I meant Adah", "question": "papers by Adah"}]


def two_readings(second: float, *, ids: tuple[str, ...] = ("n3",), **plan: Any) -> dict[str, Any]:
    """A question with a reading of probability 0.6 that finds n1, and another one."""
    described = search(answer("list", 1), "+-", plan=BY_ADA)
    first = described["plans"][0]
    first["probability"] = 0.6
    turned = first["plan"] | {"hops": [BY_ADA["hops"][0] | {"direction": "in"}]} | plan
    described["plans"].append({"plan": turned, "source": "schema", "probability": second})
    found = (
        Traversed(0, "test", Listed(("n1",), (1.0,), 1)),
        Traversed(1, "test", Listed(ids, (1.0,) * len(ids), len(ids))),
    )
    return of(described, *found)


def test_readings_with_other_answers_are_asked_about_in_words_of_the_base() -> None:
    said = two_readings(0.3)
    assert [(one["sentence"], one["plan_index"]) for one in said["clarify"]] == [
        ("paper that was written by “Ada”", 0), ("paper that wrote “Ada”", 1),
    ]  # fmt: skip
    assert (said["answer"]["verdict"], said["answer"]["because"]) == (
        "probably", "Probably: the question can be meant in several ways.",
    )  # fmt: skip


@pytest.mark.parametrize(
    "said",
    [
        two_readings(0.11),
        two_readings(0.3, ids=("n1",)),
        two_readings(0.3, ids=()),
        two_readings(0.3, target=TEXT["target"]),
        two_readings(0.3, **BY_ADA),
    ],
)
def test_a_reading_that_is_improbable_or_answers_the_same_or_leaves_words_over_is_not_asked_about(
    said: dict[str, Any],
) -> None:
    assert said["clarify"] == []


def test_a_bare_name_is_asked_about_whatever_the_probabilities() -> None:
    described = search(answer("list", 1), "+", plan={"anchors": [{"var": "T", "text": "Ada"}]})
    described["plans"].append({"plan": described["plans"][0]["plan"] | {
        "anchors": [{"var": "a", "text": "Ada"}], **BY_ADA}, "source": "schema", "probability": 0.02})  # fmt: skip
    found = [Traversed(at, "test", Listed((f"n{at}",), (1.0,), 1)) for at in range(2)]
    said = of(described, *found)
    assert [one["sentence"] for one in said["clarify"]] == ["“Ada”, the paper", "paper that was written by “Ada”"]
    assert said["answer"]["line"] == "A, paper"
    assert said["answer"]["because"] == "Probably: a name alone can be meant in several ways."
