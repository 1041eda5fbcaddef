"""Columns, lines and marks of a comparison, worked out by hand."""

from __future__ import annotations

from typing import Any

from search.services.searches.compare_searches import compare_described
from search.views.shown.comparison import ShownComparison, lay_out
from search.views.shown.search import show_search
from tests.search.services.searches.test_compare_searches import plan, search


def shown(*searches: dict[str, Any]) -> ShownComparison:
    """Lay out described searches; what their own pages print of plans and results is kept short."""
    blank = {"linked": [], "graph": None, "plans": [], "plan_index": None, "other_plans": [], "fusion": None,
             "answer": {"verdict": None}, "did_you_mean": [], "changes": 1, "follow_up": None, "understood": None,
             "clarify": [], "plan": None}  # fmt: skip
    described = []
    for one in searches:
        results = [
            {**result, "rank": rank, "score": 1.0, "snippet": "", "scores": {}, "evidence": None, "answers": False}
            for rank, result in enumerate(one["results"], 1)
        ]
        described.append(one | blank | {"results": results, "steps": []})
    return lay_out(compare_described(list(searches)), [show_search(one) for one in described])


def test_lines_lead_from_card_to_card_of_the_next_column() -> None:
    told = shown(search("one", "abc"), search("two", "bax"))
    # Rows are 100 high: rank 1 stands at 50, rank 2 at 150.
    assert [(line.name, line.before, line.after, line.kind, line.path) for line in told.columns[0].lines] == [
        ("A", 1, 2, "down", "M0 50C50 50 50 150 100 150"),
        ("B", 2, 1, "up", "M0 150C50 150 50 50 100 50"),
    ]
    assert told.columns[1].lines == ()
    assert (told.rows, told.height) == (3, 300)


def test_a_result_that_stands_below_the_shown_part_has_a_line_out_of_it() -> None:
    letters = "abcdefghijkl"
    told = shown(search("one", letters), search("two", letters[::-1]))
    lines = {line.name: line for line in told.columns[0].lines}
    # a is rank 12 in the second column, which shows ten.
    assert (lines["A"].kind, lines["A"].path) == ("out", "M0 50C50 50 50 1000 100 1000")
    assert (lines["L"].kind, lines["L"].path) == ("out", "M0 1000C50 1000 50 50 100 50")
    assert (lines["F"].before, lines["F"].after, lines["F"].kind) == (6, 7, "down")
    assert [column.more for column in told.columns] == [2, 2]
    assert [card.rank for card in told.columns[0].cards] == list(range(1, 11))


def test_marks_name_the_rank_elsewhere_and_what_is_only_here() -> None:
    told = shown(search("one", "ab"), search("two", "bc"), search("three", "c"))
    first, second, _ = (column.cards for column in told.columns)
    assert first[0].only_here
    assert not first[1].only_here
    assert [(one.pipeline, one.rank) for one in first[1].elsewhere] == [("Two", 1), ("Three", None)]
    assert not second[1].only_here
    assert [(row.name, row.ranks) for row in told.table] == [
        ("A", (1, None, None)), ("B", (2, 1, None)), ("C", (None, 2, 1)),
    ]  # fmt: skip


def test_nothing_is_marked_while_a_search_runs() -> None:
    told = shown(search("one", "ab"), search("two", "", "running"))
    assert [card.only_here for card in told.columns[0].cards] == [False, False]
    assert told.columns[0].cards[0].elsewhere == ()
    assert told.pending
    assert told.agreement == ()


def test_parts_of_plans_have_a_word_for_which_plans_have_them() -> None:
    about = plan(target={"var": "T", "labels": ["film"], "relevance_text": "amber"})
    told = shown(search("one", "a", plan=plan()), search("two", "a", plan=about), search("three", "a"))
    assert [(part.text, part.kind, part.mark) for part in told.columns[1].plan or ()] == [
        ("film", "kept", "in every plan"), ("Ada Holm (person)", "kept", "in every plan"),
        ("directed by", "kept", "in every plan"), ("amber", "added", "only here"),
    ]  # fmt: skip
    assert told.columns[2].plan is None
    assert told.plans_differ
    three = shown(*(search(name, "a", plan=one) for name, one in (("a", about), ("b", about), ("c", plan()))))
    assert (three.columns[0].plan or ())[-1].mark == "not in C"
    assert shown(search("one", "a", plan=plan()), search("two", "a", plan=plan())).plans_differ is False
    assert shown(search("one", "a", plan=plan()), search("two", "a")).plans_differ is None


def test_searches_of_different_releases_are_named() -> None:
    assert shown(search("one", "a"), search("two", "a") | {"release": "films@2"}).releases == ("films@1", "films@2")
    assert shown(search("one", "a"), search("two", "a")).releases == ()


def test_no_two_columns_have_the_same_title() -> None:
    def titles(*searches: dict[str, Any]) -> list[str]:
        return [column.title for column in shown(*searches).columns]

    newer = search("one", "a") | {"release": "films@2"}
    assert titles(search("one", "a"), search("two", "a")) == ["One", "Two"]
    assert titles(search("one", "a"), newer, search("two", "a")) == ["One over films@1", "One over films@2", "Two"]
    assert titles(search("one", "a"), search("one", "b")) == ["One over films@1 (1)", "One over films@1 (2)"]
    # A result says in which of them it stands elsewhere.
    [other] = shown(search("one", "a"), newer).columns[0].cards[0].elsewhere
    assert (other.pipeline, other.rank) == ("One over films@2", 1)


def test_two_empty_searches_have_no_rows() -> None:
    told = shown(search("one", ""), search("two", ""))
    assert (told.rows, told.table, told.agreement[0].overlap) == (0, (), None)
