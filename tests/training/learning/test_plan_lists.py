"""Labels are what trying everything says; lists of many questions stand beside each other as one table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from search.domain.linking import Binding, LinkedPlan
from search.domain.trace import Limit
from search.stages.plan import Planner
from search.stages.plan.enumeration.enumerate import PlanCandidate
from search.stages.plan.scoring.features import FEATURES
from search.stages.plan.write import Writer
from tests import oracle
from tests.search.stages.plan.films import FILMS, planner_of
from training.evaluation.plan_answers import f1
from training.learning import plan_lists
from training.learning.plan_lists import Collector, PlanLists

# Of one mention, of two that join, of a name that is a film and a tag, and of none.
QUESTIONS = {
    "who directed Alpha Rising": ("Ann Arbor",),
    "drama films directed by Ann Arbor": ("Alpha Rising",),
    "what came out in the year of Heat and has Cy Clone in it": ("Alpha Rising", "Gamma Light"),
    "nothing that is named here": ("drama",),
}
KEYS = {node.name: node.key for node in reversed(FILMS.nodes)}


@pytest.fixture(scope="module")
def planner(tmp_path_factory: pytest.TempPathFactory) -> Planner:
    return planner_of(tmp_path_factory.mktemp("films"), FILMS)


def collected(planner: Planner) -> PlanLists:
    collector = Collector(planner)
    answers = [np.array(sorted(KEYS[name] for name in names), np.int32) for names in QUESTIONS.values()]
    return collector.collect(list(QUESTIONS), answers, lambda done: None, Limit())


def tried(planner: Planner, text: str, candidate: PlanCandidate) -> set[int]:
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


def test_the_label_of_a_plan_is_the_f1_of_all_that_it_finds(planner: Planner) -> None:
    lists = collected(planner)
    seen = 0
    for text, names, one in zip(QUESTIONS, QUESTIONS.values(), lists.lists, strict=True):
        candidates = planner.proposer.candidates(planner.proposer.read(text), Limit())
        answers = {KEYS[name] for name in names}
        # Trying everything takes its time: those that find answers, and every fifth.
        chosen = [at for at in range(len(candidates)) if one.labels[at] > 0 or at % 5 == 0]
        expected = [by_hand(tried(planner, text, candidates[at]), answers) for at in chosen]
        assert one.labels[chosen] == pytest.approx(expected)
        assert len(one.labels) == len(candidates)
        seen += len(expected)
    assert seen > 40
    assert [float(best) > 0 for best in lists.reach] == [True, True, True, False]


def test_of_more_plans_than_are_kept_those_that_find_answers_stay(
    planner: Planner, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = collected(planner)
    most = 1 + max(int((one.labels > 0).sum()) for one in whole.lists)
    monkeypatch.setattr(plan_lists, "MOST_PLANS", most)
    for before, after in zip(whole.lists, collected(planner).lists, strict=True):
        assert len(after.labels) == min(most, len(before.labels))
        assert after.labels[after.labels > 0] == pytest.approx(before.labels[before.labels > 0])
        assert len(after.features) == len(after.labels)
        assert set(after.branches[:, 0].tolist()) == set(range(len(after.labels)))


def test_a_table_of_several_questions_holds_the_rows_of_each(planner: Planner) -> None:
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


def test_progress_is_told_up_to_the_last_question(planner: Planner) -> None:
    told: list[int] = []
    collector = Collector(planner)
    collector.collect(["who"] * 130, [np.array([1], np.int32)] * 130, told.append, Limit())
    assert told == [64, 128, 130]
