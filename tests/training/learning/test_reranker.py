"""The reranker's learner: what it learns from, what it refuses, and that its artifact scores as it did in training."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
import pytest
import torch
from peft import PeftModel
from safetensors.numpy import save
from transformers import AutoModelForCausalLM

from search.domain.conditions import CheckedConditions
from search.domain.errors import StageError
from search.domain.fusion import Fusion
from search.domain.graph import Node
from search.domain.question import Question
from search.domain.ranking import Candidate, Ranking, by_key
from search.domain.run_context import RunContext
from search.domain.trace import Limit
from search.neural.causal_scorer import causal_reranker
from search.neural.scorers import LoadedScorers
from search.neural.threads import threads
from tests import tiny_models
from training.data.examples import Example
from training.learning.reranker import LearnedReranker, RerankerLearner, RerankerTask
from training.learning.reranker_lists import held_out, listed, refuse_few
from training.learning.reranker_quality import Mix, Ordered, best_mix, figures
from training.learning.reranker_settings import RerankerSettings
from training.learning.task import FoundOfTask, Material, TaskReader, TooFew

COUNT = 26


class Nodes:
    """Nodes whose names say their keys."""

    def nodes(self, keys: Sequence[int], limit: Limit | None = None) -> list[Node]:
        return [Node(key, str(key), "film", f"w{key}", fields={"street": "amber road"}) for key in keys]

    def neighbour_names(self, key: int, limit: int = 10) -> dict[str, list[str]]:
        return {}


@dataclass
class Tools:
    nodes: Any = field(default_factory=Nodes)


@dataclass
class Searches:
    """A search that puts the answer, which the question names, behind others; `blind` ones do not find it."""

    blind: bool = False
    places: Sequence[int] = tuple(range(COUNT))

    def __call__(self, place: int, limit: Limit) -> FoundOfTask | None:
        if place == 3:
            return None
        keys = [(place + step) % 40 for step in (3, 1, 0 if not self.blind else 4, 5, 2)]
        ranking = Ranking.in_order(Candidate(key, -float(at)) for at, key in enumerate(keys))
        fusion = Fusion.of({"text": ranking}, {"text": 1.0}, 1.0, by_key)
        return FoundOfTask(Question("?"), fusion, [], CheckedConditions())

    def read(self, places: Sequence[int], reader: TaskReader, run: RunContext) -> Iterator[tuple[int, Any]]:
        for place in places:
            run.check()
            found = self(place, run.limit)
            yield place, None if found is None else reader(found, Tools())  # type: ignore[arg-type]


def material(**options: Any) -> Material:
    examples = [Example(f"q{at}", f"who made w{at} ?", (str(at),), "train", {}) for at in range(COUNT)]
    answers = [np.array([at], dtype=np.int32) for at in range(COUNT)]
    return Material(examples, answers, Tools(), {}, Searches(**options))  # type: ignore[arg-type]


def learned(run: RunContext | None = None, **settings: Any) -> LearnedReranker:
    usual = {"steps": 6, "checks": 2, "batch": 2, "tokens": 200, "rank": 4, "alpha": 8, "device": "cpu", "rate": 0.01}
    task: RerankerTask = RerankerLearner(**{**usual, **settings}).task(material())
    return task.fit(run or RunContext())


def written(one: LearnedReranker, folder: Path) -> Path:
    """Write an artifact as `register_artifact` does, without the list of its files."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps({"kind": "reranker", "format": 1, **one.served}))
    (folder / "model.safetensors").write_bytes(save(dict(one.tensors)))
    for name, content in one.files.items():
        (folder / name).write_bytes(content)
    return folder


def test_only_what_was_found_is_learned_from() -> None:
    one = listed("q", "?", (5, 2, 9, 1, 7), np.array([2, 7, 30], dtype=np.int32), 2)
    assert (one.positives, one.negatives, one.answers, one.teaches) == ((2, 7), (5, 9), (2, 7, 30), True)
    assert not listed("q", "?", (5, 9), np.array([2], dtype=np.int32), 2).teaches


def test_searches_that_find_nothing_are_refused_with_their_numbers() -> None:
    task = RerankerLearner().task(material(blind=True))
    with pytest.raises(TooFew) as caught:
        task.fit(RunContext())
    assert str(caught.value) == (
        "A reranker learns from questions whose search finds an answer; it takes 20 of them, and there are 0. Of 26 "
        "questions, 25 could be searched with models that have not seen them; their first 100 candidates hold 0 of 25 "
        "answers."
    )


def test_ten_questions_are_refused() -> None:
    lists = [listed(str(at), str(at), (1, 2), np.array([1], dtype=np.int32), 30) for at in range(10)]
    with pytest.raises(TooFew, match="it takes 20 of them, and there are 10"):
        refuse_few(lists, 10, RerankerSettings())


def test_questions_with_the_same_words_are_held_out_together() -> None:
    texts = [f"Question {at // 2}{'?' * (at % 2)}" for at in range(40)]
    lists = [listed(str(at), text, (1, 2), np.array([1], dtype=np.int32), 30) for at, text in enumerate(texts)]
    out = held_out(lists, RerankerSettings(held_out=0.2))
    assert out.sum() == 8
    assert (out[::2] == out[1::2]).all()


@pytest.fixture(scope="module", params=["cross-encoder whole", "cross-encoder lora", "causal lora", "causal whole"])
def trained(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[LearnedReranker, str]:
    base, method = request.param.split()
    make = tiny_models.bert if base == "cross-encoder" else tiny_models.qwen3
    model = make(tmp_path_factory.mktemp("base"))
    # Tiny models are slower with several threads.
    with threads(1):
        return learned(base=base, method=method, model=model), model


def test_the_artifact_scores_as_the_model_did_in_training(trained: tuple[LearnedReranker, str], tmp_path: Path) -> None:
    one, _ = trained
    folder = written(one, tmp_path / "reranker-1")
    scorer = LoadedScorers(tmp_path, device="cpu").get(artifact="reranker-1")
    assert (scorer.mix, scorer.form) == ((one.mix.weight, one.mix.k), scorer.form)
    assert len(one.fitted.curve) == 6
    assert one.fitted.stopped == ""
    nodes = Nodes()
    for held in one.after[:3]:
        documents = [f"[film] w{key}\n[street] amber road" for key in held.head.keys]
        assert [node.name for node in nodes.nodes(held.head.keys)] == [d.split()[1] for d in documents]
        found = scorer.score(f"who made w{held.answers[0]} ?", documents, Limit())
        expected = [held.reranked.scores[key] for key in held.head.keys]
        np.testing.assert_allclose(found, expected, atol=0.05)  # half precision
    before = [figures([held])["MRR"] for held in one.before]
    assert all(0 < value <= 100 for value in before)
    assert (folder / "curve.json").is_file()


def test_an_adapter_is_a_folder_of_peft_that_vllm_takes(trained: tuple[LearnedReranker, str], tmp_path: Path) -> None:
    """PEFT itself reads it over the base model, and the scores are those of the artifact's scorer."""
    one, model = trained
    if not one.served["adapter"]:
        assert "adapter_config.json" not in one.files
        return
    folder = written(one, tmp_path / "reranker-1")
    about = json.loads((folder / "adapter_config.json").read_bytes())
    assert (about["peft_type"], about["base_model_name_or_path"], about["bias"]) == ("LORA", model, "none")
    assert (about["r"], about["lora_alpha"], about["modules_to_save"], about["use_dora"]) == (4, 8, None, False)
    if one.served["base"] == "cross-encoder":
        assert set(one.tensors) == {"head.weight", "head.bias", "scale"}
        return
    plain = causal_reranker(model, 200, device="cpu").eval()
    pairs = plain.pairs("who made w1 ?", ["film w1", "film w2"])
    plain.body = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(model), str(folder))
    with torch.inference_mode():
        expected = plain.served(plain(pairs).double().numpy())
    found = LoadedScorers(tmp_path, device="cpu").get(artifact="reranker-1")
    scores = found.score("who made w1 ?", ["film w1", "film w2"], Limit())
    np.testing.assert_allclose(scores, expected, atol=0.02)


def test_the_score_template_of_vllm_gives_the_same_text(tmp_path: Path) -> None:
    model = causal_reranker(tiny_models.qwen3(tmp_path), 256, device="cpu")
    before, after = model._chat('who made "amber" {{ road }} ?\nAnd {% when %}?')
    messages = [{"role": "query", "content": "who made \"amber\" {{ road }} ?\nAnd {% when %}?"},
                {"role": "document", "content": "film {{ w1 }}"}]  # fmt: skip
    rendered = jinja2.Environment().from_string(model.score_template()).render(messages=messages)
    assert rendered == f"{before}film {{{{ w1 }}}}{after}"


def test_an_adapter_of_another_base_model_is_refused_by_name(
    trained: tuple[LearnedReranker, str], tmp_path: Path
) -> None:
    one, _ = trained
    if not one.served["adapter"]:
        return
    folder = written(one, tmp_path / "reranker-1")
    about = json.loads((folder / "adapter_config.json").read_bytes())
    (folder / "adapter_config.json").write_text(json.dumps({**about, "base_model_name_or_path": "other/model"}))
    with pytest.raises(StageError, match="its adapter belongs to other/model, and the trained part is of"):
        LoadedScorers(tmp_path, device="cpu").get(artifact="reranker-1")


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    scorers = LoadedScorers(tmp_path, {"server": {"BACKEND": "search.neural.nothing"}}, device="cpu")
    for asked, said in [
        ({}, "no reranker is given; `train reranker` makes one, or set rerank.scorer to a name of GRASP_SCORERS"),
        ({"scorer": "other"}, "there is no reranker 'other'; GRASP_SCORERS names: server"),
        ({"scorer": "server"}, "the reranker server cannot be loaded"),
        ({"artifact": "reranker-2"}, "reranker-2"),
    ]:
        with pytest.raises(StageError) as caught:
            scorers.get(**asked)
        assert said in caught.value.reason
    with pytest.raises(StageError, match="takes the setting `model`"):
        learned(base="causal")


def ordered(head: Sequence[int], reranked: Sequence[int], answers: tuple[int, ...]) -> Ordered:
    listed = (Ranking.in_order(Candidate(key, -float(at)) for at, key in enumerate(keys)) for keys in (head, reranked))
    return Ordered(*listed, answers)


def test_the_weight_is_what_helps_held_out_questions() -> None:
    useless = [ordered((1, 2, 3), (3, 2, 1), (1,))]
    assert best_mix(useless) == Mix(0.0, 2.0)
    assert figures(useless, best_mix(useless))["H@1"] == 100
    right = [ordered((1, 2, 3), (3, 2, 1), (3,))]
    assert best_mix(right).weight > 0.5
    assert figures(right, Mix(0.5, 2.0))["H@1"] == 0
    assert right[0].mixed(Mix(1.0, 2.0)) == [3, 2, 1]
