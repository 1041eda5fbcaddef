"""Labels are what trying everything says; lists of many questions stand beside each other as one table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from search.domain.graph import Field, Node
from search.domain.linking import Binding, LinkedPlan
from search.domain.trace import Limit
from search.stages.plan.enumeration.enumerate import PlanCandidate
from search.stages.plan.rules import RulePlanner
from search.stages.plan.scoring.features import FEATURES
from search.stages.plan.write import Writer
from tests import oracle
from tests.graphs import schema_of
from tests.search.stages.plan.films import FILMS, planner_of
from training.evaluation.plan_answers import f1
from training.learning import plan_lists
from training.learning.plan_lists import Collector, PlanLists, without_accidents

# Of one mention, of two that join, of a name that is a film and a tag, and of none.
QUESTIONS = {
    "who directed Alpha Rising": ("Ann Arbor",),
    "drama films directed by Ann Arbor": ("Alpha Rising",),
    "what came out in the year of Heat and has Cy Clone in it": ("Alpha Rising", "Gamma Light"),
    "nothing that is named here": ("drama",),
}
KEYS = {node.name: node.key for node in reversed(FILMS.nodes)}


@pytest.fixture(scope="module")
def planner(tmp_path_factory: pytest.TempPathFactory) -> RulePlanner:
    return planner_of(tmp_path_factory.mktemp("films"), FILMS).rules


def collected(planner: RulePlanner) -> PlanLists:
    collector = Collector(planner)
    answers = [np.array(sorted(KEYS[name] for name in names), np.int32) for names in QUESTIONS.values()]
    return collector.collect(list(QUESTIONS), answers, lambda done: None, Limit())


def tried(planner: RulePlanner, text: str, candidate: PlanCandidate) -> set[int]:
    """Return what a candidate finds once it is written as a plan, by the matcher that tries everything."""
    settled = planner.proposer.enumerator.settle(candidate)
    if settled is None:
        return set()
    writer = Writer(planner.nodes, planner.knowledge.shape)
    plan = writer.plan(settled, planner.proposer.read(text).names, "", "trade_graph")
    by_id = {node.id: node for node in FILMS.nodes}
    bindings = tuple(Binding(anchor.var, by_id[node], 1.0) for anchor in plan.anchors for node in anchor.ids)
    return set(oracle.candidates(FILMS, LinkedPlan(plan, bindings)))


def by_hand(found: set[int], answers: set[int]) -> float:
    right = len(found & answers)
    return 2 * right / (len(found) + len(answers)) if right else 0.0


def test_f1_by_hand() -> None:
    def keys(*found: int) -> np.ndarray:
        return np.array(found, dtype=np.int32)

    assert f1(keys(1, 2, 3), keys(2, 3, 4, 5, 6)) == pytest.approx(2 * 2 / 8)
    assert f1(keys(7), keys(7)) == 1.0
    assert f1(keys(1), keys(2)) == f1(keys(), keys(2)) == 0.0


def test_the_label_of_a_plan_is_the_f1_of_all_that_it_finds(planner: RulePlanner) -> None:
    lists = collected(planner)
    seen = 0
    for text, names, one in zip(QUESTIONS, QUESTIONS.values(), lists.lists, strict=True):
        candidates = planner.proposer.candidates(planner.proposer.read(text), Limit())
        answers = {KEYS[name] for name in names}
        # Trying everything takes its time: those that find answers, and every fifth.
        chosen = [at for at in range(len(candidates)) if one.labels[at] > 0 or at % 5 == 0]
        expected = np.array([by_hand(tried(planner, text, candidates[at]), answers) for at in chosen])
        own = one.labels[chosen]
        # A plan that leaves over words that another explains is worth less, the best of all is worth its F1.
        assert ((own > 0) == (expected > 0)).all()
        assert (own <= expected + 1e-6).all()
        assert own.max(initial=0.0) == pytest.approx(expected.max(initial=0.0))
        assert len(one.labels) == len(candidates)
        seen += len(expected)
    assert seen > 40
    assert [float(best) > 0 for best in lists.reach] == [True, True, True, False]


def test_of_more_plans_than_are_kept_those_that_find_answers_stay(
    planner: RulePlanner, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = collected(planner)
    most = 1 + max(int((one.labels > 0).sum()) for one in whole.lists)
    monkeypatch.setattr(plan_lists, "MOST_PLANS", most)
    for before, after in zip(whole.lists, collected(planner).lists, strict=True):
        assert len(after.labels) == min(most, len(before.labels))
        assert after.labels[after.labels > 0] == pytest.approx(before.labels[before.labels > 0])
        assert len(after.features) == len(after.labels)
        assert set(after.branches[:, 0].tolist()) == set(range(len(after.labels)))


def test_a_table_of_several_questions_holds_the_rows_of_each(planner: RulePlanner) -> None:
    lists = collected(planner)
    chosen: Sequence[int] = (3, 1, 0)
    table = lists.table(chosen)
    several = [lists.lists[at] for at in chosen]
    assert table.features.shape == (sum(len(one.labels) for one in several), len(FEATURES))
    assert np.bincount(table.question, minlength=3).tolist() == [len(one.labels) for one in several]
    # A question without mentions is scored by its own text, so that each has one to be asked by.
    assert np.bincount(table.owner, minlength=3).tolist() == [max(1, len(one.spans)) for one in several]
    assert lists.labels(chosen) == pytest.approx(np.concatenate([one.labels for one in several]))
    plans, mentions, paths = table.branches.T
    assert (table.question[plans] == table.owner[mentions]).all()
    alone = lists.table((1,))
    mine = table.question[plans] == 1
    assert (paths[mine] == alone.branches[:, 2]).all()
    assert (table.asked[mentions[mine]] == alone.asked[alone.branches[:, 1]]).all()


def test_progress_is_told_up_to_the_last_question(planner: RulePlanner) -> None:
    told: list[int] = []
    collector = Collector(planner)
    collector.collect(["who"] * 130, [np.array([1], np.int32)] * 130, told.append, Limit())
    assert told == [64, 128, 130]


def test_of_plans_as_good_those_that_leave_words_over_are_worth_less() -> None:
    found, shares = np.array([1.0, 1.0, 0.5, 0.0, 0.5]), np.array([1.0, 0.5, 0.8, 1.0, 0.4])
    # The third is measured by the first, which is better and explains more; the fourth finds nothing.
    assert without_accidents(found, shares) == pytest.approx([1.0, 0.5, 0.4, 0.0, 0.2])
    # A worse plan that explains more takes nothing from a better one.
    assert without_accidents(np.array([1.0, 0.2]), np.array([0.3, 0.9])) == pytest.approx([1.0, 0.2])
    assert without_accidents(np.zeros(2), np.zeros(2)) == pytest.approx([0.0, 0.0])
    assert without_accidents(np.zeros(0), np.zeros(0)).tolist() == []


LAMPS = oracle.Graph(
    (
        Node(0, "n0", "lamp", "Alba", fields={"price_eur": 20, "weight_g": 900, "released": "2004-03-01"}),
        Node(1, "n1", "lamp", "Bruma", fields={"price_eur": 60, "weight_g": 2500, "released": "2004-12-31"}),
        Node(2, "n2", "lamp", "Cirro", fields={"price_eur": 90, "weight_g": 400, "released": "2011-01-01"}),
        Node(3, "n3", "brand", "Ostervik"),
        Node(4, "n4", "brand", "Norling"),
        Node(5, "n5", "lamp", "Dorado", fields={"price_eur": 10, "weight_g": 300, "released": "2020-01-01"}),
    ),
    ((0, "made by", 3), (1, "made by", 3), (2, "made by", 3), (5, "made by", 4)),
)


@pytest.fixture(scope="module")
def lamps(tmp_path_factory: pytest.TempPathFactory) -> RulePlanner:
    plain = schema_of(LAMPS)
    fields = (Field("price_eur", "number"), Field("weight_g", "number"), Field("released", "date"))
    kinds = tuple(replace(one, fields=fields if one.name == "lamp" else ()) for one in plain.node_types)
    return planner_of(tmp_path_factory.mktemp("lamps"), LAMPS, replace(plain, node_types=kinds)).rules


@pytest.mark.parametrize(
    ("text", "answers", "label"),
    [
        ("lamps made by Ostervik", [0, 1, 2], 1.0),
        ("lamps made by Ostervik under 50 euros", [0], 1.0),
        ("lamps made by Ostervik lighter than 1 kg", [0, 2], 1.0),
        ("lamps made by Ostervik after 2004", [2], 1.0),
        ("lamps made by Ostervik under 50 euros lighter than 1 kg", [0], 1.0),
        # The condition is met by one of the two answers: F1 is 2 * 1 / (1 + 2).
        ("lamps made by Ostervik under 50 euros", [0, 1], 2 / 3),
        # What meets the condition is no answer, although the walk alone finds the answer.
        ("lamps made by Ostervik under 50 euros", [2], 0.0),
    ],
)
def test_a_walk_is_labelled_by_what_it_finds_with_the_conditions_of_the_question(
    lamps: RulePlanner, text: str, answers: list[int], label: float
) -> None:
    lists = Collector(lamps).collect([text], [np.array(answers, np.int32)], lambda done: None, Limit())
    [one] = lists.lists
    walks = [lists.paths[path].steps for _, _, path in one.branches.tolist()]
    [made] = [at for at, steps in enumerate(walks) if len(steps) == 1]
    assert one.labels[one.branches[made, 0]] == pytest.approx(label)


def test_a_question_that_asks_for_the_named_node_teaches_nothing_of_walks(lamps: RulePlanner) -> None:
    texts = ["what is the weight of Alba", "lamps made by Ostervik", "which lamp is nowhere"]
    answers = [np.array(keys, np.int32) for keys in ([0], [0, 1, 2], [3])]
    lists = Collector(lamps).collect(texts, answers, lambda done: None, Limit())
    assert [one.teaches for one in lists.lists] == [False, True, True]
    assert lists.teaching((1, 0)).tolist() == [1.0, 0.0]
