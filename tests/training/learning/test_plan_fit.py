"""The loss by hand, and a fit that starts where the scorer that learned nothing stands."""

from __future__ import annotations

from dataclasses import replace
from math import log

import numpy as np
import pytest
import torch

from search.domain.errors import StageError
from search.domain.trace import Limit
from search.language.question import AnalysedQuestion
from search.stages.plan.enumeration.enumerate import PlanCandidate
from search.stages.plan.rules import RulePlanner
from search.stages.plan.scoring.features import SPOKEN
from search.stages.plan.scoring.score import Scorer, Weights
from tests.training import makers
from training.learning import plan_fit
from training.learning.plan_fit import FitSettings, fit, plan_loss, unlearned
from training.learning.plan_lists import Collector, PlanLists

FIRST, LAST = makers.WORLD.nodes[0].name, makers.WORLD.nodes[makers.THINGS - 1].name
TEXTS = [f"who made {FIRST}", f"who used {LAST}", f"{FIRST} and {LAST}"]


def loss(plans: list[float], text: float, labels: list[float]) -> float:
    """Return the loss of one question."""
    zeros = torch.zeros(len(plans), dtype=torch.int64)
    return float(plan_loss(torch.tensor(plans), torch.tensor([text]), torch.tensor(labels), zeros))


# e^sum is 2 and 1 for the plans, 1 for the text: probabilities 1/2, 1/4 and 1/4.
@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([1.0, 0.5], -log(0.5 + 0.25 * 0.5)),  # The plan that finds half of them is half as welcome as the best.
        ([0.0, 1.0], -log(0.25)),
        ([1.0, 1.0], -log(0.75)),  # Which of two that are as good is none of its business.
        ([0.5, 0.0], -0.5 * log(0.5) - 0.5 * log(0.25)),  # The graph gives half of the answers, the text the rest.
        ([0.0, 0.0], -log(0.25)),  # Nothing to be found in the graph: the text alone.
    ],
)
def test_the_loss_of_a_question_is_worked_out_by_hand(labels: list[float], expected: float) -> None:
    assert loss([log(2), 0.0], 0.0, labels) == pytest.approx(expected, abs=1e-5)


def test_the_loss_of_several_questions_is_their_mean_also_of_one_without_plans() -> None:
    plans, texts = torch.tensor([log(2), 0.0, 0.0]), torch.tensor([0.0, 3.0, 0.0])
    labels, question = torch.tensor([0.0, 1.0, 1.0]), torch.tensor([0, 0, 2])
    # The second has no plan, so that the text is certain; the third one plan and the text, as likely as each other.
    assert float(plan_loss(plans, texts, labels, question)) == pytest.approx((log(4) + 0 + log(2)) / 3, abs=1e-5)


def test_sums_however_large_give_a_finite_loss_and_finite_gradients() -> None:
    plans = torch.tensor([1e4, -1e4, 0.0, -1e4], requires_grad=True)
    texts = torch.tensor([-1e4, 1e4], requires_grad=True)
    value = plan_loss(plans, texts, torch.tensor([0.0, 1.0, 0.5, 0.0]), torch.tensor([0, 0, 1, 1]))
    value.backward()
    assert torch.isfinite(value)
    for sums in (plans, texts):
        assert sums.grad is not None
        assert torch.isfinite(sums.grad).all()


@pytest.fixture(scope="module")
def planner(tmp_path_factory: pytest.TempPathFactory) -> RulePlanner:
    return makers.planner(tmp_path_factory.mktemp("makers"))


@pytest.fixture(scope="module")
def lists(planner: RulePlanner) -> PlanLists:
    collector = Collector(planner)
    answers = [np.array([key], dtype=np.int32) for key in (40, 41, 42)]
    return collector.collect(TEXTS, answers, lambda done: None, Limit())


def wordings(planner: RulePlanner, lists: PlanLists) -> np.ndarray:
    known = planner.knowledge
    return known.vectors.of([known.wording.plan((path,)) for path in lists.paths])


def test_before_it_learns_a_scorer_weighs_words_and_cosine_as_the_one_that_learned_nothing(
    planner: RulePlanner, lists: PlanLists
) -> None:
    known, weights = planner.knowledge, Weights()
    fitted = unlearned(wordings(planner, lists), hidden=4)
    for at, (sums, text) in enumerate(fitted.sums(lists, np.arange(len(TEXTS)))):
        question = planner.proposer.read(TEXTS[at])
        candidates = planner.proposer.candidates(question, Limit())
        assert len(question.names) == (1, 1, 2)[at]
        cosines = np.array([cosine(planner, question, candidate) for candidate in candidates])
        spoken = planner.features.of(question, candidates)[:, : len(SPOKEN)] @ weights.spoken()
        assert sums == pytest.approx(spoken + weights.cosine * (cosines - cosines.mean()), abs=1e-4)
        assert text == weights.text
        # The other scorer masks by type, which to these vectors is another text: held against it by words alone.
        words = replace(weights, cosine=0.0)
        plain = Scorer(planner.features, known.wording, known.vectors, words, encoded=10_000, within=1e9)
        wanted = dict(plain(question, candidates).candidates)
        assert spoken == pytest.approx([wanted[candidate] for candidate in candidates])


def cosine(planner: RulePlanner, question: AnalysedQuestion, candidate: PlanCandidate) -> float:
    """Return the mean cosine of a candidate's branches: the mention masked, and the wording of its path."""
    known = planner.knowledge
    masked = [question.masked([(mention, "it")]) for mention in candidate.mentions]
    told = [known.wording.plan((path,)) for path in candidate.paths]
    return float(np.mean(np.sum(known.vectors.of(masked) * known.vectors.of(told), axis=1)))


def test_the_same_seed_gives_the_same_weights_and_another_one_others(planner: RulePlanner, lists: PlanLists) -> None:
    def weights(seed: int) -> dict[str, torch.Tensor]:
        how = FitSettings(epochs=2, batch=2, rate=0.01, decay=0.1, hidden=4, seed=seed)
        fitted = fit(lists, wordings(planner, lists), np.arange(len(TEXTS)), how, lambda epoch, loss: None)
        return {**fitted.net.state_dict(), "free": fitted.free}

    one, again, other = weights(1), weights(1), weights(2)
    assert all(torch.equal(one[name], again[name]) for name in one)
    assert not torch.equal(one["free"], other["free"])
    assert not torch.equal(one["free"], torch.from_numpy(wordings(planner, lists)))


def test_a_loss_that_is_no_number_ends_at_the_pass_before_and_names_the_batch(
    planner: RulePlanner, lists: PlanLists, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps, log = iter(range(1, 100)), list[str]()

    def at(broken: int, epochs: int) -> dict[str, torch.Tensor]:
        monkeypatch.setattr(
            plan_fit, "plan_loss", lambda *given: plan_loss(*given) * (float("nan") if next(steps) == broken else 1.0)
        )
        how = FitSettings(epochs=epochs, batch=3, rate=0.01, decay=0.1, hidden=4, seed=1)
        given = (lists, wordings(planner, lists), np.arange(len(TEXTS)), how)
        fitted = fit(*given, lambda epoch, loss: None, names=["a", "b", "c"], log=log.append)
        return {**fitted.net.state_dict(), "free": fitted.free}

    stopped = at(3, 4)
    assert len(log) == 1
    assert log[0].startswith("The loss was nan in pass 3, in the batch of '")
    assert log[0].endswith("'. Learning stopped at the pass before.")
    assert {*log[0].split("'")[1::2]} == {"a", "b", "c"}
    assert all(torch.isfinite(tensor).all() for tensor in stopped.values())
    with pytest.raises(StageError, match=r"The loss was nan in pass 1, in the batch of .* lower the rate"):
        at(next(steps) + 1, 2)


def test_a_scorer_stands_the_share_of_the_way_from_the_unlearned_to_the_learned_weights(
    planner: RulePlanner, lists: PlanLists
) -> None:
    told = wordings(planner, lists)

    def fitted(way: float) -> dict[str, torch.Tensor]:
        how = FitSettings(epochs=2, batch=2, rate=0.01, decay=0.1, hidden=4, seed=1, way=way)
        found = fit(lists, told, np.arange(len(TEXTS)), how, lambda epoch, loss: None)
        return {**dict(found.net.named_parameters()), "free": found.free}

    start, half, whole = fitted(0.0), fitted(0.5), fitted(1.0)
    assert torch.equal(start["free"], torch.from_numpy(told))
    assert not start["ask.weight"].any()  # Zero is the scorer that learned nothing.
    for name, one in half.items():
        torch.testing.assert_close(one, (start[name] + whole[name]) / 2)
    assert any((whole[name] - start[name]).abs().max() > 1e-4 for name in whole)
