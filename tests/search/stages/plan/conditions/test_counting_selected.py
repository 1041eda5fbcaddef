"""Counts of what another condition selects, over the demo bases; what is right is counted in their data."""

from __future__ import annotations

import pytest

from search.domain.plan import Count
from tests.search.stages.plan.demo_planners import PlannedDemo, planned


@pytest.fixture(scope="module")
def demos(tmp_path_factory: pytest.TempPathFactory) -> dict[str, PlannedDemo]:
    return {name: planned(name, tmp_path_factory.mktemp(name)) for name in ("biomedical", "products", "papers")}


@pytest.mark.parametrize(
    ("base", "text", "names"),
    [
        # A name selects: by Brand, products of wool are O'Marra's 6 and Cairnfoot's 1.
        ("products", "brand with the most things made of stainless steel", ["Ostervik"]),
        ("products", "brands with at least two products made of oak",
         ["Halvmåne Smide", "Oake & Pell", "Peck & Tumble", "Yarrowby"]),
        ("papers", "who wrote the most papers in JPE", ["Samuel Okonjoma", "Leopoldo Zanchettini"]),
        ("papers", "In JPE, who wrote the most papers?", ["Samuel Okonjoma", "Leopoldo Zanchettini"]),
        ("papers", "authors with more than two papers on epidemiology", ["Noor al-Hashmani", "Samuel Okonjoma"]),
        # The counted word is a name, and a price limits what is counted.
        ("products", "which brand has the most tents", ["Tarnhollow"]),
        ("products", "brands with more than one backpack under 300", ["Tarnhollow"]),
        # No name at all: a number, a value, or a participle says which are counted.
        ("products", "designer with the most products under 50 euros", ["Mirela Kostova"]),
        ("papers", "author with the most papers at a workshop", ["Eero Päivärinne"]),
        ("papers", "who has written more than 5 papers in a journal", ["Zsófia Kárászi"]),
        ("biomedical", "which organ is affected by the most inherited diseases", ["Blood"]),
        ("biomedical", "organs affected by more than two inherited diseases", ["Blood", "Liver"]),
    ],
)  # fmt: skip
def test_a_count_counts_what_the_rest_of_the_question_selects(
    demos: dict[str, PlannedDemo], base: str, text: str, names: list[str]
) -> None:
    best = demos[base].best(text)
    assert sorted(demos[base].demo.answers(best.plan)) == sorted(names)
    assert best.plan.target.relevance_text == ""
    counts = [best.plan.order.by if best.plan.order else None, *(one.count for one in best.plan.filters)]
    assert any(isinstance(one, Count) and one.among for one in counts)


def test_a_count_in_a_clause_of_its_own_counts_everything(demos: dict[str, PlannedDemo]) -> None:
    plan = demos["papers"].best("authors of papers in Outbreak who wrote more than three papers").plan
    assert [one.count for one in plan.filters] == [Count("WRITES", "out")]


def test_nothing_is_the_answer_where_too_few_are_selected(demos: dict[str, PlannedDemo]) -> None:
    best = demos["products"].best("brands with more than ten products made of wool")
    assert (demos["products"].demo.answers(best.plan), best.plan.target.relevance_text) == ([], "")


def test_a_word_of_which_nodes_are_counted_is_not_explained_by_the_count(demos: dict[str, PlannedDemo]) -> None:
    plan = demos["biomedical"].best("which organ is affected by the most fearsome diseases").plan
    assert plan.target.relevance_text == "fearsome"


def test_a_value_that_names_its_type_says_its_relation(demos: dict[str, PlannedDemo]) -> None:
    best = demos["papers"].best("papers at a workshop")
    assert [hop.rel for hop in best.plan.hops] == ["PUBLISHED_IN"]
    assert len(demos["papers"].demo.answers(best.plan)) == 5
