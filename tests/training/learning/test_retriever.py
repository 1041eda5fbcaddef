"""Reading questions for fields is learned from answers, and what is measured was not seen by what is measured."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file

from search import wiring
from search.domain.errors import SearchCancelled, StageError
from search.domain.graph import Node
from search.domain.question import Question
from search.domain.run_context import RunCancelled, RunContext
from search.domain.trace import Limit
from search.neural import field_retriever
from search.neural.field_members import joined, members_of
from search.neural.field_retriever import (
    LearnedFieldRetriever,
    LoadedFieldRetrievers,
    Queries,
    mean_of,
)
from search.neural.site_encoders import encoder as site_encoder
from search.services.jobs.checkpoints import FileCheckpoints
from search.services.knowledge.index_snapshot import build_index
from search.stages.retrieve_fields import Fields, untrained
from tests.fakes import HashEncoder
from tests.oracle import Graph
from tests.search.services.knowledge.test_index_snapshot import snapshot_of
from training.data.examples import Example
from training.data.hashes import question_hash
from training.learning import retriever_fit, retriever_fitting
from training.learning.retriever import RetrieverLearner
from training.learning.retriever_fit import list_loss, ranks_of
from training.learning.retriever_fitting import LearnedRetriever, measures
from training.learning.task import Material, TooFew

pytestmark = pytest.mark.django_db
PLACES = ("harbour", "forest", "desert", "castle", "village", "island", "mountain", "river", "garden", "palace")
TONES = ("sad", "funny", "slow", "dark")
SETTINGS = {"epochs": 4, "batch": 8, "folds": 2, "rate": 2e-3}


def graph() -> Graph:
    """Films with a place and a tone in their plots, and a person for each place. Questions never say `film`."""
    films = [
        Node(at, f"film/{at:02}", "film", f"Story {at}", fields={"plot": f"A {tone} tale about a {place}."})
        for at, (place, tone) in enumerate((place, tone) for place in PLACES for tone in TONES)
    ]
    persons = [Node(len(films) + at, f"person/{at:02}", "person", f"{place.title()} Smith")
               for at, place in enumerate(PLACES)]  # fmt: skip
    edges = tuple((film.key, "made by", len(films) + film.key // len(TONES)) for film in films)
    return Graph((*films, *persons), edges)


def examples() -> list[Example]:
    """The answer is always the person, though a film has all words of the question."""
    return [
        Example(f"q{at}", f"Something {tone} at the {place}", (f"person/{at // len(TONES):02}",), "train")
        for at, (place, tone) in enumerate((place, tone) for place in PLACES for tone in TONES)
    ]


@pytest.fixture
def material(db: None) -> Material:
    release = build_index(snapshot=snapshot_of(graph()), encoder=site_encoder()).release
    tools = wiring.Tools(release)
    made = examples()
    answers = [np.array(tools.nodes.keys(one.answers), dtype=np.int32) for one in made]
    return Material(made, answers, tools, {})


def fit(material: Material, run: RunContext | None = None, **settings: Any) -> LearnedRetriever:
    return RetrieverLearner(**{**SETTINGS, **settings}).task(material).fit(run or RunContext())


def test_learning_finds_more_than_before_on_questions_that_were_held_out(material: Material) -> None:
    task = RetrieverLearner(**SETTINGS).task(material)
    learned = task.fit(RunContext())
    found = task.evaluate(learned, RunContext())
    assert found.table["cross-fitted"]["MRR"] > found.table["untrained"]["MRR"] + 5
    assert found.metrics["questions"] == 40
    assert found.metrics["folds"] == len(learned.served["folds"]) == 2
    hashes = json.loads(learned.files["folds.json"])["hashes"]
    assert sorted(hashes) == sorted(question_hash(one) for one in examples())
    assert set(hashes.values()) == {0, 1}


def test_a_search_gives_the_scores_that_training_ranked_by(material: Material, tmp_path: Path) -> None:
    learned = fit(material, seeds=2)
    shelf = LoadedFieldRetrievers(written(tmp_path, learned))
    tools: Any = material.tools
    folds = json.loads(learned.files["folds.json"])["hashes"]
    stages = [
        Fields(shelf, tools.encoder, tools.vectors, tools.text, tools.mentions, tools.adjacency, tools.nodes,
               artifact="retriever-1", fold=fold)
        for fold in (0, 1)
    ]  # fmt: skip
    ranks = []
    for example, own in zip(material.examples, material.answers, strict=True):
        ranking = stages[folds[question_hash(example)]](Question(example.text), Limit()).ranking
        ranks.append(np.array(sorted(ranking.ranks[int(key)] for key in own)))
    # Bfloat16 in training may exchange neighbours.
    assert measures(ranks)["MRR"] == pytest.approx(measures(learned.ranks)["MRR"], abs=3)


def test_the_same_seed_gives_the_same_weights_and_another_seed_others(material: Material) -> None:
    first, again, other = fit(material), fit(material), fit(material, seed=1)
    assert all((first.tensors[name] == again.tensors[name]).all() for name in first.tensors)
    assert not (first.tensors["maps"] == other.tensors["maps"]).all()


class Stopping:
    """A run that is cancelled when its curve has this number of points; curve and checkpoints outlive it."""

    def __init__(self, folder: Path, after: int | None = None) -> None:
        self.curve: dict[tuple[str, int], float] = {}
        self.logged: list[str] = []
        limit = Limit(cancelled=lambda: after is not None and len(self.curve) >= after)
        self.context = RunContext(
            limit=limit, checkpoints=FileCheckpoints(folder), log=self.logged.append,
            metric=lambda name, step, value: self.curve.__setitem__((name, step), value),
        )  # fmt: skip


@pytest.mark.parametrize(("layers", "points"), [(0, 6), (1, 11)])
def test_an_interrupted_training_goes_on_to_the_same_curve(
    material: Material, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, layers: int, points: int
) -> None:
    monkeypatch.setattr(retriever_fitting, "SAVED_EVERY", 0.0)
    whole = Stopping(tmp_path / "whole")
    learned = fit(material, whole.context, layers=layers)
    broken = Stopping(tmp_path / "broken", after=points)
    with pytest.raises((RunCancelled, SearchCancelled)):
        fit(material, broken.context, layers=layers)
    assert 0 < len(broken.curve) < len(whole.curve)
    resumed = Stopping(tmp_path / "broken")
    again = fit(material, resumed.context, layers=layers)
    curve = {**broken.curve, **resumed.curve}
    assert len(resumed.curve) < len(whole.curve)
    assert curve.keys() == whole.curve.keys()
    assert all(curve[point] == pytest.approx(value, abs=1e-5) for point, value in whole.curve.items())
    for name, tensor in learned.tensors.items():
        np.testing.assert_allclose(again.tensors[name], tensor, atol=1e-3)
    assert again.served["folds"] == learned.served["folds"]


@pytest.fixture
def broken_loss(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Let the loss be no number at one step, counted from 0."""

    def at(step: int) -> None:
        taken = count()
        monkeypatch.setattr(
            retriever_fit, "list_loss",
            lambda scores, right: list_loss(scores, right) * (float("nan") if next(taken) == step else 1.0),
        )  # fmt: skip

    return at


def test_a_loss_that_is_no_number_stops_at_the_last_good_pass_and_names_the_batch(
    material: Material, tmp_path: Path, broken_loss: Any
) -> None:
    # Two folds of 20 questions take 3 steps each in a pass: the third pass breaks.
    broken_loss(13)
    run = Stopping(tmp_path)
    learned = fit(material, run.context)
    assert learned.told["passes"] <= 2
    assert all(np.isfinite(tensor).all() for tensor in learned.tensors.values())
    assert any("The loss was nan in pass 3, in the batch of 'q" in line for line in run.logged)


def test_a_loss_that_is_no_number_at_once_is_an_error_that_says_what_to_do(
    material: Material, broken_loss: Any
) -> None:
    broken_loss(0)
    with pytest.raises(StageError, match=r"The loss was nan in pass 1, in the batch of 'q.* lower the rate"):
        fit(material)


def test_too_few_questions_are_refused_with_the_number_that_it_takes(material: Material) -> None:
    few = replace(material, examples=material.examples[:10], answers=material.answers[:10])
    with pytest.raises(TooFew, match="There are 10 questions to learn from; it takes 20 at least"):
        fit(few)
    with pytest.raises(TooFew, match="There are 0 synthesised questions to learn from and no others; it takes 200"):
        fit(replace(material, examples=[], answers=[]))


def test_questions_whose_answers_are_never_found_are_refused_with_the_numbers(
    material: Material, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retriever_fitting, "RETRIEVED", 1)
    # The first film has none of the words of any of these questions.
    examples = [one for one in material.examples if "harbour" not in one.text]
    lost = replace(material, examples=examples, answers=[np.array([0], dtype=np.int32)] * len(examples))
    said = r"Of 36 questions, 0 have an answer among the first 1 of 50 nodes by all fields \(the best is on place \d+\)"
    with pytest.raises(TooFew, match=said):
        fit(lost)


def test_an_encoder_without_a_model_is_refused() -> None:
    tools = wiring.Tools(build_index(snapshot=snapshot_of(), encoder=HashEncoder()).release)
    tools.__dict__["encoder"] = HashEncoder()

    class Hashed:
        schema, vectors, text, adjacency = tools.schema, tools.vectors, tools.text, tools.adjacency
        encoder = HashEncoder("/nowhere/hash")

    with pytest.raises(StageError, match="the encoder /nowhere/hash has no model that can be trained"):
        RetrieverLearner().task(Material([], [], Hashed(), {}))  # type: ignore[arg-type]


def written(folder: Path, learned: LearnedRetriever) -> Path:
    home = folder / "retriever-1"
    home.mkdir()
    (home / "config.json").write_text(json.dumps({"kind": "retriever", "format": 1, **learned.served}))
    save_file(dict(learned.tensors), home / "model.safetensors")
    for name, content in learned.files.items():
        (home / name).write_bytes(content)
    return folder


def test_an_artifact_keeps_only_what_training_changed_and_reads_as_it_was_learned(
    material: Material, tmp_path: Path
) -> None:
    learned = fit(material, layers=1, epochs=1)
    names = [name for name in learned.tensors if name.startswith(field_retriever.TOWER)]
    assert names
    assert all(".layer.5." in name for name in names)
    assert all(tensor.dtype == np.float16 for tensor in learned.tensors.values())
    assert not [name for name in fit(material, epochs=1).tensors if name.startswith(field_retriever.TOWER)]
    shelf = LoadedFieldRetrievers(written(tmp_path, learned))
    text = material.examples[0].text
    whole, fold = shelf.get("retriever-1").read(text), shelf.get("retriever-1", 1).read(text)
    assert whole.weights.keys() == fold.weights.keys() == set(learned.served["lists"])
    assert any(abs(whole.weights[name] - fold.weights[name]) > 1e-6 for name in whole.weights)
    with pytest.raises(StageError, match="has kept 2 retrievers of folds, and number 2 is none of them"):
        shelf.get("retriever-1", 2)


def layers_of(learned: LearnedRetriever) -> set[str]:
    """Return the numbers of the model's layers that a training has changed."""
    return {name.split(".layer.")[1].split(".")[0] for name in learned.tensors if ".layer." in name}


def test_layers_of_the_model_learn_where_synthesised_questions_do(material: Material) -> None:
    several, answers = list(material.examples) * 5, list(material.answers) * 5
    before_real = replace(material, synthesised=several, synthesised_answers=answers)
    alone = replace(before_real, examples=[], answers=[])
    assert layers_of(fit(alone, passes=1)) == set("012345")
    assert layers_of(fit(before_real, passes=1, epochs=1)) == set("012345")
    assert not layers_of(fit(alone, passes=1, layers=0))
    assert not layers_of(fit(before_real, passes=0, epochs=1)), "synthesised questions that are not passed over"
    assert not layers_of(fit(material, epochs=1))


def test_what_has_learned_nothing_reads_a_question_as_the_untrained_stage_does(material: Material) -> None:
    tools = material.tools
    task = RetrieverLearner().task(material)
    net = field_retriever.new_net(tools.encoder.name, task.shape)
    blank = net.changed(field_retriever.base_tower(tools.encoder.name), 0)
    served = {"encoder": tools.encoder.name, "lists": task.shape.lists, "dense": task.shape.dense,
              "types": task.shape.types, "start": task.shape.start}  # fmt: skip
    query = LearnedFieldRetriever("blank", served, blank).read("a dark castle")
    plain = untrained(tools.encoder, "a dark castle", task.shape.lists)
    assert query.weights == pytest.approx(dict(plain.weights), rel=2e-3)
    assert set(query.types.values()) == {0.0}
    for name, vector in plain.vectors.items():
        assert float(vector @ query.vectors[name]) == pytest.approx(1, abs=5e-3)


def test_the_mean_of_two_members_gives_the_mean_of_their_scores_by_hand() -> None:
    # One dense list (place 1 of two lists) and one type.
    one = Queries(torch.tensor([[[1.0, 0.0]]]), torch.tensor([[2.0, 6.0]]), torch.tensor([[1.0]]))
    other = Queries(torch.tensor([[[0.0, 1.0]]]), torch.tensor([[4.0, 8.0]]), torch.tensor([[-3.0]]))
    mean = mean_of([one, other], [1])
    # (6 * (1, 0) + 8 * (0, 1)) / 2 = (3, 4), of length 5.
    assert mean.vectors.tolist() == [[[pytest.approx(0.6), pytest.approx(0.8)]]]
    assert mean.weights.tolist() == [[3.0, pytest.approx(5.0)]]
    assert mean.types.tolist() == [[-1.0]]
    assert mean_of([one], [1]) is one


def test_members_are_told_apart_by_the_names_of_their_tensors() -> None:
    several = [{"maps": np.full(1, at, dtype=np.float16)} for at in range(3)]
    kept = joined(several)
    assert sorted(kept) == ["maps", "member-1.maps", "member-2.maps"]
    assert [float(own["maps"][0]) for own in members_of(kept)] == [0, 1, 2]
    del kept["member-1.maps"]
    with pytest.raises(ValueError, match="of the members 0, 2, and one is missing"):
        members_of(kept)


def test_ranks_and_loss_are_what_they_are_by_hand() -> None:
    scores = np.array([0.5, 2.0, 0.5, -1.0], dtype=np.float32)
    assert ranks_of(scores, np.array([2, 1])).tolist() == [1, 3]
    # Probabilities 1/2, 1/4, 1/4; the answers are the second and third.
    logs = torch.log(torch.tensor([[0.5, 0.25, 0.25]]))
    loss = list_loss(logs, torch.tensor([[False, True, True]]))
    assert float(loss) == pytest.approx((np.log(2) + np.log(4)) / 2)
    assert measures([np.array([1, 30]), np.array([4]), np.array([200])]) == {
        "H@1": 33.33, "H@5": 66.67, "R@20": 50.0, "MRR": 41.67,
    }  # fmt: skip
