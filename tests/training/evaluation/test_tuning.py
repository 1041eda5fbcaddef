"""Tuning ranks as the fuse stage does, and finds what was hidden in the questions."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import get_args

import numpy as np
import pytest

from search.domain.linking import GraphRanking
from search.domain.plan import Risk
from search.domain.ranking import Candidate, Ranking
from search.domain.trust import Trust
from search.stages.fuse import BUCKETS, FusionWeights
from training.evaluation import tuning
from training.evaluation.fused_ranks import CaseArrays, RankCase, reciprocal_ranks
from training.evaluation.tuning import (
    BUCKET_WEIGHTS,
    DYNAMIC_K,
    LEAD_PROBABILITIES,
    RISK_MULTIPLIERS,
    STATIC_K,
    STATIC_WEIGHTS,
    tune,
)

MOST = 130


def listed(keys: list[int]) -> Ranking:
    return Ranking.in_order(Candidate(key, 1.0 / place) for place, key in enumerate(keys, 1))


def case(
    number: int, graph: list[int], text: list[int], gold: set[int], n_cand: int = 5, risk: Risk = "normal",
    probability: float = 0.5, ties: dict[int, float] | None = None, against: float = 0.0,
) -> RankCase:  # fmt: skip
    names = tuple(f"n{key:03}" for key in range(MOST))
    ranking = GraphRanking(listed(graph), Trust(n_cand if graph else 0, risk, probability, against=against))
    return RankCase(f"q{number}", ranking, listed(text), names, tuple(names[key] for key in sorted(gold)), ties or {})


def random_case(chance: Random, number: int, *against: float) -> RankCase:
    """Short lists, so that sums are often equal; cosines of two values, so that even those are.

    The text says one of the probabilities `against`, if there are any.
    """
    keys = chance.sample(range(MOST), 12)
    graph = chance.sample(keys, chance.randint(0, 10))
    text = chance.sample(keys, chance.randint(0, 10))
    ties = {key: chance.choice((0.25, 0.5)) for key in keys if chance.random() < 0.9}
    gold = set(chance.sample(range(MOST), 2)) | set(chance.sample(keys, 2))
    return case(
        number, graph, text, gold, chance.choice((1, 10, 11, 60, 200, 900)), chance.choice(get_args(Risk)),
        chance.choice((0.3, 0.5, 0.85, 0.95, 1.0)), ties, chance.choice(against or (0.0,)),
    )  # fmt: skip


def by_the_stage(fuse: FusionWeights, one: RankCase) -> float:
    ranks = fuse.fuse(one.graph, one.text, one.cosines).ranking.ranks
    return max((1 / ranks[key] for key in one.gold if key in ranks and ranks[key] <= 100), default=0.0)


def settings_of_the_grid(chance: Random) -> FusionWeights:
    lead = chance.choice(LEAD_PROBABILITIES)
    if chance.random() < 0.4:
        return FusionWeights(
            method="static", k=float(chance.choice(STATIC_K)), weight=chance.choice(STATIC_WEIGHTS), lead=lead
        )
    weights = tuple(map(chance.choice, BUCKET_WEIGHTS))
    multipliers = tuple(map(chance.choice, RISK_MULTIPLIERS))
    k = float(chance.choice(DYNAMIC_K))
    return FusionWeights(method="dynamic", k=k, bucket_weights=weights, risk_multipliers=multipliers, lead=lead)


def test_the_ranks_of_random_lists_are_those_of_the_fuse_stage() -> None:
    chance = Random(7)
    for number in range(400):
        one, fuse = random_case(chance, number), settings_of_the_grid(chance)
        weights = fuse.fuse(one.graph, one.text, one.cosines).weights
        found = reciprocal_ranks(
            CaseArrays.of(one), np.array([weights["graph"]]), np.array([weights["text"]]), np.array([fuse.k])
        )
        assert found[0] == by_the_stage(fuse, one), (one, fuse)


def test_what_lies_behind_the_first_hundred_counts_for_nothing() -> None:
    long = case(0, [], list(range(110)), {105})
    one = np.ones(1)
    assert reciprocal_ranks(CaseArrays.of(long), 0 * one, one, 5 * one)[0] == 0
    assert reciprocal_ranks(CaseArrays.of(case(0, [], list(range(110)), {99})), 0 * one, one, 5 * one)[0] == 0.01


def test_every_sum_of_the_grid_is_the_sum_of_what_the_stage_gives() -> None:
    """The best of the whole grid is never worse than any settings drawn from it, and is worth what the stage says."""
    chance = Random(11)
    cases = [random_case(chance, number, 0.0, 0.4, 0.9) for number in range(60)]
    found = tune(cases, FusionWeights(method="static", k=100.0, weight=0.0, lead=2.0))

    def worth(fuse: FusionWeights) -> tuple[int, float]:
        reciprocal = [by_the_stage(fuse, one) for one in cases]
        return sum(value == 1.0 for value in reciprocal), round(sum(reciprocal), 9)

    best = worth(found.best)
    assert best == (round(found.after["H@1"].sum() / 100), pytest.approx(found.after["MRR"].sum() / 100))
    for _ in range(500):
        assert worth(settings_of_the_grid(chance)) <= best


def test_the_dynamic_grid_is_searched_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """A smaller grid, each of its settings tried by the stage itself."""
    monkeypatch.setattr(tuning, "BUCKET_WEIGHTS", ((1, 2), (0.8, 1.4), (0.2, 0.8), (0, 0.1), (0.05,)))
    monkeypatch.setattr(tuning, "RISK_MULTIPLIERS", ((0, 0.75), (0.5, 1.25), (1, 1.5), (2,)))
    monkeypatch.setattr(tuning, "DYNAMIC_K", (5, 40))
    monkeypatch.setattr(tuning, "LEAD_PROBABILITIES", (1.01, 0.8))
    monkeypatch.setattr(tuning, "STATIC_K", (2,))
    tuning._rows.cache_clear()
    chance = Random(5)
    cases = [random_case(chance, number) for number in range(25)]
    found = tune(cases, FusionWeights(method="static", k=100.0, weight=0.0, lead=2.0))
    tuning._rows.cache_clear()
    settings = [
        FusionWeights(method="static", k=2.0, weight=w, lead=lead) for w in STATIC_WEIGHTS for lead in (1.01, 0.8)
    ] + [
        FusionWeights(method="dynamic", k=float(k), bucket_weights=weights, risk_multipliers=multipliers, lead=lead)
        for k in (5, 40)
        for lead in (1.01, 0.8)
        for weights in product((1, 2), (0.8, 1.4), (0.2, 0.8), (0, 0.1), (0.05,))
        for multipliers in product((0, 0.75), (0.5, 1.25), (1, 1.5), (2,))
    ]

    def worth(fuse: FusionWeights) -> tuple[int, float]:
        reciprocal = [by_the_stage(fuse, one) for one in cases]
        return sum(value == 1.0 for value in reciprocal), round(sum(reciprocal), 6)

    assert worth(found.best) == max(map(worth, settings))


def graph_is_right(number: int, right: bool, n_cand: int, risk: Risk = "normal", probability: float = 0.5) -> RankCase:
    return case(number, [1], [2], {1} if right else {2}, n_cand, risk, probability)


def test_a_large_set_in_which_small_answers_of_the_graph_are_right_is_decided_for_them() -> None:
    cases = [graph_is_right(number, number % 2 == 0, 3 if number % 2 == 0 else 900) for number in range(200)]
    found = tune(cases, FusionWeights(method="static", k=5.0, weight=0.0, lead=2.0))
    assert found.decided
    assert "had no part in the choice" in found.reason
    assert found.best.method == "dynamic"
    assert (found.before["H@1"].mean(), found.after["H@1"].mean(), found.held_out["H@1"].mean()) == (50, 100, 100)
    # Nothing speaks for or against the middle buckets: they stay as near to an untuned base as the grid allows.
    assert found.best.bucket_weights[1:3] == (1.4, 0.8)
    assert found.best.lead == FusionWeights().lead


def test_static_settings_are_taken_where_dynamic_ones_are_no_better() -> None:
    cases = [graph_is_right(number, True, BUCKETS[number % 4][0], "aggressive") for number in range(100)]
    found = tune(cases, FusionWeights(method="static", k=5.0, weight=0.0, lead=2.0))
    assert (found.best.method, found.decided) == ("static", True)


def test_the_probability_from_which_a_plan_leads_is_found() -> None:
    cases = [graph_is_right(n, n % 2 == 0, 900, "normal", 0.75 if n % 2 == 0 else 0.45) for n in range(200)]
    found = tune(cases, FusionWeights(method="static", k=5.0, weight=0.0, lead=2.0))
    assert found.decided
    assert found.best.lead in (0.7, 0.6, 0.5)
    assert found.after["H@1"].mean() == 100


def test_too_few_questions_choose_nothing_and_it_is_said() -> None:
    present = FusionWeights()
    cases = [graph_is_right(number, True, 900) for number in range(6)]
    found = tune(cases, present)
    assert (found.best, found.decided) == (present, False)
    assert found.reason == "Too few questions to choose by (6). The settings in use stay."


def test_noise_chooses_nothing() -> None:
    chance = Random(3)
    cases = [random_case(chance, number) for number in range(40)]
    found = tune(cases, FusionWeights())
    assert not found.decided
    assert found.reason.startswith("On 40 questions that had no part in the choice (5 folds) MRR changes by")
    assert ". It is not switched on, because " in found.reason
    assert found.reason.endswith(" The settings in use stay.")
    assert found.after["H@1"].mean() >= found.before["H@1"].mean()


def test_settings_that_are_as_good_as_the_grid_stay() -> None:
    cases = [graph_is_right(number, True, 3) for number in range(40)]
    found = tune(cases, FusionWeights())
    assert (found.best, found.decided) == (FusionWeights(), False)
    assert found.reason == "No settings of the grid answer these questions better than those in use, which stay."
