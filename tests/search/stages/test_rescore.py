"""What several plans found becomes one list; expectations are worked out by hand."""

from dataclasses import replace
from typing import Any

import pytest

from search.domain.graph import Node
from search.domain.linking import Binding, GraphRanking, LinkedPlan, Placed, Traversal
from search.domain.plan import Anchor, Order, Plan, Risk, Target
from search.domain.plan.parts import Filter
from search.domain.question import Question
from search.domain.ranking import Candidate
from search.domain.trace import Limit
from search.stages.rescore import Rescore
from tests import oracle
from tests.graphs import Nodes, schema_of
from tests.search.stages.doubles import Cosines, Words

COSINES = {
    "document+relations": {
        "who?": {1: 0.1, 2: 0.7, 3: 0.4},
        "set in space": {1: 0.2, 2: 0.5},
        "a quiet film": {7: 0.8, 8: 0.6, 9: 0.9},
    }
}
TYPES = {7: "film", 8: "film", 9: "person"}
GRAPH = oracle.Graph(
    tuple(
        Node(key, f"n{key}", TYPES.get(key, "thing"), f"node {key}", fields={"year": 1990 + key}) for key in range(10)
    ),
    (),
)
NODES = Nodes(GRAPH, schema_of(GRAPH))


def linked(index: int, probability: float, anchors: int = 1, text: str = "", risk: Risk = "normal") -> LinkedPlan:
    names = tuple(Anchor(f"a{i}", f"name {i}") for i in range(anchors))
    bindings = tuple(Binding(anchor.var, Node(99, "x", "thing", "x"), 0.9) for anchor in names)
    return LinkedPlan(Plan(names, (), Target("T", (), text), risk_level=risk), bindings, index, "schema", probability)


def found(index: int, **scores: float) -> Traversal:
    return Traversal(index, "test", tuple(Candidate(int(key[1:]), score) for key, score in scores.items()))


def rescore(plans: list[LinkedPlan], traversals: list[Traversal], **options: Any) -> tuple[GraphRanking, Cosines]:
    cosines = Cosines(COSINES, TYPES)
    return Rescore(cosines, cosines, NODES, **options)(Question("who?"), plans, traversals, Limit()), cosines


def test_a_candidates_score_is_the_sum_of_probability_times_mean_anchor_score() -> None:
    plans = [linked(0, 0.6), linked(1, 0.3, anchors=2)]
    ranking, _ = rescore(plans, [found(0, n1=0.9, n2=0.8), found(1, n1=1.0, n3=1.6)])
    # n1: 0.6 × 0.9 + 0.3 × 1.0 / 2; n2: 0.6 × 0.8; n3: 0.3 × 1.6 / 2.
    assert ranking.ranking.scores == pytest.approx({1: 0.69, 2: 0.48, 3: 0.24})
    assert ranking.ranking.keys == (1, 2, 3)
    # The more probable plan found two; what the other one adds says nothing of how selective the answer is.
    assert ranking.trust.n_cand == 2


def test_the_residual_text_adds_its_cosine_inside_the_plan() -> None:
    ranking, _ = rescore([linked(0, 1.0, text="set in space")], [found(0, n1=0.9, n2=0.8, n3=0.9)])
    # n3 has no document vector and gets nothing.
    assert ranking.ranking.scores == pytest.approx({1: 1.1, 2: 1.3, 3: 0.9})
    assert ranking.ranking.keys == (2, 1, 3)


def test_with_two_anchors_the_residual_is_divided_like_the_anchors() -> None:
    ranking, _ = rescore([linked(0, 0.5, anchors=2, text="set in space")], [found(0, n1=1.8)])
    assert ranking.ranking.scores == pytest.approx({1: 0.5 * (1.8 + 0.2) / 2})


def test_equal_scores_are_ordered_by_the_questions_cosine_then_by_key() -> None:
    ranking, _ = rescore([linked(0, 1.0)], [found(0, n1=0.9, n2=0.9, n3=0.9, n4=0.9, n5=0.9, n6=1.0)])
    assert ranking.ranking.keys == (6, 2, 3, 1, 4, 5)


def test_without_ties_the_question_is_not_embedded() -> None:
    assert rescore([linked(0, 1.0)], [found(0, n1=0.9, n2=0.8)])[1].encoded == []


def test_a_candidates_plan_is_the_one_with_the_largest_part_in_its_score() -> None:
    plans = [linked(0, 0.2), linked(1, 0.5), linked(2, 0.3)]
    ranking, _ = rescore(plans, [found(0, n1=1.0, n2=1.0), found(1, n3=0.5), found(2, n2=0.5, n3=0.5)])
    # n2: 0.2 × 1.0 of the first plan, 0.3 × 0.5 of the more probable third. n3: 0.25 and 0.15.
    assert [ranking.plan_of(key) for key in (1, 2, 3)] == [0, 0, 1]
    assert [(share.plan_index, share.share) for share in ranking.shares([2])[0]] == [
        (0, pytest.approx(0.2 / 0.35)), (2, pytest.approx(0.15 / 0.35)),
    ]  # fmt: skip
    assert ranking.leading == 1


@pytest.mark.parametrize(
    ("risk", "careful"), [("aggressive", "normal"), ("normal", "weak"), ("weak", "no_trade"), ("no_trade", "no_trade")]
)
def test_the_risk_is_the_best_plans_and_one_step_lower_when_a_better_one_found_nothing(
    risk: Any, careful: Risk
) -> None:
    first = rescore([linked(0, 0.7, risk=risk), linked(1, 0.3)], [found(0, n1=1.0), found(1, n2=1.0)])[0]
    assert first.trust.risk_level == risk
    second = rescore([linked(0, 0.7), linked(1, 0.3, risk=risk)], [found(0), found(1, n2=1.0)])[0]
    assert second.trust.risk_level == careful


def test_a_better_plan_that_asks_the_graph_nothing_leaves_the_risk_as_it_is() -> None:
    first = rescore([linked(0, 0.7, anchors=0), linked(1, 0.3, risk="weak")], [found(0), found(1, n2=1.0)])[0]
    assert first.trust.risk_level == "weak"


def test_the_probability_of_a_plan_that_found_nothing_is_shared_by_those_that_found_something() -> None:
    plans = [linked(0, 0.45), linked(1, 0.44), linked(2, 0.11)]
    ranking, _ = rescore(plans, [found(0), found(1, n1=0.9), found(2, n2=0.9)])
    assert ranking.trust.probability == pytest.approx(0.44 / 0.55)
    cut_short = Traversal(0, "test", (), truncated=True)
    ranking, _ = rescore(plans, [cut_short, found(1, n1=0.9), found(2, n2=0.9)])
    assert ranking.trust.probability == pytest.approx(0.44)


def test_nothing_found_is_an_empty_list_that_is_not_traded() -> None:
    ranking, _ = rescore([linked(0, 1.0, risk="aggressive")], [found(0)])
    assert (len(ranking.ranking), ranking.trust.n_cand, ranking.trust.risk_level) == (0, 0, "no_trade")


def test_a_plan_that_describes_only_the_target_is_answered_from_the_whole_corpus() -> None:
    plan = Plan((Anchor("T", "a quiet film", "film", "doc"),), (), Target("T", ("film",)), retrieval_mode="doc_search")
    document_search = LinkedPlan(plan, (Binding("T", Node(7, "x", "film", "x"), 0.8),), 0)
    ranking, _ = rescore([document_search], [found(0, n7=0.8)])
    assert ranking.ranking.scores == pytest.approx({7: 0.8, 8: 0.6})
    assert [ranking.plan_of(key) for key in (7, 8)] == [0, 0]


def test_what_is_found_in_the_whole_corpus_meets_the_plans_filters() -> None:
    target, late = Target("T", ("film",)), Filter("T", "year", ">", 1997)
    plan = Plan((Anchor("T", "a quiet film", "film", "doc"),), (), target, (late,), retrieval_mode="doc_search")
    # The nearest film is of 1997, the next of 1998.
    assert rescore([LinkedPlan(plan, (), 0)], [])[0].ranking.scores == pytest.approx({8: 0.6})


def test_a_plan_to_be_skipped_gives_nothing() -> None:
    plan = Plan((Anchor("a", "x"),), retrieval_mode="skip")
    assert rescore([LinkedPlan(plan, (), 0)], [found(0, n1=1.0)])[0].trust.n_cand == 0


def test_a_residual_shared_by_plans_is_embedded_once() -> None:
    plans = [linked(0, 0.5, text="set in space"), linked(1, 0.5, text="set in space")]
    assert rescore(plans, [found(0, n1=0.5), found(1, n2=0.9)])[1].encoded == ["set in space"]


def ordered(index: int, probability: float, limit: int | None = None, anchors: int = 1) -> LinkedPlan:
    plan = linked(index, probability, anchors)
    return replace(plan, plan=replace(plan.plan, order=Order("year", "desc", limit)))


def in_places(index: int, **places: int) -> Traversal:
    """A traversal whose candidates have these places; all have the same anchor score."""
    placed = {int(key[1:]): Placed(2000 - place, place) for key, place in places.items()}
    return Traversal(index, "test", tuple(Candidate(key, 0.9) for key in placed), placed=placed)


def test_an_order_of_the_best_plan_decides_about_its_candidates_and_they_come_first() -> None:
    plans = [ordered(0, 0.6), linked(1, 0.4)]
    ranking, _ = rescore(plans, [in_places(0, n3=1, n1=2, n2=3), found(1, n2=1.0, n5=1.0)])
    assert ranking.ranking.keys == (3, 1, 2, 5)
    # The other plan found n2 as well, but has no part in the place that the order gives it.
    assert [share.plan_index for share in ranking.shares([2])[0]] == [0]
    assert [share.plan_index for share in ranking.shares([5])[0]] == [1]
    assert ranking.parts[0] == pytest.approx({key: ranking.ranking.scores[key] for key in (3, 1, 2)})


def test_equal_places_are_ordered_by_what_all_plans_say_then_by_the_question() -> None:
    plans = [ordered(0, 0.6), linked(1, 0.4)]
    ranking, _ = rescore(plans, [in_places(0, n1=1, n2=1, n3=1, n4=2), found(1, n4=1.0, n1=1.0)])
    # n1 was found by both plans; of n2 and n3 the question is nearer to n2; n4 is a place behind, whoever found it.
    assert ranking.ranking.keys == (1, 2, 3, 4)


def test_an_order_of_a_plan_that_is_not_the_best_moves_nothing() -> None:
    ranking, _ = rescore([linked(0, 0.6), ordered(1, 0.4)], [found(0, n1=0.9, n2=0.8), in_places(1, n2=1, n1=2)])
    assert ranking.ranking.scores == pytest.approx({1: 0.54 + 0.36, 2: 0.48 + 0.36})


def test_a_plan_without_anchors_scores_each_of_its_candidates_alike() -> None:
    ranking, _ = rescore([linked(0, 0.7, anchors=0), linked(1, 0.3)], [found(0, n1=0.0, n2=0.0), found(1, n2=0.5)])
    assert ranking.ranking.scores == pytest.approx({1: 0.7, 2: 0.85})


SPACE = {"set": {1: 0.2, 2: 0.2, 5: 0.2}, "space": {2: 0.6, 5: 0.6, 6: 0.8}}


def test_the_words_left_over_weigh_alike_with_one_anchor_and_with_two() -> None:
    for anchors in (1, 2):
        plans = [linked(0, 1.0, anchors=anchors, text="set space")]
        ranking, _ = rescore(plans, [found(0, n1=0.9 * anchors, n2=0.9 * anchors)], text=Words(SPACE))
        # n1 scores 0.2 of 2 for both words, n2 scores 0.8. No text is near "set space" in the table of cosines.
        assert ranking.ranking.scores == pytest.approx({1: 0.9 + 16 * 0.1**2, 2: 0.9 + 16 * 0.4**2})


def test_one_word_that_only_one_candidate_shares_does_not_outweigh_what_is_alike() -> None:
    words = Words({"set": {1: 0.5}})
    plans = [linked(0, 1.0, text="set space quietly with much care beside water")]
    ranking, _ = rescore(plans, [found(0, n1=1.0, n2=1.05)], text=words)
    # Of eight words n1 has half of one: 16 / 16² = 1/16 as a squared share, all of it as a share of the best score.
    assert ranking.ranking.scores == pytest.approx({1: 1.0625, 2: 1.05})


def test_the_best_plan_is_read_however_improbable_it_is() -> None:
    plans = [linked(0, 0.04, text="set space"), linked(1, 0.001, text="space set")]
    ranking, _ = rescore(plans, [found(0, n1=1.0, n2=1.0), found(1, n6=1.0)], text=Words(SPACE))
    assert ranking.ranking.scores == pytest.approx({1: 0.04 * 1.16, 2: 0.04 * 3.56, 6: 0.001})


@pytest.mark.parametrize(
    ("keys", "risk"),
    [
        ({"n2": 1.0, "n3": 1.0}, "normal"),  # n2 scores 0.8 as the best of all documents, n6, does
        ({"n1": 1.0, "n3": 1.0}, "weak"),  # n1 scores 0.2 of 0.8
    ],
)
def test_a_plan_whose_answer_says_what_it_leaves_over_is_borne_out(keys: dict[str, float], risk: Risk) -> None:
    plans = [linked(0, 0.3, text="set space", risk="weak")]
    assert rescore(plans, [found(0, **keys)], text=Words(SPACE))[0].trust.risk_level == risk


def test_a_question_left_to_text_reads_the_documents_of_the_type_it_names() -> None:
    words = Words({"quiet": {7: 0.6, 8: 0.3, 9: 0.9}}, TYPES)
    plan = Plan(target=Target("T", ("film",), "a quiet film"), risk_level="no_trade")
    ranking, _ = rescore([LinkedPlan(plan, (), 0)], [], text=words)
    # The cosines 0.8 and 0.1, and one of three words is covered; the person n9 takes no part.
    assert ranking.ranking.scores == pytest.approx({7: 0.8 + 16 * 0.2**2, 8: 0.6 + 16 * 0.1**2})
    assert (ranking.trust.risk_level, ranking.trust.exact) == ("normal", False)


def test_a_question_that_names_no_type_is_left_to_the_text_of_all() -> None:
    plan = Plan(target=Target("T", (), "a quiet film"), risk_level="no_trade")
    assert not len(rescore([LinkedPlan(plan, (), 0)], [], text=Words({"quiet": {7: 2.0}}))[0].ranking)


def test_an_order_is_one_of_those_that_say_the_words_left_over() -> None:
    plan = ordered(0, 0.6)
    plan = replace(plan, plan=replace(plan.plan, target=Target("T", (), "set space")))
    ranking, _ = rescore([plan], [in_places(0, n3=1, n1=2, n5=3, n2=4)], text=Words(SPACE))
    # n5 and n2 score 4, n1 scores 1, n3 nothing: n5 is placed before n2, then come the others by their words.
    assert ranking.ranking.keys == (5, 2, 1, 3)


def test_where_no_document_says_several_words_left_over_nothing_is_put_in_order() -> None:
    plan = ordered(0, 0.6)
    plan = replace(plan, plan=replace(plan.plan, target=Target("T", (), "zumpty dumpty")))
    # They describe something in other words: the scores are level, and the question's cosine puts n3 first.
    assert rescore([plan], [in_places(0, n1=1, n3=2)], text=Words(SPACE))[0].ranking.keys == (3, 1)


def test_where_no_document_says_the_words_left_over_all_are_put_in_order() -> None:
    plan = ordered(0, 0.6)
    plan = replace(plan, plan=replace(plan.plan, target=Target("T", (), "zumpty")))
    assert rescore([plan], [in_places(0, n3=1, n1=2)], text=Words(SPACE))[0].ranking.keys == (3, 1)
