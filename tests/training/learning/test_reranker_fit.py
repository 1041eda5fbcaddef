"""Listwise training: its loss by hand, its curve after an interruption, little memory, losses that explode."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from search.domain.errors import StageError
from search.domain.run_context import RunCancelled, RunContext
from search.domain.trace import Limit
from search.neural.cross_encoder import cross_encoder
from search.neural.pair_model import Pair, PairModel
from search.neural.threads import threads
from search.services.jobs.checkpoints import FileCheckpoints
from search.text import DocumentForm
from tests import tiny_models
from training.learning.reranker_fit import Fit, HowToFit, backward, listwise
from training.learning.reranker_lists import CandidateList, Documents
from training.learning.stepwise import Fitted, trainable

HOW = HowToFit(steps=12, batch=2, group=4, pairs=0, rate=0.01, warm=0.2, checks=3, seed=5, pause=0.0)


class Texts(Documents):
    """Documents of words: the document of key n is `w<n>`."""

    def __init__(self) -> None:
        super().__init__(nodes=None, form=DocumentForm())  # type: ignore[arg-type]

    def of(self, keys: Sequence[int], limit: Limit) -> list[str]:
        return [f"film w{key} amber" for key in keys]


def questions(count: int = 10) -> list[CandidateList]:
    """Return questions whose answer has the number that they name."""
    lists = []
    for at in range(count):
        others = tuple((at + step) % 40 for step in range(1, 9))
        lists.append(CandidateList(f"q{at}", f"who made w{at} ?", (at, *others), (at,), others, (at,)))
    return lists


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Tiny models are slower with several threads."""
    with threads(1):
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return tiny_models.bert(tmp_path_factory.mktemp("bert"))


@pytest.fixture
def model(folder: str) -> PairModel:
    return made(folder)


def made(folder: str) -> PairModel:
    return cross_encoder(folder, 32, device="cpu").train()


def fitted(
    model: PairModel, run: RunContext | None = None, how: HowToFit = HOW, figure: Callable[[], float] | None = None
) -> Fitted:
    return Fit(model, questions(), Texts(), how, run or RunContext(), figure or (lambda: 1.0), "tiny")()


def test_the_loss_is_the_softmax_cross_entropy_of_the_answer() -> None:
    scores = torch.tensor([1.0, 0.0, 2.0])
    assert float(listwise(scores)) == pytest.approx(-math.log(math.e / (math.e + 1 + math.e**2)))


def test_a_group_has_one_answer_and_negatives_that_are_drawn_anew() -> None:
    one = CandidateList("q", "?", (1, 2, 3, 4, 5), (2, 4), (1, 3, 5), (2, 4, 9))
    drawn = [one.drawn(3, np.random.default_rng(seed)) for seed in range(50)]
    assert all(len(set(keys)) == 3 and set(keys[1:]) <= {1, 3, 5} for keys in drawn)
    assert {keys[0] for keys in drawn} == {2, 4}
    assert len(set(drawn)) > 6


def gradients(model: PairModel, at_once: int) -> tuple[float, dict[str, Tensor]]:
    model.zero_grad()
    pairs = model.pairs("who made w1 ?", [f"film w{at} amber" for at in range(7)])
    loss = backward(model, pairs, at_once, seed=3, factor=0.5)
    return loss, {name: p.grad.clone() for name, p in trainable(model).items() if p.grad is not None}


def test_few_pairs_at_once_give_the_gradient_of_all_at_once(model: PairModel) -> None:
    """Without dropout, which is drawn part by part."""
    for layer in model.modules():
        if isinstance(layer, nn.Dropout):
            layer.p = 0.0
    whole, expected = gradients(model.eval(), 7)
    parts, found = gradients(model, 2)
    assert parts == pytest.approx(whole, abs=0.02)  # bfloat16 where the processor has it
    assert found.keys() == expected.keys()
    for name, gradient in expected.items():
        torch.testing.assert_close(found[name], gradient, atol=0.02, rtol=0.1)


def test_what_is_taught_is_learned(model: PairModel) -> None:
    end = fitted(model, how=replace(HOW, steps=60, rate=0.01, checks=1))
    assert np.mean(end.curve[-10:]) < 0.8 * np.mean(end.curve[:10])


def run_in(folder: Path, fence: int, cancelled: Callable[[], bool] = lambda: False) -> RunContext:
    return RunContext(limit=Limit(cancelled=cancelled), checkpoints=FileCheckpoints(folder, fence))


def test_a_training_goes_on_to_the_same_curve_and_weights(folder: str, tmp_path: Path) -> None:
    """Dropout is on; the interrupted training is done by a new model and a new optimizer."""
    figures = iter([0.1, 0.3, 0.2])
    whole = made(folder)
    expected = fitted(whole, run_in(tmp_path / "whole", 1), figure=lambda: next(figures))
    asked = 0

    def stop() -> bool:
        nonlocal asked
        asked += 1
        return asked > 20

    figures = iter([0.1, 0.3, 0.2])
    with pytest.raises(RunCancelled):
        fitted(made(folder), run_in(tmp_path / "parts", 1, stop), figure=lambda: next(figures))
    again = made(folder)
    metrics: list[int] = []
    run = replace(run_in(tmp_path / "parts", 2), metric=lambda name, step, value: metrics.append(step))
    found = fitted(again, run, figure=lambda: next(figures))
    assert 1 < min(metrics) < 12  # It did not begin anew.
    np.testing.assert_allclose(found.curve, expected.curve, atol=1e-5)
    assert (found.checks, found.best) == (expected.checks, expected.best) == (((4, 0.1), (8, 0.3), (12, 0.2)), 8)
    for name, tensor in whole.state_dict().items():
        torch.testing.assert_close(again.state_dict()[name], tensor, atol=1e-5, rtol=0)


def test_one_seed_gives_one_curve_and_another_seed_another(folder: str) -> None:
    one, two = fitted(made(folder)), fitted(made(folder))
    assert one.curve == two.curve
    assert fitted(made(folder), how=replace(HOW, seed=6)).curve != one.curve


class Poor(PairModel):
    """A model on a device on which only few pairs fit."""

    def __init__(self, inner: PairModel, fit: int) -> None:
        super().__init__(inner.tokenizer, inner.tokens)
        self.body = inner
        self.fit = fit
        self.largest = 0

    def pairs(self, question: str, documents: Sequence[str]) -> list[Pair]:
        return self.body.pairs(question, documents)  # type: ignore[operator]

    def forward(self, pairs: Sequence[Pair]) -> Tensor:
        if len(pairs) > self.fit:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        self.largest = max(self.largest, len(pairs))
        return self.body(pairs)


def test_when_memory_ends_half_as_many_are_computed_at_once_and_the_log_says_so(folder: str, tmp_path: Path) -> None:
    log: list[str] = []
    poor = Poor(made(folder), 1)
    end = Fit(poor, questions(), Texts(), HOW, replace(RunContext(), log=log.append), lambda: 1.0, "tiny")()
    assert (len(end.curve), poor.largest) == (12, 1)
    assert log == [
        "Step 1: out of memory; from now on 2 candidates at once.",
        "Step 1: out of memory; from now on 1 candidates at once.",
    ]
    with pytest.raises(StageError, match="not even one candidate of 32 tokens fits"):
        Fit(Poor(made(folder), 0), questions(), Texts(), HOW, RunContext(), lambda: 1.0, "tiny")()


class Breaking(PairModel):
    """A model whose scores are no numbers from its n-th forward pass on."""

    def __init__(self, inner: PairModel, after: int, factor: float) -> None:
        super().__init__(inner.tokenizer, inner.tokens)
        self.body = inner
        self.left = after
        self.factor = factor

    def pairs(self, question: str, documents: Sequence[str]) -> list[Pair]:
        return self.body.pairs(question, documents)  # type: ignore[operator]

    def forward(self, pairs: Sequence[Pair]) -> Tensor:
        self.left -= 1
        scores: Tensor = self.body(pairs)
        broken = torch.arange(len(pairs)).float() * self.factor
        return scores + broken if self.left < 0 else scores


@pytest.mark.parametrize(("factor", "said"), [(float("nan"), "the loss is nan"), (1e4, "the loss is 3e+04")])
def test_a_loss_that_explodes_ends_at_the_last_good_checkpoint_and_names_the_batch(
    factor: float, said: str, folder: str
) -> None:
    log: list[str] = []
    weights: list[dict[str, Tensor]] = []
    model = Breaking(made(folder), 2 * 6, factor)

    def figure() -> float:
        weights.append({name: tensor.clone() for name, tensor in model.state_dict().items()})
        return 1.0

    end = Fit(model, questions(), Texts(), HOW, replace(RunContext(), log=log.append), figure, "tiny")()
    assert (len(end.curve), end.best, log) == (6, 4, [end.stopped])
    assert end.stopped.startswith(f"Training stopped in step 7: {said}, in the batch of the questions q")
    assert end.stopped.endswith("the weights of step 4 are kept.")
    for name, tensor in model.state_dict().items():
        torch.testing.assert_close(tensor, weights[0][name])
